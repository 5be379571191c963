"""Predictions and scores at the rows of Parquet files, some at a time."""

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


@pytest.mark.slow
def test_scores_of_a_file_in_batches_are_those_of_a_sheet(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(ridgeway)
    rng = np.random.default_rng(0)
    grid = pd.DataFrame({"temperature": rng.uniform(20, 80, 50), "rate": 10 ** rng.uniform(-2, 1, 50)})
    grid = pd.concat([grid, grid.iloc[:10]], ignore_index=True)  # of equal rows the first comes first
    grid.to_parquet("grid.parquet")
    grid.to_csv("grid.csv", index=False)
    monkeypatch.setattr(bulk.best_scores, "__defaults__", (7,))  # rows at a time
    monkeypatch.setattr(pd, "read_parquet", None)  # the whole file is never in memory
    assert ridgeway("score", "grid.parquet", "--top", "12", "-o", "some.csv").code == 0
    assert ridgeway("score", "grid.csv", "--top", "12", "-o", "all.csv").code == 0
    found, expected = pd.read_csv("some.csv"), pd.read_csv("all.csv")
    assert found["row"].tolist() == (expected["row"] - 2).tolist()  # a sheet counts its lines, with the head
    np.testing.assert_allclose(found["nats"], expected["nats"], rtol=1e-9)
    assert "there is no file none.parquet" in ridgeway("score", "none.parquet").err
    grid.iloc[:0].to_parquet("empty.parquet")
    assert "empty.parquet has no rows" in ridgeway("score", "empty.parquet").err


@pytest.mark.slow
def test_words_of_a_category_and_inputs_that_are_fixed(ridgeway: Ridgeway) -> None:
    ridgeway(*INIT, "--input", "solvent in water, wax", "--fixed", "load 3")
    rows = [[20 + 10 * i, 0.02 * 2**i, ["water", "wax"][i % 2], float(i % 3)] for i in range(6)]
    frame = pd.DataFrame(rows, columns=["temperature", "rate", "solvent", "strength"])
    frame.to_csv("old.csv", index=False)
    assert ridgeway("attach", "old.csv").code == 0
    grid = frame.drop(columns="strength")
    grid.to_parquet("grid.parquet")
    assert ridgeway("predict", "grid.parquet", "-o", "out.parquet").code == 0
    assert ridgeway("predict", "old.csv", "-o", "out.csv").code == 0
    np.testing.assert_allclose(pd.read_parquet("out.parquet")["std"], pd.read_csv("out.csv")["std"], rtol=1e-9)
    grid.assign(solvent="beer").to_parquet("bad.parquet")
    assert "must hold one of water, wax, got 'beer' in row 1" in " ".join(ridgeway("score", "bad.parquet").err.split())
    grid.drop(columns="solvent").to_parquet("bad.parquet")
    assert "has no column 'solvent'" in ridgeway("score", "bad.parquet").err
