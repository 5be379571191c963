"""The figure of a search for the best point."""

from __future__ import annotations

import numpy as np

from ridgeway import plots

Y = np.array([30.0, 5.0, 9000.0, 2.0, 8.0, 1.0, 25.0])


def test_the_best_so_far() -> None:
    dots, line = plots.best_so_far(Y, "minimize").data
    assert list(dots.y) == list(Y)
    assert list(line.y) == [30, 5, 5, 2, 2, 1, 1]
    assert list(plots.best_so_far(-Y, "maximize").data[1].y) == [-30, -5, -5, -2, -2, -1, -1]
    assert dots.text[0] == "observation 1"
    named = plots.best_so_far(Y, "minimize", [f"trial {i}" for i in range(7)], "strength [MPa]")
    assert named.layout.yaxis.title.text == "strength [MPa]"
    assert named.data[0].text[1] == "trial 1"


def test_outcomes_alone() -> None:
    fig = plots.outcomes(Y, output="yield <%>")
    assert [len(trace.y) for trace in fig.data] == [7]
    assert fig.layout.yaxis.title.text == "yield &lt;%&gt;"


def test_far_worse_outcomes_are_cut_off() -> None:
    low, high = plots.best_so_far(Y, "minimize").layout.yaxis.range
    assert low < 1 < 8 < high < 100
    low, high = plots.best_so_far(-Y, "maximize").layout.yaxis.range
    assert -100 < low < -8 < -1 < high
    assert plots.best_so_far(Y[[0, 1, 3]], "minimize").layout.yaxis.range is None
