"""What a campaign keeps about a fit beside the fit itself, so that it can be shown without loading it.

A summary is a plain dictionary, stored as JSON; those of earlier versions lack some entries. Shares of inputs and
angles are taken from draws of the embedding, the same ones that a report uses, so that both give the same numbers.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.belief import subspace
from ridgeway.belief.directions import UnavailableError, directions
from ridgeway.belief.subspace import SubspaceUncertainty

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief
    from ridgeway.belief.embedding_draws import Interval
    from ridgeway.campaign.setup import Setup
    from ridgeway.types import Array

Step = tuple[int, float, float, float]  # observations; median, 5 % and 95 % of the angles to the subspace, degrees
_INPUTS = 8  # of which the shares are kept


def summarize(belief: Belief, setup: Setup, course: tuple[Step, ...], numbers: tuple[int, ...]) -> dict[str, Any]:
    """The summary of a fit; ``course`` holds how well earlier fits knew the subspace, ``numbers`` its trials."""
    from ridgeway.belief import embedding_draws  # needs SciPy, which reading a summary does not
    from ridgeway.belief.suspects import warnings_naming

    R = embedding_draws.embeddings(belief)
    varied, shares = _shares(setup, embedding_draws.shares(belief, R))
    order = np.argsort(-shares.mean, kind="stable")[:_INPUTS]
    k, step = 0, None
    try:
        found = directions(belief)
        k, step = found.k, subspace.uncertainty(belief, R, found)
    except UnavailableError:
        pass  # no directions: there is no step, and _degrees says what that means
    return {
        "inputs": [[varied[j], float(shares.mean[j])] for j in order],
        "intervals": [[float(shares.low[j]), float(shares.high[j])] for j in order],
        "rank": belief.rank,
        "directions": k,
        "noise": float(np.sqrt(belief.noise_variance)),
        "degrees": _degrees(belief, k, step),
        "status": belief.diagnostics.status,
        "warnings": list(warnings_naming(belief, [f"trial {number}" for number in numbers])),
        "suspects": [
            {"trial": numbers[s.row], "value": s.value, "predicted": s.predicted, "residual": s.residual}
            for s in belief.suspects
        ],
        "course": [*(s for s in course if s[0] < belief.y.shape[0]), *([] if step is None else [astuple(step)])],
    }


def _shares(setup: Setup, drawn: Array) -> tuple[list[str], Interval]:
    """Names and shares of the inputs that vary, from draws ``(n, D)``; a category has the sum of its levels'."""
    from ridgeway.belief.embedding_draws import Interval
    from ridgeway.gp.measures import grouped

    if setup.inputs is None:
        return list(setup.names), Interval.of(drawn)
    place = {column: i for i, column in enumerate(setup.inputs.free)}
    names: list[str] = []
    places: list[tuple[int, ...]] = []
    for shown in setup.shown:
        if isinstance(shown, int):
            if shown not in place:
                continue  # fixed
            names.append(setup.names[shown])
            places.append((place[shown],))
        else:
            names.append(shown.name)
            places.append(tuple(place[j] for j in shown.places))
    return names, Interval.of(grouped(drawn, places))


def _degrees(belief: Belief, k: int, step: SubspaceUncertainty | None) -> float | None:
    """The typical angle to the subspace; none where there is no other one."""
    if belief.model.name != "linear" or k == belief.X.shape[1]:
        return None
    return subspace.IGNORANCE if step is None else step.median


def angle(summary: dict[str, Any], observations: int) -> float | None:
    """Typical angle in degrees between the subspace of a fit of so many ``observations`` and draws of it.

    Earlier versions computed ``"degrees"`` in another way, but kept the right one as the last step of the course.
    """
    degrees = summary["degrees"]
    steps = [step for step in summary.get("course", ()) if step[0] == observations]
    return degrees if degrees is None or not steps else float(steps[-1][1])


def n_directions(summary: dict[str, Any]) -> int:
    """How many directions a fit has; those of earlier versions only know the rank of their embedding."""
    return int(summary.get("directions", summary["rank"]))
