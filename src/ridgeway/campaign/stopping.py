"""When to stop: what a further experiment would teach, and how sure the subspace is, in numbers and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ridgeway.belief import Belief

LITTLE = 0.02  # nats an experiment below which it teaches next to nothing
SURE, ROUGH = 15.0, 35.0  # degrees
_DRAWS = 64


@dataclass(frozen=True)
class Advice:
    """Whether more experiments are worth it.

    ``nats`` is the information about the embedding and the scales that the best next experiment is
    expected to give, noise included; ``degrees`` the typical angle between the subspace as it is
    believed now and as it may be (``None`` where the embedding has no subspace to find). As a
    condition it is ``True`` where both are small: ``if campaign.should_stop(): ...``
    """

    stop: bool
    nats: float | None
    degrees: float | None
    text: str

    def __bool__(self) -> bool:
        return self.stop

    def __str__(self) -> str:
        return self.text


def too_early(told: int, needed: int) -> Advice:
    """Before a model can say anything."""
    return Advice(False, None, None, f"Too early to say: {told} of the first {needed} outcomes are there.")


def advise(nats: float, degrees: float | None) -> Advice:
    """Advice from the two numbers."""
    little = nats < LITTLE
    stop = little and (degrees is None or degrees < SURE)
    narrowing = 100.0 * -np.expm1(-nats)
    teaches = f"The best next experiment would teach {nats:.2g} nats: it narrows what it tests by {narrowing:.1f} %."
    return Advice(stop, nats, degrees, " ".join([teaches, *about_subspace(degrees), _verdict(little, stop)]))


def certainty(belief: Belief) -> float | None:
    """Typical angle in degrees between the believed subspace and draws of it: the median of the largest angles."""
    from scipy.linalg import subspace_angles

    if belief.model.name != "linear":
        return None
    here = belief.embedding[: belief.rank].T
    draws = [R[np.any(R != 0.0, axis=1)].T for R in belief.sample_embeddings(_DRAWS, 0)]
    if not here.any():
        return 90.0  # no direction at all: nothing is known
    return float(np.median([np.rad2deg(subspace_angles(here, R).max()) if R.size else 90.0 for R in draws]))


def about_subspace(degrees: float | None) -> list[str]:
    """How sure the subspace is, in a sentence; none where there is no subspace."""
    if degrees is None:
        return []
    words = "well known" if degrees < SURE else "known roughly" if degrees < ROUGH else "not known yet"
    return [f"The subspace is {words} (typically off by {degrees:.0f}°)."]


def _verdict(little: bool, stop: bool) -> str:
    if stop:
        return "You may stop."
    if little:
        return (
            "The model expects little more, but is not sure of the subspace: points that fill the space would test it."
        )
    return "Go on."
