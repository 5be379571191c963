"""Is the problem embeddable: do a few combinations of the inputs explain the function?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ridgeway import checks
from ridgeway.belief import rivals
from ridgeway.belief.averages import LEAST_OBSERVATIONS
from ridgeway.belief.calibration import calibration
from ridgeway.gp.scaling import is_constant

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
    n_inputs: int  # a category is one
    n_columns: int  # that combinations are made of: a category has one for each level
    unchecked: str = ""  # why nothing can be said yet

    @property
    def advantage(self) -> float:
        """Nats of evidence for the embedding against the best of its rivals; negative against it."""
        return self.embedding.log_evidence - max((m.log_evidence for m in self.rivals), default=float("-inf"))

    @property
    def answer(self) -> Answer:
        """Whether a few combinations of inputs explain the function better than the rivals do."""
        if self.unchecked or self.n_columns == 1:
            return "unclear"
        if self.advantage <= -_CLEAR:
            return "no"
        if self.advantage >= _CLEAR and self.embedding.explained >= _EXPLAINED and self.rank < self.n_columns:
            return "yes"
        return "unclear"

    @property
    def sentence(self) -> str:
        """The answer, with the numbers behind it."""
        if self.unchecked:
            return f"Not clear yet: {self.unchecked}."
        if self.n_columns == 1:
            return (
                f"There is only one input, so there is nothing to embed; it explains {_percent(self.embedding)} of "
                "the variation."
            )
        share = f"{self._combinations} {_percent(self.embedding)}"
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

    @property
    def _combinations(self) -> str:
        """How many combinations of how many inputs, with their verb."""
        count, explain = ("1 combination", "explains") if self.rank == 1 else (f"{self.rank} combinations", "explain")
        inputs = (
            f"the {self.n_inputs} inputs" if self.n_inputs > 1 else f"the {self.n_columns} columns of the only input"
        )
        return f"{count} of {inputs} {explain}"

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
    D = belief.space.scaling.D
    return Embeddability(models[0], tuple(models[1:]), belief.rank, _n_inputs(belief), D, _unchecked(belief))


def _unchecked(belief: Belief) -> str:
    """Why no model can be checked by observations left out; nothing where it can."""
    n = belief.y.shape[0]
    if n < LEAST_OBSERVATIONS:
        return f"{n} observation{' is' if n == 1 else 's are'} too few, it takes at least {LEAST_OBSERVATIONS}"
    return f"all {n} observations are equal" if is_constant(belief.y[belief.trusted]) else ""


def _n_inputs(belief: Belief) -> int:
    """How many inputs there are: columns ``solvent=water``, ``solvent=wax``, ... of which each row has one are one."""
    named: dict[str, list[int]] = {}
    for j, label in enumerate(belief.labels):
        name, sign, _ = label.partition("=")
        if sign:
            named.setdefault(name, []).append(j)
    return belief.space.scaling.D - sum(len(columns) - 1 for columns in named.values() if _is_one(belief, columns))


def _is_one(belief: Belief, columns: list[int]) -> bool:
    """Whether these columns hold one category: in every row a single 1, and 0 elsewhere."""
    cells = checks.dense(belief.X[:, columns])
    return bool(np.all((cells == 0.0) | (cells == 1.0)) and np.all(cells.sum(axis=1) == 1.0))


def _model(belief: Belief, weight: float) -> Model:
    noise = float(belief.noise_variance) ** 0.5
    return Model(str(belief.model), belief.log_evidence, weight, calibration(belief).explained, noise)


def _percent(model: Model) -> str:
    return f"{100 * max(model.explained, 0.0):.1f} %"


def _spoken(name: str) -> str:
    return {"Diagonal()": "a length scale for each input", "Isotropic()": "one length scale for all inputs"}.get(
        name, name
    )
