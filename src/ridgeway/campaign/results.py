"""Results in a sheet, matched with the trials they belong to; every complaint names its cell."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ridgeway.campaign.inputs import Fixed
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.sheets import Sheet
from ridgeway.campaign.trial import Trial
from ridgeway.errors import CampaignError
from ridgeway.types import Array

TRIAL, SIGMA, REASON = "trial", "sigma", "reason"
FAILED = "failed"  # written in place of a value
_OURS = ("state", "expected", "asked by", "asked at", "settled by", "settled at")  # columns of an export


@dataclass(frozen=True)
class Result:
    """One row of a results file: what became of a trial."""

    where: str  # file and row
    trial: int | None  # None for an experiment that was not asked for
    value: float | None  # None for a failure
    sigma: float | None
    x: Array | None  # (k,) inputs, as far as the sheet has them; NaN elsewhere
    notes: Mapping[str, str]
    reason: str | None = None


@dataclass(frozen=True)
class _Columns:
    """Which column is what."""

    trial: int | None
    value: int
    sigma: int | None
    reason: int | None
    inputs: dict[int, int]  # column of the sheet to place of the input
    notes: list[int]


def results(sheet: Sheet, setup: Setup) -> tuple[list[Result], int]:
    """Rows with an outcome, and how many have none yet."""
    columns = _columns(sheet, setup, asked=True)
    found: dict[int, Result] = {}
    pending = 0
    for i in range(len(sheet.rows)):
        result = _result(sheet, i, columns, setup)
        if result is None:
            pending += 1
            continue
        assert result.trial is not None
        earlier = found.setdefault(result.trial, result)
        if earlier is not result:
            raise CampaignError(f"{result.where}: trial {result.trial} stands in {earlier.where} already; keep one")
    return list(found.values()), pending


def experiments(sheet: Sheet, setup: Setup, outside: bool) -> list[Result]:
    """Rows as experiments of their own: all inputs and a value."""
    columns = _columns(sheet, setup, asked=False)
    _check_inputs(sheet, columns, setup)
    found = []
    for i in range(len(sheet.rows)):
        value = sheet.number(i, columns.value)
        if value is None:
            raise CampaignError(f"{sheet.at(i, columns.value)}: there is no value: fill it in, or remove the row")
        x = _row(sheet, i, columns, setup)
        assert x is not None
        _check_complete(sheet, i, columns, x, setup, outside)
        sigma = None if columns.sigma is None else _sigma(sheet, i, columns.sigma)
        found.append(Result(_where(sheet, i), None, value, sigma, x, _notes(sheet, i, columns)))
    return found


def moved(result: Result, trial: Trial, setup: Setup, outside: bool) -> Array | None:
    """Where the experiment was made if not where it was asked, else ``None``."""
    if result.x is None:
        return None
    x = np.where(np.isnan(result.x), trial.x, result.x)
    if setup.inputs is None:
        scale = np.maximum(np.abs(trial.x), 1e-300)
        if np.all(np.abs(x - trial.x) <= 1e-6 * scale):
            return None
        if outside:
            return x
        j = int(np.argmax(np.abs(x - trial.x) / scale))
        raise CampaignError(
            f"{result.where}, column {setup.names[j]!r}: is {x[j]:g}, but the pool's point has {trial.x[j]:g}; "
            "correct it, or allow points outside the pool (--outside)"
        )
    wrong = setup.inputs.problem(x, outside)
    if wrong is not None:
        j, phrase = wrong
        hint = "" if outside or "not within" not in phrase else " (allow it with --outside if it was meant)"
        raise CampaignError(f"{result.where}, column {setup.labels[j]!r}: {phrase}{hint}")
    return None if setup.inputs.same(x, trial.x) else x


def points(sheet: Sheet, setup: Setup) -> Array:
    """The inputs of each row, ``(n, k)``, for predictions."""
    columns = _columns(sheet, setup, asked=False, value_needed=False)
    _check_inputs(sheet, columns, setup)
    rows = []
    for i in range(len(sheet.rows)):
        x = _row(sheet, i, columns, setup)
        assert x is not None
        _check_complete(sheet, i, columns, x, setup, outside=True)
        rows.append(x)
    return np.stack(rows)


def _check_inputs(sheet: Sheet, columns: _Columns, setup: Setup) -> None:
    """Raise unless there are rows, with a column for every input that varies."""
    missing = [name for j, name in enumerate(setup.names) if j not in columns.inputs.values() and _varies(setup, j)]
    if missing:
        near = _near(missing[0], sheet.columns)
        raise CampaignError(f"{sheet.source} has no column {missing[0]!r}, which is an input of this campaign{near}")
    if not sheet.rows:
        raise CampaignError(f"{sheet.source} has no rows below its column names")


def _columns(sheet: Sheet, setup: Setup, asked: bool, value_needed: bool = True) -> _Columns:
    lowered = {name.lower(): j for j, name in enumerate(sheet.columns)}
    trial = next((lowered[name] for name in (TRIAL, "id", "trial id") if name in lowered), None)
    known = {label.lower(): j for j, label in enumerate(setup.labels)} | {
        n.lower(): j for j, n in enumerate(setup.names)
    }
    value = next(
        (lowered[n.lower()] for n in (setup.output_label, setup.output, "value") if n.lower() in lowered), None
    )
    if asked and trial is None:
        raise CampaignError(
            f"{sheet.source} has no column {TRIAL!r}, which tells the trial's number as `ask` wrote it"
            f"{_near(TRIAL, sheet.columns)}"
        )
    if value is None and value_needed:
        near = _near(setup.output, [name for name in sheet.columns if name.lower() not in known])
        raise CampaignError(f"{sheet.source} has no column {setup.output!r} for the results{near}")
    inputs = {j: known[name] for name, j in lowered.items() if name in known and j not in (value, trial)}
    _check_units(sheet, setup, inputs)
    special = {trial, value, lowered.get(SIGMA), lowered.get(REASON)}
    ours = {lowered.get(name) for name in _OURS}
    notes = [j for j in range(len(sheet.columns)) if j not in inputs and j not in special and j not in ours]
    return _Columns(trial, -1 if value is None else value, lowered.get(SIGMA), lowered.get(REASON), inputs, notes)


def _check_units(sheet: Sheet, setup: Setup, inputs: dict[int, int]) -> None:
    """A column that has an input's name with another unit is a mistake, not a note."""
    taken = set(inputs.values())
    for name in sheet.columns:
        bare = name.split(" [")[0].lower()
        for j, known in enumerate(setup.names):
            if "[" in name and bare == known.lower() and j not in taken:
                raise CampaignError(f"{sheet.source}, column {name!r}: this input is {setup.labels[j]!r}: convert it")


def _result(sheet: Sheet, i: int, columns: _Columns, setup: Setup) -> Result | None:
    """The outcome in a row, or ``None`` if there is none yet."""
    assert columns.trial is not None
    cell = sheet.rows[i][columns.value]
    failed = isinstance(cell, str) and cell.strip().lower() == FAILED
    try:
        value = None if failed else sheet.number(i, columns.value)
    except CampaignError as error:
        raise CampaignError(f"{error}; leave it empty if it is still pending, or write {FAILED!r}") from None
    if value is None and not failed:
        return None
    number = sheet.number(i, columns.trial)
    if number is None:
        raise CampaignError(
            f"{sheet.at(i, columns.trial)}: there is a result but no trial number: "
            "write the number that `ask` gave, or use `attach` for an experiment that was not asked for"
        )
    if number % 1.0:
        raise CampaignError(f"{sheet.at(i, columns.trial)}: a trial's number is expected, got {number:g}")
    sigma = None if columns.sigma is None or failed else _sigma(sheet, i, columns.sigma)
    reason = None if columns.reason is None else sheet.text(i, columns.reason) or None
    x = _row(sheet, i, columns, setup)
    return Result(_where(sheet, i), int(number), value, sigma, x, _notes(sheet, i, columns), reason)


def _row(sheet: Sheet, i: int, columns: _Columns, setup: Setup) -> Array | None:
    if not columns.inputs:
        return None
    x = np.full(len(setup.names), np.nan)
    for column, j in columns.inputs.items():
        value = sheet.number(i, column)
        if value is not None:
            x[j] = value
    return x


def _check_complete(sheet: Sheet, i: int, columns: _Columns, x: Array, setup: Setup, outside: bool) -> None:
    """Fill in fixed inputs, and complain about what is missing or out of range."""
    places = {j: column for column, j in columns.inputs.items()}
    for j in np.flatnonzero(np.isnan(x)).tolist():
        if _varies(setup, j):
            raise CampaignError(f"{sheet.at(i, places[j])}: there is no value for this input")
        assert setup.inputs is not None
        x[j] = setup.inputs.items[j].value  # type: ignore[union-attr]  # only a fixed one does not vary
    wrong = None if setup.inputs is None else setup.inputs.problem(x, outside)
    if wrong is not None:
        j, phrase = wrong
        hint = " (allow it with --outside if it was meant)" if "not within" in phrase else ""
        raise CampaignError(f"{sheet.at(i, places[j])}: {phrase}{hint}")


def _varies(setup: Setup, j: int) -> bool:
    return setup.inputs is None or not isinstance(setup.inputs.items[j], Fixed)


def _sigma(sheet: Sheet, i: int, column: int) -> float | None:
    sigma = sheet.number(i, column)
    if sigma is not None and sigma < 0.0:
        raise CampaignError(f"{sheet.at(i, column)}: a standard deviation must not be negative, got {sigma:g}")
    return sigma


def _notes(sheet: Sheet, i: int, columns: _Columns) -> dict[str, str]:
    return {sheet.columns[j]: sheet.text(i, j) for j in columns.notes if sheet.text(i, j)}


def _where(sheet: Sheet, i: int) -> str:
    return f"{sheet.source}, row {sheet.lines[i]}"


def _near(name: str, columns: tuple[str, ...] | list[str]) -> str:
    close = difflib.get_close_matches(name.lower(), [column.lower() for column in columns], 1, 0.6)
    found = next((column for column in columns if close and column.lower() == close[0]), None)
    return f"; is it {found!r}? Rename it" if found else f"; its columns are {', '.join(columns[:6])}"
