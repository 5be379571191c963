"""Sections of a report: how the fit went, and what tables have."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import report
from ridgeway.report import sections
from ridgeway.report.facts import facts


def test_how_the_fit_went_is_no_share_of_searches(belief: rw.Belief) -> None:
    found = sections.searching(facts(belief, belief.labels))
    assert found.intro.startswith("The result is a mode")
    assert found.pictures[0].numbers is not None
    for text in (found.intro, found.pictures[0].numbers.caption):
        assert "ended" not in text
    n = len(belief.diagnostics.optima)
    assert found.pictures[0].numbers.caption == f"Log evidence of {n} mode{'s' * (n > 1)}, the best first."


@pytest.mark.parametrize(
    ("some", "of", "said"),
    [
        (1, 1, "The only share"),
        (3, 3, "All 3 shares"),
        (1, 9, "The largest of 9 shares"),
        (5, 9, "The 5 largest of 9 shares"),
    ],
)
def test_tables_say_which_rows_they_have(some: int, of: int, said: str) -> None:
    assert sections._largest(some, of, "share") == said


@pytest.mark.slow
def test_a_category_is_one_input_in_the_head() -> None:
    rng = np.random.default_rng(0)
    box = rw.Box([0] * 4, [1] * 4, names=["heat", "s=a", "s=b", "s=c"], categories=[[1, 2, 3]])
    learner = rw.ActiveLearner(box, rw.Linear(1), inference="map", n_initial=4)
    X = np.column_stack([rng.uniform(0, 1, 12), np.eye(3)[rng.integers(3, size=12)]])
    learner.tell(X, X[:, 0] + X[:, 1])
    content = report.content(learner, suggestions=0)
    assert "12 observations of 2 inputs" in content.subtitle
    assert "of the 2 inputs" in content.headline
