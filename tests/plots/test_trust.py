"""Figures that say how far to trust a belief."""

from __future__ import annotations

import pytest

import ridgeway as rw
from ridgeway import plots
from ridgeway.belief.directions import UnavailableError
from ridgeway.belief.subspace import SubspaceUncertainty


def test_coverage_and_left_out_predictions(one: rw.Belief) -> None:
    assert plots.left_out(one).data[1].x == pytest.approx(one.leave_one_out().mean)
    assert plots.coverage(one).data[2].x == pytest.approx([0.5, 0.68, 0.8, 0.9, 0.95, 0.99])


def test_the_course_of_a_campaign(one: rw.Belief) -> None:
    steps = [SubspaceUncertainty(n, 90.0 / n, 1.0, 90.0) for n in range(1, 101)]
    course = plots.subspace(steps).data[1]
    assert len(course.x) == 60
    assert (course.x[0], course.x[-1]) == (1, 100)
    assert plots.subspace([steps[3], one]).data[1].x == (4, 35)
    with pytest.raises(UnavailableError, match="at least two"):
        plots.subspace([one])


def test_evidence_of_dimensions_and_optima(one: rw.Belief) -> None:
    with pytest.raises(UnavailableError, match=r"only one number of directions was tried; .*auto.* compares several"):
        plots.dimensions(one)
    belief = rw.fit(one.X, one.y, rw.Linear("auto"), n_starts=2, inference="map")
    dots = plots.dimensions(belief).data[0]
    evidence = belief.diagnostics.dimension_evidence
    assert dots.y == pytest.approx([evidence[int(d)] - max(evidence.values()) for d in dots.x])
    assert plots.optima(belief).data[0].y[0] == 0.0
