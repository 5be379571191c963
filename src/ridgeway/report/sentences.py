"""Plain sentences from the numbers of a belief; a number without meaning gives an empty one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ridgeway.belief.calibration import Calibration
from ridgeway.belief.directions import Directions
from ridgeway.belief.embedding_draws import Interval
from ridgeway.belief.subspace import SubspaceUncertainty, degrees
from ridgeway.inference import line_model

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_STANDS_OUT = 0.05  # share of the variation that makes an input worth naming
_NONE, _ALL = "0 %", "100 %"
_HARDLY, _NEARLY = "less than 1 %", "more than 99 %"
LITTLE = 0.3  # share of variance below which little is explained


def word(n: int) -> str:
    """A small number as a word."""
    return _WORDS[n] if 0 <= n < len(_WORDS) else f"{n:,}"


def percent(share: float) -> str:
    """A share as a percentage that does not claim 0 or 100 unless it is."""
    value = 100.0 * share
    if value <= 0.0:
        return _NONE
    if value >= 100.0:
        return _ALL
    return _HARDLY if value < 0.5 else _NEARLY if value >= 99.5 else f"{value:.0f} %"


def span(best: float, low: float, high: float) -> str:
    """A share with its interval, without repeating equal numbers.

    >>> span(0.6, 0.5, 0.7), span(0.002, 0.0001, 0.004), span(0.03, 0.001, 0.07), span(0.97, 0.93, 0.998)
    ('60 %, between 50 % and 70 %', 'less than 1 %', '3 %, up to 7 %', '97 %, at least 93 %')
    """
    said, least, most = percent(best), percent(low), percent(high)
    least, most = _HARDLY if most == _HARDLY else least, _NEARLY if least == _NEARLY else most
    if least == most:
        return least if said in (_NONE, _ALL, least) else f"{said} on average, {least} in most cases"
    nothing, everything = least in (_NONE, _HARDLY), most in (_ALL, _NEARLY)
    if nothing and everything:
        return f"{said}, but it may be anything"
    if nothing:
        return said if said == most else f"{said}, up to {most}"
    if everything:
        return said if said == least else f"{said}, at least {least}"
    return f"{said}, between {least} and {most}"


def amount(nats: float) -> str:
    """An amount of information."""
    return "next to nothing" if nats < 0.005 else f"{nats:,.2f} nats"


def headline(found: Directions | None, explained: float | None, D: int, n_inputs: int | None = None) -> str:
    """What carries the variation; the ``D`` columns are as many inputs, or fewer where some are of one category."""
    if found is None:
        return "No combination of inputs stands out yet."
    carry = "carries" if found.k == 1 else "carry"
    what = f"{_combinations(found.k, D, D if n_inputs is None else n_inputs)} {carry}"
    if explained is None or not np.isfinite(explained):
        return f"{what} what the fit knows of the response; there are too few observations to say how much that is."
    share = percent(explained)
    if share == _NONE:
        return "Nothing was found yet that predicts one observation from the others: all variation is taken for noise."
    if explained < LITTLE:
        so_far = share if share == _HARDLY else f"only {share}"
        return f"{what} {so_far} of the variation so far; the rest is taken for noise."
    return f"{what} {share} of the variation" + ("." if share == _ALL else "; the rest is taken for noise.")


def _combinations(k: int, D: int, n_inputs: int) -> str:
    if n_inputs == 1:
        return "The only input"
    if k >= D:
        return f"The {word(n_inputs)} inputs together"
    return f"{word(k).capitalize()} combination{'' if k == 1 else 's'} of the {n_inputs:,} inputs"


def shape(straight_share: float) -> str:
    """Whether a straight line would do."""
    if straight_share <= line_model.MOSTLY:
        return ""
    likely = percent(straight_share)
    return f"The response is most likely a straight line ({likely}): a linear regression would do as well."


def shares(found: Directions) -> str:
    """How the directions divide what they explain."""
    if found.k == 1 or not np.all(np.isfinite(found.share)):
        return ""
    parts = [f"direction {i + 1} accounts for {percent(float(s))}" for i, s in enumerate(found.share)]
    return f"Of what they explain, {listed(parts)}."


def inputs(labels: Sequence[str], interval: Interval, few: int = 3) -> str:
    """The inputs that matter most; nothing where there is only one."""
    if len(labels) < 2 or not np.all(np.isfinite(interval.mean)):
        return ""
    order = np.argsort(-interval.mean, kind="stable")[:few]
    largest = float(interval.mean[order[0]])
    if largest < _STANDS_OUT:
        return f"No single input stands out: the largest share is that of {labels[order[0]]}, {percent(largest)}."
    parts = [
        f"{labels[j]} ({span(float(interval.mean[j]), float(interval.low[j]), float(interval.high[j]))})"
        for j in order
        if interval.mean[j] >= _STANDS_OUT
    ]
    if len(parts) == 1:
        return f"The input that matters most is {parts[0]}."
    return f"The inputs that matter most are {listed(parts)}."


def certainty(angle: SubspaceUncertainty, k: int = 2, D: int | None = None) -> str:
    """How well the subspace of ``k`` directions among ``D`` inputs is known; nothing where there is no other."""
    if k == D or not np.isfinite(angle.median):
        return ""
    low, high, away = degrees(angle.low), degrees(angle.high), degrees(angle.median)
    most = f"90 % of them between {low} and {high}; " if low != high else ""
    return (
        f"The direction{' is' if k == 1 else 's are'} {angle.level}: other directions that the data allow are "
        f"typically off by {away} ({most}0° is certainty, 90° ignorance)."
    )


def calibrated(found: Calibration) -> str:
    """Whether intervals hold as many observations as they should."""
    got, n = found.at(0.95), found.observed.shape[0]
    if not np.isfinite(got):
        return ""
    held = f"all {n:,} observations" if got >= 1.0 else f"{percent(got)} of {n:,} observations"
    text = f"The 95 % intervals hold {held}, each predicted from the others"
    i = int(np.argmin(np.abs(found.levels - 0.95)))
    if got < found.low[i]:
        return f"{text}: the intervals are too narrow."
    return f"{text}, as they should." if got <= found.high[i] else f"{text}: they are on the cautious side."


def typical_error(found: Calibration, unit: str = "") -> str:
    """How far predictions of single observations are off, in the output's ``unit``."""
    rows = slice(None) if found.trusted is None else found.trusted
    error, spread = found.typical_error, float(np.std(found.observed[rows]))
    if not np.isfinite(error):
        return ""
    of = f"\N{NO-BREAK SPACE}{unit}" if unit else ""
    return (
        f"A prediction of one observation from the others is typically off by {error:.2g}{of}, noise included; the "
        f"observations themselves vary by {spread:.2g}{of}."
    )


def listed(parts: Sequence[str]) -> str:
    """With commas and an and."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
