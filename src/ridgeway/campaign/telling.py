"""Telling: what a user says about a trial, checked and brought into the form in which it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from types import EllipsisType
from typing import Any

from ridgeway.campaign import results, transitions
from ridgeway.campaign.measurement import Measurement
from ridgeway.campaign.outputs import OutputList
from ridgeway.campaign.results import Result
from ridgeway.campaign.setup import Setup
from ridgeway.errors import CampaignError

Given = float | Mapping[str, float | None]  # of a single output, or of several by name


def told(
    setup: Setup, what: str, number: int, value: Given, sigma: Given | None, inputs: Mapping[str, Any] | None,
    notes: Mapping[str, str] | None = None, ends: bool = False,
) -> Result:  # fmt: skip
    """The results of a trial; ``what`` is what a message calls it, and with ``ends`` no more will come."""
    outputs = setup.outputs
    sigmas = {} if sigma is None else outputs.named(sigma, "sigma")
    given = {name: one for name, one in outputs.named(value, "value").items() if one is not None or outputs.only}
    if not given:
        raise CampaignError(f"value must have a result for at least one of {', '.join(outputs.names)}, got none")
    for name, one in sigmas.items():
        if name not in given and one is not None:
            raise CampaignError(f"sigma of {name!r} goes with a value of it, and there is none")
    found = {
        name: Measurement(results.finite(one, outputs.word(name)), transitions.sigma(sigmas.get(name)))
        for name, one in given.items()
    }
    kept = {str(key): str(text) for key, text in (notes or {}).items()}
    return Result(what, number, found, results.settings(setup, inputs), kept, ends=ends)


def right(
    setup: Setup, value: Given | EllipsisType | None, sigma: Given | None, inputs: Mapping[str, Any] | None
) -> transitions.Correction:
    """What is right about a trial; ``...`` where its values stay, ``None`` where it has none."""
    if value is ... and sigma is None and not inputs:
        raise CampaignError("there is nothing to correct: give the right value, sigma or inputs")
    if value is None and sigma is not None:
        raise CampaignError(f"sigma is for a trial with a value, got {sigma!r} for one that is discarded")
    outputs, values = setup.outputs, None
    if value is not None:
        given = {} if value is ... else outputs.named(value, "value")
        values = {n: one if one is None else results.finite(one, outputs.word(n)) for n, one in given.items()}
    sigmas = {} if sigma is None else outputs.named(sigma, "sigma")
    known = {name: transitions.sigma(one) for name, one in sigmas.items()}
    return transitions.Correction(values, known, results.settings(setup, inputs))


def targets(outputs: OutputList, target: Given | None, output: str | None = None) -> dict[str, float]:
    """The errors of predictions that are small enough, by output; ``output`` is that of a single number."""
    if target is None:
        return {}
    named = target if output is None or isinstance(target, Mapping) else {output: target}
    found = {name: results.finite(one, "target_error") for name, one in outputs.named(named, "target_error").items()}
    for name, one in found.items():
        if one <= 0.0:
            raise CampaignError(f"target_error must be above 0, got {one:g}")
        goal = outputs.one(name).goal
        if goal != "learn":
            raise CampaignError(f"target_error is for a campaign that learns, and the goal of this one is to {goal}")
    return found
