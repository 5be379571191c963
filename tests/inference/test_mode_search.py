"""The search for modes: what it finds, when it ends, and what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ridgeway.errors import NumericalError
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import mode_search
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.inference.population import Optimum, Population
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT, Stage
from ridgeway.types import Array
from tests.inference.problems import model_posterior, run


def test_the_mode_near_the_truth_is_found() -> None:
    posterior = model_posterior(4, 2, n=60)
    found, made = mode_search.search(posterior, 40, (), run())
    assert made <= 40
    best = found[0].laplace
    for seed in range(5):
        theta = posterior.initial(0.5 * np.random.default_rng(seed).standard_normal(8))
        other = mode_search.climb_through(posterior, theta, (), DEFAULT.climbs)
        assert isinstance(other, Laplace)
        assert best.log_evidence > other.log_evidence - 0.01


NOISY = replace(model_posterior(4, 1), priors=replace(model_posterior(4, 1).priors, log_noise=(-1.5, 0.7)))
STAGES = (Stage(0.5, 20), Stage(0.15, 20), Stage(0.02, 40))


def climbed(stages: tuple[Stage, ...], known: Sequence[mode_search.Known] = ()) -> Laplace | Array:
    theta = NOISY.initial(np.full(4, 0.4))
    return mode_search.climb_through(NOISY, theta, stages, DEFAULT.climbs, known)


def test_a_climb_ends_at_its_last_noise_level() -> None:
    lap = climbed(STAGES)
    assert isinstance(lap, Laplace)
    assert lap.theta[LOG_NOISE] == pytest.approx(np.log(0.02))
    assert lap.decrement < 0.1


def test_a_climb_to_a_mode_that_was_scored_at_its_noise_level_ends_early() -> None:
    lap = climbed(STAGES)
    assert isinstance(lap, Laplace)
    same = climbed(STAGES, [mode_search.Known(lap.gp.parameters, frozenset([0.02]))])
    assert isinstance(same, np.ndarray)
    np.testing.assert_array_equal(same, lap.gp.parameters)
    assert isinstance(climbed(STAGES, [mode_search.Known(lap.gp.parameters, frozenset([0.1]))]), Laplace)
    elsewhere = np.array([1.0, -1.0, 1.0, -1.0])
    assert isinstance(climbed(STAGES, [mode_search.Known(elsewhere, frozenset([0.02]))]), Laplace)


def test_a_noise_that_is_fixed_stays() -> None:
    posterior = model_posterior(3, 1)
    lap = mode_search.climb_through(posterior, posterior.initial(np.full(3, 0.4)), (), DEFAULT.climbs)
    assert isinstance(lap, Laplace)
    assert lap.theta[LOG_NOISE] == -1.5


def optimum(noise: float, found_at: int, independent: int, rows: int = 2) -> Optimum:
    posterior = model_posterior(3, rows)
    theta = posterior.initial(np.random.default_rng(0).standard_normal(3 * rows))
    theta[LOG_NOISE] = np.log(noise)
    lap = approximate(posterior, posterior.evaluate(theta), np.arange(3 * rows))
    return Optimum(lap, 10, independent, found_at)


@pytest.mark.parametrize(
    ("best", "made", "ends"),
    [
        (optimum(0.01, 2, 8), 39, False),  # too early
        (optimum(0.01, 2, 8), 40, True),  # explains everything, and fresh starts agree
        (optimum(0.01, 2, 7), 40, False),
        (optimum(0.2, 2, 30), 40, False),  # fresh starts agree, but on a mode with noise
        (optimum(0.2, 2, 30, rows=1), 40, False),  # also on a single direction
    ],
)
def test_when_a_search_ends(best: Optimum, made: int, ends: bool) -> None:
    assert mode_search._is_settled(Population((best,)), made, DEFAULT.climbs) is ends


def test_known_modes_take_part() -> None:
    posterior = model_posterior(4, 2, n=60)
    best = mode_search.search(posterior, 40, (), run())[0][0].laplace
    found, made = mode_search.search(posterior, 1, [best], run(1))
    assert made == 1
    assert found[0].laplace.log_evidence >= best.log_evidence
    assert found[0].found_at == 0


def test_climbs_that_cannot_be_followed_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = model_posterior(2, 1)
    original, calls = mode_search.climb, []

    def some(*arguments: object) -> np.ndarray:
        calls.append(1)
        if len(calls) in (1, 2, 4):
            raise NumericalError("too large")
        return original(*arguments)

    monkeypatch.setattr(mode_search, "climb", some)
    watched = run()
    found, made = mode_search.search(posterior, 6, (), watched)
    assert made == 6
    assert watched.failures == 3
    assert sum(each.reached for each in found) == 3

    def none(*_: object) -> np.ndarray:
        raise NumericalError("too large")

    monkeypatch.setattr(mode_search, "climb", none)
    with pytest.raises(NumericalError, match="no start could be followed"):
        mode_search.search(posterior, 6, (), watched)
    assert watched.failures == 9


def test_an_interruption_returns_the_best_so_far() -> None:
    posterior = model_posterior(3, 1)
    calls = []

    def interrupted(tasks: list) -> list:
        calls.append(len(tasks))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return [task() for task in tasks]

    stopped = SearchRun(np.random.default_rng(0), map_tasks=interrupted)
    found, made = mode_search.search(posterior, 30, (), stopped)
    assert stopped.interrupted
    assert made == DEFAULT.climbs.generation
    assert len(found) > 0
    at_once = SearchRun(np.random.default_rng(0), map_tasks=lambda tasks: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        mode_search.search(posterior, 30, (), at_once)


def test_a_deadline_ends_a_search() -> None:
    late = SearchRun(np.random.default_rng(0), deadline=-np.inf)
    posterior = model_posterior(3, 1)
    known = mode_search.climb_through(posterior, posterior.initial(np.full(3, 0.4)), (), DEFAULT.climbs)
    assert mode_search.search(posterior, 30, [known], late)[1] == 0
