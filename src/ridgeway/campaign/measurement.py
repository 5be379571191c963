"""A measurement: what became of one output of one experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A value, perhaps with the known standard deviation of its noise; without a value, there is and will be none."""

    value: float | None
    sigma: float | None = None
    sequence: int | None = None  # its position in the order of all outcomes
    by: str | None = None
    at: str | None = None


#: What is known of an experiment, by the names of its outputs. An output that is not there is still awaited.
Measurements = Mapping[str, Measurement]


def values(results: Measurements) -> dict[str, float]:
    """The values that there are, by output."""
    return {name: found.value for name, found in results.items() if found.value is not None}
