"""The section of a report about the best point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ridgeway import report
from ridgeway.report.best_point import may_be_luck
from tests.report.subjects import NASTY, learner_of


@pytest.mark.slow
def test_a_report_of_a_search_says_where_the_best_is() -> None:
    learner = learner_of(10, goal="maximize", inference="map")
    content = report.content(learner, suggestions=0)
    section = next(s for s in content.sections if s.key == "best")
    best = learner.best()
    assert section.intro.startswith(f"The largest response is predicted at observation {best.index + 1}: ")
    assert {row[0] for row in section.tables[0].rows} == {"a", "b", NASTY}
    assert section.pictures[0].figure is not None


@pytest.mark.slow
def test_a_report_of_what_was_learned_has_no_best() -> None:
    content = report.content(learner_of(10, inference="map"), suggestions=0)
    assert all(section.key != "best" for section in content.sections)


@pytest.mark.slow
def test_luck_needs_noise() -> None:
    """Two outcomes that differ by much more than the noise do not differ by luck."""
    learner = learner_of(10, goal="maximize", inference="map")
    order = np.argsort(learner.y)
    best = replace(learner.best(), index=int(order[0]), observed_index=int(order[-1]))
    assert not may_be_luck(learner, best)
    learner.record = replace(learner.record, noise=np.full(10, 1.0))
    assert may_be_luck(learner, best)
