"""Independent searches: how many are made, and what is kept of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ridgeway.errors import NumericalError
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import mode_search, rank_modes
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.inference.population import Optimum
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT
from tests.inference.problems import model_posterior


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    return model_posterior(5, 2, n=30, priors=replace(Priors(), log_output_scale=(0.0, 0.0), log_scale=(0.0, 0.0)))


def at(posterior: Posterior, seed: int, noise: float, log_evidence: float) -> Laplace:
    theta = posterior.initial(np.random.default_rng(seed).standard_normal(10))
    theta[LOG_NOISE] = np.log(noise)
    lap = approximate(posterior, posterior.evaluate(theta), np.arange(10))
    return replace(lap, log_evidence=log_evidence)


class Searches:
    """Searches that find what they are told to, without climbs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *found: Laplace | None) -> None:
        self.found, self.known, self.sizes = iter(found), [], []
        monkeypatch.setattr(mode_search, "search", self.search)
        monkeypatch.setattr(rank_modes, "_climb_evidence", lambda posterior, lap, *_: (lap, lap))

    def search(
        self, posterior: Posterior, n_climbs: int, known: list[Laplace], run: SearchRun
    ) -> tuple[list[Optimum], int]:
        self.known.append(len(known))
        self.sizes.append(n_climbs)
        found = next(self.found)
        if found is None:
            raise NumericalError("nothing could be followed")
        return [Optimum(found, 3, 1, found_at=2)], n_climbs


def searched(posterior: Posterior, n_climbs: int = 80, **more: object) -> tuple[list[Optimum], int, SearchRun]:
    settings = replace(DEFAULT, climbs=replace(DEFAULT.climbs, sharpening_climbs=0))
    run = SearchRun(np.random.default_rng(0), settings, **more)  # type: ignore[arg-type]
    optima, _, made = rank_modes.find(posterior, n_climbs, 4, 6, [], [], run)
    return optima, made, run


CLEAR, LITTLE, MUCH = 0.02, 0.1, 0.5


@pytest.mark.parametrize(
    ("found", "n"),
    [
        ([(0, CLEAR)], 1),
        ([(0, LITTLE), (0, LITTLE)], 2),  # two searches agree
        ([(0, LITTLE), (1, LITTLE), (1, LITTLE)], 3),
        ([(0, MUCH), (0, MUCH), (0, MUCH)], 3),  # on much noise three must agree
        ([(0, MUCH), (1, MUCH), (2, MUCH), (3, MUCH)], 4),  # none do
        ([(0, MUCH), (1, CLEAR)], 2),
    ],
)
def test_searches_are_made_until_one_is_trusted(
    posterior: Posterior, monkeypatch: pytest.MonkeyPatch, found: list[tuple[int, float]], n: int
) -> None:
    modes = [at(posterior, seed, noise, float(seed)) for seed, noise in found]
    searches = Searches(monkeypatch, *modes)
    optima, made, _ = searched(posterior)
    assert searches.sizes == [20] * n
    assert made == 20 * n
    assert searches.known == [0] * n  # later searches know nothing of earlier ones
    best = max(modes, key=lambda lap: lap.log_evidence)
    assert optima[0].laplace is best
    first = next(i for i, (seed, _) in enumerate(found) if seed == max(seed for seed, _ in found))
    assert optima[0].found_at == 20 * first + 2


def test_a_better_mode_of_another_rank_with_much_noise_leaves_the_best_in_doubt(
    posterior: Posterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear, noisy = at(posterior, 0, CLEAR, 0.0), at(posterior, 1, MUCH, 3.0)
    for rival, n in ((noisy, 3), (replace(noisy, log_evidence=-3.0), 1)):
        searches = Searches(monkeypatch, clear, clear, clear)
        rank_modes.find(posterior, 80, 4, 6, [], [], SearchRun(np.random.default_rng(0)), [Optimum(rival)])
        assert len(searches.sizes) == n


def test_a_search_that_fails_leaves_what_the_others_found(
    posterior: Posterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = at(posterior, 0, LITTLE, 0.0)
    Searches(monkeypatch, good, None, good)
    optima, made, run = searched(posterior)
    assert optima[0].laplace is good
    assert made == 40
    assert run.failures == 1
    Searches(monkeypatch, None)
    with pytest.raises(NumericalError, match="nothing could be followed"):
        searched(posterior)


def test_a_deadline_ends_it_after_one_search(posterior: Posterior, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = Searches(monkeypatch, at(posterior, 0, MUCH, 0.0))
    said: list[str] = []
    searched(posterior, deadline=0.0, progress=said.append)
    assert searches.sizes == [20]
    assert said == ["search 1 of at most 4: evidence of mode 1 of 1"]


@pytest.mark.slow
def test_the_best_of_all_searches_is_found() -> None:
    """Whatever their order, two searches of few climbs are at least as good as the first alone."""
    posterior = model_posterior(6, 2, n=40, priors=Priors())
    settings = replace(DEFAULT, agreeing_searches=(9, 9), climbs=replace(DEFAULT.climbs, explains_all=1e-9))
    best = []
    for n in (1, 2):
        run = SearchRun(np.random.default_rng(3), settings)
        optima, _, made = rank_modes.find(posterior, 10 * n, n, 3, [], [], run)
        assert made == 10 * n
        best.append(optima[0].laplace.log_evidence)
    assert best[1] >= best[0] - 1e-6
