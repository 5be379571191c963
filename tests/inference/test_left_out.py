"""Predicting what was left out: that it is honest, when it is done, and what follows from it."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from conftest import random_posterior, random_theta
from ridgeway import holdout, inference, starts
from ridgeway.gp import LOG_NOISE, Data
from ridgeway.holdout import Check
from ridgeway.testfunctions import from_model


def inputs(n, D, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (n, D))


def checkered(X, seed=0):
    """The sign of a product: a single direction tells nothing of it, but a wiggly fit can pretend."""
    return np.sign(X[:, 0] * X[:, 1]) + 0.05 * np.random.default_rng(seed).standard_normal(len(X))


def wave(X, noise=0.05, seed=0):
    return np.sin(2.0 * X[:, 0] + X[:, 1]) + noise * np.random.default_rng(seed).standard_normal(len(X))


def excess(belief, X, y):
    """Nats by which new observations are predicted worse than by the mean and variance of the old."""
    spread, mean = belief.y.var(), belief.y.mean()
    trivial = 0.5 * np.mean(np.log(2 * np.pi * spread) + (y - mean) ** 2 / spread)
    return float(-belief.log_predictive_density(X, y).mean() - trivial)


@pytest.fixture(scope="module")
def misled():
    """A fit that needs more noise, with its data."""
    X = inputs(40, 5, seed=6)
    y = checkered(X, seed=106)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        belief = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), n_starts=10)
    return belief, [str(w.message) for w in caught]


# -- what is measured ----------------------------------------------------------------------------


def test_what_was_left_out_has_no_say():
    """Other outputs there, the same prediction: nothing leaks from the modes' own data but their start."""
    posterior = random_posterior(rw.Linear(1), n=20, D=3)
    mode = random_theta(posterior)
    out = np.arange(20) % 4 == 0
    changed = np.where(out, posterior.data.y + 5.0, posterior.data.y)
    other = replace(posterior, data=Data(posterior.data.Z, changed, posterior.data.noise))
    first, second = (holdout._predicted(p, [mode], out, np.random.default_rng(0)) for p in (posterior, other))
    np.testing.assert_array_equal(first, second)
    shifted = replace(posterior, data=Data(posterior.data.Z, posterior.data.y + 5.0 * ~out, posterior.data.noise))
    assert not np.allclose(holdout._predicted(shifted, [mode], out, np.random.default_rng(0))[0], first[0])


def test_known_modes_are_heard_only_where_they_have_far_more_evidence(monkeypatch):
    posterior = random_posterior(rw.Linear(1), n=20, D=3)
    mode = random_theta(posterior)
    out = np.arange(20) % 4 == 0
    fresh = holdout._predicted(posterior, [mode], out, np.random.default_rng(0))
    monkeypatch.setattr(holdout, "_KNOWN_HANDICAP", 1e6)
    deaf = holdout._predicted(posterior, [mode], out, np.random.default_rng(0))
    monkeypatch.setattr(holdout, "_KNOWN_HANDICAP", -1e6)
    believing = holdout._predicted(posterior, [mode], out, np.random.default_rng(0))
    gap = [float(np.abs(fresh[0] - other[0]).max()) for other in (deaf, believing)]
    assert gap[0] <= gap[1]


@pytest.mark.parametrize("rounds", [1, 3])
def test_each_observation_is_left_out_once_a_round(rounds):
    folds = holdout._folds(13, rounds, np.random.default_rng(0))
    assert len(folds) == 4 * rounds
    np.testing.assert_array_equal(np.sum(folds, axis=0), rounds)


def test_extra_noise_is_the_likeliest():
    rng = np.random.default_rng(0)
    variances = rng.uniform(0.05, 0.2, 200)
    errors = np.sqrt(variances + 0.5) * rng.standard_normal(200)
    found, gain = holdout._extra_noise(errors, variances)
    grid = np.linspace(0.0, 3.0, 3001)
    loss = [0.5 * np.sum(np.log(variances + t) + errors**2 / (variances + t)) for t in grid]
    assert found == pytest.approx(grid[np.argmin(loss)], abs=2e-3)
    assert gain == pytest.approx(loss[0] - min(loss), abs=1e-3)


def test_no_extra_noise_where_errors_are_as_announced():
    errors = np.array([0.1, -0.2, 0.1, 0.05])
    assert holdout._extra_noise(errors, np.ones(4)) == pytest.approx((0.0, 0.0), abs=1e-3)


@pytest.mark.parametrize(
    ("check", "misled"),
    [
        (Check(1.0, 0.9, 50.0), True),
        (Check(-0.5, 0.3, 50.0), False),  # too sure of itself, but far better than the mean
        (Check(0.2, 0.3, 1.0), False),  # as likely by chance
    ],
)
def test_what_counts_as_misleading(check, misled):
    assert check.misled is misled


# -- when it is done -----------------------------------------------------------------------------


def test_a_clear_fit_is_not_doubted(monkeypatch):
    monkeypatch.setattr(holdout, "check", lambda *a: pytest.fail("checked without need"))
    X = inputs(40, 3)
    diagnostics = rw.fit(X, wave(X), rw.Linear(1), bounds=(-1, 1), n_starts=4).diagnostics
    assert diagnostics.held_out_excess is None
    assert diagnostics.misfit == 0.0


def test_a_right_model_with_much_noise_is_doubted_and_left_alone():
    X = inputs(60, 4)
    diagnostics = rw.fit(X, wave(X, noise=0.6), rw.Linear(1), bounds=(-1, 1), n_starts=4).diagnostics
    assert diagnostics.held_out_excess is not None
    assert diagnostics.misfit == 0.0
    assert diagnostics.warnings == ()


@pytest.mark.parametrize(
    "arguments",
    [
        {"inference": "map"},
        {"embedding": rw.Isotropic()},
        {"priors": rw.Priors(log_noise=(-1.0, 0.0))},
        {"n": 11},
    ],
    ids=["the paper's recipe", "no directions", "noise known", "few observations"],
)
def test_where_nothing_is_left_out(arguments):
    n = arguments.get("n", 30)
    X, y = inputs(n, 3), np.random.default_rng(1).standard_normal(n)
    options = {"embedding": rw.Linear(1), "n_starts": 2, **{k: v for k, v in arguments.items() if k != "n"}}
    assert rw.fit(X, y, **options).diagnostics.held_out_excess is None


def test_the_mean_knows_of_known_noise_too():
    """Two observations so noisy that they say nothing: neither rival is blamed for them."""
    X, y = inputs(40, 3), wave(inputs(40, 3), noise=0.3)
    known = np.where(np.arange(40) < 2, 1e4, 0.0)
    y[:2] = 100.0, -100.0
    belief = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), noise_variance=known, n_starts=4)
    assert holdout.check(belief, belief.posterior.data.noise, 400).excess < 0.0


def test_of_many_observations_a_part_is_checked(monkeypatch):
    X, y = inputs(60, 3), np.random.default_rng(1).standard_normal(60)
    belief = rw.fit(X, y, rw.Linear(1), n_starts=2)
    sizes = []
    compared = holdout._compared
    monkeypatch.setattr(holdout, "_compared", lambda p, *a: sizes.append(p.data.n) or compared(p, *a))
    holdout.check(belief, belief.posterior.data.noise, 40)
    assert sizes == [40]


# -- what follows ----------------------------------------------------------------------------------


def test_a_fit_that_misled_gets_more_noise_and_says_so(misled):
    belief, notes = misled
    assert belief.diagnostics.held_out_excess > 0
    assert belief.diagnostics.misfit > 0.3
    assert belief.noise_variance >= belief.diagnostics.misfit**2
    assert notes == list(belief.diagnostics.warnings)
    assert "misled about the rest: extra noise with" in notes[0]
    X_new = inputs(500, 5, seed=5)
    assert excess(belief, X_new, checkered(X_new, seed=6)) < 0.2


def test_without_the_check_it_does_harm(misled, monkeypatch):
    """The test above can fail: the very same data, unchecked."""
    belief, _ = misled
    monkeypatch.setattr(holdout, "doubtful", lambda belief: False)
    unchecked = rw.fit(belief.X, belief.y, rw.Linear(1), bounds=(-1, 1), n_starts=10)
    X_new = inputs(500, 5, seed=5)
    assert excess(unchecked, X_new, checkered(X_new, seed=6)) > 1.0


@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
def test_auto_is_checked_at_the_dimension_chosen(misled):
    belief, _ = misled
    auto = rw.fit(belief.X, belief.y, rw.Linear("auto"), bounds=(-1, 1), n_starts=4).diagnostics
    assert auto.held_out_excess is not None
    assert len(auto.dimension_evidence) > 1


@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
def test_the_same_check_twice_is_identical(misled):
    belief, _ = misled
    again = rw.fit(belief.X, belief.y, rw.Linear(1), bounds=(-1, 1), n_starts=10)
    assert again.diagnostics == belief.diagnostics


def test_one_more_observation_keeps_the_noise_without_another_check(misled, monkeypatch):
    belief, _ = misled
    monkeypatch.setattr(holdout, "check", lambda *a: pytest.fail("checked again"))
    X, y = np.vstack([belief.X, inputs(1, 5, seed=9)]), np.append(belief.y, 1.0)
    with pytest.warns(rw.RidgewayWarning, match="began with had misled: extra noise with"):
        warm = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), initial=belief)
    assert warm.diagnostics.misfit == pytest.approx(belief.diagnostics.misfit)
    assert warm.noise_variance > belief.diagnostics.misfit**2


def test_the_finding_is_saved(misled, tmp_path):
    belief, _ = misled
    assert rw.Belief.load(belief.save(tmp_path / "belief")).diagnostics == belief.diagnostics


# -- a search that begins in silence ---------------------------------------------------------------


def test_silence_is_all_noise():
    posterior = random_posterior(rw.Linear(1))
    theta = starts.silent(posterior)
    assert not theta[: posterior.n_parameters].any()
    assert np.exp(theta[LOG_NOISE]) == pytest.approx(0.9, abs=1e-3)
    floored = replace(posterior, priors=replace(posterior.priors, noise_floor=0.8))
    total = np.exp(2 * starts.silent(floored)[LOG_NOISE]) + 0.8**2
    assert total == pytest.approx(0.9**2)


def test_no_fit_has_far_less_evidence_than_noise_alone(monkeypatch):
    """Three directions told to be one: searches with little noise end in wiggly modes. Climbs lead out of them."""
    monkeypatch.setattr(holdout, "doubtful", lambda belief: False)
    monkeypatch.setattr(inference.straight, "possible", lambda posterior: False)
    f = from_model(11, 3, random_state=4)
    X = inputs(120, 11, seed=4)
    y = f(X)
    noise = -0.5 * len(y) * np.log(2 * np.pi * np.e * y.var())
    assert rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), n_starts=10).log_evidence > noise - 12.0
    monkeypatch.setattr(inference.nested, "maximize_evidence", lambda posterior, start, *_, **__: start)
    assert rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), n_starts=10).log_evidence < noise - 12.0
