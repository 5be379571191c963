"""The model of straight lines, beside those of each rank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import BayesianRidge

import ridgeway as rw
from ridgeway.gp import process
from ridgeway.gp.kernels import SquaredExponential
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE, LOG_SCALE, Data
from ridgeway.inference import importance_sampling, line_model
from ridgeway.inference.settings import DEFAULT, EFFORTS

STRETCH = DEFAULT.lines.log_output_scale


def line(n: int, D: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and a linear response; the slopes depend on ``D`` alone."""
    slopes = np.random.default_rng(D).standard_normal(D)
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, D))
    y = X @ slopes
    return X, y + noise * y.std() * rng.standard_normal(n)


def rmse(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(np.mean((a - b) ** 2)))


def posterior(n: int = 40, D: int = 6, noise: float = 0.2, seed: int = 0) -> Posterior:
    X, y = line(n, D, noise, seed)
    data = Data(X - X.mean(axis=0), (y - y.mean()) / y.std(), np.zeros(n))
    return Posterior(rw.Linear(2), SquaredExponential(), data, rw.Priors(noise_floor=0.0), D)


def test_the_regression_has_the_evidence_of_its_own_gaussian():
    model = line_model.model(posterior())
    found = line_model.regression(model)
    tau = np.exp(STRETCH) * model.scale(found.theta[LOG_SCALE])
    sigma = np.exp(found.theta[LOG_NOISE])
    Z, y = model.data.Z, model.data.y
    covariance = tau**2 * Z @ Z.T + sigma**2 * np.eye(len(y))
    assert found.log_evidence == pytest.approx(multivariate_normal.logpdf(y, np.zeros(len(y)), covariance), rel=1e-9)
    for step in (0.3, -0.3):
        other = (tau * np.exp(step)) ** 2 * Z @ Z.T + sigma**2 * np.eye(len(y))
        assert multivariate_normal.logpdf(y, np.zeros(len(y)), other) < found.log_evidence


def test_its_start_is_the_ridge_solution():
    model = line_model.model(posterior())
    theta = line_model.regression(model).theta
    tau = np.exp(STRETCH) * model.scale(theta[LOG_SCALE])
    penalty = np.exp(2.0 * theta[LOG_NOISE]) / tau**2
    Z, y = model.data.Z, model.data.y
    slope = np.linalg.solve(Z.T @ Z + penalty * np.eye(Z.shape[1]), Z.T @ y)
    np.testing.assert_allclose(theta[: model.n_parameters] * np.exp(STRETCH), slope, rtol=1e-8)


def test_a_process_of_straight_lines_bends_next_to_nothing():
    model = line_model.model(posterior())
    process = model.condition(line_model.regression(model).theta)
    along = np.linspace(-1.0, 1.0, 21)[:, None] * np.ones(model.data.Z.shape[1])
    U = along @ process.parameters
    k = process.output_variance * process.kernel.value((U[:, None] - process.U[:, 0]) ** 2)
    mean = process.mean + k @ process.alpha
    straight_mean = np.polyval(np.polyfit(U, mean, 1), U)
    assert np.abs(mean - straight_mean).max() < 0.02 * np.ptp(mean)


@pytest.mark.slow
def test_a_linear_response_is_predicted_as_by_a_regression():
    X, y = line(45, 25, 0.1)
    X_test, truth = line(1000, 25, 0.0, seed=1)
    belief = rw.fit(X, y, rw.Linear(2), bounds=(-1, 1), effort="quick")
    ours = rmse(belief.predict(X_test).mean, truth)
    assert ours < 1.1 * rmse(BayesianRidge().fit(X, y).predict(X_test), truth)
    assert belief.straight_share > 0.3
    quick = EFFORTS["quick"]
    without = replace(quick, lines=replace(quick.lines, least_observations=1000))
    bent = rw.fit(X, y, rw.Linear(2), bounds=(-1, 1), settings=without)
    assert rmse(bent.predict(X_test).mean, truth) > ours


@pytest.mark.slow
def test_a_curved_response_has_no_straight_part():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (60, 4))
    belief = rw.fit(X, np.sin(3.0 * X @ np.array([1.0, 0.5, 0.0, 0.0])), rw.Linear(1), bounds=(-1, 1), effort="quick")
    assert not any(c.is_line for c in belief.components)


@pytest.mark.slow
def test_a_warm_fit_follows_it():
    X, y = line(46, 25, 0.1)
    first = rw.fit(X[:45], y[:45], rw.Linear(2), bounds=(-1, 1), effort="quick")
    second = rw.fit(X, y, rw.Linear(2), bounds=(-1, 1), initial=first)
    assert any(c.is_line for c in first.components)
    assert any(c.is_line for c in second.components)
    cold = rw.fit(X, y, rw.Linear(2), bounds=(-1, 1), effort="quick")
    evidence = [max(c.log_evidence for c in b.components if c.is_line) for b in (second, cold)]
    assert evidence[0] == pytest.approx(evidence[1], abs=0.05)


@pytest.mark.slow
def test_the_belief_and_its_report_say_so(tmp_path):
    X, y = line(60, 5, 0.2)
    belief = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), effort="quick")
    assert 0.5 < belief.straight_share <= 1.0
    assert "a straight line" in belief._repr_html_()
    assert "shape a straight line" in belief.summary()
    page = belief.report(tmp_path / "report.html").read_text()
    assert "a linear regression would do as well" in page
    bent = rw.fit(X, np.sin(2.0 * X[:, 0]), rw.Linear(1), bounds=(-1, 1), effort="quick")
    assert bent.straight_share == 0.0
    assert "straight line" not in bent._repr_html_()


@pytest.mark.slow
def test_draws_are_weighed_by_its_own_prior():
    X, y = line(60, 5, 0.2)
    belief = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), effort="quick")
    mgp, samples = belief.predict(X), belief.predict(X, "samples")
    assert belief.components[0].is_line
    error = mgp.std.max() / np.sqrt(belief.effective_sample_size)  # standard error of a mean over the draws
    np.testing.assert_allclose(samples.mean, mgp.mean, atol=4.0 * error)
    best, rng = belief.components[0], np.random.default_rng
    own, default = line_model.model(belief.posterior), replace(belief.posterior, embedding=rw.Linear(1))
    sizes = [
        importance_sampling.draw(p, best.gp.theta, best.factor, 400, rng(0)).effective_size for p in (own, default)
    ]
    assert belief.effective_sample_size > 0
    assert sizes[0] > 1.2 * sizes[1]


@pytest.mark.parametrize(
    "priors", [rw.Priors(log_output_scale=(0.0, 0.0)), rw.Priors(log_scale=(0.0, 0.0))], ids=["output scale", "scale"]
)
def test_fixed_scales_leave_no_room_for_it(priors):
    assert line_model.possible(posterior())
    assert not line_model.possible(replace(posterior(), priors=priors))
    assert not line_model.possible(replace(posterior(), embedding=rw.Diagonal()))


def test_an_output_scale_fixed_by_the_user_makes_no_straight_line():
    X, y = line(30, 3, 0.2)
    priors = rw.Priors(log_output_scale=(STRETCH, 0.0))
    assert rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), priors=priors, n_starts=3).straight_share == 0.0


def test_constant_inputs_and_outputs_are_no_obstacle():
    base = posterior()
    flat = replace(base, data=Data(np.zeros_like(base.data.Z), base.data.y, base.data.noise))
    still = replace(base, data=Data(base.data.Z, np.zeros_like(base.data.y), base.data.noise))
    for case in (flat, still):
        model = line_model.model(case)
        theta = line_model.regression(model).theta
        assert np.all(np.isfinite(theta))
        assert isinstance(model.condition(theta), process.ConditionedGP)
