"""Observations in the user's units, after they have been checked: inputs, outputs and what is known of their noise."""

from __future__ import annotations

from typing import Any, NamedTuple

from ridgeway.types import Array, Inputs


class Observations(NamedTuple):
    """``n`` of them."""

    X: Inputs  # (n, D)
    y: Array  # (n,)
    known: Array | None  # (n,) noise variances known beforehand

    @property
    def n(self) -> int:
        """How many there are."""
        return int(self.y.shape[0])

    def rows(self, which: Any) -> Observations:
        """Some of them."""
        return Observations(self.X[which], self.y[which], None if self.known is None else self.known[which])
