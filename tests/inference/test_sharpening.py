"""The last climbs of a search: through lower noise, from near the best modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE, Data
from ridgeway.inference import mode_search
from ridgeway.inference.laplace import Laplace
from ridgeway.inference.population import Optimum, Population, similarity
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT, Stage
from ridgeway.inference.sharpening import sharpened, siblings
from tests.inference.problems import model_posterior, run


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    """A function of one direction without noise."""
    noisy = model_posterior(4, 1, priors=Priors())
    X = noisy.data.Z
    y = np.sin(X @ np.array([1.0, -0.5, 0.3, 0.0]))
    return replace(noisy, data=Data(X, (y - y.mean()) / y.std(), np.full(X.shape[0], 1e-6)))


def mode(posterior: Posterior, noise: float, **scales: float) -> Laplace:
    theta = posterior.initial(np.array([0.7, -0.6, 0.1, 0.2]))
    theta[LOG_OUTPUT_SCALE] = scales.get("output", theta[LOG_OUTPUT_SCALE])
    lap = mode_search.climb_through(posterior, theta, (Stage(noise, 40),), DEFAULT.climbs)
    assert isinstance(lap, Laplace)
    return lap


def test_a_wide_mode_is_sharpened(posterior: Posterior) -> None:
    wide = mode(posterior, 0.8)
    after = sharpened(posterior, [Optimum(wide, found_at=7)], 20, run())
    assert after[0].laplace.theta[LOG_NOISE] == pytest.approx(np.log(0.01))
    assert after[0].laplace.log_evidence > wide.log_evidence + 10
    assert after[0].found_at == 7


def test_they_only_add() -> None:
    posterior = model_posterior(6, 2, priors=Priors())
    plain, _ = mode_search.search(posterior, 40, (), run())
    said: list[str] = []
    sharp = sharpened(posterior, plain, 2, SearchRun(np.random.default_rng(0), progress=said.append))
    assert sharp[0].laplace.log_evidence >= plain[0].laplace.log_evidence
    assert len(said) == DEFAULT.climbs.sharpening_rounds
    assert said[-1].startswith("2 climbs from near the best modes, best log evidence")
    assert sharpened(posterior, plain, 0, run()) == plain


def test_siblings_have_the_scales_of_the_best_and_less_noise(posterior: Posterior) -> None:
    best, other = mode(posterior, 0.06, output=0.5), mode(posterior, 0.3)
    found = siblings(posterior, best, [Optimum(other)], 4, run())
    assert found
    for optimum in found:
        assert optimum.laplace.theta[LOG_OUTPUT_SCALE] == best.theta[LOG_OUTPUT_SCALE]
        assert optimum.laplace.theta[LOG_SCALE] == best.theta[LOG_SCALE]
        assert optimum.laplace.theta[LOG_NOISE] <= best.theta[LOG_NOISE] + 1e-12
    assert found[0].laplace.theta[LOG_NOISE] == pytest.approx(best.theta[LOG_NOISE] - np.log(3.0))
    assert similarity(found[0].laplace, best) > 0.9


@pytest.mark.parametrize("n_climbs", [0, 4])
def test_there_are_none_where_the_noise_is_known_or_no_climbs_are_left(posterior: Posterior, n_climbs: int) -> None:
    best = mode(posterior, 0.1)
    known = replace(posterior, priors=replace(posterior.priors, log_noise=(-2.0, 0.0))) if n_climbs else posterior
    assert siblings(known, best, [Optimum(best)], n_climbs, run()) == []


def test_an_interruption_keeps_what_was_found() -> None:
    posterior = model_posterior(4, 2, priors=Priors())
    plain, _ = mode_search.search(posterior, 20, (), run())

    def interrupted(tasks: Sequence) -> list:
        raise KeyboardInterrupt

    one = SearchRun(np.random.default_rng(0), map_tasks=interrupted)
    assert sharpened(posterior, plain, 5, one) == list(Population(tuple(plain)).optima)
    assert one.interrupted
