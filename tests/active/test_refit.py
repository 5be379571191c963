"""``active.refit``: when modes are searched for again, and from how many starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active import refit
from ridgeway.active.history import Record
from ridgeway.active.refit import Refit, RefitSettings, searches, settings_of
from ridgeway.belief.fit_task import full_search
from ridgeway.gp import kernels
from tests.active.learner_problem import f, make, run

BOX = rw.Box([-1.0, -1.0], [1.0, 1.0])
X = BOX.uniform(14, np.random.default_rng(0))
Y = np.sin(2.0 * X[:, 0] - X[:, 1]) + 0.01 * np.random.default_rng(1).standard_normal(14)


def rules(settings=refit.DEFAULT, embedding=rw.Linear(1)):  # noqa: B008 - frozen
    return Refit(embedding, kernels.resolve("se"), "map", "mgp", None, BOX.bounds, 0, settings)


def record(n, y=Y):
    return Record.empty(BOX).with_outcomes(X[:n], y[:n])


@pytest.fixture(scope="module")
def ten():
    return rules()(record(10), None, 0).belief


@pytest.fixture
def fits(monkeypatch):
    """Arguments of each fit, which is not made."""
    seen = []
    monkeypatch.setattr(refit, "fit", lambda X, y, embedding, **options: seen.append((embedding, options)))
    return seen


def test_data_that_grow_call_for_a_search():
    assert not rules().has_grown(11, 10)
    assert rules().has_grown(12, 10)
    assert rules().has_grown(1, 0)
    assert not rules(RefitSettings(growth=2.0)).has_grown(20, 10)


def test_an_observation_far_from_its_prediction_calls_for_a_search(ten):
    surprising = Y.copy()
    surprising[10] += 5.0
    assert not rules().is_lost(ten)
    assert not rules().calls_for_search(record(11), ten, 10)
    assert rules().calls_for_search(record(11, surprising), ten, 10)
    assert not rules(RefitSettings(surprise=1e6)).calls_for_search(record(11, surprising), ten, 10)


def test_known_noise_excuses_a_surprise(ten):
    surprising = Y.copy()
    surprising[10] += 5.0
    noisy = record(10).with_outcomes(X[10], surprising[10], noise_variance=25.0)
    assert not rules().calls_for_search(noisy, ten, 10)


def test_a_belief_that_is_lost_cannot_be_surprised(ten):
    surprising = Y.copy()
    surprising[10] += 5.0
    lost = rules(RefitSettings(lost_share=0.0))
    assert lost.is_lost(ten)
    assert not lost.calls_for_search(record(11, surprising), ten, 10)
    assert lost.calls_for_search(record(12, surprising), ten, 10)


def test_a_full_search_and_a_fit_that_follows_known_modes(ten, fits):
    embedding = rw.Linear("auto")
    first = rules(embedding=embedding)(record(10), None, 0)
    follows = rules(embedding=embedding)(record(11), ten, 10)
    again = rules(embedding=embedding)(record(12), ten, 10)
    assert [found.searched_at for found in (first, follows, again)] == [10, 10, 12]
    assert [model for model, _ in fits] == [embedding, rw.Linear(1), embedding]
    assert [options["n_starts"] for _, options in fits] == [full_search(10), refit.DEFAULT.fresh_starts, 36]
    assert [options["initial"] is None for _, options in fits] == [True, False, False]
    assert len({options["random_state"] for _, options in fits}) == 3


def test_starts_grow_with_the_data_up_to_what_a_fit_makes():
    assert searches(3) == 10
    assert searches(25) == 75
    assert searches(10_000) == full_search(10_000)
    assert searches(1, RefitSettings(least_starts=5)) == 5


def test_effort_says_how_many_climbs():
    quick, normal, thorough = (settings_of(effort) for effort in ("quick", "normal", "thorough"))
    assert normal == refit.DEFAULT
    assert searches(40, quick) < searches(40, normal) < searches(40, thorough, "thorough")
    assert quick.fresh_starts < normal.fresh_starts < thorough.fresh_starts < settings_of(0.5).fresh_starts
    with pytest.raises(ValueError, match="effort must be one of 'quick', 'normal', 'thorough' or seconds above 0"):
        settings_of("hard")


def test_effort_reaches_each_fit(ten, fits):
    for effort in ("thorough", 0.5):
        replace(rules(settings_of(effort)), effort=effort)(record(11), ten, 10)
    assert [options["effort"] for _, options in fits] == ["thorough", 0.5]
    assert [options["n_starts"] for _, options in fits] == [60, 100_000]


@pytest.mark.slow
def test_each_fit_goes_on_with_the_modes_that_the_last_one_kept():
    box = rw.Box([-1.0] * 8, [1.0] * 8)
    points = box.uniform(21, np.random.default_rng(0))
    values = np.sin(2.0 * points[:, 0] - points[:, 1]) + points[:, 2] * points[:, 3]
    nested = Refit(rw.Linear(2), kernels.resolve("se"), "nested", "mgp", None, box.bounds, 0)
    first = nested(Record.empty(box).with_outcomes(points[:20], values[:20]), None, 0).belief
    assert len(first.population) > len(first.components)
    none = replace(nested, settings=RefitSettings(fresh_starts=1))
    second = none(Record.empty(box).with_outcomes(points, values), first, 20).belief
    # A single climb finds one mode: the others are those that were kept.
    assert len(second.population) >= len(first.population) / 2


@pytest.mark.usefixtures("little_effort")
def test_modes_are_searched_again_as_data_grow_or_surprise():
    learner = make()
    run(learner, 10)
    _ = learner.belief
    searched = learner._searched_at
    run(learner, 1)
    _ = learner.belief
    assert learner._searched_at in (searched, 11)
    quiet = learner._searched_at
    x = learner.ask()
    learner.tell(x, f(x) + 100.0)
    _ = learner.belief
    assert learner._searched_at == 12 != quiet


@pytest.mark.usefixtures("little_effort")
def test_searching_again_at_the_end():
    learner = make()
    run(learner, 12)
    learner._belief, learner._searched_at = learner.belief, 11
    last = learner.search_again()
    assert learner.to_dict()["searched_at"] == 12
    assert learner.search_again() is last is learner.belief


@pytest.mark.slow
def test_a_learner_that_was_lost_finds_its_way_when_more_is_known() -> None:
    f = rw.testfunctions.from_model(10, 2, random_state=0)
    rng = np.random.default_rng(0)
    ball = rng.standard_normal((500, 10))
    ball *= rng.uniform(size=(500, 1)) ** 0.1 / np.linalg.norm(ball, axis=1, keepdims=True)
    space = rw.Pool(np.vstack([rng.uniform(-1, 1, (500, 10)), ball]))
    X = space.points[space.spread(60, rng)]
    y = f(X) + 0.1 * rng.standard_normal(60)
    all_is_noise = rw.Priors(log_noise=(-0.05, 0.01))
    lost = rw.fit(X[:45], y[:45], rw.Linear(2), bounds=space.bounds, priors=all_is_noise, n_starts=2)
    assert lost.noise_variance > 0.8 * np.var(y[:45])
    learner = rw.ActiveLearner(space, rw.Linear(2))
    learner.tell(X, y)
    learner.resume(learner.record, 60, lost, 45)
    assert learner.belief.noise_variance < 0.3 * np.var(y)
