"""Scaling: the user's inputs to [-1, 1] and outputs to mean 0 and variance 1, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ridgeway.types import Array, Inputs

#: Memory for the columns scaled at a time: inputs of a million columns are never copied whole.
BLOCK_BYTES = 2**22
_FAR = 100.0  # a sparse column farther from zero than this many half widths is shifted before products, for accuracy


@dataclass(frozen=True)
class InputScaling:
    """``(x - center) / half_width``: the box to [-1, 1]^D."""

    center: Array  # (D,)
    half_width: Array  # (D,)

    @classmethod
    def from_bounds(cls, lower: Array, upper: Array) -> InputScaling:
        return cls(0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower)

    @classmethod
    def from_range(cls, lower: Array, upper: Array) -> InputScaling:
        """The data's own range as the box; a column that does not vary maps to 0."""
        # Halved before they are added: the sum of two large numbers may overflow.
        center, half = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
        return cls(center, np.where(half > 0, half, 1.0))

    @property
    def D(self) -> int:
        return self.center.shape[0]

    def scaled(self, X: Inputs, columns: slice = slice(None)) -> Array:
        """Dense scaled inputs, or some of their columns."""
        block = X[:, columns]
        if sparse.issparse(block):
            block = block.toarray()
        result: Array = block - self.center[columns]
        result *= 1.0 / self.half_width[columns]  # multiplication is several times faster than division
        return result

    def inner(self, A: Inputs, B: Inputs) -> Array:
        """Inner products of scaled rows, ``(len(A), len(B))``, without scaling them whole."""
        if sparse.issparse(A) and sparse.issparse(B):
            return self._inner_sparse(A, B)
        n, m = A.shape[0], B.shape[0]
        result = np.zeros((n, m))
        width = max(1, BLOCK_BYTES // (8 * max(n + m, 1)))
        for start in range(0, self.D, width):
            columns = slice(start, min(start + width, self.D))
            left = self.scaled(A, columns)
            result += left @ (left if B is A else self.scaled(B, columns)).T
        return result

    def squared_norms(self, A: Inputs) -> Array:
        """``|x|²`` of scaled rows."""
        if sparse.issparse(A):
            inverse, far = self._weights
            shift = self.center * inverse
            squares = np.asarray(A.multiply(A) @ inverse).ravel()
            block = self._block(A, far)
            squares += np.einsum("ij,ij->i", block, block)
            return squares - 2.0 * np.asarray(A @ shift).ravel() + float(self.center @ shift)
        result = np.zeros(A.shape[0])
        width = max(1, BLOCK_BYTES // (8 * max(A.shape[0], 1)))
        for start in range(0, self.D, width):
            block = self.scaled(A, slice(start, min(start + width, self.D)))
            result += np.einsum("ij,ij->i", block, block)
        return result

    @property
    def _weights(self) -> tuple[Array, Any]:
        """``half_width⁻²``, with 0 for columns too far from zero to be multiplied unshifted, and those columns."""
        far = np.abs(self.center) > _FAR * self.half_width
        return np.where(far, 0.0, self.half_width**-2), np.flatnonzero(far)

    def _block(self, A: sparse.spmatrix, columns: Any) -> Array:
        result: Array = (A[:, columns].toarray() - self.center[columns]) / self.half_width[columns]
        return result

    def _inner_sparse(self, A: sparse.spmatrix, B: sparse.spmatrix) -> Array:
        inverse, far = self._weights
        shift = self.center * inverse
        product = (A.multiply(inverse).tocsr() @ B.T).toarray() + self._block(A, far) @ self._block(B, far).T
        left, right = np.asarray(A @ shift).ravel(), np.asarray(B @ shift).ravel()
        result: Array = product - left[:, None] - right[None, :] + float(self.center @ shift)
        return result


def is_constant(y: Array) -> bool:
    """Whether ``y`` varies by no more than the rounding of its values."""
    return bool(np.ptp(y) <= 4.0 * np.finfo(float).eps * np.max(np.abs(y)))


@dataclass(frozen=True)
class OutputScaling:
    """``(y - shift) / scale``."""

    shift: float
    scale: float

    @classmethod
    def from_data(cls, y: Array, standardize: bool, known: Array | None = None) -> OutputScaling:
        """Mean and standard deviation, weighted by the known noise; a constant ``y`` keeps its units."""
        if not standardize:
            return cls(0.0, 1.0)
        shift = float(np.mean(y))
        scale = float(np.std(y))
        if known is not None and np.any(known != known[0]):
            weights = 1.0 / (known + (np.var(y[known <= np.median(known)]) or 1.0))
            shift = float(np.average(y, weights=weights))
            scale = float(np.sqrt(np.average((y - shift) ** 2, weights=weights)))
        # Rounding alone gives a constant y a small standard deviation.
        if is_constant(y):
            scale = 0.0
        return cls(shift, scale if scale > 0 else (abs(shift) or 1.0))

    def scaled(self, y: Array) -> Array:
        return (y - self.shift) / self.scale

    def mean(self, m: Array) -> Array:
        return self.shift + self.scale * m

    def variance(self, v: Array) -> Array:
        return self.scale**2 * v
