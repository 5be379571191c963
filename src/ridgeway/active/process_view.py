"""The protocol of a process at some points: what differs between an exact process and one with a finite basis."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from ridgeway.gp.moments import SlopesAdjoint
from ridgeway.types import Array


class ProcessAdjoint(NamedTuple):
    """Derivatives of a score in what a process says about its points."""

    mean: Array  # (M,)
    variance: Array  # (M,)
    cross: Array | None  # (M, B) in the covariances with pending points; None where there are none
    slopes: SlopesAdjoint | None  # None where the score does not depend on them


class ProcessView(Protocol):
    """A process conditioned on data, seen from points in reduced coordinates.

    What it remembers of points, ``at``, is its own affair.
    """

    def at(self, z: Array) -> tuple[Array, Array, Any]:
        """Mean and variance at points ``z (M, r)``, and what covariances and derivatives need."""

    def slopes(self, mean: Array, variance: Array, at: Any) -> tuple[Array, Array, Array, Array]:
        """Derivatives of mean and variance in ``theta``, ``(M, P + 4)``, and in the embedded input, ``(M, d)``."""

    def covariances(self, x: Any, b: Any, residual: Array) -> Array:
        """Covariances between two sets of points, ``(M, B)``.

        ``residual (M, B)`` are the points' inner products beyond what the data span.
        """

    def pull_back(self, at: Any, adjoint: ProcessAdjoint, pending: Any, residual: Array) -> tuple[Array, Array]:
        """Derivatives in the points ``(M, r)``, and in the ``residual (M, B)`` with the ``pending`` ones."""
