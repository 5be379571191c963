"""Where the search for modes begins.

The posterior over embeddings has many modes, and prior draws rarely reach the best. The
gradients of a plain Gaussian process in all the inputs already point along the directions
that matter: most starts are drawn around the leading eigenvectors of their average outer
product. A noise that is set too high at first smooths the posterior, so that more starts
find the same mode; some problems want the opposite, so both kinds are drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ridgeway.gp.eigen import eigh
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import parameter_prior
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE
from ridgeway.inference.settings import DEFAULT, StartSettings
from ridgeway.types import Array


def plain_gradients(Z: Array, y: Array, settings: StartSettings = DEFAULT.starts) -> Array:
    """Gradients ``(N, r)`` of an isotropic GP's mean at the data, its scales chosen by evidence."""
    n = Z.shape[0]
    if n < 2:
        return np.zeros_like(Z)
    S = cdist(Z, Z, "sqeuclidean")
    typical = float(np.median(S[np.triu_indices(n, 1)])) or 1.0
    residual = y - y.mean()
    best, gradients = -np.inf, np.zeros_like(Z)
    for ell2 in typical * np.array(settings.gradient_length_scales):
        K = np.exp(-0.5 * S / ell2)
        values, vectors = eigh(K)
        rotated = vectors.T @ residual
        for ratio in settings.gradient_noise_ratios:
            spectrum = np.maximum(values, 0.0) + ratio
            evidence = -0.5 * (n * np.log(np.mean(rotated**2 / spectrum) + 1e-300) + np.log(spectrum).sum())
            if evidence > best:
                best = evidence
                alpha = vectors @ (rotated / spectrum)
                gradients = (K @ (alpha[:, None] * Z) - (K @ alpha)[:, None] * Z) / ell2
    return gradients


class Guide(NamedTuple):
    """Directions along which a plain process varies: singular values and right singular vectors of its gradients."""

    strengths: Array  # (k,)
    directions: Array  # (k, r)


def guide(posterior: Posterior, settings: StartSettings = DEFAULT.starts) -> Guide | None:
    """What starts are drawn around; nothing where the embedding has no directions. One serves for many draws."""
    if not posterior.embedding.has_directions:
        return None
    gradients = plain_gradients(posterior.data.Z, posterior.data.y, settings)
    _, strengths, directions = np.linalg.svd(gradients, full_matrices=False)
    return Guide(strengths, directions)


def draw(
    posterior: Posterior,
    n: int,
    rng: np.random.Generator,
    settings: StartSettings = DEFAULT.starts,
    known: Guide | None = None,
) -> list[Array]:
    """``n`` starts ``theta``, guided by gradients where the embedding has directions."""
    around = known or guide(posterior, settings)
    if around is None:
        return _length_scales(posterior, n, rng, settings)
    return _directions(posterior, n, rng, settings, around)


def noise_only(posterior: Posterior, settings: StartSettings = DEFAULT.starts) -> Array:
    """``theta`` of a function that does not depend on its inputs: all that varies is noise."""
    prior = parameter_prior(posterior.embedding, posterior.priors, posterior.D, 0.0)
    learned = np.sqrt(max(settings.noise_only**2 - posterior.priors.noise_floor**2, settings.noise_only_least**2))
    return _with_noise(posterior.initial(np.full(posterior.n_parameters, prior.mean)), learned, posterior)


def _length_scales(posterior: Posterior, n: int, rng: np.random.Generator, settings: StartSettings) -> list[Array]:
    prior = parameter_prior(posterior.embedding, posterior.priors, posterior.D, 0.0)
    p, reach = posterior.n_parameters, settings.length_scale_range
    shifts = np.linspace(-reach, reach, n) if n > 1 else np.zeros(1)
    spread = 0.0 if p == 1 else settings.length_scale_spread * prior.std
    levels = settings.length_scale_noise
    return [
        _with_noise(
            posterior.initial(prior.mean + s + spread * rng.standard_normal(p)), levels[i % len(levels)], posterior
        )
        for i, s in enumerate(shifts)
    ]


def _directions(
    posterior: Posterior, n: int, rng: np.random.Generator, settings: StartSettings, around: Guide
) -> list[Array]:
    d, r = posterior.embedding.n_rows(posterior.D), posterior.data.Z.shape[1]
    scale = posterior.scale(0.0)
    length = scale * np.sqrt(r)
    s, Vt = around
    guided = s.size > 0 and s[0] > 0
    recipes = settings.recipes
    starts = []
    # One or two searches begin anywhere in the list, so that fits one after another try all of it.
    first = int(rng.integers(len(recipes))) if n <= 2 else 0
    for i in range(first, first + n):
        recipe = recipes[i % len(recipes)]
        if recipe.power is None or not guided:
            A = recipe.norm * scale * rng.standard_normal((d, r))
        else:
            weights = (s / s[0]) ** recipe.power
            if recipe.extra is not None:
                weights[d + recipe.extra :] = 0.0
            A = (rng.standard_normal((d, s.shape[0])) * weights) @ Vt
            A *= recipe.norm * length / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
            A *= np.exp(settings.log_norm_spread * rng.standard_normal((d, 1)))
        theta = posterior.initial(A.ravel())
        if recipe.stretched:
            _set(theta, posterior, LOG_OUTPUT_SCALE, settings.stretch)
            _set(theta, posterior, LOG_SCALE, -settings.stretch)
        starts.append(_with_noise(theta, recipe.noise, posterior))
    return starts


def _with_noise(theta: Array, noise: float, posterior: Posterior) -> Array:
    _set(theta, posterior, LOG_NOISE, float(np.log(noise)))
    return theta


def _set(theta: Array, posterior: Posterior, index: int, value: float) -> None:
    """Set a hyperparameter, unless its prior fixes it."""
    if posterior.priors.globals[1][index] > 0:
        theta[index] = value
