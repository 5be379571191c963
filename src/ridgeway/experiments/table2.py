"""Table 2 of the paper, active learning of embeddings: its cells, each one selection with its scores.

A cell is one row, reading of the prior, inference, method and experiment. Functions, pools, noise, training and
test points depend on row and experiment alone (:mod:`ridgeway.experiments.protocol`), so methods share them.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway import checks
from ridgeway.belief.belief import Belief
from ridgeway.experiments import protocol, scores
from ridgeway.experiments.cells import Cell
from ridgeway.experiments.protocol import ROWS, Problem, Row
from ridgeway.experiments.scores import Test, mean_of, rmse
from ridgeway.types import Array

BUDGET = 100
MARKS = tuple(range(20, BUDGET + 1, 10))
EXPERIMENTS = 5
METHODS = ("rand", "lh", "unc", "bald", "info", "lasso")
ACTIVE = ("unc", "bald", "info")  # choose by what is known so far
INFERENCES = ("map", "nested")
CURVES = ("nested",)  # inferences with learning curves: they double what a cell costs
LITERAL_ROWS = ("synthetic-10-2", "synthetic-10-3")
QUICK_BUDGET, QUICK_EXPERIMENTS = 60, 2

#: What a fit to a row's observations costs beside one to those of synthetic-10-2, roughly.
COSTS = {"synthetic-10-3": 2.0, "synthetic-20-2": 1.3, "synthetic-20-3": 3.0, "communities": 2.5, "uji": 2.5}


def cells(
    quick: bool = False,
    data: Path | None = None,
    rows: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    inferences: Sequence[str] | None = None,
    readings: Sequence[str] | None = None,
    experiments: int | None = None,
    curves: Sequence[str] = CURVES,
) -> list[Cell]:
    """The cells of the table; ``None`` is all that there is, rows without their data left out.

    ``curves`` names inferences that learning curves are made of, with the prior's scale by the root. ``quick`` is a
    small version: two rows, two experiments of 60 observations, no learning curves, one reading of the prior.
    """
    rows = [checks.choice(row, tuple(ROWS), "row") for row in rows or _default_rows(quick, data)]
    methods = [checks.choice(method, METHODS, "method") for method in methods or METHODS]
    inferences = [checks.choice(inference, INFERENCES, "inference") for inference in inferences or INFERENCES]
    readings = [checks.choice(reading, protocol.READINGS, "prior") for reading in readings or protocol.READINGS]
    curves = () if quick else [checks.choice(inference, INFERENCES, "curves") for inference in curves]
    check_data(rows, data)
    numbers = range(experiments or (QUICK_EXPERIMENTS if quick else EXPERIMENTS))
    # The most informative cells come first: a run that is stopped shows its table so far.
    return [
        _cell(ROWS[row], reading, inference, method, number, curves, data, quick)
        for reading in (["root"] if quick else sorted(set(readings), reverse=True))
        for inference in ("none", *sorted(set(inferences), reverse=True))
        for number in numbers
        for row in rows
        for method in methods
        if _belongs(ROWS[row], reading, inference, method)
    ]


def _belongs(row: Row, reading: str, inference: str, method: str) -> bool:
    if (method == "lasso") != (inference == "none") or (method == "lh" and row.kind == "data"):
        return False  # the lasso has no inference; a design cannot choose among records
    if method == "info":  # not the paper's: beside our inference, in our reading
        return inference == "nested" and reading == "root"
    return reading == "root" or row.name in LITERAL_ROWS


def missing_rows(data: Path | None) -> dict[str, str]:
    """Rows whose data cannot be found, with what to do about it."""
    from ridgeway.experiments import datasets

    here = datasets.available(data)
    missing = [row for row in ROWS.values() if row.dataset and row.dataset not in here]
    return {row.name: _excuse(row, data) for row in missing}


def check_data(rows: Iterable[str], data: Path | None) -> None:
    """Raise for the first of ``rows`` whose data cannot be found, saying what to put where."""
    from ridgeway.experiments import datasets

    for name in set(rows) & set(missing_rows(data)):
        datasets.load(ROWS[name].dataset, data)


def _excuse(row: Row, data: Path | None) -> str:
    from ridgeway.experiments import datasets

    try:
        datasets.load(row.dataset, data)
    except datasets.MissingDataError as error:
        return str(error)
    return ""


def _default_rows(quick: bool, data: Path | None) -> list[str]:
    missing = missing_rows(data)
    if quick:
        return ["synthetic-10-2", "branin-10" if "communities" in missing else "communities"]
    return [name for name in ROWS if name not in missing]


def _cell(
    row: Row, reading: str, inference: str, method: str, experiment: int, curves: Sequence[str], data: Path | None,
    quick: bool,
) -> Cell:  # fmt: skip
    arguments: dict[str, Any] = {"row": row.name, "reading": reading, "experiment": experiment}
    if row.kind == "data":
        arguments["data"] = None if data is None else str(data)
    name = f"table2{'-quick' * quick}/{row.name}/{reading}-{inference}-{method}/{experiment}"
    if method == "lasso":
        return Cell(name, lasso, arguments, cost=2.0)
    marks = MARKS if inference in curves and reading == "root" else ()
    arguments |= {"inference": inference, "method": method, "budget": QUICK_BUDGET if quick else BUDGET}
    fits = (10.0 if method in ACTIVE else 1.0) + 0.8 * len(marks)
    return Cell(name, selection, arguments | {"marks": list(marks)}, cost=fits * COSTS.get(row.name, 1.0))


# -- what a cell computes ---------------------------------------------------------------------------


def selection(
    row: str, reading: str, inference: str, method: str, experiment: int, budget: int, marks: Sequence[int],
    data: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Select ``budget`` observations and score what was learned from them, at the end and at ``marks``.

    ``final`` is of the belief at termination, after a full search for modes; ``marks`` are of fits from nothing
    to the observations so far, the same for all methods.
    """
    problem = protocol.problem(row, experiment, reading, data)
    tests = [problem.test(repeat) for repeat in range(protocol.REPEATS)]
    learner = protocol.learner(problem, method, inference, budget)
    so_far, started = {}, time.process_time()
    for n in protocol.select(problem, learner, budget):
        if n in marks:
            so_far[n] = (learner.X, learner.y)
    selecting = time.process_time() - started
    # A design has not looked at its belief before, so that the first look is a search from nothing.
    final = all_scores(learner.search_again() if learner.has_score else learner.belief, problem, tests)
    if budget in so_far and not learner.has_score:
        del so_far[budget]
    curve = {n: _fitted_scores(problem, inference, *seen, tests) for n, seen in so_far.items()}
    return {
        **_identity(row, reading, inference, method, experiment),
        "budget": budget,
        "final": final,
        "marks": {str(n): curve.get(n, final) for n in marks},
        "selection_seconds": round(selecting, 2),
        "selected": protocol.selected_rows(problem, learner) or hashlib.sha256(learner.X.tobytes()).hexdigest(),
    }


def _fitted_scores(problem: Problem, inference: str, X: Array, y: Array, tests: Sequence[Test]) -> dict[str, float]:
    options = protocol.fit_options(problem, inference, len(y))
    return all_scores(scores.quiet_fit(X, y, **options), problem, tests)


def all_scores(belief: Belief, problem: Problem, tests: Sequence[Test]) -> dict[str, float]:
    """Every score of a belief, means over the repeats of the test."""
    found: dict[str, float] = {}
    with np.errstate(over="ignore"):  # in the tails of weights that none of these scores uses
        for score in (scores.carried_scores, scores.refitted_scores, scores.direct_scores):
            found |= mean_of([score(belief, test) for test in tests])
    if problem.embedding is not None:
        found["angle"] = scores.largest_angle(belief, problem.embedding)
    return found | {"rank": belief.rank}


def lasso(row: str, reading: str, experiment: int, data: str | None = None) -> dict[str, Any]:
    """LASSO on the fresh training points alone.

    The paper chooses the penalty "by minimizing squared loss on the training data", which is the smallest one of
    the path: ``rmse``, and ``bare_rmse`` without an intercept. ``cv_rmse`` chooses it by cross-validation.
    """
    from sklearn.linear_model import LassoCV

    problem = protocol.problem(row, experiment, reading, data)
    found = []
    for repeat in range(protocol.REPEATS):
        test = problem.test(repeat)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the least penalties of the path converge slowly
            mean = _least_lasso(test, test.X.mean(axis=0), float(test.y.mean()))
            bare = _least_lasso(test, np.zeros(test.X.shape[1]), 0.0)
            crossed = LassoCV(cv=5).fit(test.X, test.y).predict(test.X_test)
        found.append(
            {
                "rmse": rmse(mean, test.f_test),
                "rmse_y": rmse(mean, test.y_test),
                "bare_rmse": rmse(bare, test.f_test),
                "cv_rmse": rmse(crossed, test.f_test),
            }
        )
    return {**_identity(row, reading, "none", "lasso", experiment), "final": mean_of(found), "marks": {}}


def _least_lasso(test: Test, centre: Array, level: float) -> Array:
    """Predictions with the penalty of the path whose squared loss on the training data is least."""
    from sklearn.linear_model import lasso_path

    _, coefficients, _ = lasso_path(test.X - centre, test.y - level)
    losses = np.mean((test.y[:, None] - level - (test.X - centre) @ coefficients) ** 2, axis=0)
    best: Array = level + (test.X_test - centre) @ coefficients[:, np.argmin(losses)]
    return best


def _identity(row: str, reading: str, inference: str, method: str, experiment: int) -> dict[str, Any]:
    return {"row": row, "reading": reading, "inference": inference, "method": method, "experiment": experiment}
