"""Embeddings: how an input becomes the few coordinates that matter, and its derivatives.

Three of them share one engine:

- :class:`Linear`: ``u = x Rᵀ`` with every entry of ``R (d, D)`` free, the paper's model;
- :class:`Diagonal`: one length scale an input, automatic relevance determination;
- :class:`Isotropic`: one length scale for all inputs.

The engine asks an embedding for four things: the coordinates ``U`` of reduced inputs ``Z``,
the contraction of the kernel matrix' derivative with given weights (which is the gradient,
and every mixed second derivative), the Hessian of the log likelihood in its own
parameters, and the derivatives of the predictive mean and variance at new points. Each is
a handful of matrix products; no loop runs over parameters, observations or candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.gp import ConditionedGP


_PANEL = 80  # rows of a Hessian computed at a time


class Candidates(NamedTuple):
    """New points as the derivatives need them: ``M`` points, ``N`` observations."""

    Z: Array  # (M, r) reduced inputs
    U: Array  # (M, d) embedded
    k: Array  # (M, N) covariances with the data, gamma² g(s)
    K1: Array  # (M, N) 2 gamma² g'(s)
    g2: Array  # (M, N) g''(s)
    a: Array  # (M, N) rows G⁻¹ k(x*)


class MomentGradients(NamedTuple):
    """Derivatives of the predictive mean and variance at ``M`` points."""

    mean: Array  # (M, P) in the embedding's parameters
    variance: Array  # (M, P)
    mean_u: Array  # (M, d) in the embedded input, for what the data do not span
    variance_u: Array  # (M, d)


class PulledBack(NamedTuple):
    """Adjoints of a point's parts, from those of its :class:`MomentGradients`."""

    Z: Array  # (M, r) where the reduced input itself enters
    U: Array  # (M, d) through the kernel's first derivative
    a: Array  # (M, N)


class CandidateTerms(NamedTuple):
    """Matrices of the data alone, made once for all candidates."""

    antisymmetric: Array  # (N, dN): C_1ᵀ ... C_dᵀ
    response: Array  # (N, dr): V_1 ... V_d
    pull: Array  # (N, (1 + d)(1 + r)): columns of [1, U] times columns of [1, Z]


class Embedding(Protocol):
    """What the engine asks of an embedding."""

    name: ClassVar[str]
    #: "span": only the inputs' components within the data's row space are parameters;
    #: "distance": only distances between inputs are needed; "none": every input counts.
    reduction: ClassVar[Literal["span", "distance", "none"]]

    def n_parameters(self, r: int) -> int:
        """Number of parameters for inputs of ``r`` reduced coordinates."""

    def project(self, parameters: Array, Z: Array) -> Array:
        """Coordinates ``U`` of inputs ``Z (n, r)``."""

    def contract(self, gp: ConditionedGP, weights: Array) -> Array:
        """``sum_ij weights_ij dK_ij/dparameter``, ``(P,)``, for symmetric weights."""

    def contract_with_alpha(self, gp: ConditionedGP, left: Array) -> Array:
        """``left (q, N)`` times ``dK/dparameter`` times ``alpha``, ``(q, P)``."""

    def hessian(self, gp: ConditionedGP, out: Array) -> None:
        """Write the second derivatives of the log likelihood in the parameters to ``out (P, P)``."""

    def moment_gradients(self, gp: ConditionedGP, at: Candidates) -> MomentGradients:
        """Derivatives of the predictive moments in the parameters."""

    def pull_back(self, gp: ConditionedGP, at: Candidates, adjoint: MomentGradients) -> PulledBack:
        """The transpose of :meth:`moment_gradients`' derivative in the point: reverse mode by hand."""

    def pull_back_projection(self, parameters: Array, U: Array) -> Array:
        """The transpose of :meth:`project`: adjoints of ``U (n, d)`` to those of ``Z (n, r)``."""


def laplacian(weights: Array) -> Array:
    """``diag(P·1) - P``: the quadratic form ``½ sum_ij P_ij (v_i - v_j)²``."""
    result = -weights
    result.flat[:: weights.shape[0] + 1] += weights.sum(axis=1)
    return result


def differences(u: Array, v: Array) -> Array:
    """``u_i - v_j``."""
    return np.subtract.outer(u, v)


def towards(weights: Array, U: Array, V: Array) -> Array:
    """``sum_n weights_mn (U_m - V_n)``, ``(m, d)``."""
    return weights.sum(axis=1)[:, None] * U - weights @ V


def _write_symmetric(Z: Array, right: Array, out: Array) -> None:
    """A symmetric ``out``, ``Zᵀ right``: by panels of rows, so that most of it is computed once."""
    r = Z.shape[1]
    for start in range(0, r, _PANEL):
        stop = min(start + _PANEL, r)
        np.matmul(Z[:, start:stop].T, right[:, start:], out=out[start:stop, start:])
        out[stop:, start:stop] = out[start:stop, stop:].T


@dataclass(frozen=True)
class Linear:
    """``u = x Rᵀ``: ``d`` free linear combinations of the inputs.

    Parameters are the entries of ``A = R Q`` by rows, with ``Q`` a basis of what the data
    span. ``Linear("auto")`` lets the evidence choose ``d``.
    """

    d: int | Literal["auto"] = 2

    name: ClassVar[str] = "linear"
    reduction: ClassVar[Literal["span", "distance", "none"]] = "span"

    def __post_init__(self) -> None:
        if self.d == "auto":
            return
        if isinstance(self.d, bool) or not isinstance(self.d, int | np.integer) or self.d < 1:
            raise ValueError(f'd of Linear must be a whole number of at least 1 or "auto", got {self.d!r}')

    @property
    def rows(self) -> int:
        """``d`` as a number; ``"auto"`` has to be resolved before."""
        if self.d == "auto":
            raise ValueError('Linear("auto") has no number of dimensions before it is fitted')
        return int(self.d)

    def n_parameters(self, r: int) -> int:
        return self.rows * r

    def project(self, parameters: Array, Z: Array) -> Array:
        return Z @ parameters.reshape(self.rows, -1).T

    def contract(self, gp: ConditionedGP, weights: Array) -> Array:
        # Paper eq. 4, first line; with weights W/2 this is the gradient of the log likelihood.
        return 2.0 * ((gp.U.T @ laplacian(weights * gp.K1)) @ gp.data.Z).ravel()

    def contract_with_alpha(self, gp: ConditionedGP, left: Array) -> Array:
        d, n = self.rows, gp.data.n
        both = np.vstack([gp.alpha, left])
        # D_k = sum_j K1_ij (u_ik - u_jk) b_j, of alpha and of every row of left
        away = ((both[:, None] * gp.U.T).reshape(-1, n) @ gp.K1).reshape(-1, d, n)
        D = gp.U.T * (both @ gp.K1)[:, None] - away
        weights = left[:, None] * D[0] + gp.alpha * D[1:]
        return (weights.reshape(-1, n) @ gp.data.Z).reshape(left.shape[0], -1)

    def hessian(self, gp: ConditionedGP, out: Array) -> None:
        # Paper eq. 4, second line, all (dr)² entries at once; docs/method.md derives it.
        d, n, r, Z, W, alpha = self.rows, gp.data.n, gp.data.Z.shape[1], gp.data.Z, gp.W, gp.alpha
        delta = [differences(u, u) for u in gp.U.T]
        C = [gp.K1 * difference for difference in delta]
        T = [c @ gp.Ginv for c in C]
        C_alpha = [c @ alpha for c in C]
        curvature, term = np.empty((n, n)), np.empty((n, n))
        for k in range(d):
            bent = gp.K2 * delta[k]
            across = T[k] - np.outer(C_alpha[k], alpha)
            down = alpha[:, None] * T[k]
            down += np.multiply(C_alpha[k][:, None], gp.Ginv, out=term)
            blocks = np.empty((d - k, n, n))
            for m, B in enumerate(blocks, start=k):
                np.multiply(bent, delta[m], out=curvature)
                if k == m:
                    curvature += gp.K1
                np.matmul(T[k], C[m], out=B)
                B -= curvature
                B *= W
                B += np.multiply(across, T[m].T, out=term)
                B -= np.multiply(down, C_alpha[m], out=term)
                B.flat[:: n + 1] += np.einsum("ij,ij->i", W, curvature)
            right = (blocks.reshape(-1, n) @ Z).reshape(d - k, n, r)
            rows = slice(k * r, (k + 1) * r)
            _write_symmetric(Z, right[0], out[rows, rows])
            for m in range(k + 1, d):
                columns = slice(m * r, (m + 1) * r)
                np.matmul(Z.T, right[m - k], out=out[rows, columns])
                out[columns, rows] = out[rows, columns].T

    def moment_gradients(self, gp: ConditionedGP, at: Candidates) -> MomentGradients:
        # With w_k = K1 ∘ (u*_k - U_k), sums over the data of w_k times anything are a difference of
        # two products with K1, so that one matrix product serves every row k of A.
        d, n = self.rows, gp.data.n
        m, r = at.Z.shape
        terms = gp.candidate_terms
        moved = at.a @ terms.response  # V_kᵀ a, side by side
        pulled = (at.a @ terms.antisymmetric).reshape(m, d, n)  # C_k a
        pulled *= at.a[:, None, :]
        own = (pulled.reshape(m * d, n) @ gp.data.Z).reshape(m, d, r)
        by_mean = (at.K1 @ (gp.alpha[:, None] * terms.pull)).reshape(m, 1 + d, 1 + r)
        by_variance = ((at.K1 * at.a) @ terms.pull).reshape(m, 1 + d, 1 + r)
        mean, variance = np.empty((m, d, r)), np.empty((m, d, r))
        mean_u, variance_u = np.empty((m, d)), np.empty((m, d))
        for k in range(d):
            u = at.U[:, k, None]
            w_mean = u * by_mean[:, 0] - by_mean[:, 1 + k]
            mean_u[:, k] = w_mean[:, 0]
            mean[:, k] = w_mean[:, :1] * at.Z - w_mean[:, 1:] - moved[:, k * r : (k + 1) * r]
            w_variance = u * by_variance[:, 0] - by_variance[:, 1 + k]
            variance_u[:, k] = -2.0 * w_variance[:, 0]
            variance[:, k] = variance_u[:, k, None] * at.Z + 2.0 * (w_variance[:, 1:] + own[:, k])
        return MomentGradients(mean.reshape(m, d * r), variance.reshape(m, d * r), mean_u, variance_u)

    def pull_back(self, gp: ConditionedGP, at: Candidates, adjoint: MomentGradients) -> PulledBack:
        d, n = self.rows, gp.data.n
        m, r = at.Z.shape
        data, terms = gp.data.Z, gp.candidate_terms
        K2 = (4.0 * gp.output_variance) * at.g2
        Z_bar, U_bar, a_bar = np.zeros((m, r)), np.zeros((m, d)), np.zeros((m, n))
        for k in range(d):
            rows = slice(k * r, (k + 1) * r)
            p, q = adjoint.mean[:, rows], adjoint.variance[:, rows]
            delta = differences(at.U[:, k], gp.U[:, k])
            w = at.K1 * delta
            of_mean = (np.einsum("mr,mr->m", at.Z, p) + adjoint.mean_u[:, k])[:, None] - p @ data.T
            Zq = q @ data.T
            of_variance = Zq - (np.einsum("mr,mr->m", at.Z, q) + adjoint.variance_u[:, k])[:, None]
            w_bar = gp.alpha * of_mean + 2.0 * at.a * of_variance
            Z_bar += (w @ gp.alpha)[:, None] * p - 2.0 * np.einsum("mn,mn->m", w, at.a)[:, None] * q
            Ct = terms.antisymmetric[:, k * n : (k + 1) * n]
            a_bar += 2.0 * (w * of_variance + Zq * (at.a @ Ct) - (at.a * Zq) @ Ct) - p @ terms.response[:, rows].T
            U_bar[:, k] += np.einsum("mn,mn->m", w_bar, at.K1)
            U_bar += towards(w_bar * K2 * delta, at.U, gp.U)
        return PulledBack(Z_bar, U_bar, a_bar)

    def pull_back_projection(self, parameters: Array, U: Array) -> Array:
        return U @ parameters.reshape(self.rows, -1)

    def candidate_terms(self, gp: ConditionedGP) -> CandidateTerms:
        """What :meth:`moment_gradients` multiplies every block of candidates with."""
        Z, alpha = gp.data.Z, gp.alpha
        C = [gp.K1 * differences(u, u) for u in gp.U.T]
        V = [(c @ alpha)[:, None] * Z - c @ (alpha[:, None] * Z) for c in C]  # (dK/dA_k) alpha
        ones = np.ones((gp.data.n, 1))
        pull = np.einsum("na,nb->nab", np.hstack([ones, gp.U]), np.hstack([ones, Z]))
        return CandidateTerms(np.hstack([c.T for c in C]), np.hstack(V), pull.reshape(gp.data.n, -1))


class _LengthScales:
    """What :class:`Diagonal` and :class:`Isotropic` share: ``dK/dlambda = -K1 ∘ E``.

    ``lambda`` is a log length scale and ``E`` the part of the squared distance it scales.
    """

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


@dataclass(frozen=True)
class Diagonal(_LengthScales):
    """One length scale for every input: automatic relevance determination.

    Parameters are the ``D`` log length scales, in the units of the box mapped to [-1, 1].
    """

    name: ClassVar[str] = "diagonal"
    reduction: ClassVar[Literal["span", "distance", "none"]] = "none"

    def n_parameters(self, r: int) -> int:
        return r

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
