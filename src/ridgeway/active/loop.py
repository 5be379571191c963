"""``learn``: the paper's Algorithm 1 as a loop, with experiments in parallel if there is an executor."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from numbers import Real
from typing import Any

import numpy as np

from ridgeway import checks
from ridgeway import progress as progresses
from ridgeway.active.evaluation import Evaluations
from ridgeway.active.goals import Goal
from ridgeway.active.learner import ActiveLearner
from ridgeway.active.outcome import Outcome
from ridgeway.spaces.space import Space
from ridgeway.text.counts import counted
from ridgeway.types import Array, Progress

#: Options of :func:`learn` itself; all others are a learner's.
_OF_THE_LOOP = (
    "callback", "executor", "workers", "timeout", "stop_below", "patience", "most_failures", "progress",
)  # fmt: skip
Callback = Callable[[ActiveLearner], Any]


def learn(
    f: Callable[..., Any],
    space: Space | ActiveLearner,
    budget: int = 100,
    *,
    callback: Callback | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    stop_below: float | None = None,
    patience: int = 5,
    most_failures: int = 5,
    progress: Any = None,
    **options: Any,
) -> ActiveLearner:
    """Learn about ``f`` with ``budget`` experiments, each chosen to teach most; returns the learner.

    Parameters
    ----------
    f
        The experiment: a function of one point ``(D,)`` that returns a number. NaN, infinity or an
        exception is a failed experiment, which counts towards the budget.
    space
        ``Box``, ``Pool``, or an :class:`ActiveLearner` to continue with. If the loop is interrupted, by Ctrl-C too, the
        exception has the learner with everything that was learned as its attribute ``learner``.
    budget
        Experiments in all, failures and those of earlier loops included.
    callback
        Called with the learner after each outcome; return ``True`` to stop.
    executor, workers, timeout
        Any :class:`concurrent.futures.Executor`, how many experiments run at a time (as many as the executor
        has workers, or 1), and the seconds that one may take.
    stop_below, patience
        Stop early once ``patience`` choices in a row were expected to give less than ``stop_below`` nats; where the
        goal is to optimise, less than this expected improvement, in the units of ``f``; with an acquisition of
        BoTorch, where its value is less than this.
    most_failures
        After this many failures in a row the last one is raised: something else must be wrong.
    progress
        A function that is called with a sentence. ``None`` uses the learner's own, or a line in a terminal;
        ``False`` shows nothing.
    options
        Of :class:`ActiveLearner`: ``embedding``, ``acquisition``, ``random_state`` and others.

    Examples
    --------
    >>> import numpy as np, ridgeway as rw
    >>> learner = rw.learn(lambda x: np.sin(x.sum()), rw.Box([0, 0], [3, 3]), budget=8, embedding=rw.Linear(1))
    >>> learner.y.shape
    (8,)
    """
    learner = given_learner(space, options)
    say = progresses.resolve(learner.progress if progress is None else progress)
    budget = checks.count(budget, "budget", 1)
    rule = _Patience(stop_below, patience, most_failures)
    if stop_below is not None and learner.acquisition == "thompson":
        raise ValueError('stop_below must be None with acquisition "thompson": it expects no improvement in particular')
    if stop_below is not None and stop_below <= 0.0 and not learner.scores_have_units_of_their_own:
        raise ValueError(f"stop_below must be above 0 or None, got {stop_below!r}: less is never expected")
    learner.ended = ""
    run(f, learner, budget, learner.ask, rule, say, callback, executor, workers, timeout)
    if learner.record.n and learner.goal == "learn":
        say(f"{_so_far(learner, budget)} · a last search for other modes")
        learner.search_again()
        progresses.clear(say)
    learner.ended = learner.ended or spent(budget)
    return learner


def run(
    f: Callable[..., Any],
    learner: ActiveLearner,
    budget: int,
    choose: Callable[[], Array],
    rule: Rule,
    say: Progress,
    callback: Callback | None,
    executor: Executor | None,
    workers: int | None,
    timeout: float | None,
) -> None:
    """Experiments at the points that ``choose`` makes pending, until the budget is spent or ``learner.ended`` says why.

    However it ends, by an exception or Ctrl-C too, the learner has all outcomes that arrived and nothing pending. The
    exception carries it as its attribute ``learner``.
    """
    workers = 1 if workers is None and executor is None else workers
    running: list[Array] = []
    fitting, learner.progress = learner.progress, lambda message: say(f"{_so_far(learner, budget)} · {message}")
    try:
        with Evaluations(f, executor, workers, timeout) as experiments:
            while experiments.in_flight or (learner.n_done < budget and not learner.ended):
                while experiments.room and learner.n_done + experiments.in_flight < budget and not learner.ended:
                    if not learner.record.n_left:
                        learner.ended = "the pool is exhausted"
                        break
                    running.append(choose())
                    experiments.submit(running[-1])
                    learner.ended = rule.after_ask(learner)
                if not experiments.in_flight and learner.ended:
                    break
                say(_so_far(learner, budget))
                outcome = experiments.next()
                _take(learner, outcome)
                running = [x for x in running if not np.array_equal(x, outcome.x)]
                learner.ended = rule.after_outcome(learner, outcome) or learner.ended
                if callback is not None and callback(learner):
                    learner.ended = "stopped by the callback"
    except BaseException as error:
        _keep(error, learner)
        raise
    finally:
        learner.progress = fitting
        progresses.clear(say)
        for x in running:  # interrupted: their outcomes will not arrive
            if (learner.pending == x).all(axis=1).any():
                learner.withdraw(x)


def minimize(f: Callable[..., Any], space: Space | ActiveLearner, budget: int = 100, **options: Any) -> ActiveLearner:
    """Look for the least value of ``f`` with ``budget`` experiments; the answer is ``best()`` of the learner.

    ``options`` are those of :func:`learn` and of :class:`ActiveLearner`. An embedding that the data do not support is
    outweighed by models without one.

    Examples
    --------
    >>> import numpy as np, ridgeway as rw
    >>> space = rw.Box([0, 0], [3, 3])
    >>> learner = rw.minimize(lambda x: (x.sum() - 2.0) ** 2, space, budget=12, embedding=rw.Linear(1))
    >>> bool(learner.best().value < 0.1)
    True
    """
    return _optimise("minimize", f, space, budget, options)


def maximize(f: Callable[..., Any], space: Space | ActiveLearner, budget: int = 100, **options: Any) -> ActiveLearner:
    """Look for the largest value of ``f``; otherwise as :func:`minimize`.

    Examples
    --------
    >>> import numpy as np, ridgeway as rw
    >>> learner = rw.maximize(lambda x: -x @ x, rw.Box([-1, -2], [2, 1]), budget=8, n_initial=4)
    >>> learner.best().x.shape
    (2,)
    """
    return _optimise("maximize", f, space, budget, options)


def _optimise(goal: Goal, f: Callable[..., Any], space: Any, budget: int, options: dict[str, Any]) -> ActiveLearner:
    budget = checks.count(budget, "budget", 1)
    if isinstance(space, ActiveLearner):
        if space.goal != goal:
            raise ValueError(f"space must be a learner whose goal is {goal!r}, got one whose goal is {space.goal!r}")
        return learn(f, space, budget, **options)
    if options.get("goal", goal) != goal:
        raise ValueError(f"goal must be left out: {goal}() has its own, got {options['goal']!r}")
    learning = {key: value for key, value in options.items() if key not in _OF_THE_LOOP}
    looping = {key: value for key, value in options.items() if key in _OF_THE_LOOP}
    learner = ActiveLearner(space, **{**learning, "goal": goal})
    if learner.n_initial >= budget > 1:
        if "n_initial" in options:
            raise ValueError(
                f"n_initial must be below the budget of {budget}, got {learner.n_initial}: no experiment would be left "
                "to look for the best point"
            )
        learner.n_initial = max(1, budget // 2)
    return learn(f, learner, budget, **looping)


def given_learner(space: Any, options: dict[str, Any]) -> ActiveLearner:
    """The learner that a loop was given, or a new one of a space."""
    if not isinstance(space, ActiveLearner):
        return ActiveLearner(space, **options)
    if options:
        raise TypeError(f"options must be left out where a learner is given: {', '.join(options)}")
    return space


def _keep(error: BaseException, learner: ActiveLearner) -> None:
    """Hand over what was learned with the exception that ends a loop: nobody else may have the learner."""
    error.learner = learner  # type: ignore[attr-defined]  # exceptions take any attribute
    n = learner.record.n
    if n:
        outcomes = counted(n, "outcome")
        error.add_note(
            f"ridgeway: {outcomes} {'is' if n == 1 else 'are'} kept in the attribute `learner` of this exception"
        )


def _take(learner: ActiveLearner, outcome: Outcome) -> None:
    if outcome.value is None:
        learner.fail(outcome.x, outcome.reason or "failed")
    else:
        learner.tell(outcome.x, outcome.value)


def _so_far(learner: ActiveLearner, budget: int) -> str:
    parts = [f"{learner.n_done} of {budget}"]
    if len(learner.failed):
        parts.append(f"{len(learner.failed)} failed")
    if learner.counts_nats and learner.expected.size and np.isfinite(learner.expected[-1]):
        parts.append(f"{learner.expected[-1]:.2f} nats expected")
    if learner.goal != "learn" and learner.record.n:
        best = learner.y.min() if learner.goal == "minimize" else learner.y.max()
        parts.append(f"best {best:.4g}")
    return ", ".join(parts)


class Rule:
    """When to stop before the budget is spent: after too many failures in a row, with an error."""

    def __init__(self, most_failures: int) -> None:
        self.most_failures = checks.count(most_failures, "most_failures", 1)
        self.failures = 0

    def after_ask(self, learner: ActiveLearner) -> str:
        """Why to stop, if too little was expected of the last choices."""
        return ""

    def after_outcome(self, learner: ActiveLearner, outcome: Outcome) -> str:
        """Why to stop, now that the learner has the outcome."""
        self.failures = self.failures + 1 if outcome.value is None else 0
        if self.failures >= self.most_failures:
            raise RuntimeError(
                f"the last {self.failures} experiments failed, the last one: {outcome.reason}"
            ) from outcome.error
        return ""


class _Patience(Rule):
    """Stop when too little was expected of several choices in a row."""

    def __init__(self, stop_below: Any, patience: int, most_failures: int) -> None:
        super().__init__(most_failures)
        if stop_below is not None and not (isinstance(stop_below, Real) and np.isfinite(float(stop_below))):
            raise ValueError(f"stop_below must be a finite number or None, got {stop_below!r}")
        self.stop_below = None if stop_below is None else float(stop_below)
        self.patience = checks.count(patience, "patience", 1)
        self.small = 0

    def after_ask(self, learner: ActiveLearner) -> str:
        expected = learner.expected[-1]
        if self.stop_below is None or np.isnan(expected):  # a point that fills the space has no expected information
            return ""
        expected, unit = learner.promise(float(expected))
        self.small = self.small + 1 if expected < self.stop_below else 0
        if self.small < self.patience:
            return ""
        return f"the last {self.patience} choices each promised less than {self.stop_below:g} {unit}"


def spent(budget: int) -> str:
    """Why a loop ended that made all its experiments."""
    return f"the budget of {counted(budget, 'experiment')} is spent"
