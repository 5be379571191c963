"""The sections about inputs' parts and the output's distribution."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import report
from ridgeway.report import averages
from tests.belief.averaged import fitted


def by_key(shown: report.Content) -> dict:
    return {section.key: section for section in shown.sections}


@pytest.mark.slow
def test_a_report_says_how_much_each_input_matters() -> None:
    found = by_key(report.content(fitted(1)))
    explained, spread = found["sensitivity"], found["distribution"]
    assert [p.key for p in explained.pictures] == ["sobol", "effect0", "effect1", "effect2"]
    assert explained.pictures[0].numbers.rows[0][0] == "speed [m/s]"
    assert "\nu1 = " in explained.code
    assert "speed [m/s]" in explained.code
    rows = {row[0]: row[1:] for row in spread.pictures[0].numbers.rows}
    assert float(rows["5 % quantile"][0]) < float(rows["mean"][0]) < float(rows["95 % quantile"][0])


@pytest.mark.slow
def test_the_points_of_a_pool_are_averaged_over() -> None:
    points = np.random.default_rng(0).uniform(0, 1, (30, 2)) ** 4  # far from uniform in their box
    learner = rw.ActiveLearner(rw.Pool(points), rw.Linear(1), n_initial=6, inference="map")
    learner.tell(points[:12], points[:12].sum(axis=1))
    spread = by_key(report.content(learner, suggestions=0))["distribution"]
    assert spread.title == "The output over the pool"
    assert float(spread.pictures[0].numbers.rows[0][1]) == pytest.approx(points.sum(axis=1).mean(), abs=0.02)


def test_what_would_take_long_is_left_out_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averages, "_WORK", 1.0)
    assert "belief.sensitivity() computes it" in by_key(report.content(fitted(1)))["sensitivity"].missing


@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
def test_too_few_observations_are_said() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    few = rw.fit(X, X[:, 0], rw.Linear(1), n_starts=1, inference="map")
    assert "at least" in by_key(report.content(few))["distribution"].missing
