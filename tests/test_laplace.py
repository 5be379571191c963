"""Modes, gauge and evidence: against brute-force integration where it can be done."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp

from conftest import random_posterior, random_theta
from ridgeway import importance, inference, kernels, laplace, modes, nested
from ridgeway.embeddings import Diagonal, Isotropic, Linear
from ridgeway.experiments.protocol import problem
from ridgeway.experiments.scores import quiet_fit, rmse
from ridgeway.gp import LOG_NOISE, MEAN, Data
from ridgeway.inference import infer
from ridgeway.posterior import Posterior
from ridgeway.priors import Priors
from ridgeway.testfunctions import branin, from_model

FIXED = Priors(log_noise=(-1.5, 0.0), log_output_scale=(0.0, 0.0), mean=(0.0, 0.0), log_scale=(0.0, 0.0))


def model_posterior(D: int, d: int, n: int = 40, priors: Priors = FIXED, seed: int = 0) -> Posterior:
    f = from_model(D, d, random_state=seed)
    X = f.sample(n, seed)
    y = f(X) + 0.1 * np.random.default_rng(seed).standard_normal(n)
    data = Data(X, (y - y.mean()) / y.std(), np.full(n, 1e-4))
    return Posterior(Linear(d), kernels.resolve("se"), data, priors, D)


def test_gauge_directions_are_flat() -> None:
    posterior = random_posterior(Linear(3), n=20)
    theta = random_theta(posterior)
    tangents = laplace.gauge_directions(Linear(3), theta[: posterior.n_parameters])
    assert tangents.shape == (12, 3)
    gradient = posterior.evaluate(theta).gradient[:12]
    assert np.abs(tangents.T @ gradient).max() < 1e-10 * np.linalg.norm(gradient) * np.linalg.norm(tangents)


def test_orbit_volume_by_sampling() -> None:
    """A shell around the orbit has the orbit's volume times the ball's across it."""
    A = np.array([[1.0, 0.4], [-0.3, 0.8]])
    volume = np.exp(laplace.log_orbit_volume(Linear(2), A.ravel()))
    angles = np.linspace(0, 2 * np.pi, 20001)
    rotations = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    length = np.linalg.norm(np.diff((rotations @ A).reshape(-1, 4), axis=0), axis=1).sum()
    assert volume == pytest.approx(2 * length, rel=1e-6)  # rotations, and reflections as many again


def test_orbit_volume_in_three_dimensions() -> None:
    """O(3) acting on the identity: all of it, with S_ij - S_ji of length sqrt 2."""
    expected = 2 * 8 * np.pi**2 * np.sqrt(2) ** 3
    assert np.exp(laplace.log_orbit_volume(Linear(3), np.eye(3).ravel())) == pytest.approx(expected)
    assert laplace.log_orbit_volume(Linear(1), np.array([3.0, 4.0])) == pytest.approx(np.log(2))
    assert laplace.log_orbit_volume(Diagonal(), np.ones(3)) == 0.0


def test_evidence_against_quadrature_for_one_length_scale() -> None:
    X = np.linspace(-1, 1, 40)[:, None]
    data = Data(X, np.sin(9 * X[:, 0]), np.full(40, 1e-3))
    priors = replace(FIXED, log_noise=(-4.0, 0.0))
    posterior = Posterior(Isotropic(), kernels.resolve("se"), data, priors, 1)
    lap = laplace.settle(posterior, posterior.initial(np.zeros(1)), np.array([0]))
    top = lap.log_density

    def density(t: float) -> float:
        return float(np.exp(posterior.log_density(posterior.initial(np.array([t]))) - top))

    exact = top + np.log(quad(density, lap.theta[0] - 3, lap.theta[0] + 3, limit=200)[0])
    assert lap.log_evidence == pytest.approx(exact, abs=0.05)


def test_evidence_with_the_rotation_against_importance_sampling() -> None:
    """The orbit's volume and the Gaussian across it, against 4,000 weighted draws around the orbit."""
    posterior = model_posterior(3, 2, n=200, priors=replace(FIXED, log_noise=(-2.5, 0.0)))
    inner, _ = nested.split(posterior)
    best = modes.search(posterior, inner, 10, np.random.default_rng(0), lambda message: None)[0][0].laplace
    lap = laplace.settle(posterior, best.theta, inner)
    rng = np.random.default_rng(1)
    z = rng.standard_normal((4000, lap.factor.shape[1]))
    tangent = laplace.gauge_directions(posterior.embedding, lap.theta[:6])
    ratios = []
    for row in z:
        theta = lap.theta.copy()
        theta[inner] += lap.factor @ row
        crossing = tangent.T @ laplace.gauge_directions(posterior.embedding, theta[:6]) / np.linalg.norm(tangent)
        ratios.append(posterior.log_density(theta) + np.log(abs(crossing[0, 0])) + 0.5 * row @ row)
    volume = np.log(np.linalg.svd(lap.factor, compute_uv=False)).sum() + 0.5 * z.shape[1] * np.log(2 * np.pi)
    estimate = logsumexp(ratios) - np.log(4000) + volume + np.log(2 * 2 * np.pi)
    assert lap.log_evidence == pytest.approx(estimate, abs=0.1)


def test_a_mode_is_a_mode() -> None:
    posterior = model_posterior(6, 2)
    inner, _ = nested.split(posterior)
    lap = laplace.settle(posterior, posterior.initial(0.3 * np.random.default_rng(0).standard_normal(12)), inner)
    assert lap.decrement < 1e-6
    assert lap.smallest_curvature > 0
    assert lap.factor.shape == (12, 11)  # one direction is the rotation
    tangent = laplace.gauge_directions(Linear(2), lap.theta[:12])
    assert np.abs(tangent.T @ np.linalg.inv(np.diag(lap.width)) ** 2 @ lap.factor).max() < 1e-8


def test_a_saddle_is_called_one() -> None:
    """R = 0 is stationary by symmetry, but no mode where the data show structure."""
    posterior = model_posterior(4, 1)
    inner, _ = nested.split(posterior)
    at = posterior.evaluate(posterior.initial(np.zeros(4)))
    assert np.abs(at.gradient[:4]).max() < 1e-12
    lap = laplace.approximate(posterior, at, inner)
    assert lap.smallest_curvature < 0
    assert np.all(lap.eigenvalues >= 0.5)


def test_curvature_is_floored_smoothly_near_the_prior() -> None:
    values = np.array([-1e3, -1.0, 0.0, 0.999999, 1.0, 1.000001, 50.0])
    floored = laplace.floor_curvature(values)
    assert np.all(floored >= 0.5)
    np.testing.assert_array_equal(floored[4:], values[4:])
    assert floored[3] == pytest.approx(values[3], abs=1e-9)


def test_evidence_gradient_by_differences() -> None:
    posterior = model_posterior(5, 2, n=60, priors=Priors())
    inner, outer = nested.split(posterior)
    found = modes.search(posterior, inner, 6, np.random.default_rng(0), lambda message: None)[0][0].laplace
    lap = laplace.settle(posterior, found.theta, inner)
    gradient = nested.evidence_gradient(posterior, lap, outer)
    for j, q in enumerate(outer):
        step = np.zeros(lap.theta.shape[0])
        step[q] = 1e-3
        up, down = (laplace.settle(posterior, lap.theta + s * step, inner).log_evidence for s in (1, -1))
        assert gradient[j] == pytest.approx((up - down) / 2e-3, rel=0.02, abs=0.02)


def test_log_volume_is_that_of_the_approximation() -> None:
    posterior = model_posterior(5, 3, n=30, priors=Priors())
    inner, _ = nested.split(posterior)
    theta = posterior.initial(0.5 * np.random.default_rng(0).standard_normal(15))
    lap = laplace.approximate(posterior, posterior.evaluate(theta), inner)
    assert laplace.log_volume(posterior, theta, inner) == pytest.approx(lap.log_evidence - lap.log_density, abs=1e-8)


def test_fixed_hyperparameters_stay_fixed() -> None:
    priors = Priors(log_noise=(-2.0, 0.0), mean=(0.25, 0.0))
    posterior = model_posterior(5, 1, priors=priors)
    for method in ("map", "nested"):
        theta = infer(posterior, method, np.random.default_rng(0), n_starts=4).components[0].gp.theta
        assert theta[LOG_NOISE] == -2.0
        assert theta[MEAN] == 0.25


def test_smoothed_weights_know_a_good_proposal_from_a_bad_one() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(4000)
    good = -0.5 * (x / 0.9) ** 2 + 0.5 * x**2
    bad = -0.5 * (x / 3.0) ** 2 + 0.5 * x**2
    assert importance.smooth(good)[1] < 0.4
    assert importance.smooth(bad)[1] > 0.7
    flat, k = importance.smooth(np.zeros(100))
    np.testing.assert_array_equal(flat, 0.0)
    assert k == -np.inf


def test_pareto_fit_recovers_its_shape() -> None:
    rng = np.random.default_rng(1)
    for k in (0.2, 0.5, 0.9):
        draws = np.sort(2.0 * np.expm1(-k * np.log(rng.uniform(size=5000))) / k)
        shape, scale = importance.fit_pareto(draws)
        assert shape == pytest.approx(k, abs=0.06)
        assert scale == pytest.approx(2.0, rel=0.1)


def test_a_mode_nearby_lends_its_curvature(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = model_posterior(6, 2)
    inner, _ = nested.split(posterior)
    mode = modes.search(posterior, inner, 10, np.random.default_rng(0), lambda message: None)[0][0].laplace
    mode = laplace.settle(posterior, mode.theta, inner)
    theta = mode.theta + 1e-3 * np.random.default_rng(1).standard_normal(mode.theta.shape[0])
    theta[-4:] = mode.theta[-4:]
    theta[LOG_NOISE] += 0.01
    hessians = []
    original = Posterior.hessian
    monkeypatch.setattr(Posterior, "hessian", lambda self, gp: hessians.append(1) or original(self, gp))
    far = laplace.settle(posterior, theta, inner)
    n_far = len(hessians)
    near = laplace.settle(posterior, theta, inner, near=mode)
    assert len(hessians) - n_far < n_far
    assert near.log_evidence == pytest.approx(far.log_evidence, abs=1e-4)
    np.testing.assert_allclose(modes.fitted(near.gp), modes.fitted(far.gp), atol=1e-4)


def test_a_climb_ends_where_short_steps_leave_their_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = model_posterior(4, 1, priors=Priors(log_noise=(-1.0, 1.0), log_scale=(0.0, 1.0)))
    inner, _ = nested.split(posterior)
    start = laplace.settle(posterior, posterior.initial(np.full(4, 0.3)), inner)
    assert nested.maximize_evidence(posterior, start).log_evidence > start.log_evidence
    steps: list[float] = []

    def leave(_: Posterior, lap: laplace.Laplace, outer: np.ndarray, step: np.ndarray) -> laplace.Laplace:
        steps.append(float(np.linalg.norm(step / laplace.prior_width(posterior, lap.theta)[outer])))
        return replace(lap, log_evidence=lap.log_evidence - 5.0)

    monkeypatch.setattr(nested, "_moved", leave)
    assert nested.maximize_evidence(posterior, start) is start
    assert np.allclose(steps, steps[0] * 0.25 ** np.arange(len(steps)))
    assert all(step >= 0.1 for step in steps[:-1])
    assert steps[-1] < 0.1


def test_fewer_starts_where_they_agree() -> None:
    posterior = model_posterior(2, 1)
    inner, _ = nested.split(posterior)
    found, made = modes.search(posterior, inner, 30, np.random.default_rng(0), lambda message: None)
    assert made == 20
    assert found[0].reached >= 10


def test_agreement_is_about_the_best_at_every_setting() -> None:
    def climber(log_scale: float, log_density: float, reached: int) -> modes._Climber:
        place = modes._Place(np.array([1.0, 0.0, 0.0, 0.0, log_scale]), log_density, np.zeros(3))
        return modes._Climber(place, place, reached)

    common, rare = climber(0.0, -10.0, 6), climber(0.0, -5.0, 1)
    assert modes._agree([common, climber(0.0, -20.0, 1)])
    assert not modes._agree([common, rare])  # one start has found something better: there may be more
    assert modes._agree([common, climber(-1.0, -5.0, 2)])  # not to be compared: its prior is another
    assert not modes._agree([common, *(climber(-1.0, -5.0 - k, 1) for k in range(4))])


@pytest.mark.parametrize("method", ["map", "nested"])
def test_nothing_to_learn_has_one_mode(method: str) -> None:
    """One observation in the middle of the box says nothing of any direction, and all else is given."""
    data = Data(np.zeros((1, 0)), np.array([0.5]), np.zeros(1))
    posterior = Posterior(Linear(1), kernels.resolve("se"), data, FIXED, D=2)
    found = infer(posterior, method, np.random.default_rng(0), n_starts=2)
    assert found.components[0].factor.shape[1] == 0
    assert np.isfinite(found.log_evidence)


def test_priors_of_whole_numbers() -> None:
    whole = Priors(log_noise=(-2, 1), log_output_scale=(0, 2), mean=(0, 0), log_scale=(0.0, 0))
    posterior = replace(model_posterior(4, 1, n=10), priors=whole)
    theta = posterior.initial(0.3 * np.ones(4))
    assert np.isfinite(posterior.hessian(posterior.evaluate(theta).gp)).all()


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_a_mode_is_tried_with_hardly_any_noise(noise: float) -> None:
    """What has no noise has a sharp mode, which is found from the smooth one; what has some is left alone."""
    f = branin(6, random_state=0)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 6))
    y = f(X)
    y = (y - y.mean()) / y.std() + noise * np.random.default_rng(1).standard_normal(60)
    posterior = Posterior(Linear(2), kernels.resolve("se"), Data(X, y, np.full(60, 0.005**2)), Priors(), 6)
    assert f.embedding is not None
    theta = posterior.initial(f.embedding.ravel())
    theta[LOG_NOISE] = np.log(0.3)
    smooth = modes.merge([], laplace.settle(posterior, theta, nested.split(posterior)[0]))
    found = inference._with_quieter(posterior, smooth, smooth[0].laplace)
    if noise:
        assert found == smooth
    else:
        assert found[0].laplace.theta[LOG_NOISE] < np.log(0.02)
        assert found[0].laplace.log_evidence > smooth[0].laplace.log_evidence + 20.0


def test_less_a_direction_is_less_the_one_that_varies_least() -> None:
    posterior = random_posterior(Linear(3), n=30)
    A = np.random.default_rng(3).standard_normal((3, posterior.data.Z.shape[1]))
    A[2] *= 1e-3  # hardly a direction, however it is turned
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    theta = posterior.initial((turn @ A).ravel())
    cut = inference._less_a_direction(posterior.condition(theta))
    assert cut.shape[0] == theta.shape[0] - A.shape[1]
    np.testing.assert_array_equal(cut[-4:], theta[-4:])
    kept = cut[:-4].reshape(2, -1)
    np.testing.assert_allclose(kept.T @ kept, A[:2].T @ A[:2], atol=1e-2)


def test_a_direction_to_spare_finds_what_a_search_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Branin's function of 20 inputs, 100 points: with two rows all searches end in a wrong mode."""
    test = problem("branin-20", 0).test(0)
    found = quiet_fit(test.X, test.y, Linear(2), bounds=(-1, 1))
    monkeypatch.setattr(inference, "_with_those_from_above", lambda posterior, optima, *_: optima)
    missed = quiet_fit(test.X, test.y, Linear(2), bounds=(-1, 1))
    assert found.log_evidence > missed.log_evidence + 100.0
    assert rmse(found.predict(test.X_test).mean, test.f_test) < 1.0
    assert rmse(missed.predict(test.X_test).mean, test.f_test) > 3.0
