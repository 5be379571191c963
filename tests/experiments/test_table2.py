"""Table 2: its cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ridgeway.experiments import protocol, scores, table2
from ridgeway.experiments.cells import Cell, run
from ridgeway.experiments.protocol import ROWS

TINY: dict[str, Any] = {
    "row": "synthetic-10-2",
    "reading": "root",
    "inference": "map",
    "method": "bald",
    "experiment": 1,
    "budget": 12,
    "marks": [10, 12],
}


@pytest.fixture(scope="module")
def tiny() -> dict[str, Any]:
    with threadpool_limits(1):  # as a cell has it
        return table2.selection(**TINY)


@pytest.mark.slow
def test_a_cell_rerun_alone_gives_the_same_numbers(tiny: dict[str, Any], tmp_path: Path) -> None:
    name = "table2/tiny"
    beside = Cell("table2/beside", table2.lasso, {"row": "branin-10", "reading": "root", "experiment": 0})
    again = run([beside, Cell(name, table2.selection, TINY)], tmp_path, jobs=2)[name]
    seconds = {"selection_seconds"}
    assert {k: v for k, v in again.items() if k not in seconds} == {k: v for k, v in tiny.items() if k not in seconds}


@pytest.mark.slow
def test_a_cell_has_scores_at_the_end_and_at_each_mark(tiny: dict[str, Any]) -> None:
    assert set(tiny["marks"]) == {"10", "12"}
    assert len(set(tiny["selected"])) == 12
    expected = {"rmse", "rmse_y", "nlpd", "carried_nlpd", "refit_nlpd", "belief_nlpd", "angle", "rank"}
    for found in (tiny["final"], *tiny["marks"].values()):
        assert expected <= set(found)
        assert found["rmse_y"] > found["rmse"]


@pytest.mark.slow
def test_the_last_mark_of_a_design_is_the_fit_at_the_end() -> None:
    result = table2.selection(**{**TINY, "method": "lh"})
    assert result["marks"]["12"] == result["final"]
    assert isinstance(result["selected"], str)


def test_the_lasso_takes_the_penalty_of_least_training_loss() -> None:
    test = protocol.problem("branin-10", 0).test(0)
    found = scores.rmse(table2._least_lasso(test, test.X.mean(axis=0), float(test.y.mean())), test.f_test)
    A = np.column_stack([np.ones(100), test.X])  # next to least squares, ten inputs and 100 points
    least = np.linalg.lstsq(A, test.y, rcond=None)[0]
    assert found == pytest.approx(scores.rmse(least[0] + test.X_test @ least[1:], test.f_test), rel=0.01)


def test_the_whole_table_has_every_cell_once() -> None:
    rows = [name for name, row in ROWS.items() if row.kind != "data"]
    made = table2.cells(rows=rows)
    assert len(made) == len({cell.name for cell in made})
    root = 6 * 5 * (4 * 2 + 1 + 1)  # rows, experiments, the paper's methods with two inferences, info, lasso
    assert len(made) == root + 2 * 5 * (4 * 2 + 1)  # and D = 10 with the literal scale
    assert {cell.arguments["row"] for cell in made if cell.arguments["reading"] == "literal"} == {
        "synthetic-10-2",
        "synthetic-10-3",
    }
    marked = {cell.name.split("/")[2] for cell in made if cell.arguments.get("marks")}
    assert marked == {f"root-nested-{method}" for method in ("rand", "lh", "unc", "bald", "info")}
    assert {cell.arguments["method"] for cell in table2.cells(rows=rows, methods=["rand"])} == {"rand"}
    assert table2.cells(rows=rows, curves=["map"])[-1].arguments["marks"] == []  # literal
