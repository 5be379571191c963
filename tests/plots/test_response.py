"""Figures of the response show what the belief says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import plots
from ridgeway.belief.directions import directions
from ridgeway.belief.response_surface import coordinates, inputs
from ridgeway.belief.suspects import Suspect
from tests.plots.beliefs import fitted


def test_one_direction_shows_mean_band_and_observations(one: rw.Belief) -> None:
    band, mean, dots = plots.response(one).data
    found = directions(one)
    prediction = one.predict(inputs(found, one, np.asarray(mean.x)[:, None]))
    assert mean.y == pytest.approx(prediction.mean)
    m = len(mean.x)
    assert band.y[:m] == pytest.approx(prediction.mean + 1.96 * prediction.std)
    assert band.y[m:][::-1] == pytest.approx(prediction.mean - 1.96 * prediction.std)
    assert dots.x == pytest.approx(coordinates(found, one)[:, 0])
    assert dots.y == pytest.approx(one.y)


def test_two_directions_show_contours_and_a_surface(two: rw.Belief) -> None:
    contour, dots = plots.response(two).data
    surface = plots.surface(two).data[0]
    assert (contour.type, surface.type) == ("contour", "surface")
    assert np.asarray(surface.z) == pytest.approx(np.asarray(contour.z))
    assert dots.marker.color == pytest.approx(two.y)
    dark = two.y < 0.5 * (contour.zmin + contour.zmax)
    assert dots.marker.line.color == tuple(np.where(dark, "#ffffff", "#000000"))  # seen on ground of its own colour
    assert 0 < dark.sum() < two.y.size
    at = inputs(directions(two), two, np.array([[contour.x[7], contour.y[2]]]))
    assert np.asarray(contour.z)[2, 7] == pytest.approx(two.predict(at).mean[0])


def test_more_directions_show_pairs_on_one_scale_of_colours() -> None:
    belief = fitted(3, n=40)
    assert belief.rank == 3
    contours = [trace for trace in plots.response(belief).data if trace.type == "contour"]
    assert len(contours) == 3
    assert len({(trace.zmin, trace.zmax) for trace in contours}) == 1


def test_a_surface_needs_two_directions(one: rw.Belief) -> None:
    with pytest.raises(ValueError, match="at least two directions"):
        plots.surface(one)


def test_suspects_are_marked_and_leave_the_colours_to_the_others(one: rw.Belief, two: rw.Belief) -> None:
    for belief in (one, two):
        y = belief.y.copy()
        y[4] = 1e6
        suspect = Suspect(row=4, value=1e6, predicted=0.0, residual=1e6, noise_std=1e6, nats=1e3)
        spoiled = replace(belief, y=y, suspects=(suspect,))
        dots = plots.response(spoiled).data[-1]
        assert [i for i, text in enumerate(dots.text) if "suspected outlier" in text] == [4]
        assert [i for i, symbol in enumerate(dots.marker.symbol) if symbol == "x"] == [4]
        assert dots.marker.cmax is None or dots.marker.cmax < 100.0
