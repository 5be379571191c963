"""Table 2 as people read it: the paper's numbers beside ours in Markdown, everything in CSV rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from ridgeway.experiments import paper
from ridgeway.experiments.protocol import ROWS, Row
from ridgeway.experiments.table2 import BUDGET, EXPERIMENTS, INFERENCES, METHODS, QUICK_BUDGET
from ridgeway.types import Array

Result = dict[str, Any]
Results = dict[str, Result]
SELECTING = METHODS[:-1]
READING_TITLES = {"root": "Prior scale 5/4 · D^(-1/2)", "literal": "Prior scale 5/4 · D^(-1), the paper's words"}


def tables(results: Results, quick: bool = False) -> tuple[str, list[dict[str, Any]]]:
    """The Markdown text and the rows of the CSV file."""
    lines = list(_cut(results)) if quick else []
    for reading, title in READING_TITLES.items():
        group = Group(results, reading)
        if group.rows:
            lines += [f"### {title}", "", *_reading(group, against_paper=not quick)]
    return "\n".join(lines).strip() + "\n", csv_rows(results)


def csv_rows(results: Results) -> list[dict[str, Any]]:
    """One row for each cell and number of observations, scores as columns."""
    rows = []
    for result in results.values():
        known = {key: result[key] for key in ("row", "reading", "inference", "method", "experiment")}
        ended = {"n": result.get("budget"), "at": "end", "selection_seconds": result.get("selection_seconds")}
        rows.append({**known, **ended, **result["final"]})
        rows += [{**known, "n": int(n), "at": "mark", **scores} for n, scores in result["marks"].items()]
    return rows


class Group:
    """The results of one reading of the prior, by row, inference and method."""

    def __init__(self, results: Results, reading: str) -> None:
        self._results = [result for result in results.values() if result["reading"] == reading]
        self.rows = [row for name, row in ROWS.items() if any(r["row"] == name for r in self._results)]
        self.reading = reading

    def scores(self, row: Row, inference: str, method: str, key: str, n: int | None = None) -> Array:
        """One score of each experiment in order, at the end or at ``n`` observations; empty where there is none."""
        return np.array(list(self._by_experiment(row, inference, method, key, n).values()))

    def differences(self, row: Row, inference: str, method: str, other: str, key: str) -> Array:
        """By how much ``method`` exceeds ``other`` in the experiments that both have."""
        a, b = (self._by_experiment(row, inference, name, key, None) for name in (method, other))
        return np.array([a[i] - b[i] for i in a if i in b])

    def _by_experiment(self, row: Row, inference: str, method: str, key: str, n: int | None) -> dict[int, float]:
        wanted = (row.name, inference, method)
        found = [r for r in self._results if (r["row"], r["inference"], r["method"]) == wanted]
        parts = {int(r["experiment"]): r["final"] if n is None else r["marks"].get(str(n), {}) for r in found}
        if key == "selection_seconds":
            parts = {int(r["experiment"]): r for r in found}
        return {i: float(part[key]) for i, part in sorted(parts.items()) if key in part}

    def marks(self, row: Row, inference: str) -> list[int]:
        """Numbers of observations at which there are scores."""
        found = {
            int(n) for r in self._results if (r["row"], r["inference"]) == (row.name, inference) for n in r["marks"]
        }
        return sorted(found)

    def inferences(self, row: Row) -> list[str]:
        """Those that there are results of."""
        return [i for i in INFERENCES if any((r["row"], r["inference"]) == (row.name, i) for r in self._results)]


def shown(values: Array) -> str:
    """Mean and standard error, to three figures."""
    if not len(values):
        return "–"
    mean = values.mean()
    digits = 1 if abs(mean) >= 10 else 2 if abs(mean) >= 3 else 3
    if len(values) == 1:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {standard_error(values):.{digits}f}"


def standard_error(values: Array) -> float:
    """Of the mean over experiments."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def needed(group: Group, row: Row, inference: str, method: str) -> int | None:
    """Observations at which ``method`` is first as good as rand at the end, in mean RMSE; ``None`` if never."""
    marks = group.marks(row, inference)
    level = group.scores(row, inference, "rand", "rmse", marks[-1]).mean()
    means = {n: group.scores(row, inference, method, "rmse", n).mean() for n in marks}
    return next((n for n in marks if means[n] <= level), None)


def _cut(results: Results) -> Iterator[str]:
    rows = ", ".join(sorted({result["row"] for result in results.values()}))
    experiments = 1 + max(result["experiment"] for result in results.values())
    yield (
        f"A quick version: {rows} only, {experiments} experiment{'s' * (experiments > 1)} instead of {EXPERIMENTS}, "
        f"{QUICK_BUDGET} observations instead of {BUDGET}, no learning curves, one reading of the prior. "
        "The paper's numbers beside ours are of the full size."
    )
    yield ""


def _reading(group: Group, against_paper: bool) -> Iterator[str]:
    yield "Root mean square error with the hyperparameters plugged in, the paper's test:"
    yield ""
    yield from _beside(group, "rmse", METHODS)
    yield ""
    yield "Mean negative log predictive density, nats:"
    yield ""
    yield from _beside(group, "nlpd", SELECTING)
    yield ""
    verdicts = list(_verdicts(group, against_paper))
    if verdicts:
        yield "BALD, of the function and of the observation, with `nested` inference; differences paired by experiment:"
        yield ""
        yield from verdicts
        yield ""
    if any(group.marks(row, inference) for row in group.rows for inference in group.inferences(row)):
        yield from _curves(group)
    yield "Beyond the paper's test, at the end:"
    yield ""
    yield from _beyond(group)
    yield ""
    yield from _lassos(group)


def _beside(group: Group, key: str, methods: Sequence[str]) -> Iterator[str]:
    """The paper's line, then one for each inference."""
    yield "| problem | D | d | | " + " | ".join(methods) + " |"
    yield "|---|---|---|---|" + "---|" * len(methods)
    for row in group.rows:
        printed = paper.TABLE2.get(row.name, {}).get(key, {})
        head = f"| {row.title} | {row.D} | {row.d} |"
        if printed:
            yield f"{head} paper | " + " | ".join(f"{printed[m]:g}" if m in printed else "–" for m in methods) + " |"
            head = "| | | |"
        for inference in group.inferences(row):
            found = [group.scores(row, "none" if m == "lasso" else inference, m, key) for m in methods]
            yield f"{head} {inference} | " + " | ".join(shown(values) for values in found) + " |"
            head = "| | | |"


#: Scores that BALD is judged by: ours, the paper's, and what they are called.
_JUDGED = (
    ("rmse", "rmse", "RMSE"),
    ("nlpd", "nlpd", "log density"),
    ("refit_rmse", "rmse", "RMSE, only R kept"),
    ("refit_nlpd", "nlpd", "log density, only R kept"),
)


def _verdicts(group: Group, against_paper: bool) -> Iterator[str]:
    """Whether BALD is better than the paper's, and not worse than the others by more than a standard error."""
    for row in group.rows:
        for method, (key, printed_key, name) in product(("bald", "info"), _JUDGED):
            ours = group.scores(row, "nested", method, key)
            if not len(ours):
                continue
            words = []
            printed = paper.TABLE2.get(row.name, {}).get(printed_key, {}).get("bald")
            if printed is not None and against_paper:
                words.append(f"{'better' if ours.mean() < printed else '**not better**'} than the paper's")
            for other in ("rand", "lh", "unc"):
                difference = group.differences(row, "nested", method, other, key)
                if len(difference) > 1:
                    words.append(_compared(difference, other))
            if words:
                yield f"- {row.title} {row.D}/{row.d}, `{method}`, {name}: " + "; ".join(words)


def _compared(difference: Array, other: str) -> str:
    spread = standard_error(difference)
    judged = "better than" if difference.mean() < -spread else "level with"
    if difference.mean() > spread:
        judged = "**worse than**"
    return f"{judged} {other} ({difference.mean():+.3f} ± {spread:.3f})"


def _curves(group: Group) -> Iterator[str]:
    for inference in INFERENCES:
        rows = [row for row in group.rows if group.marks(row, inference)]
        if not rows:
            continue
        marks = group.marks(rows[0], inference)
        yield f"RMSE after N observations, `{inference}` inference; *needed*: those that reach rand's at {marks[-1]}:"
        yield ""
        yield "| problem | D | d | | " + " | ".join(map(str, marks)) + " | needed |"
        yield "|---|---|---|---|" + "---|" * (len(marks) + 1)
        for row in rows:
            head = f"| {row.title} | {row.D} | {row.d} |"
            for method in SELECTING:
                found = [group.scores(row, inference, method, "rmse", n) for n in marks]
                if not len(found[-1]):
                    continue
                cells = [f"{values.mean():.3g}" for values in found[:-1]] + [shown(found[-1])]
                reached = _needed_text(group, row, inference, method, marks[-1])
                yield f"{head} {method} | " + " | ".join(cells) + f" | {reached} |"
                head = "| | | |"
        yield ""


def _needed_text(group: Group, row: Row, inference: str, method: str, last: int) -> str:
    if method == "rand" or not len(group.scores(row, inference, "rand", "rmse", last)):
        return ""
    reached = needed(group, row, inference, method)
    return f"more than {last}" if reached is None else str(reached)


#: Columns of the table of other scores: title and how it is shown.
_BEYOND: dict[str, tuple[str, Callable[[Array], str]]] = {
    "rmse_y": ("RMSE of y", shown),
    "refit_rmse": ("only R kept: RMSE", shown),
    "refit_nlpd": ("NLPD", shown),
    "carried_rmse": ("belief carried: RMSE", shown),
    "carried_nlpd": ("NLPD", shown),
    "belief_rmse": ("belief: RMSE", shown),
    "belief_nlpd": ("NLPD", shown),
    "angle": ("largest angle, °", lambda values: f"{values.mean():.0f}" if len(values) else "–"),
    "selection_seconds": ("CPU s to select", lambda values: f"{values.mean():.0f}" if len(values) else "–"),
}


def _beyond(group: Group) -> Iterable[str]:
    yield "| problem | D | d | inference | method | " + " | ".join(title for title, _ in _BEYOND.values()) + " |"
    yield "|---|---|---|---|---|" + "---|" * len(_BEYOND)
    for row in group.rows:
        head = f"| {row.title} | {row.D} | {row.d} |"
        for inference in group.inferences(row):
            for method in SELECTING:
                if not len(group.scores(row, inference, method, "rmse")):
                    continue
                cells = [show(group.scores(row, inference, method, key)) for key, (_, show) in _BEYOND.items()]
                yield f"{head} {inference} | {method} | " + " | ".join(cells) + " |"
                head = "| | | |"


def _lassos(group: Group) -> Iterator[str]:
    """RMSE of the lasso with its penalty chosen in other ways."""
    rows = [row for row in group.rows if len(group.scores(row, "none", "lasso", "rmse"))]
    if not rows:
        return
    yield "LASSO, RMSE:"
    yield ""
    yield "| problem | D | paper | least penalty | without intercept | penalty by cross-validation |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        printed = paper.TABLE2.get(row.name, {}).get("rmse", {}).get("lasso")
        found = [shown(group.scores(row, "none", "lasso", key)) for key in ("rmse", "bare_rmse", "cv_rmse")]
        yield f"| {row.title} | {row.D} | {printed or '–'} | " + " | ".join(found) + " |"
    yield ""
