"""Layer (c): numbers printed by the authors' own code (MATLAB/Octave), to their digits.

``tests/golden`` holds excerpts of its output; ``theta`` there is stacked as covariance, noise,
mean, with the entries of ``R`` by columns where ours are by rows.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ridgeway.gp import likelihood, moments
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import SquaredExponential
from ridgeway.gp.length_scales import Diagonal, Isotropic
from ridgeway.gp.linear import Linear
from ridgeway.gp.process import ConditionedGP, Data, condition
from tests.helpers import GOLDEN, SEVERAL, rounding_of_variance

MODELS: dict[str, Embedding] = {"a": Isotropic(), "b": Diagonal(), "c": Linear(2), "d": Linear(1)}
CASES = [
    (name, block)
    for name in MODELS
    for block in json.loads((GOLDEN / f"{name}.json").read_text())
    if block.startswith("at_")
]


class Golden:
    """One block of the authors' output, in our order of parameters."""

    def __init__(self, name: str, block: str) -> None:
        file = json.loads((GOLDEN / f"{name}.json").read_text())
        self.model, self.values, self.block = MODELS[name], file[block], block
        X, X_star = (np.atleast_2d(np.array(file[k], float).T).T for k in ("x", "x_star"))
        y, theta = np.array(file["y"]), np.array(self.values["theta"])
        p, n_theta = self.model.n_parameters(X.shape[1]), theta.shape[0]
        self.p = p
        own = np.arange(p)
        if isinstance(self.model, Linear):
            own = own.reshape(X.shape[1], self.model.rows).T.ravel()
        self.order = np.concatenate([own, np.arange(p, n_theta)])
        mean = theta[p + 2] if n_theta > p + 2 else 0.0
        stacked = np.concatenate([theta[own], theta[p : p + 2], [mean, 0.0]])
        self.gp: ConditionedGP = condition(self.model, SquaredExponential(), Data(X, y, np.zeros(y.shape)), stacked)
        self.X_star, self.prior_precision = X_star, 1.0 / np.array(file["prior_variance"])[self.order]

    def vector(self, key: str) -> np.ndarray:
        return np.array(self.values[key])[..., self.order]

    def matrix(self, key: str) -> np.ndarray:
        return np.array(self.values[key])[np.ix_(self.order, self.order)]

    @property
    def n(self) -> int:
        return self.order.shape[0]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(case))
def golden(request: Any) -> Golden:
    return Golden(*request.param)


def close(actual: np.ndarray, expected: np.ndarray, relative: float) -> bool:
    """Within ``relative`` of the largest entry (at a mode the gradient itself is rounding)."""
    return bool(np.abs(actual - expected).max() <= relative * max(np.abs(expected).max(), 1.0))


def test_likelihood(golden: Golden) -> None:
    assert -golden.gp.log_likelihood() == pytest.approx(golden.values["nlZ_likelihood"], rel=1e-10)


def test_gradient(golden: Golden) -> None:
    gradient = -likelihood.gradient(golden.gp)[: golden.n]
    assert close(gradient, golden.vector("dnlZ_likelihood"), 1e-8)


def test_hessian(golden: Golden) -> None:
    hessian = -likelihood.hessian(golden.gp)[: golden.n, : golden.n]
    assert close(hessian, golden.matrix("HnlZ_likelihood"), 1e-8)
    assert close(hessian + np.diag(golden.prior_precision), golden.matrix("HnlZ_posterior"), 1e-8)


def test_predictive_moments_and_their_gradients(golden: Golden) -> None:
    mean, variance, at = moments.predictive(golden.gp, golden.X_star)
    dm, dV, *_ = moments.moment_gradients(golden.gp, variance, mean, at)
    np.testing.assert_allclose(mean, golden.values["f_star_mean"], rtol=1e-9, atol=1e-10)
    rounding = SEVERAL * rounding_of_variance(golden.gp)
    assert rounding < 1e-6 * variance.min()  # or the next line would compare nothing
    np.testing.assert_allclose(variance, golden.values["f_star_variance_gp"], rtol=1e-10, atol=rounding)
    assert close(dm[:, : golden.n], golden.vector("df_star_mean"), 1e-8)
    assert close(dV[:, : golden.n], golden.vector("df_star_variance"), 1e-8)


def test_mgp_variance(golden: Golden) -> None:
    mean, V, at = moments.predictive(golden.gp, golden.X_star)
    dm, dV, *_ = moments.moment_gradients(golden.gp, V, mean, at)
    H = golden.matrix("HnlZ_posterior")
    tangents = np.zeros((golden.n, 0))
    if golden.block == "at_map":  # singular along the rotation, along which nothing moves: any curvature will do
        tangents = np.pad(golden.model.rotations(golden.gp.parameters), ((0, golden.n - golden.p), (0, 0)))
    H = H + tangents @ tangents.T
    quadratic = [np.einsum("mi,mi->m", d[:, : golden.n], np.linalg.solve(H, d[:, : golden.n].T).T) for d in (dm, dV)]
    expected = np.array(golden.values["f_star_variance"])
    np.testing.assert_allclose(moments.combine(V, *quadratic, "mgp"), expected, rtol=1e-6)


def test_the_hessian_at_the_mode_is_flat_along_the_rotation() -> None:
    golden = Golden("c", "at_map")
    tangent = np.append(golden.model.rotations(golden.gp.parameters)[:, 0], np.zeros(2))
    H = golden.matrix("HnlZ_posterior")
    assert np.linalg.norm(H @ tangent) < 1e-8 * np.linalg.norm(H) * np.linalg.norm(tangent)


@pytest.mark.parametrize("case", json.loads((GOLDEN / "f.json").read_text())["cases"], ids=lambda c: f"N={c['N']}")
def test_few_observations(case: dict[str, Any]) -> None:
    X, X_star = np.array(case["x"]).reshape(case["N"], 2), np.array(case["x_star"]).reshape(-1, 2)
    y, theta = np.atleast_1d(case["y"]), np.array(case["theta"])
    gp = condition(Diagonal(), SquaredExponential(), Data(X, y, np.zeros(y.shape)), np.append(theta, 0.0))
    H = -likelihood.hessian(gp)[:5, :5] + np.diag(1.0 / np.array(case["prior_variance"]))
    assert close(H, np.array(case["HnlZ_posterior"]), 1e-8)
    mean, V, at = moments.predictive(gp, X_star)
    dm, dV, *_ = moments.moment_gradients(gp, V, mean, at)
    q = [np.einsum("mi,mi->m", d[:, :5], np.linalg.solve(H, d[:, :5].T).T) for d in (dm, dV)]
    np.testing.assert_allclose(moments.combine(V, *q, "mgp"), case["f_star_variance_fixed"], rtol=1e-6)
