"""Integrals of a belief against sums of its predictions over many points."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import qmc

import ridgeway as rw
from ridgeway.belief.measures import choose
from ridgeway.gp.marginals import Fixed
from tests.belief.averaged import LOWER, NAMES, UPPER, at_steps, fitted, ridge, stepped_box

#: Of the number of points that predictions are summed over.
SOBOL = 16


def summed(belief: rw.Belief, measure, log2: int = SOBOL) -> float:
    q = qmc.Sobol(4, seed=np.random.default_rng(0)).random_base2(log2)
    return float(belief.predict(measure.from_uniform(q), marginal="map").mean.mean())


@pytest.mark.parametrize(("d", "rel"), [(1, 1e-6), (2, 1e-6), (3, 1e-4)])
def test_a_box_is_the_mean_of_predictions(d: int, rel: float) -> None:
    belief = fitted(d)
    if len(belief.components) > 1:
        pytest.skip("several modes")
    assert belief.integrate(n_draws=2).mean == pytest.approx(summed(belief, choose(belief, None)), rel=rel)


@pytest.mark.parametrize(
    "over",
    [
        rw.measures.Gaussian(0.5 * (LOWER + UPPER), std=(UPPER - LOWER) / 8),
        {"speed": stats.triang(0.3, 2.0, 6.0), "gap": stats.beta(2, 2)},
        rw.measures.Uniform(LOWER + 0.1 * (UPPER - LOWER), 0.5 * (LOWER + UPPER)),
    ],
)
def test_other_measures_are_means_of_predictions(over) -> None:
    belief = fitted(1)
    assert belief.integrate(over, n_draws=2).mean == pytest.approx(summed(belief, choose(belief, over)), rel=1e-5)


def test_points_are_averaged() -> None:
    belief = fitted(2)
    X = np.random.default_rng(1).uniform(LOWER, UPPER, (50, 4))
    found = belief.integrate(X)
    assert found.mean == pytest.approx(belief.predict(X).mean.mean(), rel=1e-9)
    w = np.arange(50.0)
    weighted = belief.integrate(rw.measures.Points(X, w))
    assert weighted.mean == pytest.approx(w @ belief.predict(X).mean / w.sum(), rel=1e-9)


def test_another_kernel_is_a_quadrature() -> None:
    belief = fitted(1, "matern52")
    assert belief.integrate(n_draws=2).mean == pytest.approx(summed(belief, choose(belief, None)), rel=1e-6)


def test_length_scales_have_closed_forms() -> None:
    first = fitted(1)
    belief = rw.fit(first.X, first.y, rw.Diagonal(), bounds=(LOWER, UPPER), n_starts=2, inference="map")
    assert belief.integrate(n_draws=2).mean == pytest.approx(summed(belief, choose(belief, None)), rel=1e-5)


def test_the_interval_holds_the_truth_and_is_not_wide() -> None:
    belief = fitted(1)
    found = belief.integrate()
    q = qmc.Sobol(4, seed=np.random.default_rng(1)).random_base2(14)
    truth = ridge(LOWER + q * (UPPER - LOWER)).mean()
    assert abs(found.mean - truth) < 4.0 * found.std
    assert 0.0 < found.function_std <= found.std < 0.02
    low, high = found.interval(0.5)
    assert high - low == pytest.approx(1.349 * found.std, rel=1e-3)


def test_one_point_is_a_prediction() -> None:
    belief = fitted(1)
    x = belief.X[:1] * 0.9
    assert belief.integrate(x).function_std == pytest.approx(np.sqrt(belief.predict(x, "map").variance[0]), rel=1e-6)


def test_a_box_with_names_in_another_order() -> None:
    belief = fitted(1)
    order = [2, 0, 3, 1]
    half = 0.5 * (LOWER + UPPER)
    box = rw.Box(LOWER[order], half[order], names=[NAMES[j] for j in order])
    same = belief.integrate(rw.measures.Uniform(LOWER, half), n_draws=2)
    assert belief.integrate(box, n_draws=2).mean == same.mean


def test_an_input_that_never_varied_stays_where_it_was() -> None:
    X = fitted(1).X.copy()
    X[:, 3] = 0.25
    belief = rw.fit(X, ridge(X), rw.Linear(1), n_starts=2, inference="map")
    found = choose(belief, None)
    assert found.lower[3] == found.upper[3] == 0.25


@pytest.mark.parametrize(
    ("over", "message"),
    [
        (rw.Box([0.0, 0.0], [1.0, 1.0]), "about the 4 inputs of the belief, got one about 2"),
        (rw.Box(LOWER, UPPER, names=["a", "b", "c", "d"]), "a box of the inputs speed, angle, load, ..., got a, b, c"),
        ([[np.nan] * 4], "over must be finite"),
        ([[0.0] * 3], "over must have 4 columns as the data had, got 3"),
        ({"zz": stats.norm()}, "over must be a dictionary of inputs and their distributions: input must be one of"),
        (rw.Pool(np.zeros((3, 4)), names=["a", "b", "c", "d"]), "over must be a pool of the inputs speed.*, got a, b"),
        ({"spede": stats.norm()}, "input must be one of speed, angle, load, ... or its number, got 'spede'"),
        ({7: stats.norm()}, "a number from 0 to 3, got 7"),
    ],
)
def test_what_does_not_match_the_belief_is_refused(over, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(1).integrate(over)


def test_a_measure_beyond_the_box_is_warned_about() -> None:
    with pytest.warns(rw.RidgewayWarning, match=r"speed \[m/s\] and 3 more goes from 0 to 30.*extrapolates"):
        fitted(1).integrate(rw.Box(LOWER, UPPER + 2 * (UPPER - LOWER)), n_draws=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(1).integrate(rw.Box(LOWER, UPPER), n_draws=2)


def named(first: rw.Belief, embedding: str) -> rw.Belief:
    if embedding == "directions":
        return first
    return rw.fit(first.X, first.y, rw.Diagonal(), bounds=(LOWER, UPPER), names=NAMES, n_starts=2, inference="map")


@pytest.mark.parametrize("embedding", ["directions", "length scales"])
def test_inputs_in_steps_are_averaged_over_their_values(embedding: str) -> None:
    belief, (X, w) = named(fitted(1), embedding), at_steps()
    expected = float(w @ belief.predict(X, marginal="map").mean)
    assert belief.integrate(stepped_box(), n_draws=2).mean == pytest.approx(expected, rel=1e-7)
    order = [2, 0, 3, 1]  # in another order the values are those of the same inputs
    box = rw.Box(
        LOWER[order], UPPER[order], names=[NAMES[j] for j in order], steps=[20.0, 4.0, None, None], categories=()
    )
    assert belief.integrate(box, n_draws=2).mean == pytest.approx(expected, rel=1e-7)
    drawn = belief.predict(stepped_box().uniform(20_000, np.random.default_rng(0)), marginal="map").mean
    assert expected == pytest.approx(drawn.mean(), abs=5.0 * drawn.std() / np.sqrt(20_000))


def test_very_many_steps_are_as_good_as_none() -> None:
    fine = rw.Box(LOWER, UPPER, names=NAMES, steps=[1e-9, None, None, None])
    found = fitted(1).integrate(fine, n_draws=2).mean
    assert found == pytest.approx(fitted(1).integrate(n_draws=2).mean, rel=1e-9)


@pytest.mark.parametrize("embedding", ["directions", "length scales"])
def test_discrete_distributions_are_averaged_over_their_values(embedding: str) -> None:
    belief = named(fitted(1), embedding)
    over = {"speed": stats.binom(10, 0.4), "gap": stats.bernoulli(0.3), "load": stats.randint(10, 31)}
    t, w = np.polynomial.legendre.leggauss(24)
    rows = [(k, x, n, g) for k in range(11) for x in t for n in range(10, 31) for g in (0, 1)]
    weights = [
        over["speed"].pmf(k) * 0.5 * v / 21.0 * over["gap"].pmf(g)
        for k in range(11) for v in w for _ in range(10, 31) for g in (0, 1)
    ]  # fmt: skip
    expected = float(np.array(weights) @ belief.predict(np.array(rows, dtype=float), marginal="map").mean)
    assert belief.integrate(over, n_draws=2).mean == pytest.approx(expected, rel=1e-7)


@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
@pytest.mark.parametrize("embedding", ["directions", "length scales"])
@pytest.mark.parametrize("heavy", [stats.cauchy(5.0), stats.lognorm(2.0), stats.t(2, 5.0, 1.0), stats.pareto(1.5)])
def test_heavy_tails_are_sampled(heavy, embedding: str) -> None:
    belief = named(fitted(1), embedding)
    found = belief.integrate({"speed": heavy}, n_draws=2)
    q = qmc.Sobol(4, seed=np.random.default_rng(0)).random_base2(15)
    X = LOWER + q * (UPPER - LOWER)
    X[:, 0] = heavy.ppf(np.clip(q[:, 0], 1e-15, 1.0 - 1e-15))
    assert 0.0 <= found.sampling_std < 0.003
    expected = belief.predict(X, marginal="map").mean.mean()
    assert found.mean == pytest.approx(expected, abs=5.0 * found.sampling_std + 5e-4)
    spread = belief.distribution({"speed": heavy}, rivals=False, n_draws=40)
    assert float(spread.mean.low) - 0.05 < expected < float(spread.mean.high) + 0.05


@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
@pytest.mark.parametrize("embedding", ["directions", "length scales"])
@pytest.mark.parametrize("heavy", [stats.cauchy(5.0), stats.lognorm(2.0), stats.uniform(0.0, 1e7)])
def test_what_reaches_too_far_to_be_split_is_refused(heavy, embedding: str) -> None:
    belief = named(fitted(1), embedding)
    for call in (belief.sensitivity, lambda *given, **options: belief.effect("gap", *given, **options)):
        with pytest.raises(ValueError, match=r"over reaches too far for .*, farthest in input speed.*: cut"):
            call({"speed": heavy}, rivals=False, n_draws=2)


@cache
def known() -> rw.Belief:
    """A belief that is surer of the function than any sum over points is."""
    X = LOWER + qmc.Sobol(4, seed=0).random(128) * (UPPER - LOWER)
    y = ridge(X) + 1e-6 * np.random.default_rng(0).standard_normal(128)
    return rw.fit(X, y, rw.Linear(1), bounds=(LOWER, UPPER), names=NAMES, n_starts=2, inference="map")


@pytest.mark.parametrize(
    ("texts", "n", "least"),
    [
        (["speed + 5 angle <= 6"], 18, 8.0),  # times smaller than the error of 2048 draws
        (["speed + 5 angle + 0.3 load = 10", "gap <= 0.5"], 2**17, 2.0),
    ],
)
def test_the_error_of_points_in_a_box_with_constraints_is_small_and_reported(
    texts: list[str], n: int, least: float
) -> None:
    belief, box = known(), rw.Box(LOWER, UPPER, names=NAMES, constraints=texts)
    if n < 64:
        X = LOWER + qmc.Sobol(4, seed=5).random_base2(n) * (UPPER - LOWER)
        X = X[box.contains(X)]
    else:
        X = box.uniform(n, np.random.default_rng(5))
    values = np.concatenate([belief.predict(part, marginal="map").mean for part in np.array_split(X, 16)])
    found = [belief.integrate(box, n_draws=1, random_state=seed) for seed in range(16)]
    errors = np.array([one.mean for one in found]) - values.mean()
    assert np.sqrt(np.mean(errors**2)) < values.std() / np.sqrt(2048) / least
    z = errors / np.array([one.std for one in found])
    assert 0.3 < np.sqrt(np.mean(z**2)) < 1.7
    assert np.abs(z).max() < 4.5
    for one in found:
        assert 0.0 < one.sampling_std <= one.function_std <= one.std
    spread = belief.distribution(box, rivals=False, n_draws=8)
    assert abs(float(spread.mean.mean) - values.mean()) < 5.0 * float(spread.mean.std)
    assert not spread.over_points


def test_what_is_exact_has_no_sampling_error() -> None:
    assert fitted(1).integrate(n_draws=2).sampling_std == 0.0
    assert fitted(1).integrate(fitted(1).X, n_draws=2).sampling_std == 0.0


def test_a_pool_is_its_points() -> None:
    belief, order = fitted(1), [3, 1, 0, 2]
    pool = rw.Pool(belief.X[:9, order], names=[NAMES[j] for j in order])
    assert belief.integrate(pool, n_draws=2).mean == belief.integrate(belief.X[:9], n_draws=2).mean


def test_a_pool_that_is_not_in_memory_is_not_read(tmp_path) -> None:
    pd.DataFrame(fitted(1).X, columns=list(NAMES)).to_parquet(tmp_path / "one.parquet")
    pd.DataFrame(fitted(1).X, columns=list(NAMES)).to_parquet(tmp_path / "two.parquet")
    pool = rw.Pool(str(tmp_path / "*.parquet"))
    assert not pool.in_memory
    with pytest.raises(
        ValueError, match=r"over must be at most 1000000 points in memory, got a pool of 80 that is not.*pool.rows\("
    ):
        fitted(1).integrate(pool)


def test_a_column_may_be_called_lower() -> None:
    belief = rw.fit(fitted(1).X[:, :2], fitted(1).y, rw.Linear(1), names=["lower", "upper"], n_starts=1)
    table = pd.DataFrame(fitted(1).X[:3, :2], columns=["lower", "upper"])
    assert belief.integrate(table, n_draws=1).mean == belief.integrate(fitted(1).X[:3, :2], n_draws=1).mean


def test_an_input_that_never_varied_stays_beside_others_with_a_distribution() -> None:
    X = fitted(1).X.copy()
    X[:, 3] = 0.25
    belief = rw.fit(X, ridge(X), rw.Linear(1), n_starts=2, inference="map")
    at = np.column_stack([np.full(2000, 5.0), *[(np.arange(2000) + 0.5) / 2000] * 2, np.full(2000, 0.25)])
    lower, upper = X.min(axis=0), X.max(axis=0)
    at[:, 1] = lower[1] + at[:, 1] * (upper[1] - lower[1])
    found = belief.integrate({0: Fixed(5.0), 2: Fixed(20.0)}, n_draws=2).mean
    at[:, 2] = 20.0
    assert found == pytest.approx(belief.predict(at, marginal="map").mean.mean(), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda b: b.integrate(n_draws=0), ValueError, "n_draws must be a whole number of at least 1, got 0"),
        (lambda b: b.integrate(n_draws=-1), ValueError, "n_draws must be a whole number of at least 1, got -1"),
        (lambda b: b.integrate(random_state=-1), ValueError, "random_state must be a whole number of at least 0"),
        (lambda b: b.integrate(random_state="a"), ValueError, "random_state must be a whole number of at least 0"),
        (lambda b: b.integrate(random_state=np.random.default_rng(0)), ValueError, "random_state must be a whole"),
        (lambda b: b.integrate(n_draws=1).interval(95), ValueError, "level must be a number between 0 and 1, got 95"),
        (lambda b: b.integrate(n_draws=1).interval(-0.5), ValueError, "level must be a number between 0 and 1"),
        (lambda b: b.integrate("box"), TypeError, "over must be a box, a measure, .* or points, got 'box'"),
        (lambda b: b.integrate(3.0), TypeError, "over must be a box, a measure, .* or points, got 3.0"),
        (lambda b: b.integrate({"speed": stats.norm}), TypeError, "distributions in over .*that of speed .m/s. is"),
        (lambda b: b.integrate({"speed": [1.0]}), TypeError, "distributions in over must have a method `ppf`"),
    ],
)
def test_arguments_are_checked(call, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(fitted(1))
