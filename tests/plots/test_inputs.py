"""Figures of the inputs."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import plots
from ridgeway.belief.directions import directions


def test_importance_sums_up_what_is_not_shown(two: rw.Belief) -> None:
    names = [f"input <{j}> & co" for j in range(5)]
    fig = plots.importance(two, names, top=2)
    dots = fig.data[0]
    assert set(dots.text) == {"input <0> & co", "input <1> & co"}
    assert f"(3 others together {1 - sum(dots.x):.0%})" in fig.layout.xaxis.title.text
    assert sum(plots.importance(two, names).data[0].x) == pytest.approx(1.0)
    shown = [a.text for a in fig.layout.annotations]
    assert "input &lt;0&gt; &amp; co" in shown


def test_weights_are_the_directions(two: rw.Belief) -> None:
    dots = plots.weights(two, 1).data[0]
    best = directions(two).weights[1]
    assert sorted(dots.x) == pytest.approx(sorted(best))
    assert np.all(np.asarray(dots.error_x.array) >= 0)
    assert np.all(np.asarray(dots.error_x.arrayminus) >= 0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        plots.weights(two, 2)


def test_directions_side_by_side_have_one_scale(two: rw.Belief) -> None:
    first, second = (plots.weights(two, i) for i in range(2))
    assert first.layout.xaxis.range == second.layout.xaxis.range
    for fig in (first, second):
        dots = fig.data[0]
        assert max(np.abs(dots.x) + np.asarray(dots.error_x.array)) <= fig.layout.xaxis.range[1]
