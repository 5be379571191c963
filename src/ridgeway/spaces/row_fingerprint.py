"""A fingerprint of rows in their order, which does not depend on how they are cut into blocks.

``Σ h_i p^i`` modulo 2^64 over the hashes ``h_i`` of the rows: two parts, known by their sums and lengths, are joined
without looking at the rows again, so that every part can be read by another worker.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ridgeway.spaces.row_index import Hashes, row_hashes
from ridgeway.types import Array

_BASE = 0x9E3779B97F4A7C15  # odd, so that no power of it vanishes
_WORD = 2**64
#: Rows hashed at a time: they fit the cache.
BLOCK_ROWS = 2**12


class Fingerprint(NamedTuple):
    """Of ``n`` rows."""

    n: int
    value: int

    @property
    def text(self) -> str:
        """As it is stored."""
        return f"rows:{self.n}:{self.value:016x}"


NOTHING = Fingerprint(0, 0)


def joined(a: Fingerprint, b: Fingerprint) -> Fingerprint:
    """Of the rows of ``a`` followed by those of ``b``."""
    return Fingerprint(a.n + b.n, (a.value + pow(_BASE, a.n, _WORD) * b.value) % _WORD)


def fingerprint(X: Array) -> Fingerprint:
    """Of the rows ``X (n, D)``; 0.0 and -0.0 are the same."""
    total = NOTHING
    for start in range(0, X.shape[0], BLOCK_ROWS):
        total = joined(total, _of_hashes(row_hashes(X[start : start + BLOCK_ROWS])))
    return total


def _of_hashes(hashes: Hashes) -> Fingerprint:
    return Fingerprint(hashes.shape[0], int(hashes @ _powers()[: hashes.shape[0]]))


@lru_cache(maxsize=1)
def _powers() -> Hashes:
    powers = np.full(BLOCK_ROWS, _BASE, dtype=np.uint64)
    powers[0] = 1
    result: Hashes = np.cumprod(powers, dtype=np.uint64)
    return result
