"""The input of a box that maps to a given ``u`` with most certainty (paper section 4.1).

Many ``x`` map to the same point ``u`` of the low-dimensional space. The one to evaluate is that
for which ``p(u | x)`` is narrowest: least ``log det Cov[u | x]`` under ``x R̂ᵀ = u`` within the
box. For ``d = 1`` this is a quadratic program. For ``d > 1`` the log determinant is concave in
the covariance, so its tangent at the last solution, ``tr(C⁻¹ Cov[u | x])``, lies above it and is
a convex quadratic in ``x``: a few quadratic programs, each of which improves on the last. Linear
constraints of a box are further rows of these programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from ridgeway import checks
from ridgeway.belief.belief import Belief
from ridgeway.errors import NumericalError
from ridgeway.spaces.box import Box
from ridgeway.spaces.polytope import Polytope
from ridgeway.types import Array


@dataclass(frozen=True)
class PreimageSettings:
    """How the quadratic programs are solved.

    Attributes
    ----------
    tolerance
        Tolerance of the solver, with inputs scaled to [-1, 1].
    reached
        How far from ``u`` a solution may be after its last correction.
    most_programs
        Solve at most this many quadratic programs where ``d > 1``.
    least_gain
        Stop when a program has improved on the last by less than this, in nats.
    most_dense
        Up to this many inputs the quadratic form is a dense matrix, which is faster there.
    """

    tolerance: float = 1e-10
    reached: float = 1e-9
    most_programs: int = 6
    least_gain: float = 1e-4
    most_dense: int = 500


DEFAULT = PreimageSettings()


def most_certain_input(belief: Belief, u: Any, bounds: Any = None, settings: PreimageSettings = DEFAULT) -> Array:
    """The ``x (D,)`` within ``bounds`` that maps to ``u`` with most certainty, in the user's units.

    ``u (d,)`` or ``(rank,)`` is in the coordinates of :meth:`Belief.embed`; ``bounds`` are ``(lower, upper)`` or a
    ``Box``, whose constraints then hold, and by default those that the belief was fitted with.
    """
    return Preimage.of(belief, bounds, settings).most_certain(u)


@dataclass(frozen=True)
class Preimage:
    """The inputs of one box that map to given points of a belief's low-dimensional space; all in scaled inputs."""

    belief: Belief
    lower: Array  # (D,)
    upper: Array  # (D,)
    settings: PreimageSettings = DEFAULT
    polytope: Polytope | None = None  # where constraints hold, in inputs scaled to [-1, 1] between lower and upper

    @classmethod
    def of(cls, belief: Belief, bounds: Any = None, settings: PreimageSettings = DEFAULT) -> Preimage:
        """For a belief with a linear embedding, and ``bounds`` in the user's units."""
        if belief.model.reduction != "span":
            raise TypeError(f"only a linear embedding has inputs that map to a given u, got {belief.model}")
        scaling = belief.space.scaling
        if bounds is None:
            return cls(belief, -np.ones(scaling.D), np.ones(scaling.D), settings)
        ends = checks.bounds(bounds.bounds if isinstance(bounds, Box) else bounds, scaling.D)
        assert ends is not None
        lower, upper = ((side - scaling.center) / scaling.half_width for side in ends)
        return cls(belief, lower, upper, settings, bounds.polytope if isinstance(bounds, Box) else None)

    @cached_property
    def rows(self) -> Array:
        """The used rows of the embedding, ``(rank, D)``."""
        return self.belief.embedding[: self.belief.rank]

    def corner(self, direction: Array) -> Array:
        """The corner of the box that lies farthest along ``direction (rank,)`` of the embedded space.

        For an axis it is the paper's signature of a row: the signs of its entries. Under constraints it is a
        linear program.
        """
        along = direction @ self.rows
        if self.polytope is None:
            return np.where(along >= 0, self.upper, self.lower)
        half = 0.5 * (self.upper - self.lower)
        return 0.5 * (self.lower + self.upper) + half * self.polytope.corner(along * half)

    @property
    def center(self) -> Array:
        """A point in the middle of the box, or of what its constraints leave, ``(D,)``."""
        middle = 0.5 * (self.lower + self.upper)
        if self.polytope is None:
            return middle
        return middle + 0.5 * (self.upper - self.lower) * self.polytope.center

    @cached_property
    def _constraints(self) -> tuple[Array, Array, Array, Array]:
        """``E, e, A, b`` with ``E x = e`` and ``A x <= b``, in the belief's scaled inputs."""
        D = self.lower.shape[0]
        if self.polytope is None:
            return np.zeros((0, D)), np.zeros(0), np.zeros((0, D)), np.zeros(0)
        middle, half = 0.5 * (self.lower + self.upper), 0.5 * (self.upper - self.lower)
        E, A = self.polytope.E / half, self.polytope.A / half
        return E, self.polytope.e + E @ middle, A, self.polytope.b + A @ middle

    def most_certain(self, u: Any) -> Array:
        """See :func:`most_certain_input`."""
        u, k = checks.numeric(u, "u"), self.rows.shape[0]
        if u.shape == (self.belief.embedding.shape[0],) and not u[k:].any():
            u = u[:k]  # Belief.embed gives zeros for the rows that are not used
        if u.shape != (k,):
            raise ValueError(f"u must have shape ({k},), a number for each direction that is used, got {u.shape}")
        if not np.isfinite(u).all():
            raise ValueError(f"u must be finite, got {u}")
        weights: Array = np.eye(u.shape[0])
        best, least = None, np.inf
        for _ in range(1 if u.shape[0] == 1 else self.settings.most_programs):
            x = self._corrected(self._program(weights, u), u)
            covariance = self._covariance(x)
            size = float(np.linalg.slogdet(covariance)[1])
            if size < least:
                best = x
            if not size < least - self.settings.least_gain:
                break
            least = size
            if not np.isfinite(size):  # the centre of the box maps to 0 without any uncertainty
                break
            precision = np.asarray(np.linalg.inv(covariance), dtype=float)
            weights = precision / np.trace(precision)  # the solver is most accurate with numbers near one
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
        F, s2 = self.belief.directional.factor
        k, r, q = F.shape
        root = np.linalg.cholesky(weights)
        parts = np.einsum("kj,krq->rjq", root, F).reshape(r, k * q)
        return parts @ parts.T, s2 * float(np.trace(weights))

    def _program(self, weights: Array, u: Array) -> Array:
        M, tau = self._quadratic(weights)
        D = self.lower.shape[0]
        size = max(float(np.diagonal(M).max(initial=0.0)), tau, 1e-300)
        M, tau = M / size, tau / size
        if self.belief.space.rows is None or self.settings.most_dense >= D:
            P, equal, target = sparse.csc_matrix(np.triu(self._full(M, tau))), self.rows, u
        else:
            P, equal, target = self._split(M, tau, u)
        extra = P.shape[0] - D
        box = sparse.hstack([sparse.identity(D), sparse.csc_matrix((D, extra))])
        E, e, C, c = self._constraints
        E, C = (sparse.hstack([rows, sparse.csc_matrix((len(rows), extra))]) for rows in (E, C))
        A = sparse.vstack([sparse.csc_matrix(equal), E, C, box, -box], format="csc")
        b = np.concatenate([target, e, c, self.upper, -self.lower])
        equations = target.shape[0] + e.shape[0]
        cones = [clarabel.ZeroConeT(equations), clarabel.NonnegativeConeT(b.shape[0] - equations)]
        solver = clarabel.DefaultSolver(P, np.zeros(D + extra), A, b, cones, self._solver_settings())
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
        """The same program with ``t = z`` and ``p = x - Q t`` as variables of their own: sparse in ``D``."""
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
        """``x`` moved into the box exactly and onto ``u`` up to rounding, by moving inputs that are not at a bound."""
        E, e, A, b = self._constraints
        tight = A @ x > b - self.settings.reached  # constraints that hold with equality stay so
        rows, right = np.vstack([self.rows, E, A[tight]]), np.concatenate([u, e, b[tight]])
        for _ in range(20):
            x = np.clip(x, self.lower, self.upper)
            gap = right - rows @ x
            if np.abs(gap).max() < self.settings.reached * 1e-3:
                break
            free = (x > self.lower) & (x < self.upper)
            R = rows * free
            x = x + R.T @ np.linalg.lstsq(R @ R.T, gap, rcond=None)[0]
        x = np.clip(x, self.lower, self.upper)
        if np.abs(u - self.rows @ x).max() > self.settings.reached * max(1.0, float(np.abs(u).max())):
            raise NumericalError(f"the quadratic program missed u by {np.abs(u - self.rows @ x).max():.1e}")
        return x

    def _solver_settings(self) -> Any:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = self.settings.tolerance
        settings.max_threads = 1
        return settings
