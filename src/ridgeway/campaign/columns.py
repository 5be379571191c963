"""Columns of sheets: the names that a campaign uses, which column of a sheet is what, and names that collide.

A column is what its exact name says; only a name that nothing has exactly may differ in capital letters. Wherever
two columns could be one input, or one column two, a sentence says so and nothing is taken.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ridgeway.errors import CampaignError

if TYPE_CHECKING:
    from ridgeway.campaign.setup import Setup
    from ridgeway.campaign.sheets import Sheet

TRIAL, SIGMA, REASON, STATE, CORRECTIONS = "trial", "sigma", "reason", "state", "corrections"
FAILED = "failed"  # written in place of a value
#: Columns of an export that are not read back.
OURS = (STATE, "expected", "asked by", "asked at", "settled by", "settled at", CORRECTIONS)
_OTHER_NAMES = ("id", "trial id")  # of the column of numbers, where no column has the name itself
_NOTE = re.compile(r"(.+) \(note(?: \d+)?\)")
_UNIT, _ROUND = re.compile(r"(.*?)\s*\[(.*)\]"), re.compile(r"(.*?)\s*\((.*)\)")

#: The place of an input; "trial" or "reason"; "output" or "sigma" with the name of an output.
Key = int | str | tuple[str, str]


@dataclass(frozen=True)
class Columns:
    """Which column of a sheet is what."""

    trial: int | None
    outputs: dict[str, int]  # output to column of the sheet, for those that it has
    sigmas: dict[str, int]
    reason: int | None
    state: int | None
    inputs: dict[int, int]  # column of the sheet to place of the input
    notes: dict[int, str]  # column to the note's name
    categories: dict[int, dict[str, int]]  # column of words to the place of each word's input


# -- names of a campaign -----------------------------------------------------------------------


def check_names(setup: Setup) -> None:
    """Refuse names with which a column of a sheet could be two things."""
    outputs = setup.outputs
    sigmas = {outputs.sigma_name(name).casefold() for name in outputs.names}
    reserved = {word.casefold() for word in (TRIAL, SIGMA, REASON, *OURS)} | sigmas
    output: set[str] = set()
    for item in outputs.items:
        words = {word.casefold() for word in (item.name.strip(), item.label)}
        if words & (reserved | output):
            raise CampaignError(f"output must not be called {item.name!r}: a sheet has a column of that name")
        output |= words
    for levels in setup.levels:
        if levels.name.strip().casefold() in reserved | output:
            raise CampaignError(f"a category must not be called {levels.name!r}: a sheet has another column so called")
    owners: dict[str, int] = {levels.name: levels.places[0] for levels in setup.levels}
    for j, (name, label) in enumerate(zip(setup.names, setup.labels, strict=True)):
        for word in _words(name, label):
            if word.casefold() in reserved | output:
                raise CampaignError(f"an input must not be called {name!r}: a sheet has another column {word!r}")
            i = owners.setdefault(word, j)
            if i != j:
                raise CampaignError(
                    f"inputs {setup.names[i]!r} and {name!r} would both have the column {word!r} in a sheet: rename one"
                )


def place(setup: Setup, name: str) -> int:
    """The place of the input that is called so, with or without its unit."""
    words = [_words(*pair) for pair in zip(setup.names, setup.labels, strict=True)]
    for alike in (str, str.casefold):
        found = [j for j, some in enumerate(words) if alike(name.strip()) in map(alike, some)]
        if len(found) == 1:
            return found[0]
        if found:
            raise CampaignError(f"input {name!r} may be {_either(setup.labels[j] for j in found)}: write it in full")
    raise CampaignError(f"inputs must be among {', '.join(setup.names[:6])}, got {name!r}")


def note_names(taken: Iterable[str], notes: Sequence[str]) -> list[str]:
    """Names of columns for notes beside columns with the names ``taken``; those that would be taken say they are notes.

    >>> note_names(["trial", "value"], ["operator", "Value"])
    ['operator', 'Value (note)']
    """
    used, named = {name.casefold() for name in taken}, []
    for note in notes:
        name, count = note, 1
        while name.casefold() in used:
            name, count = f"{note} (note)" if count == 1 else f"{note} (note {count})", count + 1
        used.add(name.casefold())
        named.append(name)
    return named


def all_words(setup: Setup) -> list[str]:
    """Every name that a column has because of what it is."""
    inputs = [word for pair in zip(setup.names, setup.labels, strict=True) for word in _words(*pair)]
    inputs += [levels.name for levels in setup.levels]
    sigmas = [setup.outputs.sigma_name(name) for name in setup.outputs.names]
    return [TRIAL, SIGMA, REASON, *OURS, *sigmas, *inputs, *setup.outputs.names, *setup.outputs.labels]


def _words(name: str, label: str) -> list[str]:
    return list(dict.fromkeys((label.strip(), name.strip())))


# -- columns of a sheet ------------------------------------------------------------------------


def columns(sheet: Sheet, setup: Setup, asked: bool = True) -> Columns:
    """What each column is; the rest are notes. Only rows that were ``asked`` for may call their trial otherwise."""
    words: dict[Key, list[str]] = {TRIAL: [TRIAL], REASON: [REASON]}
    for output in setup.outputs.items:
        words["output", output.name] = _words(output.name, output.label)
        words["sigma", output.name] = [setup.outputs.sigma_name(output.name)]
    words |= {j: _words(*pair) for j, pair in enumerate(zip(setup.names, setup.labels, strict=True))}
    found = _matched(sheet, words)
    _add_other_names(sheet, setup, found, asked)
    left = sorted(set(range(len(sheet.columns))) - set(found.values()))
    _check_units(sheet, setup, words, found, left)
    ours = {sheet.columns[c].casefold(): c for c in left if sheet.columns[c].casefold() in OURS}
    known = {word.casefold() for word in all_words(setup)}
    notes = {c: _note_name(sheet.columns[c], known) for c in left if c not in ours.values()}
    kinds = _categories(setup)
    categories = {c: kinds[name] for c, name in notes.items() if name in kinds}
    if setup.inputs is not None:  # words of a box are inputs; those of a pool also go with its points
        notes = {c: name for c, name in notes.items() if c not in categories}
    return Columns(
        found.get(TRIAL),
        {name: found["output", name] for name in setup.outputs.names if ("output", name) in found},
        {name: found["sigma", name] for name in setup.outputs.names if ("sigma", name) in found},
        found.get(REASON),
        ours.get(STATE),
        {c: key for key, c in found.items() if isinstance(key, int)},
        notes,
        categories,
    )


def _categories(setup: Setup) -> dict[str, dict[str, int]]:
    """For each column of words, the words and the places of the inputs of 0 and 1 that they became."""
    found: dict[str, dict[str, int]] = {
        levels.name: dict(zip(levels.words, levels.places, strict=True)) for levels in setup.levels
    }
    for j, label in enumerate(setup.labels if setup.inputs is None else ()):
        name, sign, word = label.partition("=")
        if sign:
            found.setdefault(name, {})[word] = j
    return found


def _matched(sheet: Sheet, words: dict[Key, list[str]]) -> dict[Key, int]:
    """The column of each key: exact names first, then whatever the capital letters."""
    found: dict[Key, int] = {}
    taken: set[int] = set()
    for alike in (str, str.casefold):
        owners: dict[str, list[Key]] = {}
        for key, some in words.items():
            for word in {alike(word): None for word in some}:
                owners.setdefault(word, []).append(key)
        for c, name in enumerate(sheet.columns):
            keys = owners.get(alike(name), []) if c not in taken else []
            if len(keys) > 1:
                meant = _either(words[key][0] for key in keys)
                raise CampaignError(
                    f"{sheet.source}, column {name!r}: it may be {meant}: write it as the campaign does"
                )
            for key in keys:
                if key in found:
                    first = sheet.columns[found[key]]
                    raise CampaignError(
                        f"{sheet.source}: columns {first!r} and {name!r} both stand for {words[key][0]!r}: "
                        "remove one, or rename it if it is a note"
                    )
                found[key] = c
                taken.add(c)
    return found


def _add_other_names(sheet: Sheet, setup: Setup, found: dict[Key, int], asked: bool) -> None:
    """Columns for which people have other words, where nothing else has them."""
    taken = set(found.values())
    free = {name.casefold(): c for c, name in enumerate(sheet.columns) if c not in taken}
    others: dict[Key, tuple[str, ...]] = {TRIAL: _OTHER_NAMES if asked else ()}
    if setup.outputs.only is not None:
        others["output", setup.outputs.only.name] = ("value",)
    for key, names in others.items():
        column = next((free[name] for name in names if name in free), None)
        if key not in found and column is not None:
            found[key] = column


def _check_units(
    sheet: Sheet, setup: Setup, words: dict[Key, list[str]], found: dict[Key, int], left: Sequence[int]
) -> None:
    """A column that has the name of an input or the output with another unit is a mistake, not a note."""
    missing = {_parts(some[0])[0].casefold(): key for key, some in words.items() if key not in found}
    for c in left:
        name = sheet.columns[c]
        bare, unit = _parts(name)
        if unit is None and _NOTE.fullmatch(name) is None:
            bare, unit = _parts(name, _ROUND)
        key = missing.get(bare.casefold())
        if key is None:
            continue
        label = words[key][0]
        own, what = _parts(label)[1], "input" if isinstance(key, int) else "output" if key[0] == "output" else "column"
        if unit is None or unit == own:
            advice = f"this {what} is called {label!r}: name the column so"
        elif own is None:
            advice = f"this {what} is {label!r}, without a unit: name the column so if its numbers are in the same unit"
        else:
            advice = f"this {what} is {label!r}: convert it to {own}, and name the column so"
        raise CampaignError(f"{sheet.source}, column {name!r}: {advice}")


def _parts(name: str, brackets: re.Pattern[str] = _UNIT) -> tuple[str, str | None]:
    """A name without its unit, and the unit."""
    found = brackets.fullmatch(name.strip())
    return (name.strip(), None) if found is None else (found[1], found[2])


def _note_name(name: str, known: set[str]) -> str:
    """The name that a note had before :func:`note_names` set it apart from a column."""
    found = _NOTE.fullmatch(name)
    return found[1] if found is not None and found[1].casefold() in known else name


def near(name: str, columns: Sequence[str]) -> str:
    """What a missing column is perhaps called in a sheet, as the end of a sentence."""
    close = difflib.get_close_matches(name.lower(), [column.lower() for column in columns], 1, 0.6)
    found = next((column for column in columns if close and column.lower() == close[0]), None)
    return f"; is it {found!r}? Rename it" if found else f"; its columns are {', '.join(columns[:6])}"


def _either(names: Iterable[str]) -> str:
    return " or ".join(repr(name) for name in names)
