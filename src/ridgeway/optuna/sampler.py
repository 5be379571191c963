"""``RidgewaySampler``: a learner as a sampler of Optuna; it needs ``pip install 'ridgeway[optuna]'``.

Nothing is kept between trials. The learner is made anew from the trials of the study each time, and all random numbers
come from the seed and the trial's number. A study that is loaded from its storage goes on as if it had never stopped.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ridgeway import checks
from ridgeway.active.goals import Goal
from ridgeway.active.history import Record
from ridgeway.active.learner import ActiveLearner
from ridgeway.gp.length_scales import Isotropic
from ridgeway.gp.linear import Linear
from ridgeway.optuna.parameters import Parameters
from ridgeway.spaces.box import Box
from ridgeway.types import Array

_PROPOSED = "ridgeway:proposed"  # where a trial keeps what was proposed, until its parameters are stored one by one
_LONGEST = 2045  # characters of an attribute that every storage takes
_DIRECTIONS = 2  # that are looked for unless the user says otherwise
_MANY = 1000  # inputs for which options are checked before the parameters are known
_STATES = (TrialState.COMPLETE, TrialState.RUNNING, TrialState.FAIL)


class RidgewaySampler(BaseSampler):
    """Asks an :class:`~ridgeway.ActiveLearner` for the numbers of each trial.

    All parameters that every trial has are chosen together: floats and ints, with log scales and steps, and categories.
    Others are left to ``independent_sampler``, and so is the first trial, before the parameters are known. Running
    trials count as pending. Failed trials are avoided, pruned ones ignored. Constraints that trials report
    (``trial.set_constraint``) are learned, and the best trial that keeps them is looked for.

    Parameters
    ----------
    embedding
        How many directions to look for, as for :func:`ridgeway.fit`; by default ``Linear(2)`` where there are more
        than two numbers. To optimise, models without directions compete with it in any case.
    goal
        ``"optimize"`` in the direction of the study, or ``"learn"`` where the function varies.
    seed
        A whole number; the same one gives the same trials. By default another one each time.
    n_startup_trials
        Trials that fill the space before the model chooses; by default as many as a learner's.
    independent_sampler
        For everything that is not chosen by the model; by default ``TPESampler``.
    options
        More options of :class:`~ridgeway.ActiveLearner`: ``acquisition``, ``effort``, ``kernel``, ``priors``, ...

    Examples
    --------
    >>> import optuna
    >>> from ridgeway.optuna import RidgewaySampler
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=RidgewaySampler(seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) + trial.suggest_float("y", -1, 1) - 1) ** 2, 12)
    >>> study.best_value < 0.05
    True
    """

    def __init__(
        self,
        embedding: Any = None,
        goal: Literal["optimize", "learn"] = "optimize",
        seed: int | None = None,
        n_startup_trials: int | None = None,
        independent_sampler: BaseSampler | None = None,
        **options: Any,
    ) -> None:
        self.goal = checks.choice(goal, ("optimize", "learn"), "goal")
        self.seed = int(np.random.default_rng().integers(2**31)) if seed is None else checks.count(seed, "seed")
        self.embedding = embedding
        self.options = dict(options)
        if n_startup_trials is not None:
            self.options["n_initial"] = checks.count(n_startup_trials, "n_startup_trials", 1)
        self._independent = independent_sampler or optuna.samplers.TPESampler(seed=self.seed)
        self._spaces = IntersectionSearchSpace()
        self._lock = threading.Lock()  # threads of one study take turns: each must see what the others were given
        self._last: ActiveLearner | None = None
        # Options that cannot be are refused now, not in the middle of a study.
        self._learner(Box(np.zeros(_MANY), np.ones(_MANY)), "learn" if goal == "learn" else "minimize")

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that all trials so far have, and that can vary."""
        return {name: found for name, found in self._spaces.calculate(study).items() if not found.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Values of the parameters of ``search_space`` for a trial."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        with self._lock:
            parameters = Parameters.of(search_space)
            learner = self.learner_of(study, parameters, trial.number)
            if self._last is not None:  # what it found out follows from the study alone: it saves time, no more
                learner.reuse(self._last)
            proposed = parameters.values(learner.ask())
            self._last = learner
            self._announce(study, trial, proposed)
        return proposed

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A value of one parameter, from the independent sampler."""
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Passed on to the independent sampler."""
        self._independent.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Passed on to the independent sampler."""
        self._independent.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        """Only the independent sampler has random numbers of its own."""
        self._independent.reseed_rng()

    def learner_of(
        self, study: Study, parameters: Parameters | None = None, number: int | None = None
    ) -> ActiveLearner:
        """The learner that knows what ``study`` knows: its ``belief``, its ``best()``, its ``report(path)``.

        Inputs go from 0 for the least value of a parameter to 1 for the largest, along its scale; a category has an
        input for each of its choices.
        """
        parameters = parameters or Parameters.of(self._spaces.calculate(study))
        if not parameters.items:
            raise ValueError("study must have finished trials that share a parameter which can vary, got none")
        trials = [t for t in study.get_trials(deepcopy=False, states=_STATES) if t.number != number]
        learner = self._learner(parameters.box, _goal(self.goal, study))
        history = _History(trials, parameters)
        learner.record = history.record(learner.record)
        if history.limits is not None and learner.goal != "learn":
            learner.limit(history.limits)
        learner.n_asked = len(study.get_trials(deepcopy=False)) if number is None else number
        return learner

    def _learner(self, box: Box, goal: Goal) -> ActiveLearner:
        embedding = self.embedding or (Linear(_DIRECTIONS) if box.D > _DIRECTIONS else Isotropic())
        return ActiveLearner(box, embedding, goal=goal, random_state=self.seed, **self.options)

    def _announce(self, study: Study, trial: FrozenTrial, proposed: dict[str, Any]) -> None:
        """Share with other processes what the trial was given, before it has asked for each parameter."""
        text = json.dumps(proposed)
        for i in range(0, len(text), _LONGEST):
            part = text[i : i + _LONGEST]
            study._storage.set_trial_system_attr(trial._trial_id, f"{_PROPOSED}:{i // _LONGEST}", part)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_lock", "_last")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock, self._last = threading.Lock(), None


class _History:
    """What the trials of a study say about ``parameters``."""

    def __init__(self, trials: Sequence[FrozenTrial], parameters: Parameters) -> None:
        self.parameters = parameters
        done = sorted(self._with_all(trials, TrialState.COMPLETE), key=lambda t: (t.datetime_complete, t.number))
        finite = [bool(np.isfinite(trial.values[0])) for trial in done]
        self.observed = [trial for trial, is_finite in zip(done, finite, strict=True) if is_finite]
        self.running = self._with_all(trials, TrialState.RUNNING)
        self.failed = self._with_all(trials, TrialState.FAIL)
        self.failed += [trial for trial, is_finite in zip(done, finite, strict=True) if not is_finite]

    def record(self, empty: Record) -> Record:
        """Outcomes, failures and pending trials."""
        record = empty
        if self.observed:
            y = [trial.value for trial in self.observed]
            record = record.with_outcomes(self._points(self.observed), y, None, outside=True)
        for trial in self.failed:
            point = self._points([trial])
            record = record.with_failures(point, "failed")
        waiting = self._points(self.running)
        return record.with_pending(waiting) if len(waiting) else record

    @property
    def limits(self) -> Array | None:
        """Constraints of the observed trials, ``(n, m)``; ``None`` where there are none."""
        names = sorted({name for trial in self.observed for name in trial.constraints})
        rows = [[trial.constraints.get(name, np.nan) for name in names] for trial in self.observed]
        return np.array(rows, dtype=float) if names else None

    def _with_all(self, trials: Sequence[FrozenTrial], state: TrialState) -> list[FrozenTrial]:
        return [t for t in trials if t.state == state and self._values(t) is not None]

    def _points(self, trials: Sequence[FrozenTrial]) -> Array:
        return self.parameters.points([self._values(trial) or {} for trial in trials])

    def _values(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """The trial's values of all parameters, or those that it was given; ``None`` where it has not all of them."""
        attributes = trial.system_attrs
        parts = [attributes[key] for key in sorted((k for k in attributes if k.startswith(_PROPOSED)), key=_part)]
        values = (json.loads("".join(parts)) if parts else {}) | trial.params
        return values if all(item.name in values for item in self.parameters.items) else None


def _part(key: str) -> int:
    return int(key.rsplit(":", 1)[1])


def _goal(goal: str, study: Study) -> Goal:
    if goal == "learn":
        return "learn"
    return "maximize" if study.direction == StudyDirection.MAXIMIZE else "minimize"
