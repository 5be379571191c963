"""Points of a report in its reader's units: values, numbers and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ridgeway.types import Array


@dataclass(frozen=True)
class Points:
    """Rows of inputs in their own units, perhaps with the numbers of trials and columns of text."""

    values: Any  # (n, k), an array or a sparse matrix
    columns: tuple[str, ...]  # (k,)
    ids: tuple[str, ...] | None = None  # (n,)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)  # (n,) each

    @property
    def n(self) -> int:
        """How many."""
        return int(self.values.shape[0])

    @property
    def called(self) -> list[str] | None:
        """The name of each in a picture, where that is not just its position."""
        return None if self.ids is None else [f"trial {name}" for name in self.ids]

    def first(self, n: int) -> Points:
        """The first ``n``."""
        notes = {name: column[:n] for name, column in self.notes.items()}
        return Points(self.values[:n], self.columns, None if self.ids is None else self.ids[:n], notes)


@dataclass(frozen=True)
class Suggestions:
    """What to run next: the points in the model's inputs, their expected information, and the points to show."""

    X: Array  # (n, D)
    nats: Array  # (n,) each given those before it; NaN where a point fills the space
    points: Points
    missing: str = ""  # why there are none
