"""The stored form of a process with a finite basis: arrays, and back from a file that may come from anyone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ridgeway import checks
from ridgeway.gp.feature_process import FeatureData, FeatureProcess, Response
from ridgeway.gp.fourier_basis import MOST_FUNCTIONS, FourierBasis
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LARGEST, LOG_OUTPUT_SCALE, Data
from ridgeway.types import Array

_ARRAYS = (
    *("rotation", "center", "reach", "steps", "waves", "variances", "factor_of_weights", "weights"),
    *("response", "moving", "inputs"),
)
_LARGEST = 1e100  # of any number stored


def described(gp: FeatureProcess) -> dict[str, Any]:
    """What is not an array, for JSON."""
    return {"n": gp.data.n, "weight": gp.weight, "neglected": gp.basis.neglected}


def to_arrays(gp: FeatureProcess, i: int) -> dict[str, Array]:
    """The arrays of component ``i``."""
    basis = gp.basis
    assert gp.response is not None
    values = (
        basis.rotation,
        basis.center,
        basis.reach,
        basis.steps,
        basis.waves.astype(float),
        basis.variances,
        gp.L,
        gp.v,
        *gp.response,
    )
    return {f"{name}_{i}": value for name, value in zip(_ARRAYS, values, strict=True)}


def data(sample: Data, description: Any) -> FeatureData:
    """The rows' sample as a belief keeps it."""
    checks.keys(description, ("n", "weight", "neglected"), "features")
    return FeatureData(sample, checks.count(description["n"], "n of features", sample.n), None)


def process(model: Posterior, theta: Array, arrays: dict[str, Any], i: int, description: Any) -> FeatureProcess:
    """The process of component ``i``, if its arrays fit together."""
    assert isinstance(model.data, FeatureData)
    checks.keys(description, ("n", "weight", "neglected"), "features")
    found = {name: np.asarray(arrays[f"{name}_{i}"]) for name in _ARRAYS}
    d, H = model.embedding.n_rows(model.D), found["waves"].shape[0]
    m, grid = 2 * H - 1, found["moving"].shape[1:]
    shapes: tuple[tuple[int, ...], ...] = ((d, d), (d,), (d,), (d,), (H, d), (H,), (m, m), (m,))
    shapes += ((m, theta.shape[0]), (d * (1 + d), *grid), (1 + d, model.D))
    for (name, array), shape in zip(found.items(), shapes, strict=True):
        if array.shape != shape or array.dtype != np.float64 or not np.all(np.abs(array) < _LARGEST):
            raise ValueError(f"its array '{name}_{i}' must be finite float64 of shape {shape}, got {array.shape}")
    waves = found["waves"].astype(int)
    ends = np.abs(waves).max(axis=0, initial=0)
    if not (1 <= m <= MOST_FUNCTIONS and np.array_equal(waves, found["waves"]) and np.prod(4.0 * ends + 1.0) < 1e8):
        raise ValueError(f"its array 'waves_{i}' must hold whole numbers of up to {MOST_FUNCTIONS} waves")
    positive = (found["steps"], found["variances"], np.diagonal(found["factor_of_weights"]), description["weight"])
    if not all(np.all(np.asarray(part) > 0) for part in positive) or np.abs(theta).max() > LARGEST:
        raise ValueError(f"its basis {i} must have positive steps, variances and weights")
    basis = FourierBasis(
        found["rotation"],
        found["center"],
        found["reach"],
        found["steps"],
        tuple(int(n) for n in ends),
        waves,
        found["variances"],
        float(description["neglected"]),
    )
    scale = np.exp(theta[LOG_OUTPUT_SCALE]) * np.sqrt(basis.function_variances)
    L = np.tril(found["factor_of_weights"])
    if grid != basis.grid:
        raise ValueError(f"its array 'moving_{i}' must be over a grid of {basis.grid}, got {grid}")
    response = Response(*(found[name] for name in ("response", "moving", "inputs")))
    weight = float(description["weight"])
    rest = (L, found["weights"], weight, None, response)
    return FeatureProcess(model.embedding, model.kernel, model.data, theta, basis, scale, *rest)
