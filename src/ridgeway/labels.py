"""Labels of inputs for pictures: never cut, broken into lines instead."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from ridgeway import names as _names


def labels(names: Sequence[str] | None, D: int) -> tuple[str, ...]:
    """One label for each of ``D`` inputs: its name, or ``x0``, ``x1``, ..."""
    given = _names.checked(names, D)
    return tuple(f"x{j}" for j in range(D)) if given is None else given


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


def _cut(piece: str, width: int) -> list[str]:
    return [piece[i : i + width] for i in range(0, len(piece), width)]
