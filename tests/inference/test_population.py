"""Populations of modes: equal ones are one, and offspring has rows of its parents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ridgeway.gp.length_scales import Diagonal
from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_SCALE
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.inference.population import Optimum, Population, merge, same, similarity
from ridgeway.inference.settings import DEFAULT
from tests.inference.problems import model_posterior

D = 5


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    return model_posterior(D, 2, n=30)


def at(posterior: Posterior, A: np.ndarray, log_evidence: float | None = None) -> Laplace:
    theta = posterior.initial(A.ravel())
    lap = approximate(posterior, posterior.evaluate(theta), np.arange(A.size))
    return lap if log_evidence is None else replace(lap, log_evidence=log_evidence)


def rows(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((2, D))


def turned(A: np.ndarray, seed: int = 9) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((2, 2)))[0] @ A


def test_similarity_is_free_of_rotation_and_scale(posterior: Posterior) -> None:
    A, B = rows(0), rows(1)
    assert Linear(2).similarity(A.ravel(), turned(A).ravel()) == pytest.approx(1.0)
    assert Linear(2).similarity(A.ravel(), 3.0 * turned(A).ravel()) == pytest.approx(1.0)
    between = Linear(2).similarity(A.ravel(), B.ravel())
    assert 0.0 <= between < 0.9
    assert between == pytest.approx(Linear(2).similarity(turned(B, 3).ravel(), A.ravel()))
    cosine = np.sum((A.T @ A) * (B.T @ B)) / np.linalg.norm(A.T @ A) / np.linalg.norm(B.T @ B)
    assert between == pytest.approx(cosine)
    assert Linear(1).similarity(np.zeros(3), np.zeros(3)) == 1.0
    assert Linear(1).similarity(np.zeros(3), np.ones(3)) == 0.0
    assert Diagonal().similarity(np.zeros(3), np.array([0.0, 0.5, 0.0])) == pytest.approx(np.exp(-0.5))
    assert similarity(at(posterior, A), at(posterior, turned(A))) == pytest.approx(1.0)


def test_a_rotated_mode_is_the_same(posterior: Posterior) -> None:
    A = rows(0)
    assert same(at(posterior, A), at(posterior, turned(A)))
    assert not same(at(posterior, A), at(posterior, rows(1), log_evidence=at(posterior, A).log_evidence))
    assert not same(at(posterior, A), replace(at(posterior, A), log_evidence=at(posterior, A).log_evidence + 1.0))


def test_merging_counts(posterior: Posterior) -> None:
    A, B = at(posterior, rows(0), -10.0), at(posterior, rows(1), -5.0)
    optima = merge([], Optimum(A, 2, 1, 7))
    optima = merge(optima, Optimum(B, 1, 1, 8))
    optima = merge(optima, Optimum(replace(at(posterior, turned(rows(0))), log_evidence=-9.9), 3, 2, 4))
    assert [o.laplace.log_evidence for o in optima] == [-5.0, -9.9]
    assert (optima[1].reached, optima[1].independent, optima[1].found_at) == (5, 3, 4)


def test_a_population_keeps_the_best_distinct_modes(posterior: Posterior) -> None:
    population = Population(settings=replace(DEFAULT.population, size=3))
    for i, seed in enumerate([0, 1, 2, 3, 0, 2]):
        found = Optimum(at(posterior, turned(rows(seed), i), log_evidence=-float(seed) - i / 10), 1, 1, i + 1)
        population = population.with_mode(found)
    assert [round(o.laplace.log_evidence, 1) for o in population.optima] == [0.0, -1.1, -2.2]
    assert [o.reached for o in population.optima] == [2, 1, 2]
    assert [o.found_at for o in population.optima] == [1, 2, 3]


@pytest.mark.parametrize("crossed", [0.0, 1.0])
def test_offspring(posterior: Posterior, crossed: float) -> None:
    population = Population(settings=replace(DEFAULT.population, crossed=crossed))
    parents = [rows(0), rows(1)]
    for i, A in enumerate(parents):
        population = population.with_mode(Optimum(at(posterior, A, -float(i))))
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta = population.offspring(posterior, rng)
        np.testing.assert_array_equal(theta[2 * D :], posterior.initial(np.zeros(2 * D))[2 * D :])
        A = theta[: 2 * D].reshape(2, D)

        def outside(row: np.ndarray, basis: np.ndarray) -> float:
            return float(np.linalg.norm(row - row @ np.linalg.pinv(basis) @ basis) / np.linalg.norm(row))

        apart = [[outside(row, parent) for parent in parents] for row in A]
        if crossed:  # each row lies in the span of one parent
            assert all(min(each) < 1e-10 for each in apart)
        else:
            assert min(map(max, zip(*apart, strict=True))) > 0.01


def test_starts_near_modes_are_disturbed_and_nearer_the_better_ones(posterior: Posterior) -> None:
    laps = [at(posterior, rows(seed), log_evidence=-float(seed)) for seed in (0, 1)]
    population = Population(tuple(map(Optimum, laps)), replace(DEFAULT.population, last_shake=(0.01, 0.05)))
    rng = np.random.default_rng(0)
    starts = np.array([population.near(posterior, rng) for _ in range(90)])
    scale = posterior.scale(laps[0].theta[LOG_SCALE])
    away = np.array([[np.std((start - lap.theta)[: 2 * D]) for lap in laps] for start in starts])
    assert np.all(starts[:, 2 * D :] == laps[0].theta[2 * D :])
    assert np.all((away.min(axis=1) > 0.0) & (away.min(axis=1) < 0.1 * scale))
    assert 45 < np.sum(away[:, 0] < away[:, 1]) < 75  # weights 1 and 1/2: 60 of 90


def test_a_climb_that_met_a_known_mode_is_counted_for_that_mode_alone(posterior: Posterior) -> None:
    population = Population()
    for seed in (0, 1):
        population = population.with_mode(Optimum(at(posterior, rows(seed), log_evidence=-float(seed)), 1, 1, seed + 1))
    population = population.with_meeting(turned(rows(1)).ravel(), fresh=True)
    population = population.with_meeting(rows(1).ravel(), fresh=False)
    assert [(o.reached, o.independent) for o in population.optima] == [(1, 1), (3, 2)]
    assert population.with_meeting(rows(5).ravel(), fresh=True) == population  # it is no longer there
