"""Actions: what a page may change, each with the words for its reader and the way to take it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.logbook import listed
from ridgeway.campaign.outputs import OutputList
from ridgeway.campaign.store import acting_for
from ridgeway.campaign.trial import Trial
from ridgeway.errors import CampaignError
from ridgeway.serve.said import Said

Answer = dict[str, Any]
_FEW = 4  # trials that are named one by one
_MISTAKE = "entered by mistake"


def act(campaign: Campaign, name: str, said: Said) -> Answer:
    """Do what a page asks for; the answer has a ``message``, and an ``undo`` where it can be taken back."""
    with acting_for(said.person):
        return ACTIONS[name](campaign, said)


def _tell(campaign: Campaign, said: Said) -> Answer:
    """The outcome of a trial; one that is far from its prediction comes back with a question first."""
    trial, inputs, outputs = said.trial, said.settings("inputs"), campaign.setup.outputs
    values, sigmas = said.by_output("value", outputs), said.by_output("sigma", outputs)
    if not values:
        raise CampaignError(f"{' and '.join(outputs.labels)} {_are(outputs)} empty: write what trial {trial} gave")
    if not said.sure:
        found = campaign.surprises(trial, values, sigmas, inputs)
        if found:
            return {"surprise": " ".join(f"{s.sentence(_named(trial, n, outputs))}." for n, s in found.items())}
    before, note = _trial(campaign, trial), said.text("note")
    campaign.tell(trial, values, sigmas, inputs, {"note": note} if note else None)
    after = _trial(campaign, trial)
    rest = f" {', '.join(after.awaited)} can follow." if after.state == "asked" else ""
    new = [name for name in values if name not in before.results]
    message = f"Trial {trial}: {_shown(values, outputs)} is recorded.{rest}"
    return {"message": message, "undo": _taken_back(trial, new)}


def _fail(campaign: Campaign, said: Said) -> Answer:
    before = _trial(campaign, said.trial)
    campaign.fail(said.trial, said.text("reason") or "failed")
    if before.results:
        message = f"Trial {said.trial} is done: {', '.join(before.awaited)} will not come."
        return {"message": message, "undo": _taken_back(said.trial, list(before.awaited))}
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
    campaign.reopen(said.trial, said.text("reason") or _MISTAKE, said.words("outputs"))
    return {"message": f"Trial {said.trial} is pending again."}


def _correct(campaign: Campaign, said: Said) -> Answer:
    """Another value, or none, for a trial that has an outcome; the old one stays in the history."""
    trial, before, outputs = said.trial, _trial(campaign, said.trial), campaign.setup.outputs
    discard, given = said.has("discard"), said.by_output("value", outputs)
    if not given and not discard:
        labels = " and ".join(outputs.labels)
        raise CampaignError(f"{labels} {_are(outputs)} empty: write what is right about trial {trial}")
    sigmas = said.by_output("sigma", outputs)
    campaign.correct(trial, None if discard else given, said.text("reason"), None if discard else sigmas or None)
    undo: Answer = {"action": "correct", "trial": trial, "reason": "the correction was a mistake"}
    undo |= {"discard": True} if not before.values else _as_fields(before, outputs)
    words = "has no value" if discard else f"is {_shown(given, outputs)}"
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


def _taken_back(trial: int, outputs: Sequence[str] = ()) -> Answer:
    """The way back from results of some outputs, or from all that became of a trial."""
    return {"action": "reopen", "trial": trial, "reason": _MISTAKE, "outputs": list(outputs)}


def _as_fields(trial: Trial, outputs: OutputList) -> Answer:
    """What a page would say to record the results that a trial has."""
    if outputs.only is not None:
        return {"value": trial.value, "sigma": trial.sigma}
    sigmas = {name: found.sigma for name, found in trial.results.items() if found.sigma is not None}
    return {"value": trial.values, "sigma": sigmas}


def _shown(values: Mapping[str, float], outputs: OutputList) -> str:
    """Results in words: by name, where there are several outputs."""
    return ", ".join(f"{v:.10g}" if outputs.only else f"{name} {v:.10g}" for name, v in values.items())


def _named(trial: int, name: str, outputs: OutputList) -> str:
    return f"Trial {trial}" if outputs.only else f"Trial {trial}, {name}"


def _are(outputs: OutputList) -> str:
    return "is" if outputs.only else "are"


def _trial(campaign: Campaign, number: int) -> Trial:
    for trial in campaign.all_trials():
        if trial.id == number:
            return trial
    raise CampaignError(f"there is no trial {number} in this campaign")


def _trials(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"Trial {numbers[0]} is"
    if len(numbers) > _FEW:
        return f"Trials {listed(numbers)} are"
    return f"Trials {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} are"
