"""Names of inputs: checks, and how sentences, tables and figures show them (long ones on several lines)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence, Sized

_SHOWN = 3  # names in a repr


def checked(names: Sequence[str] | None, D: int | None = None) -> tuple[str, ...] | None:
    """Names as a tuple of distinct words, one for each of the ``D`` inputs."""
    if names is None:
        return None
    if not _is_list(names) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be a sequence of strings, got {names!r}")
    if D is not None and len(names) != D:
        raise ValueError(f"names must have one entry for each of the {D} inputs, got {len(names)}")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"names must differ from each other, got {name!r} twice")
        seen.add(name)
    return tuple(names)


def checked_units(units: Sequence[str | None] | None, D: int) -> tuple[str | None, ...] | None:
    """Units as a tuple with a word or ``None`` for each of the ``D`` inputs; ``None`` where no input has one."""
    if units is None:
        return None
    if not _is_list(units) or not all(unit is None or isinstance(unit, str) for unit in units):
        raise TypeError(f"units must be a sequence of strings or None, got {units!r}")
    if len(units) != D:
        raise ValueError(f"units must have one entry for each of the {D} inputs, got {len(units)}")
    return tuple(units) if any(unit is not None for unit in units) else None


def called(names: Sequence[str] | None, j: int) -> str:
    """What input ``j`` is called in a sentence: its name in quotes, or its number."""
    return str(j) if names is None else repr(names[j])


def listed(labels: Sequence[str]) -> str:
    """The first few of many labels."""
    return ", ".join(labels[:_SHOWN]) + (", ..." if len(labels) > _SHOWN else "")


def labels(names: Sequence[str] | None, D: int, units: Sequence[str | None] | None = None) -> tuple[str, ...]:
    """One label for each of ``D`` inputs: its name, or ``x0``, ``x1``, ..., and its unit.

    >>> labels(["share", "temperature"], 2, [None, "°C"])
    ('share', 'temperature [°C]')
    """
    given = checked(names, D)
    given = tuple(f"x{j}" for j in range(D)) if given is None else given
    known = checked_units(units, D)
    return given if known is None else tuple(map(with_unit, given, known))


def with_unit(name: str, unit: str | None) -> str:
    """A name with its unit, as it stands above a column."""
    return name if unit is None else f"{name} [{unit}]"


def lines(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width`` characters, broken after a space, _, -, . or / where there is one.

    >>> lines("temperature_of_the_second_heat_exchanger", 20)
    ['temperature_of_the_', 'second_heat_', 'exchanger']
    """
    pieces = [part for piece in re.findall(r"[^\s_\-./]*[\s_\-./]?", text) for part in _cut(piece, width)]
    result = [""]
    for piece in pieces:
        if len(result[-1]) + len(piece.rstrip()) > width and result[-1]:
            result.append("")
        result[-1] += piece
    return [line.strip() for line in result if line.strip()] or [text]


def marked_up(text: str, width: int) -> str:
    """``text`` in lines as plotly wants them, its own ``<`` and ``&`` shown as they are."""
    return "<br>".join(html.escape(line, quote=False) for line in lines(text, width))


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and isinstance(value, Sized) and not isinstance(value, str)


def _cut(piece: str, width: int) -> list[str]:
    return [piece[i : i + width] for i in range(0, len(piece), width)]
