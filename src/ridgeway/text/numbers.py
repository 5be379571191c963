"""Written numbers: text as people write numbers, read as one number or refused.

Python's own ``float`` and ``int`` also take the underscores of a program's source: they read ``1_5``, a slip of the
decimal point or comma, as 15.
"""

from __future__ import annotations

import re

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?[0-9]+")


def decimal(text: str) -> float:
    """The number that ``text`` is.

    >>> decimal(" -2.5e3 ")
    -2500.0
    """
    if _DECIMAL.fullmatch(text.strip()) is None:
        raise ValueError(f"a number is expected, got {text!r:.80}")
    return float(text)


def whole(text: str) -> int:
    """The whole number that ``text`` is.

    >>> whole("12")
    12
    """
    if _WHOLE.fullmatch(text.strip()) is None:
        raise ValueError(f"a whole number is expected, got {text!r:.80}")
    return int(text)
