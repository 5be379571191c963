"""The input of a box that maps to a given ``u`` most surely (paper section 4.1).

A point ``u`` of the low-dimensional space is hit by many ``x``; the one to evaluate is that
for which ``p(u | x)`` is tightest: least ``log det Cov[u | x]`` under ``x R̂ᵀ = u`` within the
box. For ``d = 1`` this is a quadratic program. For ``d > 1`` the log determinant is concave in
the covariance, so its tangent at the last answer, ``tr(C⁻¹ Cov[u | x])``, lies above it and is
a convex quadratic in ``x``: a few quadratic programs, each of which improves on the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from ridgeway import validation
from ridgeway.belief import Belief
from ridgeway.embeddings import Linear
from ridgeway.errors import NumericalError
from ridgeway.types import Array

_TOLERANCE = 1e-10  # of the solver, in units of the box
_REACHED = 1e-9  # how far from u an answer may be after its last correction
_LEAST_GAIN = 1e-4  # nats that one more quadratic program must have gained to be followed by another
_MOST_PROGRAMS = 6
_DENSE = 500  # inputs up to which a dense quadratic form is the faster program


def surest_inputs(belief: Belief, u: Any, bounds: Any = None, most_programs: int = _MOST_PROGRAMS) -> Array:
    """The ``x (D,)`` within ``bounds`` that maps to ``u`` most surely, in the user's units.

    ``u (d,)`` or ``(rank,)`` is in the coordinates of :meth:`Belief.embed`; ``bounds`` are by default those that the
    belief was fitted with.
    """
    return Surest.of(belief, bounds).inputs(u, most_programs)


@dataclass(frozen=True)
class Surest:
    """The programs of one belief in one box, all in scaled inputs."""

    belief: Belief
    lower: Array  # (D,)
    upper: Array  # (D,)

    @classmethod
    def of(cls, belief: Belief, bounds: Any = None) -> Surest:
        if not isinstance(belief.model, Linear):
            raise TypeError(f"only a linear embedding has inputs that map to a given u, got {belief.model}")
        scaling = belief.space.scaling
        if bounds is None:
            return cls(belief, -np.ones(scaling.D), np.ones(scaling.D))
        box = validation.bounds(bounds, scaling.D)
        assert box is not None
        return cls(belief, *((side - scaling.center) / scaling.half_width for side in box))

    @cached_property
    def rows(self) -> Array:
        """The used rows of the embedding, ``(rank, D)``."""
        return self.belief.embedding[: self.belief.rank]

    def corner(self, direction: Array) -> Array:
        """The corner of the box that goes farthest along ``direction (rank,)`` of the embedded space.

        For an axis it is the paper's signature of a row: the signs of its entries.
        """
        return np.where(direction @ self.rows >= 0, self.upper, self.lower)

    def inputs(self, u: Any, most_programs: int = _MOST_PROGRAMS) -> Array:
        """See :func:`surest_inputs`."""
        u, k = validation.numeric(u, "u"), self.rows.shape[0]
        if u.shape == (self.belief.embedding.shape[0],) and not u[k:].any():
            u = u[:k]  # as Belief.embed gives it, with zeros along directions that are not used
        if u.shape != (k,):
            raise ValueError(f"u must have shape ({k},), a number for each direction that is used, got {u.shape}")
        if not np.isfinite(u).all():
            raise ValueError(f"u must be finite, got {u}")
        weights: Array = np.eye(u.shape[0])
        best, least = None, np.inf
        for _ in range(1 if u.shape[0] == 1 else most_programs):
            x = self._corrected(self._program(weights, u), u)
            covariance = self._covariance(x)
            size = float(np.linalg.slogdet(covariance)[1])
            if size < least:
                best = x
            if not size < least - _LEAST_GAIN:
                break
            least = size
            if not np.isfinite(size):  # the centre of the box maps to 0 for certain
                break
            precision = np.asarray(np.linalg.inv(covariance), dtype=float)
            weights = precision / np.trace(precision)  # the solver likes numbers near one
        assert best is not None
        return self._user(best)

    def _user(self, x: Array) -> Array:
        scaling = self.belief.space.scaling
        return scaling.center + scaling.half_width * x

    def _covariance(self, x: Array) -> Array:
        k = self.rows.shape[0]
        return self.belief.embed(self._user(x)[None]).covariance[0, :k, :k]

    def _quadratic(self, weights: Array) -> tuple[Array, float]:
        """``M (r, r)`` and ``tau`` with ``tr(weights Cov[u | x]) = z M zᵀ + tau rho``."""
        F, s2 = self.belief.embedding_factor
        k, r, q = F.shape
        root = np.linalg.cholesky(weights)
        parts = np.einsum("kj,krq->rjq", root, F).reshape(r, k * q)
        return parts @ parts.T, s2 * float(np.trace(weights))

    def _program(self, weights: Array, u: Array) -> Array:
        M, tau = self._quadratic(weights)
        D = self.lower.shape[0]
        size = max(float(np.diagonal(M).max(initial=0.0)), tau, 1e-300)
        M, tau = M / size, tau / size
        if self.belief.space.rows is None or D <= _DENSE:
            P, equal, target = sparse.csc_matrix(np.triu(self._full(M, tau))), self.rows, u
        else:
            P, equal, target = self._split(M, tau, u)
        extra = P.shape[0] - D
        box = sparse.hstack([sparse.identity(D), sparse.csc_matrix((D, extra))])
        A = sparse.vstack([sparse.csc_matrix(equal), box, -box], format="csc")
        b = np.concatenate([target, self.upper, -self.lower])
        cones = [clarabel.ZeroConeT(target.shape[0]), clarabel.NonnegativeConeT(2 * D)]
        solver = clarabel.DefaultSolver(P, np.zeros(D + extra), A, b, cones, _settings())
        solution = solver.solve()
        if str(solution.status) in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
            raise ValueError(f"u cannot be reached within the box: got {u}, the farthest there is {self._reach(u)}")
        if str(solution.status) not in ("Solved", "AlmostSolved"):
            raise NumericalError(f"the quadratic program ended with {solution.status}")
        return np.asarray(solution.x)[:D]

    def _full(self, M: Array, tau: float) -> Array:
        """The quadratic form in all ``D`` inputs."""
        if self.belief.space.rows is None:
            return M
        Q = self._basis
        return Q.T @ (M - tau * np.eye(M.shape[0])) @ Q + tau * np.eye(Q.shape[1])

    def _split(self, M: Array, tau: float, u: Array) -> tuple[Any, Any, Array]:
        """The same with ``t = z`` and ``p = x - Q t`` as variables of their own: sparse in ``D``."""
        Q = sparse.csc_matrix(self._basis)
        r, D = Q.shape
        eye = sparse.identity(D, format="csc")
        P = sparse.block_diag([sparse.csc_matrix((D, D)), np.triu(M), tau * eye], format="csc")
        equal = sparse.bmat(
            [[Q, -sparse.identity(r), None], [eye, -Q.T, -eye], [None, sparse.csc_matrix(self.rows @ Q.T), None]]
        )
        return P, equal, np.concatenate([np.zeros(r + D), u])

    @cached_property
    def _basis(self) -> Array:
        return self.belief.space.lift(np.eye(self.belief.space.r))

    def _reach(self, u: Array) -> Array:
        return self.rows @ self.corner(u)

    def _corrected(self, x: Array, u: Array) -> Array:
        """The last digits: inside the box exactly, and on ``u`` to rounding, moving free inputs only."""
        for _ in range(20):
            x = np.clip(x, self.lower, self.upper)
            gap = u - self.rows @ x
            if np.abs(gap).max() < _REACHED * 1e-3:
                break
            free = (x > self.lower) & (x < self.upper)
            R = self.rows * free
            x = x + R.T @ np.linalg.lstsq(R @ R.T, gap, rcond=None)[0]
        x = np.clip(x, self.lower, self.upper)
        if np.abs(u - self.rows @ x).max() > _REACHED * max(1.0, float(np.abs(u).max())):
            raise NumericalError(f"the quadratic program missed u by {np.abs(u - self.rows @ x).max():.1e}")
        return x


def _settings() -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = _TOLERANCE
    settings.max_threads = 1
    return settings
