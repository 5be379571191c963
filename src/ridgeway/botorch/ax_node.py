"""``RidgewayNode``: a learner as a generation node of Ax; it needs ``pip install 'ridgeway[ax]'``.

It rebuilds its learner from the experiment's trials whenever Ax asks, so an experiment that Ax has stored and loaded
goes on where it was.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.parameter import FixedParameter, Parameter, ParameterType, RangeParameter
from ax.core.types import TParameterization
from ax.generation_strategy.external_generation_node import ExternalGenerationNode

from ridgeway.active.learner import ActiveLearner
from ridgeway.campaign.inputs import Fixed, Input, InputList
from ridgeway.types import Array


class RidgewayNode(ExternalGenerationNode):
    """Asks an :class:`~ridgeway.ActiveLearner` for each candidate: by default what teaches most about the function.

    The search space may have range parameters, logarithmic and whole ones included, and fixed numbers. The outcome is
    the metric of the experiment's objective.

    Parameters
    ----------
    name
        Of the node.
    metric
        The name of the metric to learn; by default the objective's.
    transition_criteria
        As for any node of Ax.
    options
        Of :class:`~ridgeway.ActiveLearner`: ``embedding``, ``acquisition``, ``random_state`` and others. An acquisition
        may be a function that makes a BoTorch acquisition, to optimise.
    """

    def __init__(
        self, name: str = "Ridgeway", metric: str | None = None, transition_criteria: Any = None, **options: Any
    ) -> None:
        started = time.monotonic()
        super().__init__(name=name, transition_criteria=transition_criteria)
        self.metric = metric
        self.options = options
        self.learner: ActiveLearner | None = None
        self.fit_time_since_gen += time.monotonic() - started

    def update_generator_state(self, experiment: Experiment, data: Data) -> None:
        self._inputs = InputList(tuple(_input(p) for p in experiment.search_space.parameters.values()))
        known = self.learner
        self.learner = ActiveLearner(self._inputs.box, **self.options)
        X, y, noise = self._observations(experiment, data)
        if len(y):
            self.learner.tell(X, y, noise, outside=True)
        self.learner.n_asked = len(experiment.trials)
        if known is not None and known.record.n <= len(y) and np.array_equal(known.X, X[: known.record.n]):
            self.learner.resume(self.learner.record, self.learner.n_asked, known.last_belief, known.searched_at)

    def get_next_candidate(self, pending_parameters: list[TParameterization]) -> TParameterization:
        if self.learner is None:
            raise ValueError("update_generator_state must come before get_next_candidate, as Ax calls them")
        seen = self.learner.record
        waiting = self._points(pending_parameters)
        if len(waiting):
            self.learner.record = seen.with_pending(waiting[[not seen.has_seen(x) for x in waiting]])
        values = self._inputs.proposals(self.learner.ask()[None])[0]
        self.learner.record = seen  # Ax says what is pending at each call
        whole = [isinstance(item, Input) and item.integer for item in self._inputs.items]
        return {
            name: int(value) if integer else float(value)
            for name, value, integer in zip(self._inputs.names, values, whole, strict=True)
        }

    def _points(self, parameters: list[TParameterization]) -> Array:
        rows = [[float(row[name]) for name in self._inputs.names] for row in parameters]
        return self._inputs.coordinates(np.array(rows).reshape(len(rows), len(self._inputs.names)))

    def _observations(self, experiment: Experiment, data: Data) -> tuple[Array, Array, Array]:
        """Points, outcomes, and variances of their noise, 0 where they are not known."""
        frame = data.df[data.df["metric_name"] == self._metric(experiment)]
        arms = experiment.arms_by_name
        X = self._points([arms[name].parameters for name in frame["arm_name"]])
        y, sem = frame["mean"].to_numpy(dtype=float), frame["sem"].to_numpy(dtype=float)
        return X, y, np.where(np.isfinite(sem), sem, 0.0) ** 2

    def _metric(self, experiment: Experiment) -> str:
        if self.metric is not None:
            return self.metric
        config = experiment.optimization_config
        if config is None:
            raise ValueError("metric must be given where the experiment has no objective")
        return str(config.objective.metric_names[0])


def _input(parameter: Parameter) -> Input | Fixed:
    if isinstance(parameter, RangeParameter):
        integer = parameter.parameter_type == ParameterType.INT
        return Input(parameter.name, parameter.lower, parameter.upper, log=parameter.log_scale, integer=integer)
    if isinstance(parameter, FixedParameter) and isinstance(parameter.value, int | float):
        return Fixed(parameter.name, float(parameter.value))
    raise ValueError(f"parameter {parameter.name!r} must be a range or a fixed number, got {parameter}")
