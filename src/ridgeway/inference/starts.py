"""Where the search for modes begins.

The posterior over embeddings has many modes, and prior draws rarely reach the best. The
gradients of a plain Gaussian process in all the inputs already point along the directions
that matter: most starts are drawn around the leading eigenvectors of their average outer
product. A noise that is set too high at first smooths the posterior, so that more starts
find the same top; some problems want the opposite, so both kinds are drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ridgeway.embeddings import Linear
from ridgeway.gp import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE
from ridgeway.posterior import Posterior
from ridgeway.priors import parameter_prior
from ridgeway.types import Array


class Recipe(NamedTuple):
    """One way to draw a start for a linear embedding."""

    power: float | None  # of the singular values that weigh the directions; None draws from the prior
    extra: int | None  # with power 0: how many directions beyond the d leading ones
    norm: float  # length of a row, in units of the prior's
    noise: float  # standard deviation to begin with
    stretched: bool = False  # a function that is nearly linear: a tall, wide one seen up close


_LOUD, _LEAST_LOUD = 0.9, 0.3  # noise where nothing else explains the outputs, and its learned part at least

_RECIPES = (
    Recipe(1.0, None, 1.0, 0.5),
    Recipe(0.0, 1, 1.0, 0.2),
    Recipe(1.0, None, 0.3, 0.5, stretched=True),
    Recipe(1.0, None, 1.0, 0.2),
    Recipe(0.0, 0, 1.0, 0.5),
    Recipe(None, None, 0.1, 0.5),
    Recipe(0.5, None, 1.0, 0.5),
    Recipe(2.0, None, 0.3, 0.3, stretched=True),
    Recipe(None, None, 1.0, 0.5),
    Recipe(0.5, None, 1.0, 0.2),
)


def plain_gradients(Z: Array, y: Array) -> Array:
    """Gradients ``(N, r)`` of an isotropic GP's mean at the data, its scales chosen by evidence."""
    n = Z.shape[0]
    if n < 2:
        return np.zeros_like(Z)
    S = cdist(Z, Z, "sqeuclidean")
    typical = float(np.median(S[np.triu_indices(n, 1)])) or 1.0
    residual = y - y.mean()
    best, gradients = -np.inf, np.zeros_like(Z)
    for ell2 in typical * np.array([0.1, 0.3, 1.0, 3.0, 10.0]):
        K = np.exp(-0.5 * S / ell2)
        values, vectors = np.linalg.eigh(K)
        rotated = vectors.T @ residual
        for ratio in (0.003, 0.03, 0.1, 0.3, 1.0, 3.0):  # of the noise variance to the output's
            spectrum = np.maximum(values, 0.0) + ratio
            evidence = -0.5 * (n * np.log(np.mean(rotated**2 / spectrum) + 1e-300) + np.log(spectrum).sum())
            if evidence > best:
                best = evidence
                alpha = vectors @ (rotated / spectrum)
                gradients = (K @ (alpha[:, None] * Z) - (K @ alpha)[:, None] * Z) / ell2
    return gradients


def draw(posterior: Posterior, n: int, rng: np.random.Generator) -> list[Array]:
    """``n`` starts ``theta``, supervised where the embedding is linear."""
    if isinstance(posterior.embedding, Linear):
        return _linear(posterior, posterior.embedding.rows, n, rng)
    prior = parameter_prior(posterior.embedding, posterior.priors, posterior.D, 0.0)
    p = posterior.n_parameters
    shifts = np.linspace(-1.5, 1.5, n) if n > 1 else np.zeros(1)
    spread = 0.0 if p == 1 else 0.3 * prior.std
    return [
        _with_noise(posterior.initial(prior.mean + s + spread * rng.standard_normal(p)), (0.5, 0.2)[i % 2], posterior)
        for i, s in enumerate(shifts)
    ]


def silent(posterior: Posterior) -> Array:
    """``theta`` of a function that does not depend on its inputs: all that varies is noise."""
    prior = parameter_prior(posterior.embedding, posterior.priors, posterior.D, 0.0)
    learned = np.sqrt(max(_LOUD**2 - posterior.priors.noise_floor**2, _LEAST_LOUD**2))
    return _with_noise(posterior.initial(np.full(posterior.n_parameters, prior.mean)), learned, posterior)


def _linear(posterior: Posterior, d: int, n: int, rng: np.random.Generator) -> list[Array]:
    Z = posterior.data.Z
    r = Z.shape[1]
    scale = posterior.scale(0.0)
    length = scale * np.sqrt(r)
    _, s, Vt = np.linalg.svd(plain_gradients(Z, posterior.data.y), full_matrices=False)
    informed = s.size > 0 and s[0] > 0
    starts = []
    # One or two searches begin anywhere in the list, so that fits one after another try all of it.
    first = int(rng.integers(len(_RECIPES))) if n <= 2 else 0
    for i in range(first, first + n):
        recipe = _RECIPES[i % len(_RECIPES)]
        if recipe.power is None or not informed:
            A = recipe.norm * scale * rng.standard_normal((d, r))
        else:
            weights = (s / s[0]) ** recipe.power
            if recipe.extra is not None:
                weights[d + recipe.extra :] = 0.0
            A = (rng.standard_normal((d, s.shape[0])) * weights) @ Vt
            A *= recipe.norm * length / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
            A *= np.exp(0.4 * rng.standard_normal((d, 1)))
        theta = posterior.initial(A.ravel())
        if recipe.stretched:
            _set(theta, posterior, LOG_OUTPUT_SCALE, 1.0)
            _set(theta, posterior, LOG_SCALE, -1.0)
        starts.append(_with_noise(theta, recipe.noise, posterior))
    return starts


def _with_noise(theta: Array, noise: float, posterior: Posterior) -> Array:
    _set(theta, posterior, LOG_NOISE, float(np.log(noise)))
    return theta


def _set(theta: Array, posterior: Posterior, index: int, value: float) -> None:
    if posterior.priors.globals[1][index] > 0:
        theta[index] = value
