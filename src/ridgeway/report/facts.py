"""The numbers of a report, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ridgeway.belief import embedding_draws, measures
from ridgeway.belief.calibration import Calibration, calibration
from ridgeway.belief.directions import Directions, UnavailableError, directions
from ridgeway.belief.embedding_draws import Interval
from ridgeway.belief.subspace import SubspaceUncertainty, uncertainty
from ridgeway.gp.length_scales import Isotropic
from ridgeway.gp.measures import grouped, groups
from ridgeway.report.warnings import FEW
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief
    from ridgeway.spaces.box import Box


@dataclass(frozen=True)
class Facts:
    """What every section is made from."""

    belief: Belief
    labels: tuple[str, ...]  # (D,) of the columns that directions are made of
    inputs: tuple[str, ...]  # (G,) of the inputs: a category is one, whatever its columns
    R: Array  # (n, d, D) draws of the embedding
    directions: Directions | None
    no_directions: str  # why not
    shares: Interval  # (D,)
    input_shares: Interval  # (G,)
    calibration: Calibration | None
    angle: SubspaceUncertainty | None  # none where the directions span all inputs: there is no other subspace

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """The columns, the most important first where they can be ranked."""
        if not self.shares_mean_something:
            return np.arange(len(self.labels))
        return np.argsort(-self.shares.mean, kind="stable").astype(np.int64)

    @property
    def explained(self) -> float | None:
        """Share of the variance that observations predict of each other."""
        return None if self.calibration is None else self.calibration.explained

    @property
    def shares_mean_something(self) -> bool:
        """Whether inputs can be ranked: not with one length scale for all, nor where nothing varies."""
        if isinstance(self.belief.model, Isotropic) or self.calibration is None:
            return False
        return self.directions is not None or not self.belief.model.has_directions

    @property
    def explains_something(self) -> bool:
        """Whether it is worth a sentence which inputs matter."""
        return self.shares_mean_something and self.explained is not None and self.explained > 0.0


def facts(belief: Belief, labels: Sequence[str], box: Box | None = None) -> Facts:
    """Everything a report says about a belief, in numbers; a ``box`` knows which columns are one category."""
    R = embedding_draws.embeddings(belief)
    shares = embedding_draws.shares(belief, R)
    measure = measures.choose(belief, None if box is None else box.unconstrained)
    found, why = None, ""
    try:
        found = directions(belief)
    except UnavailableError as reason:
        why = str(reason)
    return Facts(
        belief,
        tuple(labels),
        measures.labels(labels, measure),
        R,
        found,
        why,
        Interval.of(shares),
        Interval.of(grouped(shares, groups(measure))),
        calibration(belief) if belief.y.shape[0] >= FEW and np.ptp(belief.y) > 0 else None,
        None if found is None or found.k == len(labels) else uncertainty(belief, R, found),
    )
