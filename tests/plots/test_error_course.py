"""The figure of the error of predictions over a campaign."""

from __future__ import annotations

import pytest

from ridgeway import plots
from ridgeway.belief.directions import UnavailableError
from ridgeway.plots.error_course import ErrorCourse, ErrorStep


def step(n: int, error: float) -> ErrorStep:
    return ErrorStep(n, error, 0.5 * error, 2.0 * error)


def test_so_far_ahead_and_wanted() -> None:
    course = ErrorCourse((step(6, 4.0), step(9, 2.0)), (step(12, 1.5), step(20, 1.0)), 1.2, "strength [MPa]", "MPa")
    drawn = {trace.name: trace for trace in plots.errors(course).data}
    assert (drawn["so far"].x, drawn["so far"].y) == ((6, 9), (4.0, 2.0))
    assert (drawn["with more experiments"].x, drawn["with more experiments"].y) == ((9, 12, 20), (2.0, 1.5, 1.0))
    assert (drawn["wanted"].x, drawn["wanted"].y) == ((6, 20), (1.2, 1.2))
    assert drawn["80 % interval"].y == (8.0, 4.0, 1.0, 2.0)  # there above, and back below
    layout = plots.errors(course).layout
    assert layout.yaxis.title.text == "typical error, MPa"
    assert layout.yaxis.type is None


def test_errors_that_span_decades_are_on_a_log_scale() -> None:
    assert plots.errors(ErrorCourse((step(6, 40.0), step(9, 2.0)))).layout.yaxis.type == "log"
    assert plots.errors(ErrorCourse((step(6, 4.0),), target=0.1)).layout.yaxis.type == "log"
    assert plots.errors(ErrorCourse((step(6, 4.0), step(9, 2.0)))).layout.yaxis.type is None


def test_without_any_fit_there_is_none() -> None:
    with pytest.raises(UnavailableError, match="no fit has said yet"):
        plots.errors(ErrorCourse(()))
