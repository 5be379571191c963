"""Plain sentences from the numbers of a belief."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.calibration import Calibration
from ridgeway.directions import Directions
from ridgeway.draws import Interval
from ridgeway.subspace import SubspaceUncertainty

if TYPE_CHECKING:
    from ridgeway.learner import ActiveLearner

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PINNED, _ROUGH = 10.0, 35.0  # degrees up to which a subspace is pinned down, or known roughly
_STANDS_OUT = 0.05  # share of the variation that makes an input worth naming
LITTLE = 0.3  # share of variance below which little is explained


def word(n: int) -> str:
    """A small number as a word."""
    return _WORDS[n] if 0 <= n < len(_WORDS) else f"{n:,}"


def percent(share: float) -> str:
    """A share as a percentage that does not claim 0 or 100 unless it is."""
    value = 100.0 * share
    if 0.0 < value < 0.5:
        return "less than 1 %"
    if 99.5 <= value < 100.0:
        return "more than 99 %"
    return f"{value:.0f} %"


def headline(found: Directions | None, explained: float | None, D: int) -> str:
    """What carries the variation."""
    if found is None:
        return "No combination of inputs stands out yet."
    many = "One combination" if found.k == 1 else f"{word(found.k).capitalize()} combinations"
    carry = "carries" if found.k == 1 else "carry"
    what = f"{many} of the {D:,} inputs {carry}" if D > 1 else f"The only input {carry}"
    if explained is None or not np.isfinite(explained):
        return f"{what} what the fit knows of the response; there are too few observations to say how much that is."
    if explained < LITTLE:
        return f"{what} only {percent(max(explained, 0.0))} of the variation so far; the rest passes for noise."
    return f"{what} {percent(explained)} of the variation; the rest passes for noise."


def shares(found: Directions) -> str:
    """How the directions divide what they explain."""
    if found.k == 1:
        return ""
    parts = [f"direction {i + 1} accounts for {percent(float(s))}" for i, s in enumerate(found.share)]
    return f"Of what they explain, {', '.join(parts[:-1])} and {parts[-1]}."


def inputs(labels: Sequence[str], interval: Interval, few: int = 3) -> str:
    """The inputs that matter most."""
    order = np.argsort(-interval.mean, kind="stable")[:few]
    largest = float(interval.mean[order[0]])
    if largest < _STANDS_OUT and len(labels) > few:
        return f"No single input stands out: the largest share is that of {labels[order[0]]}, {percent(largest)}."
    parts = [
        f"{labels[j]} ({percent(float(interval.mean[j]))}, between {percent(float(interval.low[j]))} "
        f"and {percent(float(interval.high[j]))})"
        for j in order
    ]
    if len(parts) == 1:
        return f"Its share of the variation: {parts[0]}."
    return f"The inputs that matter most are {', '.join(parts[:-1])} and {parts[-1]}."


def certainty(angle: SubspaceUncertainty) -> str:
    """How well the subspace is known."""
    how = (
        "pinned down"
        if angle.median <= _PINNED
        else "known roughly"
        if angle.median <= _ROUGH
        else "not known well yet"
    )
    return (
        f"The directions are {how}: what else the data allow is about {angle.median:.0f}° away "
        f"(90 % between {angle.low:.0f}° and {angle.high:.0f}°; 0° is certainty, 90° ignorance)."
    )


def calibrated(found: Calibration) -> str:
    """Whether intervals mean what they say."""
    got, n = found.at(0.95), found.observed.shape[0]
    text = f"Intervals that promise 95 % hold {percent(got)} of {n} observations, each predicted from the others"
    i = int(np.argmin(np.abs(found.levels - 0.95)))
    if got < found.low[i]:
        return f"{text}: the intervals are too narrow."
    return f"{text}, as they should." if got <= found.high[i] else f"{text}: they are on the cautious side."


def campaign(learner: ActiveLearner) -> str:
    """Where a campaign stands."""
    told, out, failed = learner.record.n, len(learner.pending), len(learner.failed)
    text = f"{told:,} experiment{'' if told == 1 else 's'} done, {out:,} out, {failed:,} failed."
    return f"{text} The last loop ended because {learner.ended}." if learner.ended else text
