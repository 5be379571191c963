"""When to stop: what a further experiment would teach, how well the directions are known, and how the error falls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ridgeway.belief import subspace

if TYPE_CHECKING:
    from ridgeway.active.best import Best
    from ridgeway.campaign.forecast import Forecast

LITTLE = 0.02  # nats: an experiment that teaches less teaches next to nothing
LONG_AGO = 0.6  # of all experiments: since then the error should have fallen
MANY = 40  # experiments, from which on an error that does not fall is taken for one that will not
FLAT = 0.9  # of the error then: more of it left than this is no fall
HARDLY = 0.01  # of the width of the best value's interval: an expected improvement that is next to nothing


@dataclass(frozen=True)
class Advice:
    """Whether more experiments are worth it.

    ``nats`` is the information about the embedding and the scales that the best next experiment is
    expected to give, noise included; ``degrees`` the typical angle between the subspace as it is
    believed now and draws of it (``None`` where there is no subspace to find: the embedding has none, or
    the directions span all inputs). ``error`` is the expected error of a prediction now, in the output's units and
    without noise, ``error_after`` that after ``batch`` more experiments, and ``needed`` about how many more reach the
    target that was named, with the fewest and the most of a central 80 %. As a condition it is ``True`` where more
    experiments are not worth it: ``if campaign.should_stop(): ...``
    """

    stop: bool
    nats: float | None
    degrees: float | None
    text: str
    error: float | None = None
    error_after: float | None = None
    batch: int | None = None
    needed: tuple[float, float, float] | None = None  # fewest, about, most
    parts: Mapping[str, Advice] = field(default_factory=dict)  # of several outputs, by their labels

    def __bool__(self) -> bool:
        return self.stop

    def __str__(self) -> str:
        return self.text


def too_early(observed: int, needed: int) -> Advice:
    """Before a model can say anything."""
    return Advice(False, None, None, f"Too early to say: {observed} of the first {needed} outcomes are there.")


@dataclass(frozen=True)
class Errors:
    """The error of predictions, as it is expected and as it was, and the error that is wanted."""

    forecast: Forecast
    course: Sequence[tuple[int, float]] = ()  # observations of earlier fits, and the error that each expected
    target: float | None = None
    unit: str | None = None

    @property
    def batch(self) -> int:
        """How many experiments "the next ones" are: a tenth of those made, at least four."""
        return max(4, math.ceil(self.forecast.observations / 10))

    @property
    def reached(self) -> bool:
        """Whether the error is as small as is wanted."""
        return self.target is not None and self.forecast.now <= self.target

    @property
    def needed(self) -> tuple[float, float, float] | None:
        """How many more experiments reach the target: fewest, about, most."""
        return None if self.target is None else self.forecast.needed(self.target)

    @property
    def has_been_flat(self) -> bool:
        """Whether the error has hardly fallen over the last two fifths of all experiments."""
        n = self.forecast.observations
        early = [error for m, error in self.course if LONG_AGO * n - 0.15 * n <= m <= LONG_AGO * n]
        late = [error for m, error in self.course if m >= 0.85 * n]
        return bool(early and late and np.median(late) > FLAT * np.median(early))

    def sentences(self) -> list[str]:
        """In words, in the output's units."""
        f, batch = self.forecast, self.batch
        low, high = f.interval()
        found = [
            f"A prediction is off by about {self._shown(f.now)} now ({low:.2g} to {high:.2g}), and by about "
            f"{self._shown(f.after(batch))} after {batch} more experiments."
        ]
        if self.target is None:
            return found
        fewest, about, most = f.needed(self.target)
        goal = self._shown(self.target)
        if self.reached:
            return [*found, f"The {goal} that you want are reached."]
        if math.isinf(about):
            limit = int(f.more[-1])
            return [*found, f"As far as the model can tell, {limit} more would not bring it down to {goal}."]
        upto = "more than can be foreseen" if math.isinf(most) else f"{math.ceil(most)}"
        return [
            *found,
            f"It takes about {math.ceil(about)} more to bring it down to {goal} ({math.ceil(fewest)} to {upto}).",
        ]

    def _shown(self, error: float) -> str:
        return f"{error:.3g}" if self.unit is None else f"{error:.3g} {self.unit}"


def advise(nats: float, degrees: float | None, k: int = 2, errors: Errors | None = None) -> Advice:
    """Advice from the two numbers and the errors; ``k`` is how many directions there are."""
    little = nats < LITTLE
    known = degrees is None or subspace.level(degrees) == subspace.WELL_KNOWN
    narrowing = 100.0 * -np.expm1(-nats)
    teaches = f"The best next experiment would teach {nats:.2g} nats: it narrows what it tests by {narrowing:.1f} %."
    parts = [teaches, *about_directions(degrees, k)]
    if errors is None:
        stop = little and known
        return Advice(stop, nats, degrees, " ".join([*parts, _verdict(little, stop)]))
    f = errors.forecast
    long = known and f.observations >= MANY and errors.has_been_flat  # whatever the model expects of itself
    flat = long or (f.is_flat and (known or errors.has_been_flat))
    stop = errors.reached if errors.target is not None else (little and known) or flat
    verdict = _verdict(little, stop) if errors.target is None else _verdict(False, stop)
    if flat and stop and errors.target is None:
        since = f"The error has hardly fallen since {round(LONG_AGO * f.observations)} experiments."
        verdict = f"{since if long else 'More experiments would hardly lower the error.'} {verdict}"
    text = " ".join([*parts, *errors.sentences(), verdict])
    return Advice(stop, nats, degrees, text, f.now, f.after(errors.batch), errors.batch, errors.needed)


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


def for_all(advice: Mapping[str, Advice], chosen: Sequence[str]) -> Advice:
    """One advice from those for several outputs: to stop where that is the advice for all that are ``chosen`` for."""
    if len(advice) == 1:
        return next(iter(advice.values()))
    stop = all(advice[label].stop for label in chosen)
    text = "\n".join(f"{label}: {one.text}" for label, one in advice.items())
    verdict = "All in all: you may stop." if stop else "All in all: go on."
    nats = [advice[label].nats for label in chosen]
    total = None if None in nats else sum(n for n in nats if n is not None)
    return Advice(stop, total, None, f"{text}\n{verdict}", parts=advice)


def no_forecast(value: float) -> Advice:
    """Where nothing says how much the next experiment would improve on the best ``value``."""
    return Advice(False, None, None, f"The best value is predicted to be {value:.4g}. Go on.")


def about_directions(degrees: float | None, k: int = 2) -> list[str]:
    """How well ``k`` directions are known, in a sentence; none where there is no subspace to find."""
    if degrees is None:
        return []
    these = "direction is" if k <= 1 else "directions are"  # none that was found may be one
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
