"""Results in a sheet, matched with the trials they belong to; every complaint names its cell."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeway.campaign.columns import FAILED, TRIAL, Columns, columns, near, place
from ridgeway.campaign.inputs import Fixed
from ridgeway.campaign.measurement import Measurement, Measurements
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.sheets import Sheet
from ridgeway.campaign.trial import Trial
from ridgeway.errors import CampaignError, RidgewayWarning
from ridgeway.text import numbers as written_numbers
from ridgeway.types import Array

_WITHOUT_VALUE = ("asked", "failed", "abandoned")  # states of an export's rows that have none


@dataclass(frozen=True)
class Result:
    """One row of a results file: what became of a trial."""

    where: str  # file and row
    trial: int | None  # of an experiment that was not asked for: its number elsewhere, if it has one
    results: Measurements  # by output; without a value, there is none
    x: Array | None  # (k,) inputs, as far as the sheet has them; NaN elsewhere
    notes: Mapping[str, str]
    reason: str | None = None
    ends: bool = False  # whether no further result will come


def results(sheet: Sheet, setup: Setup, labels: Callable[[], Collection[str]]) -> tuple[list[Result], int]:
    """Rows with an outcome, and how many have none yet; ``labels`` gives the names of a pool's columns of text."""
    header = columns(sheet, setup)
    if header.trial is None:
        raise CampaignError(
            f"{sheet.source} has no column {TRIAL!r}, which tells the trial's number as `ask` wrote it"
            f"{near(TRIAL, sheet.columns)}"
        )
    _value_columns(sheet, header, setup)
    _check_ours(sheet, header, setup, labels)
    found: dict[int, Result] = {}
    pending = 0
    for i in range(len(sheet.rows)):
        result = _result(sheet, i, header, setup)
        if result is None:
            pending += 1
            continue
        assert result.trial is not None
        earlier = found.setdefault(result.trial, result)
        if earlier is not result:
            raise CampaignError(f"{result.where}: trial {result.trial} stands in {earlier.where} already; keep one")
    return list(found.values()), pending


def experiments(sheet: Sheet, setup: Setup, outside: bool) -> list[Result]:
    """Rows as experiments of their own: all inputs and a value; rows that an export says have none are left out."""
    header = columns(sheet, setup, asked=False)
    at = _value_columns(sheet, header, setup)
    _check_inputs(sheet, header, setup)
    _check_rows(sheet)
    found = []
    for i in range(len(sheet.rows)):
        values = {name: sheet.number(i, column) for name, column in at.items()}
        told = {name: Measurement(v, _sigma(sheet, i, header, name)) for name, v in values.items() if v is not None}
        if not told:
            if header.state is not None and sheet.text(i, header.state) in _WITHOUT_VALUE:
                continue
            raise CampaignError(f"{sheet.at(i, min(at.values()))}: there is no value: fill it in, or remove the row")
        x = _row(sheet, i, header, setup)
        assert x is not None
        _check_complete(sheet, i, header, x, setup, outside)
        _warn_broken(_where(sheet, i), x, setup)
        found.append(Result(_where(sheet, i), _elsewhere(sheet, i, header), told, x, _notes(sheet, i, header)))
    if not found:
        raise CampaignError(f"{sheet.source} has no row with a value")
    return found


def moved(result: Result, trial: Trial, setup: Setup, outside: bool) -> Array | None:
    """Where the experiment was made if not where the trial is, else ``None``."""
    if result.x is None:
        return None
    stays = np.isnan(result.x) | np.isclose(result.x, trial.x, rtol=1e-9, atol=0.0)  # also what a workbook rounded
    x = np.where(stays, trial.x, result.x)
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
    wrong = setup.inputs.problem(x, outside=True)
    if wrong is None and setup.inputs.same(x, trial.x):
        return None  # also where it is out of range: that was allowed when it was told
    wrong = wrong or setup.inputs.problem(x, outside)
    if wrong is not None:
        j, phrase = wrong
        hint = "" if outside or "not within" not in phrase else " (allow it with --outside if it was meant)"
        raise CampaignError(f"{result.where}, column {setup.labels[j]!r}: {phrase}{hint}")
    _warn_broken(result.where, x, setup)
    return x


def _warn_broken(where: str, x: Array, setup: Setup) -> None:
    """Say so where an experiment was made against a constraint: it is data all the same."""
    broken = None if setup.inputs is None else setup.inputs.broken(x)
    if setup.inputs is not None and broken is not None:
        warnings.warn(
            f"{where} breaks the constraint '{setup.inputs.shown(broken)}'; it is kept as data, and proposals keep to "
            "the constraint",
            RidgewayWarning,
            stacklevel=4,
        )


def points(sheet: Sheet, setup: Setup) -> Array:
    """The inputs of each row, ``(n, k)``, for predictions."""
    header = point_columns(sheet, setup)
    _check_rows(sheet)
    rows = []
    for i in range(len(sheet.rows)):
        x = _row(sheet, i, header, setup)
        assert x is not None
        _check_complete(sheet, i, header, x, setup, outside=True)
        rows.append(x)
    return np.stack(rows)


def point_columns(sheet: Sheet, setup: Setup) -> Columns:
    """Which columns say the inputs of a point; one for each that varies is needed."""
    header = columns(sheet, setup, asked=False)
    _check_inputs(sheet, header, setup)
    return header


def settings(setup: Setup, inputs: Mapping[str, Any] | None) -> Array | None:
    """Values ``(k,)`` of inputs by name, NaN for those that are not named."""
    if inputs is None:
        return None
    x = np.full(len(setup.names), np.nan)
    words = {levels.name: levels for levels in setup.levels}
    for name, setting in inputs.items():
        if name in words:
            x[list(words[name].places)] = words[name].row(setting)
            continue
        x[place(setup, name)] = finite(setting, f"input {name!r}")
    return x


def finite(value: Any, name: str) -> float:
    """A finite number."""
    try:
        plain = written_numbers.decimal(value) if isinstance(value, str) else value
        number = float(np.asarray(plain, dtype=float).reshape(()))
    except (TypeError, ValueError):
        raise CampaignError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number):
        raise CampaignError(
            f"{name} must be finite, got {number}; an experiment that gave no value is recorded with `fail`"
        )
    return number


def _check_inputs(sheet: Sheet, header: Columns, setup: Setup) -> None:
    """Raise unless there is a column for every input that varies."""
    there = set(_places(header))
    words = {j: levels.name for levels in setup.levels for j in levels.places}
    missing = [words.get(j, name) for j, name in enumerate(setup.names) if j not in there and _varies(setup, j)]
    if missing:
        hint = near(missing[0], sheet.columns)
        raise CampaignError(f"{sheet.source} has no column {missing[0]!r}, which is an input of this campaign{hint}")


def _check_rows(sheet: Sheet) -> None:
    if not sheet.rows:
        raise CampaignError(f"{sheet.source} has no rows below its column names")


def _value_columns(sheet: Sheet, header: Columns, setup: Setup) -> dict[str, int]:
    """The column of each output that the sheet has; it must have one."""
    if not header.outputs:
        others = [name for c, name in enumerate(sheet.columns) if c not in header.inputs]
        first = setup.outputs.names[0]
        wanted = " or ".join(repr(name) for name in setup.outputs.names)
        raise CampaignError(f"{sheet.source} has no column {wanted} for the results{near(first, others)}")
    return header.outputs


def _check_ours(sheet: Sheet, header: Columns, setup: Setup, labels: Callable[[], Collection[str]]) -> None:
    """Refuse a sheet that has other numbers where this campaign's inputs should be: it belongs to another campaign."""
    if header.inputs or header.categories:
        return
    strange = [repr(name) for c, name in header.notes.items() if _all_numbers(sheet, c)]
    if strange and not set(labels()) & set(header.notes.values()):
        raise CampaignError(
            f"{sheet.source} has none of this campaign's inputs ({', '.join(setup.names[:6])}), but other numbers "
            f"({', '.join(strange[:6])}): is it of another campaign? If not, add the inputs as `ask` wrote them, "
            "or remove the other columns"
        )


def _all_numbers(sheet: Sheet, column: int) -> bool:
    """Whether a column holds numbers and nothing else."""
    try:
        return sum(sheet.number(i, column) is not None for i in range(len(sheet.rows))) > 0
    except CampaignError:
        return False


def _result(sheet: Sheet, i: int, header: Columns, setup: Setup) -> Result | None:
    """The outcome in a row, or ``None`` if there is none yet."""
    assert header.trial is not None
    told = _told(sheet, i, header)
    if not told:
        return None
    number = _trial(sheet, i, header.trial)
    if number is None:
        raise CampaignError(
            f"{sheet.at(i, header.trial)}: there is a result but no trial number: "
            "write the number that `ask` gave, or use `attach` for an experiment that was not asked for"
        )
    reason = None if header.reason is None else sheet.text(i, header.reason) or None
    x = _row(sheet, i, header, setup)
    words = {header.notes[column] for column in header.categories if column in header.notes}
    # A trial of a pool has its words already, as they were before a spreadsheet wrote them.
    notes = {name: text for name, text in _notes(sheet, i, header).items() if name not in words}
    return Result(_where(sheet, i), number, told, x, notes, reason)


def _told(sheet: Sheet, i: int, header: Columns) -> dict[str, Measurement]:
    """The results in a row; an output whose cell is empty is not among them."""
    found = {}
    for name, column in header.outputs.items():
        if _is_failed(sheet, i, column):
            found[name] = Measurement(None)
            continue
        try:
            value = sheet.number(i, column)
        except CampaignError as error:
            raise CampaignError(f"{error}; leave it empty if it is still pending, or write {FAILED!r}") from None
        if value is not None:
            found[name] = Measurement(value, _sigma(sheet, i, header, name))
    return found


def _is_failed(sheet: Sheet, i: int, column: int) -> bool:
    cell = sheet.rows[i][column]
    return isinstance(cell, str) and cell.strip().lower() == FAILED


def _trial(sheet: Sheet, i: int, column: int) -> int | None:
    number = sheet.number(i, column)
    if number is not None and number % 1.0:
        raise CampaignError(f"{sheet.at(i, column)}: a trial's number is expected, got {number:g}")
    return None if number is None else int(number)


def _elsewhere(sheet: Sheet, i: int, header: Columns) -> int | None:
    """The number that an experiment has in another campaign, from a file of its own making."""
    try:
        return None if header.trial is None else _trial(sheet, i, header.trial)
    except CampaignError:
        return None  # some other name of an experiment


def _row(sheet: Sheet, i: int, header: Columns, setup: Setup) -> Array | None:
    if not header.inputs and not header.categories:
        return None
    x = np.full(len(setup.names), np.nan)
    for column, j in header.inputs.items():
        value = sheet.number(i, column)
        if value is not None:
            x[j] = value
    for column, kinds in header.categories.items():
        if sheet.text(i, column):
            _set_category(sheet, i, column, kinds, x)
    return x


def _set_category(sheet: Sheet, i: int, column: int, kinds: Mapping[str, int], x: Array) -> None:
    """Inputs of 0 and 1 from the word that they stand for."""
    text = sheet.text(i, column)
    word = next((kind for kind in kinds if kind == text or _same_number(kind, text)), None)
    if word is None:
        raise CampaignError(f"{sheet.at(i, column)}: one of {', '.join(list(kinds)[:6])} is expected, got {text!r}")
    for kind, j in kinds.items():
        value = float(kind == word)
        if not np.isnan(x[j]) and x[j] != value:
            raise CampaignError(
                f"{sheet.at(i, column)}: is {text!r}, but the column '{sheet.columns[column]}={kind}' disagrees"
            )
        x[j] = value


def _same_number(a: str, b: str) -> bool:
    """Whether two words are one number, which a spreadsheet may write in another way."""
    try:
        return float(a) == float(b)
    except ValueError:
        return False


def _places(header: Columns) -> dict[int, int]:
    """The column that says each input."""
    words = {j: column for column, kinds in header.categories.items() for j in kinds.values()}
    return words | {j: column for column, j in header.inputs.items()}


def _check_complete(sheet: Sheet, i: int, header: Columns, x: Array, setup: Setup, outside: bool) -> None:
    """Fill in fixed inputs, and complain about what is missing or out of range."""
    places = _places(header)
    for j in np.flatnonzero(np.isnan(x)).tolist():
        if _varies(setup, j):
            raise CampaignError(f"{sheet.at(i, places[j])}: there is no value for this input")
        assert setup.inputs is not None
        x[j] = setup.inputs.columns[j].value  # type: ignore[union-attr]  # only a fixed one does not vary
    wrong = None if setup.inputs is None else setup.inputs.problem(x, outside)
    if wrong is not None:
        j, phrase = wrong
        hint = " (allow it with --outside if it was meant)" if "not within" in phrase else ""
        raise CampaignError(f"{sheet.at(i, places[j])}: {phrase}{hint}")


def _varies(setup: Setup, j: int) -> bool:
    return setup.inputs is None or not isinstance(setup.inputs.columns[j], Fixed)


def _sigma(sheet: Sheet, i: int, header: Columns, output: str) -> float | None:
    if output not in header.sigmas:
        return None
    sigma = sheet.number(i, header.sigmas[output])
    if sigma is not None and sigma < 0.0:
        where = sheet.at(i, header.sigmas[output])
        raise CampaignError(f"{where}: a standard deviation must not be negative, got {sigma:g}")
    return sigma


def _notes(sheet: Sheet, i: int, header: Columns) -> dict[str, str]:
    return {name: sheet.text(i, c) for c, name in header.notes.items() if sheet.text(i, c)}


def _where(sheet: Sheet, i: int) -> str:
    return f"{sheet.source}, row {sheet.lines[i]}"
