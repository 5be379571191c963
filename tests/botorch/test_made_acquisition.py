"""BoTorch acquisitions in learners and campaigns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("botorch", reason="BoTorch is not installed: pip install 'ridgeway[botorch]'")

from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound, qKnowledgeGradient
from botorch.acquisition.logei import qLogExpectedImprovement

import ridgeway as rw
from ridgeway.active.acquisition import outlook_of
from ridgeway.botorch import EmbeddingGP, MadeAcquisition
from tests.botorch.cases import LOWER, UPPER, D, case, points

BOX = rw.Box([0.0] * 3, [1.0] * 3)
OPTIONS: dict[str, Any] = {
    "embedding": rw.Linear(1), "inference": "map", "n_initial": 4, "fill_every": None, "effort": "quick",
}  # fmt: skip


def f(x: np.ndarray) -> float:
    return float(np.sin(2.0 * x[0] + x[1]))


def upper(model: EmbeddingGP) -> UpperConfidenceBound:
    return UpperConfidenceBound(model, beta=4.0)


def expected(model: EmbeddingGP) -> LogExpectedImprovement:
    return LogExpectedImprovement(model, best_f=model.train_targets.max())


def sampled(model: EmbeddingGP) -> qLogExpectedImprovement:
    return qLogExpectedImprovement(model, best_f=model.train_targets.mean())


def test_scores_are_those_of_botorch() -> None:
    outlook, X = outlook_of(case().belief), points(5).numpy()
    prediction = case().belief.predict(X)
    np.testing.assert_allclose(MadeAcquisition(upper).scores(outlook, X), prediction.mean + 2.0 * prediction.std)
    values, gradients = MadeAcquisition(sampled).scores_with_gradient(outlook, X)
    h = 1e-7 * (np.arange(5 * D).reshape(5, D) - 7.0)
    made = MadeAcquisition(sampled)  # the seed is the belief's: another one samples the same
    ahead, behind = made.scores(outlook, X + h), made.scores(outlook, X - h)
    np.testing.assert_allclose((gradients * h).sum(1), 0.5 * (ahead - behind), rtol=1e-3, atol=1e-10)
    np.testing.assert_allclose(values, made.scores(outlook, X))


def test_pending_points_count() -> None:
    outlook, x = outlook_of(case().belief), np.full((1, D), 0.5 * (LOWER + UPPER))
    # An analytic acquisition knows no pending points: its model takes them for observed at their means.
    prediction = case().belief.predict(x)
    variance, noise = prediction.variance[0], case().belief.noise_variance
    left = variance - variance**2 / (variance + noise)
    found = MadeAcquisition(upper).scores(outlook.given(x), x)[0]
    assert found == pytest.approx(prediction.mean[0] + 2.0 * np.sqrt(left))
    # One that samples has them beside the point: at the same place nothing is gained, elsewhere something is.
    other = np.full((1, D), UPPER)
    made, given = MadeAcquisition(sampled), outlook.given(x)
    assert made.scores(given, other) > made.scores(given, x)


@pytest.mark.slow
def test_a_loop_climbs() -> None:
    learner = rw.learn(f, BOX, 8, acquisition=expected, **OPTIONS)
    assert learner.y[-4:].max() > 0.95  # the largest value is 1


def told(space: Any, acquisition: Any) -> rw.ActiveLearner:
    learner = rw.ActiveLearner(space, acquisition=acquisition, **OPTIONS)
    X = BOX.uniform(6, np.random.default_rng(0))
    learner.tell(X, [f(x) for x in X], outside=True)
    return learner


@pytest.mark.slow
def test_the_same_seed_gives_the_same_choices() -> None:
    first, again = (told(BOX, sampled).ask(2) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first[0] - first[1]).max() > 1e-3


def test_a_pool_is_scored_whole() -> None:
    pool = rw.Pool(np.random.default_rng(0).uniform(size=(200, 3)))
    learner = told(pool, upper)
    prediction = learner.belief.predict(pool.points)
    best = int(np.argmax(prediction.mean + 2.0 * prediction.std))
    np.testing.assert_array_equal(learner.ask(), pool.points[best])


def test_a_stored_learner_needs_the_function_again() -> None:
    learner = told(BOX, upper)
    state = json.loads(json.dumps(learner.to_dict()))
    assert state["acquisition"] == "botorch:upper"
    np.testing.assert_array_equal(rw.ActiveLearner.from_dict(state, acquisition=upper).ask(), learner.ask())
    without = rw.ActiveLearner.from_dict(state)
    with pytest.raises(ValueError, match="hand it over again"):
        without.ask()
    with pytest.raises(ValueError, match="must be the one that was stored, 'botorch:upper', got 'botorch:expected'"):
        rw.ActiveLearner.from_dict(state, acquisition=expected)


def test_a_campaign_asks_by_it(tmp_path: Path) -> None:
    path = tmp_path / "campaign.sqlite"
    campaign = rw.Campaign.create(path, "climb", BOX, acquisition=upper, **OPTIONS)
    for trial in campaign.ask(5):
        campaign.tell(trial, f(trial.x))
    looking = rw.Campaign.open(path)
    assert len(looking.trials) == 5
    with pytest.raises(ValueError, match="hand it over again"):
        looking.ask()
    with pytest.raises(rw.CampaignError, match="must be the one that was stored"):
        rw.Campaign.open(path, acquisition=expected)
    trial = rw.Campaign.open(path, acquisition=upper).ask()
    outlook = outlook_of(campaign.belief)
    elsewhere = BOX.uniform(200, np.random.default_rng(1))
    made = MadeAcquisition(upper)
    assert made.scores(outlook, trial.x[None])[0] >= made.scores(outlook, elsewhere).max() - 1e-3


@pytest.mark.parametrize(
    ("acquisition", "message"),
    [
        (lambda model: 3.0, "makes a BoTorch acquisition, got 3.0"),
        (lambda model: qKnowledgeGradient(model, num_fantasies=2), "one shot"),
    ],
)
def test_what_scores_no_points_is_refused(acquisition: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        MadeAcquisition(acquisition).scores(outlook_of(case().belief), points(2).numpy())


def test_an_acquisition_that_is_made_already_is_refused() -> None:
    made = UpperConfidenceBound(case().model(), beta=1.0)
    with pytest.raises(TypeError, match="must be a function that makes a UpperConfidenceBound"):
        rw.ActiveLearner(BOX, acquisition=made)
