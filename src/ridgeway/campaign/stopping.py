"""When to stop: what a further experiment would teach, and how well the directions are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.belief import subspace

if TYPE_CHECKING:
    from ridgeway.active.best import Best

LITTLE = 0.02  # nats: an experiment that teaches less teaches next to nothing
HARDLY = 0.01  # of the width of the best value's interval: an expected improvement that is next to nothing


@dataclass(frozen=True)
class Advice:
    """Whether more experiments are worth it.

    ``nats`` is the information about the embedding and the scales that the best next experiment is
    expected to give, noise included; ``degrees`` the typical angle between the subspace as it is
    believed now and draws of it (``None`` where there is no subspace to find: the embedding has none, or
    the directions span all inputs). As a condition it is ``True`` where both are small:
    ``if campaign.should_stop(): ...``
    """

    stop: bool
    nats: float | None
    degrees: float | None
    text: str

    def __bool__(self) -> bool:
        return self.stop

    def __str__(self) -> str:
        return self.text


def too_early(observed: int, needed: int) -> Advice:
    """Before a model can say anything."""
    return Advice(False, None, None, f"Too early to say: {observed} of the first {needed} outcomes are there.")


def advise(nats: float, degrees: float | None, k: int = 2) -> Advice:
    """Advice from the two numbers; ``k`` is how many directions there are."""
    little = nats < LITTLE
    stop = little and (degrees is None or subspace.level(degrees) == subspace.WELL_KNOWN)
    narrowing = 100.0 * -np.expm1(-nats)
    teaches = f"The best next experiment would teach {nats:.2g} nats: it narrows what it tests by {narrowing:.1f} %."
    return Advice(stop, nats, degrees, " ".join([teaches, *about_directions(degrees, k), _verdict(little, stop)]))


def advise_best(improvement: float, best: Best) -> Advice:
    """Advice for a search of the best point, from the expected ``improvement`` of the next experiment on it."""
    low, high = best.interval
    stop = improvement < HARDLY * (high - low)
    text = (
        f"The best value is predicted to be {best.value:.4g} ({low:.4g} to {high:.4g}), and the next experiment is "
        f"expected to improve on it by {improvement:.2g}. "
    )
    verdict = "That is little beside what is uncertain about it. You may stop." if stop else "Go on."
    return Advice(stop, None, None, text + verdict)


def no_forecast(value: float) -> Advice:
    """Where nothing says how much the next experiment would improve on the best ``value``."""
    return Advice(False, None, None, f"The best value is predicted to be {value:.4g}. Go on.")


def about_directions(degrees: float | None, k: int = 2) -> list[str]:
    """How well ``k`` directions are known, in a sentence; none where there is no subspace to find."""
    if degrees is None:
        return []
    these = "direction is" if k == 1 else "directions are"
    return [f"The {these} {subspace.level(degrees)} (typically off by {subspace.degrees(degrees)})."]


def _verdict(little: bool, stop: bool) -> str:
    if stop:
        return "You may stop."
    if little:
        return (
            "The model expects to learn little more, but it does not know the directions well: points that fill the "
            "space would test them."
        )
    return "Go on."
