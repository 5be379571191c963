"""Fits with outliers: they are named and have hardly any influence; without them nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.errors import RidgewayWarning
from ridgeway.inference import outliers
from ridgeway.testfunctions import subspace_angles
from tests.helpers import inputs

TRUTH = np.array([[2.0, 1.0, -1.0, 0.0, 0.5, 0.0]])
ROW = 7


def response(X: np.ndarray, seed: int = 0) -> np.ndarray:
    return 3.0 + np.sin(X @ TRUTH[0]) + 0.05 * np.random.default_rng(seed).standard_normal(len(X))


def spoiled(n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    X = inputs(n, 6)
    y = response(X)
    y[ROW] *= 100.0
    return X, y


def degrees(belief: rw.Belief) -> float:
    return float(subspace_angles(belief.embedding[:1], TRUTH).max())


def fit(X, y, embedding=None, **arguments) -> rw.Belief:
    return rw.fit(X, y, embedding or rw.Linear(1), **{"n_starts": 8, "bounds": (-1, 1), **arguments})


def rows(belief: rw.Belief) -> list[int]:
    return [suspect.row for suspect in belief.suspects]


@pytest.fixture(scope="module")
def belief() -> rw.Belief:
    with pytest.warns(RidgewayWarning, match=rf"y\[{ROW}\] is"):
        return fit(*spoiled())


def test_a_gross_outlier_is_named_and_has_no_influence(belief: rw.Belief) -> None:
    X, y = spoiled()
    (suspect,) = belief.suspects
    assert (suspect.row, suspect.value) == (ROW, y[ROW])
    assert suspect.residual > 20.0
    assert suspect.nats > 20.0
    assert suspect.noise_std == pytest.approx(y[ROW] - suspect.predicted, rel=0.05)
    assert abs(suspect.predicted - response(X)[ROW]) < 0.5
    rest = np.arange(len(y)) != ROW
    reference = fit(X[rest], y[rest])
    new = inputs(50, 6, seed=1)
    np.testing.assert_allclose(belief.predict(new).mean, reference.predict(new).mean, atol=0.05)
    assert abs(degrees(belief) - degrees(reference)) < 2.0
    assert belief.trusted.tolist() == rest.tolist()
    assert belief.noise_variance < 0.1**2
    assert "y[7] is" in " ".join(belief.summary().split())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:a fit to a part of the data misled")
def test_without_robust_all_are_taken_at_their_word() -> None:
    belief = fit(*spoiled(), robust=False)
    assert belief.suspects == ()
    assert not any("outlier" in text for text in belief.diagnostics.warnings)
    assert belief.output.scale > 10.0


def test_nothing_changes_where_there_is_no_outlier() -> None:
    X = inputs(30, 6)
    a, b = fit(X, response(X)), fit(X, response(X), robust=False)
    assert a.suspects == ()
    assert a.log_evidence == b.log_evidence
    np.testing.assert_array_equal(a.components[0].gp.theta, b.components[0].gp.theta)
    assert a.diagnostics == b.diagnostics


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        {"embedding": rw.Diagonal()},
        {"embedding": rw.Isotropic()},
        {"embedding": rw.Linear("auto")},
        {"inference": "map"},
        {"noise_variance": 0.05**2},
        {"standardize": False},
        {"priors": rw.Priors(log_noise=(-2.0, 0.0))},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::ridgeway.errors.RidgewayWarning")
def test_whatever_the_model_the_outlier_is_named(arguments) -> None:
    assert rows(fit(*spoiled(), **arguments)) == [ROW]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ridgeway.errors.RidgewayWarning")
def test_an_earlier_suspect_is_examined_again(belief: rw.Belief) -> None:
    """Carried over while nothing speaks for it, cleared where it was corrected, and where the same came out again."""
    X, y = spoiled()
    new = inputs(3, 6, seed=5)
    longer = fit(np.vstack([X, new]), np.append(y, response(new)), initial=belief, n_starts=2)
    assert rows(longer) == [ROW]
    corrected = y.copy()
    corrected[ROW] /= 100.0
    assert fit(X, corrected, initial=belief, n_starts=2).suspects == ()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ridgeway.errors.RidgewayWarning")
def test_a_new_outlier_is_named_beside_an_earlier_one(belief: rw.Belief) -> None:
    X, y = spoiled()
    new = inputs(2, 6, seed=5)
    told = response(new)
    told[0] = -900.0
    longer = fit(np.vstack([X, new]), np.append(y, told), initial=belief, n_starts=2)
    assert rows(longer) == [ROW, len(y)]


@pytest.mark.slow
@pytest.mark.parametrize("function", [lambda u: np.exp(3.0 * u), lambda u: u**5, lambda u: np.tanh(20.0 * u)])
def test_a_steep_function_has_no_outliers(function) -> None:
    X = inputs(40, 4, seed=2)
    y = function(X @ np.array([0.8, -0.6, 0.5, 0.2]))
    assert fit(X, y).suspects == ()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ridgeway.errors.RidgewayWarning")
def test_outliers_that_hide_each_other_are_all_named() -> None:
    X = inputs(60, 6)
    y = response(X)
    wrong = [3, 17, 40]
    y[wrong] += [8.0, -8.0, 8.0]
    assert rows(fit(X, y)) == wrong


@pytest.mark.filterwarnings("ignore::ridgeway.errors.RidgewayWarning")
def test_suspects_are_stored(belief: rw.Belief, tmp_path) -> None:
    again = rw.Belief.load(belief.save(tmp_path / "belief.npz"))
    assert again.suspects == belief.suspects
    assert again.diagnostics.warnings == belief.diagnostics.warnings


def test_other_data_have_other_suspects(belief: rw.Belief) -> None:
    X = inputs(5, 6, seed=3)
    assert belief.condition_on(X, response(X)).suspects == ()


@pytest.mark.slow
def test_gross_outliers_among_many_rows_are_named_and_nothing_else() -> None:
    """So many rows are searched once, without those far away."""
    X = inputs(450, 6)
    y = response(X)
    bad = [3, 50, 123, 124, 400]
    y[bad] *= 100.0
    with pytest.warns(RidgewayWarning):
        belief = fit(X, y)
    assert sorted(rows(belief)) == bad
    assert degrees(belief) < 1.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the fit is not at a mode")  # of a condition of 1e10, curvatures are half rounding
def test_a_long_tail_among_many_rows_is_no_outlier() -> None:
    X = inputs(450, 6)
    y = np.exp(1.5 * X @ TRUTH[0]) + 0.05 * np.random.default_rng(1).standard_normal(450)
    assert outliers.screened(y).any()  # by their values alone they would be
    assert not rows(fit(X, y))
