"""An index of rows by value: at which positions of a long table a row occurs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ridgeway.types import Array

Hashes = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RowIndex:
    """Sorted hashes of rows; 16 bytes a row for any number of columns.

    Rows with equal hashes are nearly always equal; the caller compares to be sure.

    >>> index = RowIndex.build([np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0]])])
    >>> [rows.tolist() for rows in index.candidates(np.array([[1.0, 2.0], [5.0, 6.0]]))]
    [[0, 2], []]
    """

    hashes: Hashes  # sorted
    order: Indices  # the row of each, ascending where hashes are equal

    @classmethod
    def build(cls, blocks: Iterable[Array]) -> RowIndex:
        """The index of all rows of ``blocks``, in their order."""
        hashes = np.concatenate([row_hashes(block) for block in blocks])
        order = np.argsort(hashes, kind="stable")
        return cls(hashes[order], order)

    def candidates(self, X: Array) -> list[Indices]:
        """For each row of ``X`` the rows with its hash, ascending."""
        asked = row_hashes(X)
        starts = np.searchsorted(self.hashes, asked, side="left")
        stops = np.searchsorted(self.hashes, asked, side="right")
        return [self.order[start:stop] for start, stop in zip(starts, stops, strict=True)]


def row_hashes(X: Array) -> Hashes:
    """64 bits for each row of ``X``, ``(n, D)``; the same for 0.0 and -0.0.

    The bits of each number are mixed (the finalizer of MurmurHash3) before they are added with a
    random odd weight for each column: round numbers have most of their bits zero.
    """
    weights = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    bits = np.ascontiguousarray(X + 0.0).view(np.uint64)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        bits ^= bits >> np.uint64(33)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(33)
    hashes: Hashes = bits @ weights
    return hashes
