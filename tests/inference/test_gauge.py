"""Rotations of the embedding: flat directions and the volume of the orbit."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.gp.length_scales import Diagonal
from ridgeway.gp.linear import Linear
from ridgeway.inference import gauge
from tests.helpers import random_posterior, random_theta


def test_rotations_are_flat() -> None:
    posterior = random_posterior(Linear(3), n=20)
    theta = random_theta(posterior)
    tangents = Linear(3).rotations(theta[: posterior.n_parameters])
    assert tangents.shape == (12, 3)
    gradient = posterior.evaluate(theta).gradient[:12]
    assert np.abs(tangents.T @ gradient).max() < 1e-10 * np.linalg.norm(gradient) * np.linalg.norm(tangents)


def test_orbit_volume_by_sampling() -> None:
    """A shell around the orbit has the orbit's volume times the ball's across it."""
    A = np.array([[1.0, 0.4], [-0.3, 0.8]])
    volume = np.exp(Linear(2).log_orbit_volume(A.ravel()))
    angles = np.linspace(0, 2 * np.pi, 20001)
    rotations = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    length = np.linalg.norm(np.diff((rotations @ A).reshape(-1, 4), axis=0), axis=1).sum()
    assert volume == pytest.approx(2 * length, rel=1e-6)  # rotations, and reflections as many again


def test_orbit_volume_in_three_dimensions() -> None:
    """O(3) acting on the identity: all of it, with S_ij - S_ji of length sqrt 2."""
    expected = 2 * 8 * np.pi**2 * np.sqrt(2) ** 3
    assert np.exp(Linear(3).log_orbit_volume(np.eye(3).ravel())) == pytest.approx(expected)
    assert Linear(1).log_orbit_volume(np.array([3.0, 4.0])) == pytest.approx(np.log(2))
    assert Diagonal().log_orbit_volume(np.ones(3)) == 0.0


def test_the_basis_is_orthonormal_and_spans_the_rotations() -> None:
    posterior = random_posterior(Linear(3), n=20)
    theta = random_theta(posterior)
    inner = np.arange(posterior.n_parameters + 1)
    width = np.full(inner.shape[0], 0.7)
    N = gauge.basis(posterior, theta, inner, width)
    np.testing.assert_allclose(N.T @ N, np.eye(3), atol=1e-12)
    tangents = Linear(3).rotations(theta[: posterior.n_parameters]) / 0.7
    np.testing.assert_allclose(N[:-1] @ (N[:-1].T @ tangents), tangents, atol=1e-12)
    H = np.diag(np.arange(1.0, inner.shape[0] + 1.0))
    assert np.abs(gauge.project_out(H, N) @ N).max() < 1e-12
    values, vectors = np.linalg.eigh(gauge.project_out(H, N))
    kept, directions = gauge.drop(values, vectors, N)
    assert kept.shape == (inner.shape[0] - 3,)
    assert np.abs(N.T @ directions).max() < 1e-8


def test_a_rotated_embedding_is_aligned_with_its_origin() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((3, 5))
    turned = np.stack([np.linalg.qr(rng.standard_normal((3, 3)))[0] @ A for _ in range(4)]).reshape(4, -1)
    np.testing.assert_allclose(Linear(3).aligned(turned, A.ravel()), np.tile(A.ravel(), (4, 1)), atol=1e-12)
    scales = rng.standard_normal((4, 5))
    np.testing.assert_array_equal(Diagonal().aligned(scales, scales[0]), scales)
