"""The sampler: against quadrature, against itself, and what a user sees of it."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.gp.process import LOG_NOISE, condition
from ridgeway.inference import nuts
from ridgeway.testfunctions import from_model

SHORT = rw.Nuts(chains=2, draws=150, tune=100)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)  # short chains need not agree
        yield


def data(D=4, d=1, n=30, seed=0):
    f = from_model(D, d, random_state=seed)
    rng = np.random.default_rng(seed)
    X = f.sample(n, rng)
    return f, X, f(X) + 0.1 * rng.standard_normal(n)


@pytest.mark.slow
def test_one_parameter_against_quadrature():
    """With all but one log length scale fixed, the posterior can be summed on a grid."""
    _, X, y = data()
    priors = rw.Priors(log_output_scale=(0.0, 0.0), log_noise=(-1.5, 0.0), mean=(0.0, 0.0), log_scale=(0.0, 0.0))
    belief = rw.fit(X, y, rw.Isotropic(), priors=priors, inference=rw.Nuts(chains=4, draws=500, tune=200))
    posterior, theta = belief.posterior, belief.components[0].gp.theta
    grid = theta[0] + np.linspace(-2.0, 2.0, 401)
    logs = np.array([posterior.log_density(np.concatenate([[x], theta[1:]])) for x in grid])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ grid
    std = np.sqrt(weights @ (grid - mean) ** 2)
    draws = belief.draws[0].theta
    assert np.ptp(draws[:, 1:], axis=0).max() == 0.0
    assert draws[:, 0].mean() == pytest.approx(mean, abs=0.15 * std)
    assert draws[:, 0].std() == pytest.approx(std, rel=0.15)
    assert belief.diagnostics.r_hat < 1.02
    assert belief.diagnostics.divergences == 0
    assert 200 < belief.effective_sample_size <= 400


@pytest.mark.slow
def test_agrees_with_nested_where_the_data_decide():
    f, X, y = data(D=4, d=1, n=60)
    fast, slow = (rw.fit(X, y, rw.Linear(1), inference=how, effort="quick") for how in ("nested", SHORT))
    X_new = f.sample(200, 9)
    a, b = fast.predict(X_new), slow.predict(X_new)
    assert slow.marginal == "samples"
    assert np.sqrt(np.mean((a.mean - b.mean) ** 2)) < 0.1 * f(X_new).std()
    assert np.median(b.std / a.std) == pytest.approx(1.0, abs=0.35)
    assert slow.noise_variance == pytest.approx(
        np.mean(np.exp(2 * slow.draws[0].theta[:, LOG_NOISE])) * y.var(), rel=0.05
    )
    for marginal in ("map", "bbq", "mgp"):
        assert np.isfinite(slow.predict(X_new, marginal).variance).all()


@pytest.mark.slow
def test_draws_face_the_mode():
    _, X, y = data(D=5, d=2, n=40, seed=1)
    belief = rw.fit(X, y, rw.Linear(2), inference=SHORT, effort="quick")
    p = belief.posterior.n_parameters
    target = belief.components[0].gp.theta[:p].reshape(2, -1)
    for row in belief.draws[0].theta[::20]:
        cross = row[:p].reshape(2, -1) @ target.T  # symmetric and positive where no rotation brings them closer
        np.testing.assert_allclose(cross, cross.T, atol=1e-8 * np.abs(cross).max())
        assert np.linalg.eigvalsh(cross).min() > 0
    R = belief.sample_embeddings(50, random_state=0)
    assert R.shape == (50, 2, 5)
    assert np.unique(R.round(12), axis=0).shape[0] > 20


@pytest.mark.slow
@pytest.mark.parametrize("embedding", [rw.Linear(2), rw.Diagonal()], ids=str)
def test_the_same_seed_gives_the_same_draws_and_files_keep_them(embedding, tmp_path):
    _, X, y = data(n=20)
    options = rw.Nuts(chains=2, draws=20, tune=20)
    first, second = (rw.fit(X, y, embedding, inference=options, n_starts=4, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.draws[0].theta, second.draws[0].theta)
    other = rw.fit(X, y, embedding, inference=options, n_starts=4, random_state=4)
    assert not np.array_equal(first.draws[0].theta, other.draws[0].theta)
    loaded = rw.Belief.load(first.save(tmp_path / "belief"))
    assert loaded.inference == "nuts"
    assert loaded.diagnostics == first.diagnostics
    np.testing.assert_array_equal(loaded.predict(X).mean, first.predict(X).mean)


@pytest.mark.slow
def test_a_model_with_more_rows_than_the_modes_use():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (30, 3))
    y = X @ [1.0, -0.5, 0.0] + 0.05 * rng.standard_normal(30)
    assert rw.fit(X, y, rw.Linear(2), n_starts=4).rank == 1
    belief = rw.fit(X, y, rw.Linear(2), inference=rw.Nuts(chains=2, draws=20, tune=30), n_starts=4)
    assert belief.rank == 2
    assert np.sqrt(np.mean((belief.predict(X).mean - y) ** 2)) < 0.2


def test_chains_that_disagree_are_reported():
    found = nuts.Sampled(np.zeros((1, 5)), r_hat=1.3, effective_size=4.0, divergences=2)
    assert found.warnings[0].startswith("the chains do not agree (R-hat 1.300, 1.01 at most): sample longer")
    assert found.warnings[1].startswith("2 transitions of the sampler diverged")
    assert nuts.Sampled(np.zeros((1, 5)), r_hat=1.004, effective_size=900.0, divergences=0).warnings == ()


def test_bad_options():
    for options, message in (
        ({"chains": 1}, "chains of Nuts must be a whole number of at least 2, got 1"),
        ({"draws": 2.5}, "draws of Nuts must be a whole number of at least 4, got 2.5"),
        ({"tune": 0}, "tune of Nuts must be a whole number of at least 10, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            rw.Nuts(**options)
    with pytest.raises(ValueError, match="inference must be one of 'nested', 'map', 'nuts', got 'hmc'"):
        rw.fit([[0.0], [1.0]], [0.0, 1.0], rw.Linear(1), inference="hmc")


def test_without_the_sampler_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(ImportError, match=r'inference="nuts" needs nutpie: pip install "ridgeway\[mcmc\]"'):
        rw.fit([[0.0], [1.0], [0.5]], [0.0, 1.0, 0.2], rw.Linear(1), inference="nuts", n_starts=2)


@pytest.mark.slow
def test_the_slice_across_rotations_is_exact():
    """With three observations the posterior is nearly the prior, far from any mode's Gaussian: draws from the
    prior, weighed by the likelihood, know what is right."""
    rng = np.random.default_rng(2)
    X, y = rng.uniform(-1, 1, (3, 2)), np.array([0.5, -1.0, 0.7])
    priors = rw.Priors(log_output_scale=(0.0, 0.0), log_noise=(-1.0, 0.0), mean=(0.0, 0.0), log_scale=(0.0, 0.0))
    belief = rw.fit(X, y, rw.Linear(2), priors=priors, bounds=(-1, 1), standardize=False, n_starts=4)
    posterior = belief.posterior
    prior = posterior.scale(0.0) * rng.standard_normal((20_000, 4))
    tail = posterior.priors.globals[0]
    logs = np.array(
        [
            condition(posterior.embedding, posterior.kernel, posterior.data, np.r_[A, tail]).log_likelihood()
            for A in prior
        ]
    )
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    sampled = nuts.sample(posterior, [nuts.Mode(np.r_[prior[np.argmax(logs)], tail], 1.0)], rw.Nuts(draws=1500), seed=0)
    assert sampled.r_hat < 1.02
    for invariant in (_size, _thinness):
        right = weights @ invariant(prior)
        error = np.sqrt(weights @ (invariant(prior) - right) ** 2) / np.sqrt(sampled.effective_size)
        assert invariant(sampled.theta[:, :4]).mean() == pytest.approx(right, abs=4 * error)


def _size(A):
    return np.log(np.sum(A**2, axis=1))


def _thinness(A):
    s = np.linalg.svd(A.reshape(-1, 2, 2), compute_uv=False)
    return s[:, 1] / s[:, 0]


def test_chains_are_shared_out_by_weight():
    assert nuts._shared_out(4, np.array([0.84, 0.16])) == [3, 1]
    assert nuts._shared_out(4, np.array([0.9, 0.1])) == [4, 0]
    assert nuts._shared_out(4, np.array([0.5, 0.3, 0.2])) == [2, 1, 1]
    assert nuts._shared_out(3, np.array([1.0])) == [3]


def test_modes_are_named_where_chains_disagree():
    found = nuts.Sampled(np.zeros((1, 5)), 1.3, 4.0, 0, chains=(3, 1), shares=(0.8, 0.2))
    assert "they began at 2 modes of the posterior (3 chains at one of 80%, 1 chain at one of 20%)" in found.warnings[0]
