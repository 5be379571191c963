"""Actions: what a page may change, each with the words for its reader and the way to take it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.store import acting_for
from ridgeway.campaign.trial import Trial
from ridgeway.errors import CampaignError
from ridgeway.serve.said import Said

Answer = dict[str, Any]
_MISTAKE = "entered by mistake"


def act(campaign: Campaign, name: str, said: Said) -> Answer:
    """Do what a page asks for; the answer has a ``message``, and an ``undo`` where it can be taken back."""
    with acting_for(said.person):
        return ACTIONS[name](campaign, said)


def _tell(campaign: Campaign, said: Said) -> Answer:
    """The outcome of a trial; one that is far from its prediction comes back with a question first."""
    trial, value, sigma, inputs = said.trial, said.number("value"), said.number("sigma"), said.settings("inputs")
    if value is None:
        raise CampaignError(f"{campaign.setup.output_label} is empty: write what trial {trial} gave")
    if not said.sure:
        found = campaign.surprise(trial, value, sigma, inputs)
        if found is not None:
            return {"surprise": f"{found.sentence(f'Trial {trial}')}."}
    note = said.text("note")
    campaign.tell(trial, value, sigma, inputs, {"note": note} if note else None)
    return {"message": f"Trial {trial}: {value:.10g} is recorded.", "undo": _taken_back(trial)}


def _fail(campaign: Campaign, said: Said) -> Answer:
    campaign.fail(said.trial, said.text("reason") or "failed")
    return {"message": f"Trial {said.trial} is recorded as failed.", "undo": _taken_back(said.trial)}


def _abandon(campaign: Campaign, said: Said) -> Answer:
    campaign.abandon(said.trial, said.text("reason") or "abandoned")
    return {"message": f"Trial {said.trial} is given up.", "undo": _taken_back(said.trial)}


def _abandon_many(campaign: Campaign, said: Said) -> Answer:
    """What an ask is taken back with: trials that nobody has begun."""
    numbers = said.numbers("trials")
    for number in numbers:
        campaign.abandon(number, said.text("reason") or "abandoned")
    return {"message": f"{_trials(numbers)} given up."}


def _reopen(campaign: Campaign, said: Said) -> Answer:
    campaign.reopen(said.trial, said.text("reason") or _MISTAKE)
    return {"message": f"Trial {said.trial} is pending again."}


def _correct(campaign: Campaign, said: Said) -> Answer:
    """Another value, or none, for a trial that has an outcome; the old one stays in the history."""
    trial, before = said.trial, _trial(campaign, said.trial)
    discard = said.has("discard")
    value = None if discard else said.number("value")
    if value is None and not discard:
        raise CampaignError(f"{campaign.setup.output_label} is empty: write what is right about trial {trial}")
    campaign.correct(trial, value, said.text("reason"), None if discard else said.number("sigma"))
    undo: Answer = {"action": "correct", "trial": trial, "reason": "the correction was a mistake"}
    undo |= {"discard": True} if before.value is None else {"value": before.value, "sigma": before.sigma}
    words = "has no value" if discard else f"is {value:.10g}"
    return {"message": f"Trial {trial} {words} now; the old entry stays in the history.", "undo": undo}


ACTIONS: dict[str, Callable[[Campaign, Said], Answer]] = {
    "tell": _tell,
    "fail": _fail,
    "abandon": _abandon,
    "abandon_many": _abandon_many,
    "reopen": _reopen,
    "correct": _correct,
}


def asked(numbers: list[int]) -> Answer:
    """The answer to a page that asked for experiments, which have these numbers."""
    return {
        "message": f"{_trials(numbers)} pending now.",
        "undo": {"action": "abandon_many", "trials": numbers, "reason": "asked for by mistake"},
    }


def _taken_back(trial: int) -> Answer:
    return {"action": "reopen", "trial": trial, "reason": _MISTAKE}


def _trial(campaign: Campaign, number: int) -> Trial:
    for trial in campaign.all_trials():
        if trial.id == number:
            return trial
    raise CampaignError(f"there is no trial {number} in this campaign")


def _trials(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"Trial {numbers[0]} is"
    return f"Trials {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} are"
