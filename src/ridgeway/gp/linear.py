"""The linear embedding ``u = x Rᵀ``, the paper's model: closed forms of everything the protocol asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from ridgeway.gp.embeddings import Candidates, MomentGradients, PulledBack, differences, laplacian, towards
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.gp.process import ConditionedGP
    from ridgeway.gp.rowspace import RowSpace

_PANEL = 80  # rows of a Hessian computed at a time


class CandidateTerms(NamedTuple):
    """Matrices of the data alone, made once for all candidates."""

    antisymmetric: Array  # (N, dN): C_1ᵀ ... C_dᵀ
    response: Array  # (N, dr): V_1 ... V_d
    pull: Array  # (N, (1 + d)(1 + r)): columns of [1, U] times columns of [1, Z]
    pull_by_alpha: Array  # the same, rows times alpha


@dataclass(frozen=True)
class Linear:
    """``u = x Rᵀ``: ``d`` free linear combinations of the inputs.

    Parameters are the entries of ``A = R Q`` by rows, with ``Q`` a basis of what the data
    span. ``Linear("auto")`` lets the evidence choose ``d``.
    """

    d: int | Literal["auto"] = 2

    name: ClassVar[str] = "linear"
    reduction: ClassVar[Literal["span", "distance", "none"]] = "span"
    has_directions: ClassVar[bool] = True

    @classmethod
    def usual(cls, D: int) -> Linear:
        """The default for ``D`` inputs: two directions, of a single input one."""
        return cls(min(2, D))

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
        C = [gp.K1 * differences(u, u) for u in gp.U.T]
        T = [c @ gp.Ginv for c in C]
        C_alpha = [c @ alpha for c in C]
        curvature, term = np.empty((n, n)), np.empty((n, n))
        for k in range(d):
            bent = differences(gp.U[:, k], gp.U[:, k])
            bent *= gp.K2
            across = T[k] - np.outer(C_alpha[k], alpha)
            down = alpha[:, None] * T[k]
            down += np.multiply(C_alpha[k][:, None], gp.Ginv, out=term)
            blocks = np.empty((d - k, n, n))
            for m, B in enumerate(blocks, start=k):
                np.subtract.outer(gp.U[:, m], gp.U[:, m], out=curvature)
                curvature *= bent
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
        terms, Z, U = gp.candidate_terms, at.Z[:, None, :], at.U[:, :, None]
        pulled = (at.a @ terms.antisymmetric).reshape(m, d, n)  # C_k a
        pulled *= at.a[:, None, :]
        variance = (pulled.reshape(m * d, n) @ gp.data.Z).reshape(m, d, r)
        by_mean = (at.K1 @ terms.pull_by_alpha).reshape(m, 1 + d, 1 + r)
        w = by_mean[:, :1] * U
        w -= by_mean[:, 1:]
        mean_u = w[:, :, 0].copy()
        mean = mean_u[:, :, None] * Z
        mean -= w[:, :, 1:]
        mean -= (at.a @ terms.response).reshape(m, d, r)  # V_kᵀ a
        by_variance = ((at.K1 * at.a) @ terms.pull).reshape(m, 1 + d, 1 + r)
        w = by_variance[:, :1] * U
        w -= by_variance[:, 1:]
        variance += w[:, :, 1:]
        variance -= w[:, :, :1] * Z
        variance *= 2.0
        variance_u = -2.0 * w[:, :, 0]
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
        flat = pull.reshape(gp.data.n, -1)
        return CandidateTerms(np.hstack([c.T for c in C]), np.hstack(V), flat, alpha[:, None] * flat)

    def rotations(self, parameters: Array) -> Array:
        # S A for every skew-symmetric S of the standard basis
        A = parameters.reshape(self.rows, -1)
        d = A.shape[0]
        pairs = [(i, j) for i in range(d) for j in range(i + 1, d)]
        tangents = np.zeros((len(pairs), *A.shape))
        for tangent, (i, j) in zip(tangents, pairs, strict=True):
            tangent[i], tangent[j] = A[j], -A[i]
        return tangents.reshape(len(pairs), A.size).T

    def log_orbit_volume(self, parameters: Array) -> float:
        # {O A : O in O(d)}: the volume of O(d) times the lengths of the tangents at A.
        A = parameters.reshape(self.rows, -1)
        d = A.shape[0]
        squared = np.zeros(d)
        s = np.linalg.svd(A, compute_uv=False)
        squared[: s.shape[0]] = s**2
        i, j = np.triu_indices(d, 1)
        spheres = sum(math.log(2.0) + 0.5 * k * math.log(math.pi) - math.lgamma(0.5 * k) for k in range(2, d + 1))
        with np.errstate(divide="ignore"):  # an orbit that is a point has no volume
            return float(np.log(2.0) + spheres + 0.5 * np.log(squared[i] + squared[j]).sum())

    def similarity(self, a: Array, b: Array) -> float:
        # The cosine of the angle between AᵀA and BᵀB, which a rotation does not change.
        A, B = a.reshape(self.rows, -1), b.reshape(self.rows, -1)
        size = float(np.sum((A @ A.T) ** 2) * np.sum((B @ B.T) ** 2))
        return float(np.sum((A @ B.T) ** 2)) / math.sqrt(size) if size > 0 else float(np.array_equal(A, B))

    def aligned(self, parameters: Array, target: Array) -> Array:
        # Orthogonal Procrustes: the rotation that maximises the trace of O A Bᵀ.
        A, B = parameters.reshape(parameters.shape[0], self.rows, -1), target.reshape(self.rows, -1)
        left, _, right = np.linalg.svd(B @ A.transpose(0, 2, 1))
        return ((left @ right) @ A).reshape(parameters.shape)

    @property
    def n_directions(self) -> int | None:
        return None if self.d == "auto" else int(self.d)

    def check(self, D: int) -> None:
        if self.d != "auto" and self.rows > D:
            raise ValueError(f"d of Linear must be at most the number of inputs, {D}, got {self.rows}")

    def n_rows(self, D: int) -> int:
        return self.rows

    def lower_ranks(self) -> tuple[Linear, ...]:
        return tuple(Linear(d) for d in range(1, self.rows))

    def with_parameters(self, n_parameters: int, r: int) -> Linear:
        return Linear(n_parameters // r) if r else self

    def matrix(self, parameters: Array, space: RowSpace) -> Array:
        return space.lift(parameters.reshape(self.rows, space.r))

    def slopes(self, along: Array, parameters: Array, space: RowSpace) -> Array:
        return space.lift(along @ parameters.reshape(self.rows, space.r))

    def transferred(self, parameters: Array, old: RowSpace, new: RowSpace) -> Array:
        rescaled = self.matrix(parameters, old) * (new.scaling.half_width / old.scaling.half_width)
        return new.restrict(rescaled).ravel()

    def padded(self, parameters: Array, old_r: int, new_r: int) -> Array:
        A = parameters.reshape(-1, self.rows, old_r)
        return np.pad(A, ((0, 0), (0, 0), (0, new_r - old_r))).reshape(-1, self.rows * new_r)

    def unseen(self, old_r: int, new_r: int) -> Array:
        d, added = self.rows, new_r - old_r
        unit = np.zeros((d, new_r, d, added))
        for k in range(d):
            unit[k, old_r:, k] = np.eye(added)
        return unit.reshape(d * new_r, d * added)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "d": self.d if self.d == "auto" else int(self.d)}


def _write_symmetric(Z: Array, right: Array, out: Array) -> None:
    """A symmetric ``out``, ``Zᵀ right``: by panels of rows, so that most of it is computed once."""
    r = Z.shape[1]
    for start in range(0, r, _PANEL):
        stop = min(start + _PANEL, r)
        np.matmul(Z[:, start:stop].T, right[:, start:], out=out[start:stop, start:])
        out[stop:, start:stop] = out[start:stop, stop:].T
