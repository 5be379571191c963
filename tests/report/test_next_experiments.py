"""What to run next, by what the learner looks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import report
from ridgeway.report import next_experiments, subject
from ridgeway.report.content import Section
from tests.report.subjects import learner_of


def section(learner: rw.ActiveLearner) -> Section:
    return next(s for s in report.content(learner, suggestions=2).sections if s.key == "next")


@pytest.mark.slow
def test_a_search_for_the_best_promises_improvement() -> None:
    learner = learner_of(10, goal="minimize", inference="map")
    found, expected = section(learner), np.exp(learner.preview(2).scores)
    assert "nats" not in found.intro
    assert found.intro.startswith("Together these are expected to improve on the least response so far by ")
    name, *cells = found.tables[0].rows[0]
    assert name == "expected improvement"
    np.testing.assert_allclose([float(cell) for cell in cells], expected, rtol=0.01)
    (picture,) = found.pictures
    assert picture.title == "Expected improvement"
    assert "nats" not in str(picture.figure)


@pytest.mark.slow
@pytest.mark.parametrize("acquisition", ["thompson", "random"])
def test_what_promises_no_number_says_what_chose(acquisition: str) -> None:
    found = section(learner_of(10, goal="minimize", inference="map", acquisition=acquisition))
    assert "nats" not in found.intro
    assert found.tables[0].rows[0] == ("chosen by", acquisition, acquisition)
    assert found.pictures == ()


def test_what_is_learned_is_counted_in_nats() -> None:
    found = section(learner_of(10, inference="map", fill_every=None))
    assert "expected to teach" in found.intro
    assert found.tables[0].rows[0][0] == "expected information, nats"
    assert found.pictures[0].title == "Expected information"


@pytest.mark.slow
def test_beside_the_output_that_is_optimised_others_say_so() -> None:
    aim = replace(
        subject.of(learner_of(10, goal="minimize", inference="map"), None, 2), output="cost [EUR]", unit="EUR"
    )
    beside = replace(
        subject.of(learner_of(10, inference="map"), None, 2),
        advice=("They are chosen to minimize cost [EUR].", "Go on."),
    )
    found = next_experiments.with_learner(replace(beside, suggested=aim.suggested), None, aim)
    assert "improve on the least cost [EUR] so far by " in found.intro
    assert found.intro.endswith("They are chosen to minimize cost [EUR]. Go on.")
    assert found.tables[0].rows[0][0] == "expected improvement, EUR"
