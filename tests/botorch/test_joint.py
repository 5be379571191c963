"""Joint moments against those of single points, against covariances with pending points, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("botorch", reason="BoTorch is not installed: pip install 'ridgeway[botorch]'")

from ridgeway.active.pending import PendingBelief
from ridgeway.botorch.joint import Joint
from tests.active.cases import SHAPES, box, either_marginal, every_embedding, every_shape, fitted, points


def sets(shape: str, n_sets: int = 3, q: int = 4) -> np.ndarray:
    D = SHAPES[shape][1]
    return points(n_sets * q, D).reshape(n_sets, q, D)


@every_embedding
@every_shape
@pytest.mark.parametrize("modes", [1, 2])
@pytest.mark.parametrize("marginal", ["map", "bbq", "mgp"])
def test_means_and_variances_are_those_of_predict(embedding: str, shape: str, modes: int, marginal: str) -> None:
    belief, X = fitted(embedding, shape=shape, modes=modes), sets(shape)
    found = Joint(belief, marginal).evaluate(X).moments
    expected = belief.predict(X.reshape(-1, X.shape[2]), marginal)
    scale = belief.output_scale
    np.testing.assert_allclose(found.mean.ravel(), expected.mean, atol=1e-8 * scale)
    variances = np.diagonal(found.covariance, axis1=1, axis2=2).ravel()
    np.testing.assert_allclose(variances, expected.variance, rtol=1e-7, atol=1e-9 * scale**2)
    plain = np.diagonal(found.plain, axis1=1, axis2=2).ravel()
    np.testing.assert_allclose(plain, expected.map_variance, rtol=1e-7, atol=1e-9 * scale**2)


@every_embedding
@every_shape
@either_marginal
def test_the_information_in_a_set_is_that_of_pending_points(embedding: str, shape: str, marginal: str) -> None:
    belief, X = fitted(embedding, shape=shape, modes=2), sets(shape)
    found = Joint(belief, marginal).evaluate(X).moments
    noise = belief.noise_variance * np.eye(X.shape[1])
    for points_, full, plain in zip(X, found.covariance, found.plain, strict=True):
        nats = 0.5 * (np.linalg.slogdet(full + noise)[1] - np.linalg.slogdet(plain + noise)[1])
        assert nats == pytest.approx(PendingBelief(belief, marginal).given(points_).information, abs=1e-8)


@every_shape
@pytest.mark.parametrize("marginal", ["map", "mgp"])
@pytest.mark.parametrize("embedding", ["two directions", "diagonal", "isotropic"])
def test_derivatives_are_those_of_finite_differences(embedding: str, shape: str, marginal: str) -> None:
    belief, X = fitted(embedding, shape=shape, modes=2), sets(shape, 2, 3)
    joint, rng = Joint(belief, marginal), np.random.default_rng(3)
    evaluated = joint.evaluate(X, keep=True)
    # The covariances vary by the square of what the mean varies by: neither may drown the other.
    weights = [rng.standard_normal(part.shape) / np.abs(part).max() for part in evaluated.moments]
    gradient = evaluated.pull_back(*weights)
    lower, upper = box(X.shape[2])
    direction = rng.standard_normal(X.shape) * (upper - lower)
    h = 1e-5

    def total(points_: np.ndarray) -> float:
        return sum(float((w * part).sum()) for w, part in zip(weights, joint.evaluate(points_).moments, strict=True))

    slope = (total(X + h * direction) - total(X - h * direction)) / (2.0 * h)
    assert float((gradient * direction).sum()) == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_many_small_sets_and_one_large_set_agree() -> None:
    belief = fitted("two directions")
    X = points(600, SHAPES["tall"][1])
    one = Joint(belief).evaluate(X[None]).moments
    many = Joint(belief).evaluate(X.reshape(200, 3, -1)).moments
    np.testing.assert_allclose(many.mean.ravel(), one.mean[0], rtol=1e-12)
    np.testing.assert_allclose(many.covariance[7], one.covariance[0, 21:24, 21:24], rtol=1e-10)
    assert np.linalg.eigvalsh(one.covariance[0, :50, :50]).min() > -1e-9 * belief.output_scale**2
