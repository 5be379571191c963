"""Control characters are shown, not obeyed."""

from __future__ import annotations

import json

from ridgeway.text.terminal import visible, visible_json


def test_everything_that_steers_a_terminal_is_shown() -> None:
    codes = [*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066, 0x200F]
    for code in codes:
        assert visible(f"a{chr(code)}b").isprintable()
    assert visible("°C, 1\t2\nü 日本") == "°C, 1\t2\nü 日本"


def test_json_means_the_same_afterwards() -> None:
    data = {"name\x9b": "a\x1b[31m\u202e\x7f"}
    text = visible_json(json.dumps(data, ensure_ascii=False))
    assert text.isprintable()
    assert json.loads(text) == data
