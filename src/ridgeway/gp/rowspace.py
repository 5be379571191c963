"""The reduction: the likelihood sees ``R`` only through ``X Rᵀ``.

With ``X = Z Qᵀ`` (``Q`` orthonormal, ``r <= min(N, D)``) everything about a linear embedding
happens in ``A = R Q (d, r)``; across, ``R`` keeps its prior, exactly. Only inner products of
inputs are needed: ``Z`` is a factor of the Gram matrix and a new point has
``z* = L⁻¹ X_p x*``, where ``X_p`` are ``r`` independent rows and ``L`` their factor. Nothing of
size ``D`` is ever factorised, and sparse inputs stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpotrf, dpstrf

from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.scaling import InputScaling
from ridgeway.types import Array, Inputs

_RANK_TOLERANCE = 1e-13  # of a squared residual, relative to the largest squared norm
_CONDITION_LIMIT = 1e-9  # below this the Gram matrix has lost too many digits, and QR is used


@dataclass(frozen=True)
class RowSpace:
    """An orthonormal basis of what the data span, kept as rows and a triangular factor.

    ``rows is None`` means that nothing is reduced: ``Q`` is the identity.
    """

    scaling: InputScaling
    Z: Array  # (N, r)
    rows: Inputs | None  # (r, D) independent observations, in the user's units
    L: Array | None  # (r, r) lower triangular: scaled rows = L Qᵀ
    in_order: bool = False  # the rows are all observations, in their order
    used_qr: bool = False

    @property
    def r(self) -> int:
        return self.Z.shape[1]

    def project(self, X: Inputs) -> tuple[Array, Array]:
        """Coordinates ``z (n, r)`` of points and their squared distance ``rho (n,)`` to the span."""
        if self.rows is None:
            return self.scaling.scaled(X), np.zeros(X.shape[0])
        z = self._from_inner(self.scaling.inner(X, self.rows))
        rho = self.scaling.squared_norms(X) - np.einsum("ij,ij->i", z, z)
        return z, np.maximum(rho, 0.0)

    def further(self, X: Inputs, z: Array) -> Array:
        """The coordinates of points after the first ones ``z (n, k)``, ``(n, r - k)``, at ``O(n D)`` each."""
        assert self.rows is not None
        assert self.L is not None
        known = z.shape[1]
        added = np.empty((z.shape[0], self.r - known))
        inner = self.scaling.inner(X, self.rows[known : self.r])
        for j in range(known, self.r):
            below = z @ self.L[j, :known] + added[:, : j - known] @ self.L[j, known:j]
            added[:, j - known] = (inner[:, j - known] - below) / self.L[j, j]
        return added

    def lift(self, A: Array) -> Array:
        """``A Qᵀ``: reduced rows ``(k, r)`` as rows in all ``D`` inputs."""
        if self.rows is None:
            return A
        if self.r == 0:
            return np.zeros((A.shape[0], self.scaling.D))
        weights = solve_triangular(self.L, A.T, lower=True, trans="T").T  # A L⁻¹ · (L Qᵀ)
        result = np.empty((A.shape[0], self.scaling.D))
        width = max(1, 2**22 // self.r)
        for start in range(0, self.scaling.D, width):
            columns = slice(start, min(start + width, self.scaling.D))
            result[:, columns] = weights @ self.scaling.scaled(self.rows, columns)
        return result

    def restrict(self, R: Array) -> Array:
        """``R Q``: rows ``(k, D)`` on scaled inputs as reduced rows ``(k, r)``."""
        if self.rows is None:
            return R
        if self.r == 0:
            return np.zeros((R.shape[0], 0))
        inner = np.zeros((R.shape[0], self.r))
        width = max(1, 2**22 // self.r)
        for start in range(0, self.scaling.D, width):
            columns = slice(start, min(start + width, self.scaling.D))
            inner += R[:, columns] @ self.scaling.scaled(self.rows, columns).T
        return self._from_inner(inner)

    def _from_inner(self, inner: Array) -> Array:
        if self.r == 0:
            return np.zeros((inner.shape[0], 0))
        return np.ascontiguousarray(solve_triangular(self.L, inner.T, lower=True).T)


def reduce(X: Inputs, scaling: InputScaling) -> RowSpace:
    """The row space of scaled ``X``: nothing to do if ``D <= N``, else from the Gram matrix.

    Independent rows that the Gram matrix resolves well are kept by reference. Otherwise a
    pivoted QR of the inputs themselves finds the rank; sparse inputs, which have none, take
    the pivoted Cholesky of the Gram matrix.
    """
    n, D = X.shape
    if n >= D:
        return unreduced(X, scaling)
    gram = scaling.inner(X, X)
    largest = float(np.diagonal(gram).max(initial=0.0))
    if largest == 0.0:  # all points at the centre of the box: no direction is known
        return RowSpace(scaling, np.zeros((n, 0)), X[:0], np.zeros((0, 0)))
    L, info = dpotrf(gram, lower=1, clean=1)
    if info == 0 and float(np.diagonal(L).min()) ** 2 > _CONDITION_LIMIT * largest:
        return RowSpace(scaling, L, X, L, in_order=True)
    if sparse.issparse(X):
        return _pivoted_cholesky(X, scaling, gram, largest)
    return _pivoted_qr(X, scaling)


def unreduced(X: Inputs, scaling: InputScaling) -> RowSpace:
    """Every input as a coordinate of its own."""
    return RowSpace(scaling, scaling.scaled(X), None, None)


def _pivoted_cholesky(X: Inputs, scaling: InputScaling, gram: Array, largest: float) -> RowSpace:
    factor, pivots, rank, _ = dpstrf(gram, lower=1, tol=_RANK_TOLERANCE * largest)
    kept = pivots[:rank] - 1
    L = np.tril(factor[:rank, :rank])
    Z = solve_triangular(L, gram[kept], lower=True).T
    return RowSpace(scaling, np.ascontiguousarray(Z), X[kept], L)


def _pivoted_qr(X: Inputs, scaling: InputScaling) -> RowSpace:
    upper, order = qr(scaling.scaled(X).T, mode="r", pivoting=True, check_finite=False)
    diagonal = np.diagonal(upper)
    rank = int(np.sum(np.abs(diagonal) > 1e-12 * abs(diagonal[0])))
    upper = np.sign(diagonal[:rank, None]) * upper[:rank]
    Z = np.empty((X.shape[0], rank))
    Z[order] = upper.T
    return RowSpace(scaling, Z, X[order[:rank]], np.ascontiguousarray(upper[:, :rank].T), used_qr=True)


def extend(space: RowSpace, X: Inputs) -> RowSpace:
    """The row space of ``X``, whose first rows are those of ``space``, at ``O(N D)`` a new row."""
    known = space.Z.shape[0]
    for i in range(known, X.shape[0]):
        space = _extended(space, X, i)
    return space


def _extended(space: RowSpace, X: Inputs, i: int) -> RowSpace:
    z, rho = space.project(X[i : i + 1])
    if space.rows is None or rho[0] <= 1e-9 * max(float(rho[0] + z[0] @ z[0]), 1e-300):
        return replace(space, Z=np.vstack([space.Z, z]), in_order=False)  # nothing new beyond rounding
    assert space.L is not None
    last = np.append(z[0], np.sqrt(rho[0]))
    Z = np.vstack([np.pad(space.Z, ((0, 0), (0, 1))), last])
    L = np.vstack([np.pad(space.L, ((0, 0), (0, 1))), last])
    if space.in_order:  # every observation is a row of the basis: refer to them where they are
        return replace(space, Z=Z, L=L, rows=X if i + 1 == X.shape[0] else X[: i + 1])
    parts = [space.rows, X[i : i + 1]]
    rows = sparse.vstack(parts, format="csr") if sparse.issparse(X) else np.vstack(parts)
    return replace(space, Z=Z, L=L, rows=rows, in_order=False)


def reduced(model: Embedding, z: Array, rho: Array) -> tuple[Array, Array]:
    """Coordinates as the model wants them: distances need the part outside the span, too."""
    if model.reduction == "distance":
        return np.column_stack([z, np.sqrt(rho)]), np.zeros_like(rho)
    return z, rho
