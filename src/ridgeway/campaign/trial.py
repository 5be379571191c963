"""A trial: one experiment of a campaign, from the moment it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ridgeway.campaign.inputs import Levels
from ridgeway.campaign.measurement import Measurements, values
from ridgeway.errors import CampaignError
from ridgeway.types import Array

State = Literal["asked", "told", "failed", "abandoned", "attached"]
#: States whose value is an observation.
OBSERVED: tuple[State, ...] = ("told", "attached")


@dataclass(frozen=True, eq=False)
class Trial:
    """One experiment: its number, state and inputs, and its outcome.

    ``state`` is ``"asked"`` (pending), ``"told"`` (observed), ``"failed"``, ``"abandoned"`` or ``"attached"``
    (made before the campaign or beside it). A trial with several outputs is pending until each has its result, or
    was said to have none; :attr:`awaited` are those that it lacks.
    """

    id: int
    state: State
    names: tuple[str, ...]
    x: Array  # (k,) values of all inputs, in their order
    proposed: Array | None = None  # (k,) what was asked, where the experiment was made elsewhere
    results: Measurements = field(default_factory=dict)  # by output, as far as they are known
    outputs: tuple[str, ...] = ("value",)  # names of all outputs
    notes: Mapping[str, str] | None = None
    reason: str | None = None
    expected: float | None = None  # information that its observation was expected to give, nats
    seen: int | None = None  # outcomes that were known when it was chosen
    asked_by: str | None = None
    asked_at: str | None = None
    settled_by: str | None = None
    settled_at: str | None = None
    sequence: int | None = None  # its position in the order of the outcomes
    campaign: str | None = None  # the identity of its campaign
    levels: tuple[Levels, ...] = ()  # where categories stand among the inputs

    @property
    def values(self) -> dict[str, float]:
        """The values that there are, by output."""
        return values(self.results)

    @property
    def value(self) -> float | None:
        """The value of the first output, which mostly is the only one."""
        return self.values.get(self.outputs[0])

    @property
    def sigma(self) -> float | None:
        """Known standard deviation of the first output's noise."""
        found = self.results.get(self.outputs[0])
        return None if found is None else found.sigma

    @property
    def awaited(self) -> tuple[str, ...]:
        """Outputs of which nothing is known."""
        return tuple(name for name in self.outputs if name not in self.results)

    @property
    def inputs(self) -> dict[str, Any]:
        """Values of the inputs by name; of a category its word."""
        values = dict(zip(self.names, self.x.tolist(), strict=True))
        if not self.levels:
            return values
        first = {self.names[levels.places[0]]: levels for levels in self.levels}
        hidden = {self.names[j] for levels in self.levels for j in levels.places}
        found: dict[str, Any] = {}
        for name, value in values.items():
            if name in first:
                found[first[name].name] = first[name].word(self.x)
            elif name not in hidden:
                found[name] = value
        return found

    def __repr__(self) -> str:
        inputs = list(self.inputs.items())
        shown = ", ".join(f"{name}={value if isinstance(value, str) else f'{value:g}'}" for name, value in inputs[:4])
        more = ", ..." if len(inputs) > 4 else ""
        outcome = "".join(f", {name}={value:g}" for name, value in self.values.items())
        return f"Trial({self.id}, {self.state}: {shown}{more}{outcome})"


def number_of(trial: Any, campaign: str) -> int:
    """The number of a trial of the campaign with this identity, from itself or its number."""
    if isinstance(trial, Trial):
        if trial.campaign not in (None, campaign):
            raise CampaignError(
                f"trial must be one of this campaign, got trial {trial.id} of another one: its outcome belongs there"
            )
        return trial.id
    if isinstance(trial, bool) or not isinstance(trial, int | np.integer):
        raise CampaignError(f"trial must be a trial or its number, got {trial!r}")
    return int(trial)


def pack(x: Array) -> bytes:
    """Inputs as the database holds them."""
    return np.ascontiguousarray(x, dtype="<f8").tobytes()


def unpack(content: bytes) -> Array:
    """Inputs from what :func:`pack` made."""
    return np.frombuffer(content, dtype="<f8").astype(np.float64)
