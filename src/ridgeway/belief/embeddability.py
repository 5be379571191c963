"""Is the problem embeddable: do a few combinations of the inputs explain the function?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ridgeway.belief import rivals
from ridgeway.belief.calibration import calibration

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

Answer = Literal["yes", "no", "unclear"]
_CLEAR = 5.0  # nats between models, from which one is preferred
_EXPLAINED = 0.9  # share of the variation that an embedding must explain to be worth having


@dataclass(frozen=True)
class Model:
    """How one model explains the data."""

    name: str
    log_evidence: float
    weight: float  # among all, by evidence
    explained: float  # share of the variance of y that is predicted from the other observations
    noise: float  # standard deviation of what is left to noise


@dataclass(frozen=True)
class Embeddability:
    """The belief's embedding beside its rivals, the same data with other embeddings."""

    embedding: Model
    rivals: tuple[Model, ...]
    rank: int  # combinations of inputs that are used
    n_inputs: int

    @property
    def advantage(self) -> float:
        """Nats of evidence for the embedding against the best of its rivals; negative against it."""
        return self.embedding.log_evidence - max((m.log_evidence for m in self.rivals), default=float("-inf"))

    @property
    def answer(self) -> Answer:
        """Whether a few combinations of inputs explain the function better than the rivals do."""
        if self.advantage <= -_CLEAR:
            return "no"
        if self.advantage >= _CLEAR and self.embedding.explained >= _EXPLAINED and self.rank < self.n_inputs:
            return "yes"
        return "unclear"

    @property
    def sentence(self) -> str:
        """The answer, with the numbers behind it."""
        count = "1 combination" if self.rank == 1 else f"{self.rank} combinations"
        share = (
            f"{count} of the {self.n_inputs} inputs explain{'s' if self.rank == 1 else ''} {_percent(self.embedding)}"
        )
        best = max(self.rivals, key=lambda m: m.log_evidence, default=None)
        if best is None:
            return f"{share} of the variation; no other model was fitted beside it."
        beside = f"{_spoken(best.name)} explains {_percent(best)}"
        nats = f"{abs(self.advantage):.0f} nats"
        if self.answer == "yes":
            return f"Yes: {share} of the variation, and the evidence is for them by {nats}; {beside}."
        if self.answer == "no":
            return f"No: {share} of the variation, {beside}, and the evidence is for the latter by {nats}."
        if abs(self.advantage) < _CLEAR:
            return f"Not clear yet: {share} of the variation, {beside}, and the evidence does not tell them apart."
        return f"Not clear yet: {share} of the variation, the best of the models compared; {beside}."

    def __str__(self) -> str:
        return self.sentence


def embeddability(belief: Belief) -> Embeddability:
    """The embedding of a belief against a length scale for each input and one for all."""
    if not belief.model.has_directions:
        raise ValueError(
            f"whether a problem is embeddable is a question about Linear(d), got a belief of {belief.model}"
        )
    everyone = {id(one.belief): one.weight for one in rivals.weighed(belief, belief.rivals)}
    models = [_model(one, everyone.get(id(one), 0.0)) for one in (belief, *belief.rivals)]
    return Embeddability(models[0], tuple(models[1:]), belief.rank, belief.space.scaling.D)


def _model(belief: Belief, weight: float) -> Model:
    noise = float(belief.noise_variance) ** 0.5
    return Model(str(belief.model), belief.log_evidence, weight, calibration(belief).explained, noise)


def _percent(model: Model) -> str:
    return f"{100 * max(model.explained, 0.0):.1f} %"


def _spoken(name: str) -> str:
    return {"Diagonal()": "a length scale for each input", "Isotropic()": "one length scale for all inputs"}.get(
        name, name
    )
