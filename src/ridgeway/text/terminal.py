"""Text for a terminal: control characters in names and notes are shown, not obeyed."""

from __future__ import annotations

import re

# C0 without tab and line feed, DEL, C1, and the marks that turn the direction of writing round.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""``text`` with every control character as its code; line feeds and tabs stay.

    >>> print(visible("red: \x1b[31m, back: \u202e"))
    red: \x1b[31m, back: \u202e
    """
    return _CONTROLS.sub(lambda found: _code(found[0], "\\x{:02x}"), text)


def visible_json(text: str) -> str:
    """JSON with every control character as its code, which means the same."""
    return _CONTROLS.sub(lambda found: _code(found[0], "\\u{:04x}"), text)


def _code(character: str, short: str) -> str:
    number = ord(character)
    return short.format(number) if number < 0x100 else f"\\u{number:04x}"
