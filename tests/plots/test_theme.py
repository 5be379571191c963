"""Colours."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import ridgeway as rw
from ridgeway import plots, report
from ridgeway.plots import theme


def test_light_and_dark_differ(one: rw.Belief) -> None:
    light = plots.response(one)
    dark = plots.themed(light, dark=True)
    assert light.layout.template.layout.paper_bgcolor == "#ffffff"
    assert dark.layout.template.layout.paper_bgcolor != "#ffffff"


def _contrast(one: str, other: str) -> float:
    """The ratio of two colours by WCAG 2.2."""

    def luminance(color: str) -> float:
        parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_stand_out_in_both_themes() -> None:
    style = (Path(report.__file__).parent / "page.css").read_text()
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in style.split("@media", 2)[:2])
    assert set(light) == set(dark) >= {"paper", "ink", "soft", "link", "warn", "warn-line", "tint"}
    for page, is_dark in ((light, False), (dark, True)):
        words = [("ink", "paper"), ("ink", "tint"), ("ink", "warn"), ("soft", "paper"), ("soft", "tint")]
        for front, back in [*words, ("link", "paper")]:
            assert _contrast(page[front], page[back]) >= 4.5, (front, back)
        for back in ("paper", "tint", "warn"):  # the outline of what has the focus, the edge of a warning
            assert _contrast(page["warn-line"], page[back]) >= 3.0
        look = theme.template(is_dark).layout
        assert look.paper_bgcolor == page["paper"]
        assert _contrast(look.font.color, page["paper"]) >= 4.5
        for color in (theme.BLUE, theme.VERMILLION, theme.GREEN, theme.PURPLE, theme.GREY):
            assert _contrast(color, page["paper"]) >= 3.0, color
    assert _contrast("#000000", theme.ORANGE) >= 4.5
