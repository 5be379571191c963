"""Other libraries beside Ridgeway on the data of the paper's Table 2: the fresh points to train on, those to test on.

Nothing is selected: each library is given the 100 training points that Table 2 scores its methods with, and predicts
the 1,000 test points. A cell is one row, library and experiment; how each is used stands in
:mod:`ridgeway.experiments.libraries`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway import checks
from ridgeway.experiments import protocol
from ridgeway.experiments.cells import Cell
from ridgeway.experiments.libraries import LIBRARIES, Library
from ridgeway.experiments.protocol import ROWS, Row
from ridgeway.experiments.scores import N_TEST, N_TRAIN, Test, mean_of, rmse
from ridgeway.experiments.table2 import check_data, missing_rows
from ridgeway.experiments.table2_report import shown
from ridgeway.types import Array

EXPERIMENTS, REPEATS = 5, 1
QUICK_ROWS = ("synthetic-10-2", "branin-10")
QUICK_LIBRARIES = ("ridgeway", "sklearn-ard", "botorch", "sklearn-pls", "lasso")
QUICK_EXPERIMENTS = 2

#: How long one cell takes beside a default fit of Ridgeway's, roughly.
COSTS = {"ridgeway-auto": 6.0, "botorch-saas": 12.0, "smt-mgp": 15.0, "lasso": 0.1}

Results = dict[str, dict[str, Any]]


def cells(
    quick: bool = False,
    data: Path | None = None,
    rows: Sequence[str] | None = None,
    libraries: Sequence[str] | None = None,
    experiments: int | None = None,
    repeats: int | None = None,
) -> list[Cell]:
    """The cells of the comparison; ``None`` is all that there is, without rows and libraries that are not here."""
    chosen = [checks.choice(row, tuple(ROWS), "row") for row in rows or _default_rows(quick, data)]
    check_data(chosen, data)
    used = [_installed(checks.choice(name, tuple(LIBRARIES), "library")) for name in libraries or here(quick)]
    numbers = range(experiments or (QUICK_EXPERIMENTS if quick else EXPERIMENTS))
    repeats = repeats or (1 if quick else REPEATS)
    return [
        _cell(ROWS[row], name, experiment, repeats, data, quick)
        for row in chosen
        for name in used
        if _affordable(LIBRARIES[name], ROWS[row])
        for experiment in numbers
    ]


def here(quick: bool = False) -> list[str]:
    """Libraries that are installed."""
    return [name for name in (QUICK_LIBRARIES if quick else LIBRARIES) if LIBRARIES[name].installed]


def score(row: str, library: str, experiment: int, repeats: int, data: str | None = None) -> dict[str, Any]:
    """Fit and predict ``repeats`` times; root mean square error against f, against y, log density, CPU seconds."""
    problem = protocol.problem(row, experiment, data=data)
    LIBRARIES[library].prepare()
    found = [_score(LIBRARIES[library], problem.test(repeat), problem.row.d) for repeat in range(repeats)]
    return {"row": row, "library": library, "experiment": experiment, "repeats": repeats, "scores": mean_of(found)}


def tables(results: Results, quick: bool = False) -> tuple[str, list[dict[str, Any]]]:
    """The Markdown text and the rows of the CSV file."""
    rows = [row for name, row in ROWS.items() if any(r["row"] == name for r in results.values())]
    used = [name for name in LIBRARIES if any(r["library"] == name for r in results.values())]
    lines = [_size(results, quick), ""]
    for key, title in TITLES.items():
        lines += [title, "", *_table(results, rows, used, key), ""]
    lines += ["How each was used:", "", *(f"- {LIBRARIES[name].named}: {LIBRARIES[name].settings}" for name in used)]
    return "\n".join([*lines, *_left_out(rows, used)]) + "\n", csv_rows(results)


def csv_rows(results: Results) -> list[dict[str, Any]]:
    """One row for each cell, scores as columns."""
    known = ("row", "library", "experiment", "repeats")
    return [{**{key: result[key] for key in known}, **result["scores"]} for result in results.values()]


TITLES = {
    "rmse": "Root mean square error (of f where it is known, else of y; Branin in its own units); best in bold:",
    "nlpd": "Mean negative log predictive density of the test observations, nats; best in bold:",
    "fit_seconds": "CPU seconds for one fit, on one thread where a library allows it:",
}


def _installed(name: str) -> str:
    if not LIBRARIES[name].installed:
        raise ModuleNotFoundError(f"{name} needs pip install 'ridgeway[comparison]'")
    return name


def _default_rows(quick: bool, data: Path | None) -> list[str]:
    missing = missing_rows(data)
    return [name for name in (QUICK_ROWS if quick else ROWS) if name not in missing]


def _affordable(library: Library, row: Row) -> bool:
    return library.max_inputs is None or library.max_inputs >= row.D


def _cell(row: Row, library: str, experiment: int, repeats: int, data: Path | None, quick: bool) -> Cell:
    arguments = {"row": row.name, "library": library, "experiment": experiment, "repeats": repeats}
    if row.kind == "data":
        arguments["data"] = None if data is None else str(data)
    folder = f"comparison{'-quick' * quick}/{row.name}/{library}"
    return Cell(f"{folder}/{experiment}", score, arguments, COSTS.get(library, 1.0) * repeats * row.D**0.5)


def _score(library: Library, test: Test, d: int) -> dict[str, float]:
    started = _cpu_seconds()
    predict = library.fit(test.X, test.y, d)
    fitted = _cpu_seconds()
    predicted = predict(test.X_test)
    return {
        "rmse": rmse(predicted.mean, test.f_test),
        "rmse_y": rmse(predicted.mean, test.y_test),
        "nlpd": -float(np.mean(predicted.log_density(test.y_test))),
        "fit_seconds": fitted - started,
        "predict_seconds": _cpu_seconds() - fitted,
    }


def _cpu_seconds() -> float:
    """Of this process and of those that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _size(results: Results, quick: bool) -> str:
    experiments = 1 + max(result["experiment"] for result in results.values())
    repeats = max(result["repeats"] for result in results.values())
    drawn = f", each the mean of {repeats} draws of the points" if repeats > 1 else ""
    cut = " A quick version: few rows, and the fast libraries only." if quick else ""
    return (
        f"{N_TRAIN} training and {N_TEST:,} test points; means and standard errors over "
        f"{experiments} experiment{'s' * (experiments > 1)}{drawn}.{cut}"
    )


def _table(results: Results, rows: Sequence[Row], used: Sequence[str], key: str) -> Iterator[str]:
    yield "| | " + " | ".join(f"{row.title} {row.D}/{row.d}" for row in rows) + " |"
    yield "|---|" + "---|" * len(rows)
    found = {(row.name, name): _values(results, row.name, name, key) for row in rows for name in used}
    best = {
        row.name: min((v.mean() for (r, _), v in found.items() if r == row.name and len(v)), default=None)
        for row in rows
    }
    for name in used:
        texts = [_text(found[row.name, name], key, best[row.name]) for row in rows]
        yield f"| {LIBRARIES[name].title} | " + " | ".join(texts) + " |"


def _text(values: Array, key: str, best: float | None) -> str:
    if key == "fit_seconds":
        return f"{values.mean():.{1 if values.mean() < 10 else 0}f}" if len(values) else "–"
    return f"**{shown(values)}**" if len(values) and values.mean() == best else shown(values)


def _values(results: Results, row: str, library: str, key: str) -> Array:
    return np.array([r["scores"][key] for r in results.values() if (r["row"], r["library"]) == (row, library)])


def _left_out(rows: Sequence[Row], used: Sequence[str]) -> Iterator[str]:
    """What the table does not have, and why."""
    for name in used:
        beyond = [f"{row.title} ({row.D} inputs)" for row in rows if not _affordable(LIBRARIES[name], row)]
        if beyond:
            yield f"- {LIBRARIES[name].title} was not run on {', '.join(beyond)}: {LIBRARIES[name].too_slow}"
    absent = [library.title for library in LIBRARIES.values() if not library.installed]
    if absent:
        yield f"- not installed here: {'; '.join(absent)}"
