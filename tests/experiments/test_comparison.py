"""Other libraries beside Ridgeway: each can learn, its density is a density, and the tables say what was run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ridgeway.experiments import comparison, libraries, protocol, table2
from ridgeway.experiments.cells import run
from ridgeway.experiments.libraries import LIBRARIES


@pytest.mark.slow
def test_from_cells_to_tables(tmp_path: Path) -> None:
    chosen = comparison.cells(rows=["synthetic-10-2"], libraries=["sklearn-ard", "lasso"], experiments=2, repeats=1)
    results = run(chosen, tmp_path)
    text, rows = comparison.tables(results)
    assert len(rows) == 4
    assert {row["library"] for row in rows} == {"sklearn-ard", "lasso"}
    best = min(rows, key=lambda row: row["rmse"])
    assert best["library"] == "sklearn-ard"
    bold = [line for line in text.splitlines() if "**" in line]
    assert len(bold) == 2
    assert all("ARD" in line for line in bold)
    again = comparison.score(**chosen[0].arguments)
    assert again["scores"]["nlpd"] == pytest.approx(results[chosen[0].name]["scores"]["nlpd"], rel=1e-6)


@pytest.mark.slow
def test_the_points_are_those_of_table_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lasso by cross-validation and the one here are the same."""
    monkeypatch.setattr(protocol, "REPEATS", 2)
    theirs = table2.lasso("synthetic-10-2", "root", 1)["final"]["cv_rmse"]
    assert comparison.score("synthetic-10-2", "lasso", 1, 2)["scores"]["rmse"] == pytest.approx(theirs, rel=1e-9)


@pytest.mark.slow
def test_what_is_not_installed_is_left_out_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = libraries.Library("Gone", "never", libraries.lasso, needs=("a_package_that_nobody_has",))
    monkeypatch.setitem(LIBRARIES, "gone", gone)
    assert "gone" not in comparison.here()
    with pytest.raises(ModuleNotFoundError, match=r"ridgeway\[comparison\]"):
        comparison.cells(rows=["synthetic-10-2"], libraries=["gone"])
    text, _ = comparison.tables({"one": result("lasso", "branin-10")})
    assert "not installed here" in text
    assert "Gone" in text


@pytest.mark.slow
def test_what_takes_too_long_is_left_out_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = libraries.Library("Slow", "always", libraries.lasso, max_inputs=10, too_slow="it takes a year")
    monkeypatch.setitem(LIBRARIES, "slow", slow)
    made = comparison.cells(rows=["synthetic-10-2", "synthetic-20-2"], libraries=["slow", "lasso"], experiments=1)
    assert [cell.name for cell in made] == [
        "comparison/synthetic-10-2/slow/0",
        "comparison/synthetic-10-2/lasso/0",
        "comparison/synthetic-20-2/lasso/0",
    ]
    text, _ = comparison.tables(
        {name: result(name, row) for name, row in (("slow", "synthetic-10-2"), ("lasso", "ct"))}
    )
    assert "Slow was not run on CT slices (318 inputs): it takes a year" in text


def result(library: str, row: str) -> dict[str, Any]:
    """What a cell could have come to."""
    scores = {"rmse": 1.0, "rmse_y": 1.0, "nlpd": 1.0, "fit_seconds": 0.1, "predict_seconds": 0.0}
    return {"row": row, "library": library, "experiment": 0, "repeats": 1, "scores": scores}
