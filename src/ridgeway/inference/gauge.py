"""The rotation gauge: directions of the parameters along which nothing changes.

For an isotropic kernel ``R`` and ``O R`` are the same model for every rotation ``O``. At a mode of a
linear embedding the Hessian therefore has ``d(d-1)/2`` eigenvalues that are exactly zero. They are
projected out of the Gaussian around a mode, and the evidence takes the volume of the whole orbit of
rotations in their place.
"""

from __future__ import annotations

import numpy as np

from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_SCALE
from ridgeway.types import Array

LOG_2PI = float(np.log(2.0 * np.pi))
_DEPENDENT = 1e-8  # relative size of a singular value below which a tangent is a combination of the others


def basis(posterior: Posterior, theta: Array, inner: Array, width: Array) -> Array:
    """An orthonormal basis ``(n, g)`` of the gauge over ``theta[inner]``, in units of the prior's ``width``."""
    p = posterior.n_parameters
    tangents = posterior.embedding.rotations(theta[:p])
    padded = np.zeros((inner.shape[0], tangents.shape[1]))
    padded[inner < p] = tangents / width[inner < p, None]
    if padded.shape[1] == 0:
        return padded
    U, s, _ = np.linalg.svd(padded, full_matrices=False)
    return U[:, s > _DEPENDENT * max(1.0, s[0])]


def project_out(H: Array, N: Array) -> Array:
    """``H`` restricted to the complement of the gauge ``N``."""
    if N.shape[1] == 0:
        return H
    H = H - N @ (N.T @ H)
    return H - (H @ N) @ N.T


def drop(values: Array, vectors: Array, N: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors without those that are the gauge ``N``."""
    if N.shape[1] == 0:
        return values, vectors
    overlap = np.einsum("ij,ij->j", N.T @ vectors, N.T @ vectors)
    kept = np.sort(np.argsort(overlap)[: values.shape[0] - N.shape[1]])
    return values[kept], vectors[:, kept]


def log_volume(posterior: Posterior, theta: Array, n_gauge: int) -> float:
    """Log volume of the orbit of rotations; a Gaussian's of the prior's width where the orbit shrinks to a point."""
    width = posterior.scale(theta[LOG_SCALE])
    gaussian = n_gauge * (0.5 * LOG_2PI + float(np.log(width)))
    return max(posterior.embedding.log_orbit_volume(theta[: posterior.n_parameters]), gaussian)
