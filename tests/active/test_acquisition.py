"""Scores of experiments and their gradients, against differences and against a dense re-derivation.

``Naive`` has every entry of ``R`` as a parameter, takes differences for every derivative in the
hyperparameters, and conditions on points that are pending by inverting matrices.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active import acquisition
from ridgeway.active.acquisition import Bald, bald, information, outlook_of, score, score_with_gradient, uncertainty
from ridgeway.active.pending import PendingBelief
from tests.active.cases import (
    EMBEDDINGS,
    QUICK,
    SHAPES,
    box,
    either_marginal,
    every_embedding,
    every_shape,
    fitted,
    points,
)

SCORES = {"bald": bald, "information": information, "uncertainty": uncertainty}

every_kernel = pytest.mark.parametrize("kernel", ["se", "matern52", "rq"])


# -- gradients -------------------------------------------------------------------------------


def differences(function, X, step=1e-3):
    """Gradient of ``function`` of points by differences of the fourth order, ``(n, D)``."""
    n, D = X.shape
    h = step * np.subtract(*box(D)[::-1])
    weights = np.array([8, -8, -1, 1]) / 12
    moved = X + np.array([1, -1, 2, -2])[:, None, None, None] * np.diag(h)[:, None]  # (4, D, n, D)
    values = function(moved.reshape(-1, D)).reshape(4, D, n)
    return np.einsum("s,sjn->nj", weights, values) / h


@pytest.mark.slow
@every_embedding
@every_kernel
@every_shape
@pytest.mark.parametrize("modes", [1, 2])
def test_gradients_are_those_of_differences(embedding, kernel, shape, modes):
    belief = fitted(embedding, kernel, shape, modes)
    D = belief.X.shape[1]
    X, width = points(3, D), np.subtract(*box(D)[::-1])
    for kind in ("mgp", "bbq"):
        for pending in (np.zeros((0, D)), points(3, D, seed=5)):
            outlook = PendingBelief(belief, kind).given(pending)
            for name, acquired in SCORES.items():
                values, gradient = score_with_gradient(acquired, outlook, X)
                np.testing.assert_allclose(values, score(acquired, outlook, X), rtol=1e-9, err_msg=name)
                expected = differences(lambda points, a=acquired, o=outlook: score(a, o, points), X)
                # In units of the box, so that an input of large range counts as any other.
                size = np.abs(expected * width).max()
                assert size > 1e-3
                np.testing.assert_allclose(gradient * width, expected * width, rtol=1e-6, atol=1e-6 * size)


@pytest.mark.parametrize("name", SCORES)
@either_marginal
def test_with_gradient_uses_the_marginal_of_the_fit(name, marginal):
    belief = replace(fitted("two directions"), marginal=marginal)
    X = points(4, 4)
    values, gradient = SCORES[name].with_gradient(belief, X)
    np.testing.assert_allclose(values, SCORES[name](belief, X), rtol=1e-10)
    np.testing.assert_array_equal(gradient, score_with_gradient(SCORES[name], PendingBelief(belief, marginal), X)[1])
    other = "bbq" if marginal == "mgp" else "mgp"
    assert np.abs(values - score(SCORES[name], PendingBelief(belief, other), X)).min() > 1e-3


@every_embedding
@every_kernel
@every_shape
def test_gradients_are_finite_where_points_coincide(embedding, kernel, shape):
    """At an observation and at a pending point distances are zero, and so is the one to the span."""
    belief = fitted(embedding, kernel, shape)
    pending = points(2, belief.X.shape[1], seed=5)
    X = np.vstack([belief.X[:2], pending])
    for acquired in SCORES.values():
        values, gradient = score_with_gradient(acquired, outlook_of(belief).given(pending), X)
        assert np.isfinite(values).all()
        assert np.isfinite(gradient).all()


# -- what the scores are ------------------------------------------------------------------------


@every_embedding
@every_shape
@either_marginal
def test_scores_from_the_belief(embedding, shape, marginal):
    belief = replace(fitted(embedding, "se", shape, 2), marginal=marginal)
    X = points(50, belief.X.shape[1])
    p, s2 = belief.predict(X, marginal), belief.noise_variance
    np.testing.assert_allclose(bald(belief, X), belief.bald(X), rtol=1e-12)
    np.testing.assert_allclose(bald(belief, X), 0.5 * np.log(p.variance / p.map_variance), rtol=1e-9)
    expected = 0.5 * np.log((p.variance + s2) / (p.map_variance + s2))
    np.testing.assert_allclose(information(belief, X), expected, rtol=1e-9)
    entropy = 0.5 * np.log(2 * np.pi * np.e * p.variance / np.var(belief.y))
    np.testing.assert_allclose(uncertainty(belief, X), entropy, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("marginal", ["map", "samples"])
def test_other_marginals_are_scored_by_mgp(marginal):
    belief = replace(fitted("two directions"), marginal=marginal)
    X = points(5, 4)
    np.testing.assert_array_equal(bald(belief, X), bald(fitted("two directions"), X))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("embedding", ["two directions", "isotropic"])
def test_order_of_the_data_does_not_matter(embedding, shape):
    """The same hyperparameters on the same data in another order."""
    belief = fitted(embedding, "se", shape, 2)
    n, D = belief.X.shape
    X, pending, order = points(20, D), points(3, D, seed=5), np.random.default_rng(0).permutation(n)
    same, mixed = belief.condition_on(belief.X, belief.y), belief.condition_on(belief.X[order], belief.y[order])
    for acquired in SCORES.values():
        expected, gradient = score_with_gradient(acquired, outlook_of(same).given(pending), X)
        values, other = score_with_gradient(acquired, outlook_of(mixed).given(pending), X)
        np.testing.assert_allclose(values, expected, rtol=1e-7)
        np.testing.assert_allclose(other, gradient, rtol=1e-5, atol=1e-7 * np.abs(gradient).max())
        np.testing.assert_allclose(values, score(acquired, outlook_of(belief).given(pending), X), rtol=1e-7)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize(("zoom", "shift", "unit", "level"), [(1e-3, 5.0, 1e4, -3.0), (250.0, -9.0, 0.01, 1.0)])
def test_units_do_not_matter(embedding, zoom, shift, unit, level):
    belief = fitted(embedding, shape="wide")
    X, pending = points(10, 12), points(2, 12, seed=5)
    lower, upper = box(12)
    other = rw.fit(
        shift + zoom * belief.X,
        level + unit * belief.y,
        EMBEDDINGS[embedding],
        bounds=(shift + zoom * lower, shift + zoom * upper),
        **QUICK,
    )
    for acquired in SCORES.values():
        values, gradient = score_with_gradient(acquired, outlook_of(belief).given(pending), X)
        same, changed = score_with_gradient(acquired, outlook_of(other).given(shift + zoom * pending), shift + zoom * X)
        np.testing.assert_allclose(same, values, rtol=1e-4, atol=1e-6)
        size = np.abs(gradient).max(axis=0)
        np.testing.assert_allclose(zoom * changed / size, gradient / size, atol=1e-3)


# -- names ------------------------------------------------------------------------------------


def test_names_stand_for_acquisitions():
    assert acquisition.resolve("bald") is bald
    assert acquisition.resolve("information") is information
    assert acquisition.resolve("uncertainty") is uncertainty
    assert acquisition.resolve(bald) is bald
    assert Bald(noisy=True) == information
    assert Bald() != information


@dataclass(frozen=True)
class Plain:
    """An acquisition as a user would write it."""

    name: ClassVar[str] = "plain"

    def value(self, moments, noise):
        return moments.variance

    def slopes(self, moments, noise):
        return np.ones_like(moments.variance), np.zeros_like(moments.variance)

    @property
    def jointly(self):
        return self


def test_batches_are_chosen_by_what_adds_up():
    assert bald.jointly is information
    assert information.jointly is information
    assert uncertainty.jointly is uncertainty


def test_an_acquisition_of_the_users_own():
    belief, X = fitted("two directions"), points(4, 4)
    mine = acquisition.resolve(Plain())
    values, gradient = score_with_gradient(mine, outlook_of(belief), X)
    np.testing.assert_allclose(belief.output.variance(values), belief.predict(X).variance, rtol=1e-9)
    expected = differences(lambda points: score(mine, outlook_of(belief), points), X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (
            "entropy",
            ValueError,
            "'bald', .*'thompson', 'random', 'latin-hypercube', got 'entropy'",
        ),
        (
            3,
            TypeError,
            r"acquisition must be a name, have value\(\), slopes\(\) and jointly, or .*, or be a function .*, got 3",
        ),
        (None, TypeError, "acquisition must be a name"),
    ],
)
def test_what_is_no_acquisition(wrong, error, says):
    with pytest.raises(error, match=says):
        acquisition.resolve(wrong)


@pytest.mark.parametrize("call", [bald, information, uncertainty, bald.with_gradient])
def test_points_are_checked(call):
    belief = fitted("two directions")
    with pytest.raises(ValueError, match="X must have 4 columns as the data had, got 3"):
        call(belief, np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"X must have shape \(n, D\)"):
        call(belief, np.zeros(4))
    with pytest.raises(ValueError, match="finite"):
        call(belief, np.full((1, 4), np.nan))


def test_a_function_needs_botorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "ridgeway.botorch.made_acquisition", None)
    with pytest.raises(ImportError, match=r"needs pip install 'ridgeway\[botorch\]'"):
        acquisition.resolve(np.sin)
