"""Pictures of averages: what is drawn is what was found."""

from __future__ import annotations

import numpy as np

from ridgeway import plots
from tests.belief.averaged import fitted


def test_indices_are_drawn_with_their_intervals() -> None:
    found = fitted(1).sensitivity(rivals=False, n_draws=8)
    fig = plots.sensitivity(found, top=2)
    total, first = fig.data
    np.testing.assert_allclose(total.x, np.sort(found.total.mean)[::-1][:2])
    np.testing.assert_allclose(first.x, found.first.mean[found.ranking[:2]])
    np.testing.assert_allclose(total.x + total.error_x.array, found.total.high[found.ranking[:2]])
    assert "2 others not shown" in fig.layout.xaxis.title.text
    assert "95 %" in total.hovertemplate
    assert [note.text for note in fig.layout.annotations] == ["speed [m/s]", "angle"]


def test_an_effect_is_a_line_in_its_band() -> None:
    found = fitted(1).effect("speed", n_points=6, rivals=False, n_draws=8)
    band, line = plots.effect(found, "strength").data
    np.testing.assert_allclose(line.y, found.mean)
    np.testing.assert_allclose(band.y, np.concatenate([found.high, found.low[::-1]]))


def test_a_distribution_has_its_marks() -> None:
    found = fitted(1).distribution(rivals=False, n_draws=8)
    fig = plots.distribution(found, "strength", bins=10)
    assert len(fig.data[0].x) == 10
    marks = {note.text: note.x for note in fig.layout.annotations}
    assert marks["mean"] == float(found.mean.mean)
    assert marks["5 %"] < marks["mean"] < marks["95 %"]
