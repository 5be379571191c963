"""Embeddings that scale the inputs: one length scale for each, or one for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.spatial.distance import cdist

from ridgeway.gp.embeddings import Candidates, Embedding, MomentGradients, PulledBack, differences, laplacian, towards
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.gp.process import ConditionedGP
    from ridgeway.gp.rowspace import RowSpace


class _LengthScales:
    """What :class:`Diagonal` and :class:`Isotropic` share: ``dK/dlambda = -K1 ∘ E``.

    ``lambda`` is a log length scale and ``E`` the part of the squared distance it scales.
    """

    name: ClassVar[str]
    has_directions: ClassVar[bool] = False

    def n_parameters(self, r: int) -> int:
        raise NotImplementedError  # pragma: no cover

    def hessian(self, gp: ConditionedGP, out: Array) -> None:
        # Paper eq. 4, second line, with d²K = K2 ∘ E_p ∘ E_q + 2 [p = q] K1 ∘ E_p.
        E, response = self._parts(gp), self._response(gp)
        p, n = E.shape[0], gp.data.n
        dK = -gp.K1 * E
        T = dK @ gp.Ginv
        flat = T.reshape(p, n * n)
        swapped = T.transpose(0, 2, 1).reshape(p, n * n)
        H = 0.5 * (flat @ swapped.T) - response.T @ gp.Ginv @ response
        H += 0.5 * ((E * (gp.W * gp.K2)).reshape(p, n * n) @ E.reshape(p, n * n).T)
        H.flat[:: p + 1] -= np.tensordot(dK, gp.W, axes=([1, 2], [0, 1]))
        out[...] = H

    def contract_with_alpha(self, gp: ConditionedGP, left: Array) -> Array:
        return left @ self._response(gp)

    def _parts(self, gp: ConditionedGP) -> Array:
        """``E`` of every parameter, ``(P, N, N)``."""
        raise NotImplementedError  # pragma: no cover

    def _response(self, gp: ConditionedGP) -> Array:
        """``(dK/dlambda) alpha`` of every parameter, ``(N, P)``."""
        raise NotImplementedError  # pragma: no cover

    # A length scale belongs to an input or to all of them: there is nothing to rotate, no rank, and no
    # coordinates of the data that parameters would refer to.

    def candidate_terms(self, gp: ConditionedGP) -> None:
        return None

    def rotations(self, parameters: Array) -> Array:
        return np.zeros((parameters.shape[0], 0))

    def log_orbit_volume(self, parameters: Array) -> float:
        return 0.0

    def similarity(self, a: Array, b: Array) -> float:
        return float(np.exp(-np.abs(a - b).max(initial=0.0)))

    def aligned(self, parameters: Array, target: Array) -> Array:
        return parameters

    @property
    def n_directions(self) -> int | None:
        return None

    def check(self, D: int) -> None:
        return None

    def n_rows(self, D: int) -> int:
        return D

    def lower_ranks(self) -> tuple[Embedding, ...]:
        return ()

    def matrix(self, parameters: Array, space: RowSpace) -> Array:
        return np.diag(np.broadcast_to(np.exp(-parameters), (space.scaling.D,)))

    def slopes(self, along: Array, parameters: Array, space: RowSpace) -> Array:
        return space.lift(along[:, : space.r] * np.exp(-parameters))

    def transferred(self, parameters: Array, old: RowSpace, new: RowSpace) -> Array:
        return parameters

    def padded(self, parameters: Array, old_r: int, new_r: int) -> Array:
        return parameters

    def unseen(self, old_r: int, new_r: int) -> Array:
        return np.zeros((self.n_parameters(new_r), 0))

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name}


@dataclass(frozen=True)
class Diagonal(_LengthScales):
    """One length scale for every input: automatic relevance determination.

    Parameters are the ``D`` log length scales, in the units of the box mapped to [-1, 1].
    """

    name: ClassVar[str] = "diagonal"
    reduction: ClassVar[Literal["span", "distance", "none"]] = "none"

    def n_parameters(self, r: int) -> int:
        return r

    def with_parameters(self, n_parameters: int, r: int) -> Diagonal:
        return self

    def project(self, parameters: Array, Z: Array) -> Array:
        return Z * np.exp(-parameters)

    def contract(self, gp: ConditionedGP, weights: Array) -> Array:
        return -2.0 * np.einsum("ip,ip->p", gp.U, laplacian(weights * gp.K1) @ gp.U)

    def moment_gradients(self, gp: ConditionedGP, at: Candidates) -> MomentGradients:
        U, K1, k_a = gp.U, gp.K1, at.a @ gp.K1
        mean, variance = -(at.a @ self._response(gp)), np.empty_like(at.U)
        for p in range(U.shape[1]):
            u = U[:, p]
            w = at.K1 * differences(at.U[:, p], u) ** 2
            mean[:, p] -= w @ gp.alpha
            au = at.a * u
            quadratic = -2.0 * np.sum(k_a * au * u - (au @ K1) * au, axis=1)
            variance[:, p] = 2.0 * np.sum(w * at.a, axis=1) + quadratic
        empty = np.zeros((at.U.shape[0], 0))
        return MomentGradients(mean, variance, empty, empty)

    def pull_back(self, gp: ConditionedGP, at: Candidates, adjoint: MomentGradients) -> PulledBack:
        K2 = (4.0 * gp.output_variance) * at.g2
        U_bar, a_bar = np.zeros_like(at.U), np.zeros_like(at.a)
        for j in range(at.U.shape[1]):
            p, q = adjoint.mean[:, j, None], adjoint.variance[:, j, None]
            delta = differences(at.U[:, j], gp.U[:, j])
            dK = -gp.K1 * differences(gp.U[:, j], gp.U[:, j]) ** 2
            w_bar = 2.0 * q * at.a - p * gp.alpha
            a_bar += 2.0 * q * (at.K1 * delta**2 + at.a @ dK) - p * (dK @ gp.alpha)
            U_bar[:, j] += 2.0 * np.einsum("mn,mn,mn->m", w_bar, at.K1, delta)
            U_bar += towards(w_bar * K2 * delta**2, at.U, gp.U)
        return PulledBack(np.zeros_like(at.Z), U_bar, a_bar)

    def pull_back_projection(self, parameters: Array, U: Array) -> Array:
        return U * np.exp(-parameters)

    def _parts(self, gp: ConditionedGP) -> Array:
        return np.stack([differences(u, u) ** 2 for u in gp.U.T])

    def _response(self, gp: ConditionedGP) -> Array:
        # -K1 ∘ (u_i - u_j)², applied without forming it
        U, alpha, K1 = gp.U, gp.alpha, gp.K1
        weighted = alpha[:, None] * U
        return 2.0 * U * (K1 @ weighted) - U**2 * (K1 @ alpha)[:, None] - K1 @ (weighted * U)


@dataclass(frozen=True)
class Isotropic(_LengthScales):
    """One length scale for all inputs; the one parameter is its logarithm."""

    name: ClassVar[str] = "isotropic"
    reduction: ClassVar[Literal["span", "distance", "none"]] = "distance"

    def n_parameters(self, r: int) -> int:
        return 1

    def with_parameters(self, n_parameters: int, r: int) -> Isotropic:
        return self

    def project(self, parameters: Array, Z: Array) -> Array:
        return Z * np.exp(-parameters[0])

    def contract(self, gp: ConditionedGP, weights: Array) -> Array:
        return np.array([-np.sum(weights * gp.K1 * gp.S)])

    def moment_gradients(self, gp: ConditionedGP, at: Candidates) -> MomentGradients:
        dK = -gp.K1 * gp.S
        dk = -at.K1 * cdist(at.U, gp.U, "sqeuclidean")
        mean = dk @ gp.alpha - at.a @ (dK @ gp.alpha)
        variance = -2.0 * np.sum(dk * at.a, axis=1) + np.sum((at.a @ dK) * at.a, axis=1)
        empty = np.zeros((at.U.shape[0], 0))
        return MomentGradients(mean[:, None], variance[:, None], empty, empty)

    def pull_back(self, gp: ConditionedGP, at: Candidates, adjoint: MomentGradients) -> PulledBack:
        p, q = adjoint.mean, adjoint.variance  # (M, 1)
        S = cdist(at.U, gp.U, "sqeuclidean")
        dK = -gp.K1 * gp.S
        w_bar = 2.0 * q * at.a - p * gp.alpha
        a_bar = 2.0 * q * (at.K1 * S + at.a @ dK) - p * (dK @ gp.alpha)
        along = w_bar * ((4.0 * gp.output_variance) * at.g2 * S + 2.0 * at.K1)
        return PulledBack(np.zeros_like(at.Z), towards(along, at.U, gp.U), a_bar)

    def pull_back_projection(self, parameters: Array, U: Array) -> Array:
        return U * np.exp(-parameters[0])

    def _parts(self, gp: ConditionedGP) -> Array:
        return gp.S[None]

    def _response(self, gp: ConditionedGP) -> Array:
        return -((gp.K1 * gp.S) @ gp.alpha)[:, None]
