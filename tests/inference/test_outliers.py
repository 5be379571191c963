"""Noise of their own for single observations: closed forms against brute force, and what must not be suspected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm

from ridgeway.gp.linear import Linear
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import MEAN
from ridgeway.inference import outliers
from ridgeway.inference.outliers import Observed
from ridgeway.inference.settings import OutlierSettings
from tests.helpers import random_posterior

NORMAL = OutlierSettings(n_scales=-1e12, floor=0.0, usual=1e9)  # residuals judged as normal ones, without any floor


def observed(n: int = 40, noise: float = 0.1, seed: int = 0) -> Observed:
    """A smooth function of one input, with what is known about it beforehand."""
    rng = np.random.default_rng(seed)
    u = np.sort(rng.uniform(-3.0, 3.0, n))
    K = np.exp(-0.5 * (u[:, None] - u) ** 2)
    y = np.linalg.cholesky(K + 1e-9 * np.eye(n)) @ rng.standard_normal(n) + noise * rng.standard_normal(n)
    return Observed(y, K + 0.25, np.full(n, 1e-4), (-1.5, 0.7), 0.0)


def log_likelihood(seen: Observed, own: np.ndarray, log_noise: float) -> float:
    G = seen.K + np.diag(seen.noise + own + np.exp(2.0 * log_noise))
    return float(multivariate_normal(np.zeros(seen.n), G).logpdf(seen.y))


@pytest.mark.parametrize("row", [3, 17])
def test_gain_and_variance_are_the_best_over_all_variances(row: int) -> None:
    seen = observed()
    seen.y[row] += 2.0
    none = np.zeros(seen.n)

    def gained(log_rho: float) -> float:
        own = none.copy()
        own[row] = np.exp(log_rho)
        return log_likelihood(seen, own, -2.0) - log_likelihood(seen, none, -2.0)

    best = minimize_scalar(lambda t: -gained(t), bounds=(-12.0, 6.0), method="bounded", options={"xatol": 1e-8})
    verdict = outliers.examine(seen, none, -2.0, NORMAL)
    assert verdict.gain[row] == pytest.approx(-best.fun, rel=1e-6)
    assert verdict.variance[row] == pytest.approx(np.exp(best.x), rel=1e-3)


def test_a_residual_is_that_of_the_prediction_from_the_others() -> None:
    """And does not depend on the observation's own noise."""
    seen = observed()
    own = np.zeros(seen.n)
    own[5] = 3.0
    verdict = outliers.examine(seen, own, -2.0, NORMAL)
    G = seen.K + np.diag(seen.noise + own + np.exp(-4.0))
    for i in (0, 5, 20):
        rest = np.arange(seen.n) != i
        k = np.linalg.solve(G[np.ix_(rest, rest)], seen.K[rest, i])
        variance = seen.K[i, i] + seen.noise[i] + np.exp(-4.0) - k @ seen.K[rest, i]
        assert verdict.residual[i] == pytest.approx((seen.y[i] - k @ seen.y[rest]) / np.sqrt(variance), rel=1e-6)


def test_no_gain_where_a_residual_is_as_expected() -> None:
    assert outliers.gain(np.array([0.0, 0.5, 1.0])).tolist() == [0.0, 0.0, 0.0]
    assert outliers.gain(np.array([100.0]))[0] == pytest.approx(0.5 * (99.0 - np.log(100.0)))


def test_few_observations_prove_less() -> None:
    gains = [outliers.judge(np.array([5.0]), np.ones(1), n).gain[0] for n in (8, 20, 100, 10**6)]
    assert gains == sorted(gains)
    assert gains[-1] == pytest.approx(outliers.gain(np.array([25.0]))[0], rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_clean_observations_are_not_suspected(seed: int) -> None:
    seen = observed(seed=seed)
    assert not outliers.pursue(seen, np.zeros(seen.n)).own.any()


@pytest.mark.parametrize("seed", range(5))
def test_outliers_that_hide_each_other_are_found(seed: int) -> None:
    """One in ten: at the noise that all of them share, none stands out by itself."""
    seen = observed(80, seed=seed)
    rows = np.random.default_rng(seed).choice(80, 8, replace=False)
    seen.y[rows] += 6.0 * np.random.default_rng(seed + 1).choice([-1.0, 1.0], 8)
    found = outliers.pursue(seen, np.zeros(80))
    assert np.flatnonzero(found.own).tolist() == sorted(rows.tolist())
    assert np.exp(found.log_noise) < 0.3


def test_a_suspect_that_the_others_explain_is_cleared() -> None:
    seen = observed()
    start = np.zeros(seen.n)
    start[[4, 9]] = 10.0
    assert not outliers.pursue(seen, start).own.any()


def test_noise_that_is_given_stays() -> None:
    seen = Observed(*(getattr(observed(), name) for name in ("y", "K", "noise")), (np.log(0.1), 0.0), 0.0)
    seen.y[7] += 5.0
    found = outliers.pursue(seen, np.zeros(seen.n))
    assert np.flatnonzero(found.own).tolist() == [7]
    assert found.log_noise == np.log(0.1)


def test_a_prediction_beyond_the_usual_may_be_wrong_by_as_much() -> None:
    """The end of a steep function, half as high as it turned out to be, is no outlier."""
    u = np.linspace(-1.0, 1.0, 41)
    steep = np.exp(6.0 * u)
    y = (steep - steep.mean()) / steep[:-1].std()
    y[-1] *= 2.0
    K = 400.0 * np.exp(-0.5 * (u[:, None] - u) ** 2 / 0.25)
    seen = Observed(y, K, np.full(41, 1e-4), (-1.5, 0.7), 0.05)
    own = np.zeros(41)
    own[-1] = y[-1] ** 2
    strict = OutlierSettings(usual=1e9)
    assert outliers.examine(seen, own, -3.0, strict).gain[-1] > strict.price
    assert outliers.examine(seen, own, -3.0).gain[-1] < OutlierSettings().price


def test_values_far_from_all_others_are_seen_in_any_units() -> None:
    y = norm.ppf((np.arange(60) + 0.5) / 60)
    y[11] = 100.0
    for scale, shift in ((1.0, 0.0), (1e-9, 5.0), (1e9, -3.0)):
        own = outliers.screened(scale * y + shift)
        assert np.flatnonzero(own).tolist() == [11]
        assert np.sqrt(own[11]) == pytest.approx(100.0 * scale, rel=0.05)
    assert not outliers.screened(np.delete(y, 11)).any()
    assert not outliers.screened(y, np.where(np.arange(60) == 11, 1e4, 0.0)).any()  # it was known to be uncertain


def test_a_constant_is_solved_as_its_matrix_would_be() -> None:
    y, noise = np.random.default_rng(1).standard_normal(30), np.random.default_rng(2).uniform(0.1, 2.0, 30)
    own = np.where(np.arange(30) == 4, 9.0, 0.0)
    short, full = (Observed(y, K, noise, (0.0, 1.0), 0.1) for K in (50.0, np.full((30, 30), 50.0)))
    a, b = (outliers.examine(seen, own, -1.0) for seen in (short, full))
    np.testing.assert_allclose(a.residual, b.residual, rtol=1e-9)
    np.testing.assert_allclose(a.gain, b.gain, rtol=1e-7, atol=1e-9)
    assert outliers.pursue(short, own).log_density == pytest.approx(outliers.pursue(full, own).log_density, rel=1e-9)


def test_ties_have_no_scale_to_compare_with() -> None:
    assert not outliers.screened(np.append(np.zeros(20), [1.0, 50.0])).any()


def test_what_a_process_has_seen_gives_its_own_predictions() -> None:
    """The mean is integrated out there, so a process with a fixed mean is compared."""
    posterior = random_posterior(Linear(1))
    theta = posterior.initial(np.ones(posterior.n_parameters))
    theta[MEAN] = 0.0
    gp = posterior.condition(theta)
    seen = outliers.behind(gp, np.zeros(gp.data.n), Priors(mean=(0.0, 0.0)), NORMAL)
    mean, variance = gp.leave_one_out()
    verdict = outliers.examine(seen, np.zeros(gp.data.n), gp.log_noise, NORMAL)
    np.testing.assert_allclose(verdict.residual, (gp.data.y - mean) / np.sqrt(variance), rtol=1e-6)
