"""One belief for each output, of the trials that have it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ridgeway as rw
from ridgeway import Campaign
from ridgeway.campaign.belief_chain import observed, record_of
from tests.campaign import several


@pytest.fixture
def two(tmp_path: Path) -> Campaign:
    """Seven trials: the third has no cost yet, the fifth never will, and the costs came in another order."""
    campaign = several.create(tmp_path / "c.sqlite", n_initial=50)
    trials = campaign.ask(7)
    for trial in trials:
        campaign.tell(trial, {"yield": several.measured(trial)["yield"]})
    for trial in reversed(trials):
        if trial.id not in (3, 5):
            campaign.tell(trial, {"cost": several.measured(trial)["cost"]}, sigma={"cost": 0.05})
    campaign.fail(5, "no invoice")
    return campaign


def test_each_output_has_the_trials_that_were_told_it(two: Campaign) -> None:
    trials, space = two.all_trials(), two.setup.inputs.box  # type: ignore[union-attr]
    assert [t.id for t in observed(trials, "yield")] == [1, 2, 3, 4, 5, 6, 7]
    assert [t.id for t in observed(trials, "cost")] == [7, 6, 4, 2, 1]  # in the order in which they came
    record = record_of(two.setup, "cost", space, trials)
    np.testing.assert_array_equal(record.pending, [trials[2].x])
    np.testing.assert_array_equal(record.failed, [trials[4].x])
    np.testing.assert_allclose(record.noise, 0.05**2)
    assert len(record_of(two.setup, "yield", space, trials).pending) == 0


@pytest.mark.slow
def test_two_beliefs_are_what_two_single_campaigns_believe(two: Campaign, tmp_path: Path) -> None:
    X = np.random.default_rng(0).uniform(size=(6, 2))
    for name in ("yield", "cost"):
        alone = several.create(tmp_path / f"{name}.sqlite", outputs=[name], n_initial=50)
        told = observed(two.all_trials(), name)
        frame = {"a": [t.x[0] for t in told], "b": [t.x[1] for t in told], name: [t.values[name] for t in told]}
        if name == "cost":
            frame["sigma"] = [0.05] * len(told)
        alone.attach(pd.DataFrame(frame))
        mine, single = two.beliefs[name], alone.belief
        np.testing.assert_array_equal(mine.X, single.X)
        np.testing.assert_array_equal(mine.y, single.y)
        np.testing.assert_allclose(mine.predict(X).mean, single.predict(X).mean, rtol=1e-9)
        np.testing.assert_allclose(mine.bald(X), single.bald(X), rtol=1e-6)
        assert two.predict(X, output=name).mean.tolist() == mine.predict(X).mean.tolist()


@pytest.mark.slow
def test_a_fit_of_one_output_stays_when_the_other_has_news(two: Campaign) -> None:
    two.beliefs  # noqa: B018 - fitted and kept
    before = {fit.output: fit.identity for fit in two._store.snapshot().fits}
    two.tell(3, {"cost": 0.5})
    two.beliefs  # noqa: B018
    after = {fit.output: fit.identity for fit in two._store.snapshot().fits}
    assert before[0] == after[0]
    assert before[1] != after[1]
    summary = two.summary("cost")
    assert summary is not None
    assert summary["observations"] == 6


@pytest.mark.slow
def test_a_correction_makes_one_fit_obsolete(two: Campaign) -> None:
    first = two.output("yield").belief
    two.output("cost").belief  # noqa: B018
    two.correct(1, {"cost": 9.0}, "misread")
    assert two.output("yield").belief.log_evidence == first.log_evidence
    assert 9.0 in two.output("cost").belief.y


def test_the_belief_of_several_must_be_named(two: Campaign) -> None:
    with pytest.raises(rw.CampaignError, match="several outputs: name one of yield, cost"):
        two.belief  # noqa: B018
    with pytest.raises(rw.CampaignError, match="there is no output 'profit'; there are yield, cost"):
        two.predict([[0.5, 0.5]], output="profit")


def test_there_is_no_score_before_a_result_and_none_of_too_many_points(tmp_path: Path) -> None:
    two = several.create(tmp_path / "two.sqlite")
    with pytest.raises(rw.CampaignError, match="no score before the first result"):
        two.score([[0.5, 0.5]])
    with pytest.raises(ValueError, match="n must be at most 10,000 points"):
        two.ask(20_000)
