"""Integrals of a belief against sums of its predictions over many points."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

import ridgeway as rw
from ridgeway.belief.measures import choose
from tests.belief.averaged import LOWER, NAMES, UPPER, fitted, ridge

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
        ([[np.nan] * 4], "must be finite"),
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
