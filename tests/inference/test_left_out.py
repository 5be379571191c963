"""Predicting what was left out: that it is honest, when it is done, and what follows from it."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.gp.process import LOG_NOISE, Data
from ridgeway.inference import left_out
from ridgeway.inference.left_out import Check
from ridgeway.inference.mixture import Component
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT
from tests.helpers import inputs, random_posterior, random_theta
from tests.inference.problems import run


def checkered(X, seed=0):
    """The sign of a product: a single direction says nothing of it, but a fit that turns often can seem to."""
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
    """A fit that was found to mislead, by a check that says so of every fit, and its warnings."""
    X = inputs(40, 5, seed=6)
    y = checkered(X, seed=106)
    doubt = replace(DEFAULT, left_out=replace(DEFAULT.left_out, beyond_doubt=np.inf))
    with warnings.catch_warnings(record=True) as caught, pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("always")
        patch.setattr(left_out, "check", lambda *_: Check(0.4, 0.6, 50.0))
        belief = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), n_starts=10, settings=doubt)
    return belief, [str(w.message) for w in caught]


# -- what is measured ----------------------------------------------------------------------------


def test_what_was_left_out_has_no_influence():
    """Other outputs there, the same prediction: nothing leaks from the modes' own data but their start."""
    posterior = random_posterior(rw.Linear(1), n=20, D=3)
    mode = random_theta(posterior)
    out = np.arange(20) % 4 == 0
    changed = np.where(out, posterior.data.y + 5.0, posterior.data.y)
    other = replace(posterior, data=Data(posterior.data.Z, changed, posterior.data.noise))
    first, second = (left_out._predicted(p, [mode], out, run()) for p in (posterior, other))
    np.testing.assert_array_equal(first, second)
    shifted = replace(posterior, data=Data(posterior.data.Z, posterior.data.y + 5.0 * ~out, posterior.data.noise))
    assert not np.allclose(left_out._predicted(shifted, [mode], out, run())[0], first[0])


def test_known_modes_count_only_where_they_have_far_more_evidence():
    posterior = random_posterior(rw.Linear(1), n=20, D=3)
    mode = random_theta(posterior)
    out = np.arange(20) % 4 == 0

    def predicted(penalty: float) -> np.ndarray:
        settings = replace(DEFAULT, left_out=replace(DEFAULT.left_out, known_penalty=penalty))
        return left_out._predicted(posterior, [mode], out, SearchRun(np.random.default_rng(0), settings))[0]

    default = predicted(DEFAULT.left_out.known_penalty)
    gap = [float(np.abs(default - predicted(penalty)).max()) for penalty in (1e6, -1e6)]
    assert gap[0] <= gap[1]


@pytest.mark.parametrize("rounds", [1, 3])
def test_each_observation_is_left_out_once_a_round(rounds):
    folds = left_out._folds(13, 4, rounds, np.random.default_rng(0))
    assert len(folds) == 4 * rounds
    np.testing.assert_array_equal(np.sum(folds, axis=0), rounds)


def test_extra_noise_is_the_likeliest():
    rng = np.random.default_rng(0)
    variances = rng.uniform(0.05, 0.2, 200)
    errors = np.sqrt(variances + 0.5) * rng.standard_normal(200)
    found, gain = left_out._extra_noise(errors, variances)
    grid = np.linspace(0.0, 3.0, 3001)
    loss = [0.5 * np.sum(np.log(variances + t) + errors**2 / (variances + t)) for t in grid]
    assert found == pytest.approx(grid[np.argmin(loss)], abs=2e-3)
    assert gain == pytest.approx(loss[0] - min(loss), abs=1e-3)


def test_no_extra_noise_where_errors_are_as_announced():
    errors = np.array([0.1, -0.2, 0.1, 0.05])
    assert left_out._extra_noise(errors, np.ones(4)) == pytest.approx((0.0, 0.0), abs=1e-3)


@pytest.mark.slow
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
    monkeypatch.setattr(left_out, "check", lambda *a: pytest.fail("checked without need"))
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


def test_known_noise_counts_for_the_mean_as_well():
    """Two observations so noisy that they say nothing: neither rival is blamed for them."""
    X, y = inputs(40, 3), wave(inputs(40, 3), noise=0.3)
    known = np.where(np.arange(40) < 2, 1e4, 0.0)
    y[:2] = 100.0, -100.0
    belief = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), noise_variance=known, n_starts=4)
    assert left_out.check(belief.posterior, belief.components, belief.posterior.data.noise, 0).excess < 0.0


def test_of_many_observations_a_part_is_checked(monkeypatch):
    X, y = inputs(60, 3), np.random.default_rng(1).standard_normal(60)
    belief = rw.fit(X, y, rw.Linear(1), n_starts=2)
    sizes = []
    compared = left_out._compared
    monkeypatch.setattr(left_out, "_compared", lambda p, *a: sizes.append(p.data.n) or compared(p, *a))
    settings = replace(DEFAULT, left_out=replace(DEFAULT.left_out, most_observations=40))
    left_out.check(belief.posterior, belief.components, belief.posterior.data.noise, 0, settings)
    assert sizes == [40]


# -- what follows ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_fit_that_misled_gets_more_noise_and_says_so(misled):
    belief, notes = misled
    assert belief.diagnostics.held_out_excess == 0.4
    assert belief.diagnostics.misfit == pytest.approx(0.6 * belief.output.scale)
    assert belief.noise_variance >= belief.diagnostics.misfit**2
    assert notes == list(belief.diagnostics.warnings)
    assert "misled about the rest: extra noise with" in notes[0]


@pytest.mark.slow
def test_modes_that_only_fit_the_data_mislead():
    """Pure noise, and a mode that follows it closely: what was left out shows it."""
    X = inputs(40, 5, seed=6)
    y = np.random.default_rng(1).standard_normal(40)
    belief = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), n_starts=2)
    posterior = replace(belief.posterior, embedding=rw.Linear(1))
    theta = posterior.initial(8.0 * np.random.default_rng(2).standard_normal(5))
    theta[LOG_NOISE] = np.log(0.1)
    gp = posterior.condition(theta)
    bad = Component(posterior, gp, np.zeros((theta.shape[0], 0)), 1.0, 0.0)
    found = left_out.check(posterior, [bad], posterior.data.noise, 0)
    assert found.misled
    assert found.excess > 0.3
    assert found.misfit > 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
def test_auto_is_checked_at_the_dimension_chosen(misled):
    belief, _ = misled
    doubt = replace(DEFAULT, left_out=replace(DEFAULT.left_out, beyond_doubt=np.inf))
    auto = rw.fit(belief.X, belief.y, rw.Linear("auto"), bounds=(-1, 1), n_starts=4, settings=doubt).diagnostics
    assert auto.held_out_excess is not None
    assert len(auto.dimension_evidence) > 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
def test_the_same_check_twice_is_identical(misled):
    belief, _ = misled
    doubt = replace(DEFAULT, left_out=replace(DEFAULT.left_out, beyond_doubt=np.inf))
    first, again = (
        rw.fit(belief.X, belief.y, rw.Linear(1), bounds=(-1, 1), n_starts=10, settings=doubt) for _ in range(2)
    )
    assert first.diagnostics.held_out_excess is not None
    assert again.diagnostics == first.diagnostics


@pytest.mark.slow
def test_one_more_observation_keeps_the_noise_without_another_check(misled, monkeypatch):
    belief, _ = misled
    monkeypatch.setattr(left_out, "check", lambda *a: pytest.fail("checked again"))
    X, y = np.vstack([belief.X, inputs(1, 5, seed=9)]), np.append(belief.y, 1.0)
    with pytest.warns(rw.RidgewayWarning, match="began with had misled: extra noise with"):
        warm = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), initial=belief)
    assert warm.diagnostics.misfit == pytest.approx(belief.diagnostics.misfit)
    assert warm.noise_variance > belief.diagnostics.misfit**2


@pytest.mark.slow
def test_the_finding_is_saved(misled, tmp_path):
    belief, _ = misled
    assert rw.Belief.load(belief.save(tmp_path / "belief")).diagnostics == belief.diagnostics
