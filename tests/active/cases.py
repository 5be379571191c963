"""Small beliefs of every kind, for the tests of scores and of pending points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.gp.linear import Linear

EMBEDDINGS = {
    "one direction": rw.Linear(1),
    "two directions": rw.Linear(2),
    "three directions": rw.Linear(3),
    "diagonal": rw.Diagonal(),
    "isotropic": rw.Isotropic(),
}

SHAPES = {"wide": (9, 12), "tall": (16, 4)}  # reduced and not

every_embedding = pytest.mark.parametrize("embedding", EMBEDDINGS)

every_shape = pytest.mark.parametrize("shape", SHAPES)

either_marginal = pytest.mark.parametrize("marginal", ["mgp", "bbq"])


def box(D):
    """Ranges of very different places and widths: nothing may depend on [-1, 1]."""
    lower = np.linspace(-30.0, 20.0, D)
    return lower, lower + np.geomspace(0.1, 50.0, D)


def scaled(X):
    lower, upper = box(X.shape[1])
    return 2.0 * (X - lower) / (upper - lower) - 1.0


def points(n, D, seed=99):
    return np.random.default_rng(seed).uniform(*box(D), (n, D))


def outputs(X, seed=0, noise=0.25):
    Z = scaled(X)
    f = np.sin(1.5 * Z[:, 0] + Z[:, 1] - 0.5 * Z[:, 2]) + 0.3 * Z[:, 1] * Z[:, 3]
    return 50.0 + 10.0 * (f + noise * np.random.default_rng(seed).normal(size=len(X)))


#: A noise that leaves variances enough digits to take differences of.
PRIORS = rw.Priors(log_noise=(-1.2, 0.1), log_output_scale=(0.0, 0.3))

QUICK = {"inference": "map", "n_starts": 2, "priors": PRIORS}

_fitted: dict[tuple, rw.Belief] = {}


def fitted(embedding, kernel="se", shape="tall", modes=1):
    """A belief with one mode, or with two of which the second is no mode, made once."""
    key = (embedding, kernel, shape)
    if key not in _fitted:
        n, D = SHAPES[shape]
        X = points(n, D, seed=1)
        _fitted[key] = rw.fit(X, outputs(X), EMBEDDINGS[embedding], kernel, bounds=box(D), **QUICK)
    return _fitted[key] if modes == 1 else two_modes(_fitted[key])


def two_modes(belief):
    """Beside the mode a component elsewhere, of lower rank where there is one, with a spread of its own."""
    first = belief.components[0]
    r, d = belief.posterior.data.Z.shape[1], first.gp.U.shape[1]
    rng = np.random.default_rng(3)
    model, parameters, own = first.gp.embedding, first.gp.parameters, first.factor[:-4]
    if isinstance(model, Linear) and d > 1:
        model, parameters, own = Linear(d - 1), parameters[:-r], own[:-r]
    theta = np.concatenate([parameters, first.gp.theta[-4:]])
    theta = theta + 0.3 * rng.standard_normal(theta.shape[0])
    factor = np.vstack([own, first.factor[-4:]])
    factor = factor + 0.1 * rng.standard_normal(factor.shape)
    posterior = replace(belief.posterior, embedding=model)
    gp = posterior.condition(theta)
    components = (replace(first, weight=0.6), replace(first, posterior=posterior, gp=gp, factor=factor, weight=0.4))
    return replace(belief, components=components)
