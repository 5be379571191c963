"""The pool of a campaign: its points, and columns of text that go with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.campaign.results import Result
from ridgeway.campaign.setup import Setup, pool_from_bytes, pool_to_bytes
from ridgeway.campaign.store import Store
from ridgeway.errors import CampaignError
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.spaces.pool import Pool


@dataclass(frozen=True)
class StoredPool:
    """Points to choose from with their labels; a campaign with inputs that vary freely has neither."""

    points: Pool | None = None
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    file_labels: tuple[str, ...] = ()  # columns of text in the files of a pool that is not in memory

    @classmethod
    def of(cls, store: Store, setup: Setup) -> StoredPool:
        """As the database has it."""
        if setup.pool is None:
            return cls()
        if setup.pool.get("files") is not None:
            return cls(opened(setup.pool), {}, setup.file_labels)
        content, labels = store.pool()
        return cls(pool_from_bytes(content, setup.pool), labels)

    def labels_of(self, x: Array) -> dict[str, str]:
        """The words that go with a point ``(k,)``."""
        if self.points is None or not (self.labels or self.file_labels):
            return {}
        row = int(self.points.index_of(x[None])[0])
        if self.file_labels:
            return {} if row < 0 else self.points.texts(row, self.file_labels)
        return {key: column[row] for key, column in self.labels.items()}

    def check(self, rows: Sequence[Result]) -> None:
        """Raise for experiments that are not at its points."""
        if self.points is None:
            return
        strange = np.flatnonzero(self.points.index_of(np.stack([np.asarray(row.x) for row in rows])) < 0)
        if strange.size:
            raise CampaignError(f"{rows[strange[0]].where} is no point of the pool (allow it with --outside)")


def stored(setup: Setup, space: Any, labels: Any) -> tuple[bytes, dict[str, list[str]]] | None:
    """The points and labels of a new campaign's pool as a database holds them.

    ``None`` where there is no pool, or where its points stay in files.
    """
    if setup.pool is None or setup.pool.get("files") is not None:
        return None
    labels = {} if labels is None else labels
    if not isinstance(labels, Mapping):
        raise CampaignError(f"labels must be columns of text by their names, got {labels!r:.80}")
    carried = {key: [str(cell) for cell in column] for key, column in labels.items()}
    for key, column in carried.items():
        if len(column) != len(space):
            raise CampaignError(f"labels {key!r} must have one entry a point, got {len(column)} of {len(space)}")
    return pool_to_bytes(space), carried


def opened(description: Mapping[str, Any]) -> Pool:
    """A pool whose points stay in their files."""
    from ridgeway.spaces.pool import Pool

    try:
        return Pool.from_dict(description)
    except (OSError, ValueError, TypeError) as error:
        raise CampaignError(f"the pool of this campaign cannot be opened: {error}") from None
