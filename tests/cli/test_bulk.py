"""Predictions from one Parquet file to another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ridgeway.cli import bulk
from tests.cli.commands import INIT, Ridgeway

pytest.importorskip("pyarrow")


def begun(ridgeway: Ridgeway) -> pd.DataFrame:
    assert ridgeway(*INIT).code == 0
    rows = [[20 + 10 * i, 0.02 * 2**i, float(i % 3)] for i in range(6)]
    frame = pd.DataFrame(rows, columns=["temperature", "rate", "strength"])
    frame.to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0
    return frame.drop(columns="strength")


@pytest.mark.slow
def test_a_file_in_batches_is_what_a_sheet_is(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = begun(ridgeway)
    frame.to_csv("grid.csv", index=False)
    frame.assign(sample=list("abcdef")).to_parquet("grid.parquet")
    monkeypatch.setattr(bulk.predict, "__defaults__", (4,))  # rows at a time
    assert "Wrote 6 rows to out.parquet." in "".join(ridgeway("predict", "grid.parquet", "-o", "out.parquet")[1:])
    assert ridgeway("predict", "grid.csv", "-o", "out.csv").code == 0
    found, expected = pd.read_parquet("out.parquet"), pd.read_csv("out.csv")
    assert list(found.columns) == ["temperature", "rate", "sample", "strength", "std"]
    np.testing.assert_allclose(found[["strength", "std"]], expected[["strength", "std"]], rtol=1e-9)


@pytest.mark.slow
def test_what_is_wrong_with_a_file_is_said(ridgeway: Ridgeway) -> None:
    frame = begun(ridgeway)

    def said(table: pd.DataFrame) -> str:
        table.to_parquet("bad.parquet")
        result = ridgeway("predict", "bad.parquet", "-o", "out.parquet")
        assert result.code != 0
        assert not Path("out.parquet").exists()
        return " ".join(result.err.split())

    assert "has no column 'rate', which is an input" in said(frame.drop(columns="rate"))
    assert "must be complete, but row 3 is not" in said(frame.assign(rate=frame["rate"].where(frame.index != 2)))
    assert "must hold numbers" in said(frame.assign(rate="fast"))
    Path("bad.parquet").write_text("nonsense")
    assert "cannot be read as a Parquet file" in ridgeway("predict", "bad.parquet", "-o", "out.parquet").err


@pytest.mark.slow
def test_a_file_that_is_damaged_in_the_middle_is_named(ridgeway: Ridgeway) -> None:
    frame = begun(ridgeway)
    many = pd.concat([frame] * 2000, ignore_index=True) + np.random.default_rng(0).uniform(0, 0.01, (12_000, 2))
    many.to_parquet("bad.parquet", compression="gzip")
    whole = bytearray(Path("bad.parquet").read_bytes())
    middle = len(whole) // 4
    whole[middle : middle + 2000] = bytes(2000)
    Path("bad.parquet").write_bytes(whole)
    result = ridgeway("predict", "bad.parquet", "-o", "out.parquet")
    assert result.code != 0
    assert "bad.parquet could not be read to its end" in " ".join(result.err.split())
    assert not Path("out.parquet").exists()
