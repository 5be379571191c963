"""Where the search for modes begins.

The posterior over embeddings has many modes, and prior draws rarely reach the best. The
gradients of a plain Gaussian process in all the inputs already point along the directions
that matter: starts are drawn around the leading eigenvectors of their average outer product.
"""

from __future__ import annotations

import numpy as np

from ridgeway.types import Array


def plain_gradients(Z: Array, y: Array) -> Array:
    """Gradients ``(N, r)`` of an isotropic GP's mean at the data, its scales chosen by evidence."""
    n = Z.shape[0]
    squared = np.sum(Z**2, axis=1)
    S = np.maximum(squared[:, None] + squared[None, :] - 2.0 * Z @ Z.T, 0.0)
    typical = np.median(S[np.triu_indices(n, 1)]) if n > 1 else 1.0
    best, gradients = -np.inf, np.zeros_like(Z)
    r = y - y.mean()
    for ell2 in typical * np.array([0.1, 0.3, 1.0, 3.0, 10.0]):
        K = np.exp(-0.5 * S / ell2)
        values, vectors = np.linalg.eigh(K)
        c2 = (vectors.T @ r) ** 2
        for ratio in (0.003, 0.03, 0.1, 0.3, 1.0, 3.0):
            spectrum = np.maximum(values, 0.0) + ratio
            gamma2 = np.mean(c2 / spectrum)
            evidence = -0.5 * (n * np.log(gamma2 + 1e-300) + np.log(spectrum).sum())
            if evidence > best:
                best = evidence
                alpha = vectors @ ((vectors.T @ r) / spectrum)
                gradients = (K @ (alpha[:, None] * Z) - (K @ alpha)[:, None] * Z) / ell2
    return gradients


def supervised(
    Z: Array, y: Array, d: int, n: int, norm: float, rng: np.random.Generator
) -> list[Array]:
    """``n`` matrices ``A (d, r)`` drawn around the directions in which a plain GP varies."""
    gradients = plain_gradients(Z, y)
    _, s, Vt = np.linalg.svd(gradients, full_matrices=False)
    if s.size == 0 or s[0] == 0:
        return [norm / np.sqrt(Z.shape[1]) * rng.standard_normal((d, Z.shape[1])) for _ in range(n)]
    weights = s / s[0]
    starts = []
    for i in range(n):
        power = (0.0, 0.5, 1.0)[i % 3]
        if power == 0.0:  # the leading d directions alone, in a random rotation
            k = min(d, weights.shape[0])
            mix = np.zeros((d, weights.shape[0]))
            mix[:, :k] = rng.standard_normal((d, k))
        else:
            mix = rng.standard_normal((d, weights.shape[0])) * weights**power
        A = mix @ Vt
        A /= np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
        starts.append(A * norm * np.exp(0.4 * rng.standard_normal((d, 1))))
    return starts
