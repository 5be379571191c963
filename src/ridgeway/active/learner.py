"""``ActiveLearner``: asks for the experiment that teaches most, takes its outcome, and learns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, overload

import numpy as np

from ridgeway import checks
from ridgeway import progress as progresses
from ridgeway.active import acquisition as acquisitions
from ridgeway.active import alternatives, display, feasibility, goals, learner_storage, maximize
from ridgeway.active.acquisition import Acquisition, AnyAcquisition, Optimising, PointAcquisition
from ridgeway.active.alternatives import Averaged, Searched
from ridgeway.active.best import Best, best_of
from ridgeway.active.choosing import Chooser
from ridgeway.active.design import Design, default_size
from ridgeway.active.feasibility import Feasible
from ridgeway.active.goals import Goal
from ridgeway.active.history import Record
from ridgeway.active.outlook import Outlook
from ridgeway.active.pending import PendingBelief
from ridgeway.active.point_outlook import PointOutlook
from ridgeway.active.refit import Refit, settings_of
from ridgeway.belief.belief import Belief
from ridgeway.belief.fit_options import check_model
from ridgeway.belief.suspects import Surprise, surprises
from ridgeway.gp import kernels
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.linear import Linear
from ridgeway.gp.moments import Marginal
from ridgeway.gp.priors import Priors
from ridgeway.spaces.pool import Pool
from ridgeway.spaces.space import Space
from ridgeway.text.notebook import Live
from ridgeway.types import Array, GivenProgress, Progress

#: Points that one ask may give, and numbers that they may have: each is compared with all before it.
MOST_POINTS, MOST_NUMBERS = 10_000, 2**27

Method = TypeVar("Method", bound=Callable[..., Any])


def _alone(method: Method) -> Method:
    """A method that waits until other threads are done with the learner: what it reads belongs to what it writes."""

    @wraps(method)
    def waiting(self: ActiveLearner, *args: Any, **options: Any) -> Any:
        with self._lock:
            return method(self, *args, **options)

    return cast(Method, waiting)


class ActiveLearner:
    """Learns where a function varies, by experiments that it chooses (the paper's Algorithm 1).

    Several threads may use one learner: each call waits for the one before.

    Parameters
    ----------
    space
        ``Box(lower, upper)`` or ``Pool(points)``: where experiments can be made.
    embedding, kernel, inference, marginal, priors
        As for :func:`ridgeway.fit`, with the same defaults. With ``Linear("auto")`` the dimension is chosen anew at
        each full search for modes and kept in between.
    acquisition
        To learn, ``"information"`` (the default: the information of a noisy observation about the hyperparameters),
        ``"bald"`` (the paper's: the information of the function's value without noise) or ``"uncertainty"``.
        To optimise, ``"improvement"`` (the default: the logarithm of the noisy expected improvement) or
        ``"thompson"`` (the best point of a function drawn with its embedding). For either, ``"random"``,
        ``"latin-hypercube"``, an object as in :mod:`ridgeway.acquisition`, or a function that makes a BoTorch
        acquisition for a model: ``lambda model: UpperConfidenceBound(model, 2.0)``. It is called with an
        :class:`ridgeway.botorch.EmbeddingGP` at each choice.
    n_initial
        Points that fill the space before the model chooses; observations that were not asked for count as
        such. By default ``2 d + 4``, at least 6. A Latin hypercube is drawn for this many at a time.
    fill_every
        One point in this many fills the space, whatever the model says: a belief that is certain and wrong
        asks for nothing that would show its error. By default every other one when learning, which costs little
        where the belief is right (docs/selection.md), and none when optimising, where models without directions
        are at hand. ``None`` leaves every choice to the model.
    effort
        How hard to search for modes: ``"quick"``, ``"normal"``, ``"thorough"``, or seconds for each fit. Each
        search goes on with the modes that the one before kept. With seconds, the choices depend on the machine.
        By default ``"normal"`` when learning and ``"quick"`` when optimising.
    goal
        ``"learn"`` where the function varies, or ``"minimize"`` or ``"maximize"`` it; :meth:`best` has the best
        point. An optimiser weighs the embedding against models without one by evidence (docs/howto/optimise.md),
        and takes every outcome at its word: none is suspected to be an outlier.
    random_state
        A whole number. The same one gives the same sequence, also after :meth:`to_dict` and
        :meth:`from_dict` in between.
    progress
        Called with a sentence before each longer piece of work; ``True`` shows it as a line of the terminal.

    Examples
    --------
    >>> import numpy as np, ridgeway as rw
    >>> learner = rw.ActiveLearner(rw.Box([0, 0, 0], [1, 1, 1]), rw.Linear(1))
    >>> for _ in range(8):
    ...     x = learner.ask()
    ...     learner.tell(x, np.sin(x @ [1.0, 2.0, 0.0]))
    >>> learner.belief.embedding.shape
    (1, 3)
    """

    def __init__(
        self,
        space: Space,
        embedding: Embedding | None = None,
        acquisition: str | AnyAcquisition | Callable[[Any], Any] | None = None,
        kernel: str | Kernel = "se",
        inference: str = "nested",
        marginal: Marginal = "mgp",
        priors: Priors | None = None,
        n_initial: int | None = None,
        fill_every: int | Literal["auto"] | None = "auto",
        random_state: int = 0,
        progress: GivenProgress = None,
        effort: str | float | None = None,
        goal: Goal = "learn",
    ) -> None:
        self._lock = threading.RLock()
        self.space = checks.instance(space, Space, "space", "a Box or a Pool")
        embedding = Linear.usual(space.D) if embedding is None else embedding
        check_model(embedding, inference, marginal, priors, space.D)  # now, before an experiment costs anything
        self.embedding = embedding
        self.goal: Goal = goals.checked(goal)
        self.acquisition = goals.acquisition(goal, acquisition)
        self.kernel = kernels.resolve(kernel)
        self.inference = inference
        self.marginal: Marginal = marginal
        self.priors = priors
        self.n_initial = default_size(embedding) if n_initial is None else self.number_of_points(n_initial, "n_initial")
        self.fill_every = goals.fill_every(goal, fill_every)
        self.random_state = checks.count(random_state, "random_state")
        self.progress: Progress | None = progresses.given(progress)
        self.record = Record.empty(space)
        self.n_asked = 0
        self.expected: Array = np.zeros(0)  # scores of the points of the last ask, nats for information
        self.ended = ""  # why the last loop over it ended
        design = Design.named(self.acquisition, space)
        self._score = None if design.forever else acquisitions.resolve(self.acquisition)
        if goal == "learn" and isinstance(self._score, Optimising):
            raise ValueError(f'goal must be "minimize" or "maximize" for acquisition {self._score.name!r}, got "learn"')
        self.chooser = Chooser(space, design, self._score, self.n_initial, self.fill_every, self.random_state)
        self.effort = goals.effort(goal, effort)
        self._refit = Refit(
            embedding,
            self.kernel,
            inference,
            marginal,
            priors,
            space.bounds,
            self.random_state,
            settings_of(self.effort),
            self.effort,
            # What is much better than expected is what an optimiser looks for, not an outlier.
            robust=goal == "learn",
        )
        self.limits: Array | None = None  # (n, m) of the observations; see limit()
        self._belief: Belief | None = None
        self._averaged: Averaged | None = None  # what an optimiser believes; it is made anew for each observation
        self._searched_before: Searched | None = None  # its last search for directions
        self._searched_at = 0  # observations at the last full search for modes

    # -- Algorithm 1 -------------------------------------------------------------------------

    @overload
    def ask(self, n: int | None = None, named: Literal[False] = False) -> Array: ...

    @overload
    def ask(self, n: int | None = None, *, named: Literal[True]) -> dict[str, Any]: ...

    @_alone
    def ask(self, n: int | None = None, named: bool = False) -> Array | dict[str, Any]:
        """The next experiment, ``(D,)``, or the next ``n``, ``(n, D)``.

        They are pending until :meth:`tell`, :meth:`fail` or :meth:`withdraw` names them, and later
        asks take them into account. ``named`` gives them by the names of the inputs: a dictionary of numbers, or
        of columns for ``n`` points, which pandas makes a data frame of.
        """
        if named and self.space.names is None:
            raise ValueError(
                "named must be False where the space has no names: give it some, as in Box(..., names=...)"
            )
        many = 1 if n is None else self.number_of_points(n)
        self.record.check_left(many)
        chosen = self._choose(many)
        self.record = self.record.with_pending(chosen.X)
        self.n_asked += many
        self.expected = chosen.scores
        X = chosen.X.copy()  # the caller may change it
        if named:
            values = X[0].tolist() if n is None else list(X.T)
            return dict(zip(self.space.names, values, strict=True))
        return X[0] if n is None else X

    @_alone
    def tell(self, x: Any, y: Any, noise_variance: Any = None, outside: bool = False) -> None:
        """The outcome of experiments ``x``, ``(D,)`` or ``(n, D)``: a number or ``(n,)``.

        ``x`` is an array, or a table or dictionary with the names of the space's inputs in any order.
        They need not have been asked for, and may repeat. NaN is recorded as a failure.
        ``noise_variance`` is what is known about the outcome's noise, in the squared units of ``y`` (the next
        experiment is taken to be as noisy as the median of those so far);
        ``outside`` accepts points that are not in the space.
        """
        self.record = self.record.with_outcomes(x, y, noise_variance, outside)

    @_alone
    def fail(self, x: Any, reason: str = "failed") -> None:
        """An experiment that gave no outcome: it is not modelled, nor asked for again."""
        self.record = self.record.with_failures(x, reason)

    @_alone
    def limit(self, values: Any) -> None:
        """Quantities of all observations so far that must be at most 0, ``(n, m)``; NaN where one is not known.

        An optimiser looks for the best point that keeps all of them. They are learned from these values, so each
        observation that follows needs them as well: give all of them again before the next :meth:`ask`.
        """
        goals.sign(self.goal)  # raises where there is no best point
        self.limits = feasibility.limits_of(values, self.record.n)

    @_alone
    def reserve(self, x: Any) -> None:
        """Make points of your own pending, ``(D,)`` or ``(n, D)``, as if they had been asked for."""
        self.record = self.record.with_reserved(x)

    @_alone
    def withdraw(self, x: Any) -> None:
        """A pending point that will not be evaluated; it may be asked for again."""
        self.record = self.record.without_pending(x)

    @property
    @_alone
    def belief(self) -> Belief:
        """What is known now; fitted when it is first read after new observations."""
        n = self.record.n
        if n == 0:
            raise ValueError(self._no_observation())
        if self._belief is None or self._belief.n_rows != n:
            self._belief, self._searched_at = self._refit(self.record, self._belief, self._searched_at, self.progress)
            progresses.clear(self.progress)
        return self._belief

    def _no_observation(self) -> str:
        failed = self.record.reasons
        if failed:
            count = f"all {len(failed)} experiments" if len(failed) > 1 else "the one experiment"
            return f"there is no belief without an observation: {count} failed, the last reason: {failed[-1]}"
        return "there is no belief before the first observation: ask(), then tell()"

    @property
    @_alone
    def averaged(self) -> Averaged:
        """What an optimiser believes: the embedding and its alternatives, weighed by evidence, on warped outcomes."""
        sign, n = goals.sign(self.goal), self.record.n
        if n == 0:
            raise ValueError(self._no_observation())
        if self._averaged is None or self._averaged.mixture.beliefs[0].n_rows != n:
            if self.progress is not None:
                self.progress("weighing the embedding against models without one")
            self._averaged = alternatives.averaged(self.record, self._refit, sign, last=self._searched_before)
            self._searched_before = self._averaged.searched
            progresses.clear(self.progress)
        return self._averaged

    @_alone
    def best(self) -> Best:
        """The best point so far: observed, with the best predicted value of all observations.

        Where outcomes are noisy it need not be the one with the best outcome, which was partly luck. Where there
        are limits it is the best of those that keep them, if any does.
        """
        return best_of(self.averaged, self.record, goals.sign(self.goal), self._eligible())

    @_alone
    def search_again(self) -> Belief:
        """The belief after a full search for modes that starts from nothing, as at the end of a campaign.

        Like every first fit it is tested on observations left out (docs/method.md). The belief so far stays
        if it has more evidence and that test found no misfit.
        """
        if self.record.n and self._searched_at != self.record.n:
            followed = self.belief
            fresh, self._searched_at = self._refit(self.record, None, self._searched_at, self.progress)
            misled = fresh.diagnostics.misfit > 0.0
            self._belief = fresh if misled or fresh.log_evidence >= followed.log_evidence else followed
        return self.belief

    # -- how it chooses ------------------------------------------------------------------------

    def _choose(self, n: int) -> maximize.Choice:
        return self.chooser.choose(n, self.record, self.n_asked, self.own_outlook)

    @_alone
    def consults(self, n: int = 1) -> bool:
        """Whether the next ``n`` choices will need the belief; a design needs none."""
        return self.chooser.needs_belief(n, self.record, self.n_asked) and self.is_ready

    @property
    @_alone
    def is_ready(self) -> bool:
        """Whether a belief may choose: there are enough observations, and the last one is not known to be lost."""
        refit, seen, last = self._refit, self.record.n, self._belief
        if seen < refit.settings.least_observations:
            return False
        # A belief that is lost is not fitted again before the next full search.
        return (
            self.goal != "learn" or last is None or not refit.is_lost(last) or refit.has_grown(seen, self._searched_at)
        )

    @_alone
    def own_outlook(self) -> Outlook | None:
        """What the learner's own acquisition scores points by; ``None`` where its belief may not choose."""
        if not self.is_ready or (self.goal == "learn" and self._refit.is_lost(self.belief)):
            return None
        return self._score_outlook()

    def _score_outlook(self) -> Outlook:
        """What the learner's own acquisition scores points by."""
        if isinstance(self._score, Acquisition):
            return self.outlook()
        seed = int(np.random.default_rng([self.random_state, 5, self.n_asked]).integers(2**31))
        if isinstance(self._score, PointAcquisition):
            return Feasible.of(PointOutlook(self._score, self.outlook()), self.record, seed)
        assert self._score is not None
        # One model at a time: improvements that an unlikely model promises are so large that they would decide
        # everything, however little weight it has. So it decides as often as it is likely.
        mixture = self.averaged.mixture.drawn(np.random.default_rng([self.random_state, 6, self.n_asked]))
        found = self._score.outlook(mixture, goals.sign(self.goal), seed, self._eligible())
        found = found.given(self.record.pending) if len(self.record.pending) else found
        return Feasible.of(found, self.record, seed, self.limits)

    def _eligible(self) -> Any:
        """Which observations may be the best, ``(n,)``: those that keep all limits, or all if none does."""
        if self.limits is None:
            return None
        feasibility.limits_of(self.limits, self.record.n)
        keeps = feasibility.kept(self.limits)
        return keeps if keeps.any() else None

    @_alone
    def outlook(self) -> PendingBelief:
        """The belief with pending points taken into account: what acquisitions score points by."""
        # A failed point counts as pending: its outcome will not come, but asking there again is no use.
        without_outcome = np.vstack([self.record.pending, self.record.failed])
        return acquisitions.outlook_of(self.belief, self.record.noise_to_come).given(without_outcome)

    # -- what it knows -------------------------------------------------------------------------

    @property
    def last_belief(self) -> Belief | None:
        """The belief fitted last, which may lack the latest observations; ``None`` before the first."""
        return self._belief

    @property
    def surprises(self) -> tuple[Surprise, ...]:
        """Outcomes told since the last fit that are far from what it predicted; counted from the first of them.

        They are recorded like all others; the next belief says whether they are suspects.
        """
        last, record = self._belief, self.record
        if last is None:
            return ()
        known = last.n_rows
        return surprises(last, record.X[known:], record.y[known:], record.noise[known:])

    @property
    def X(self) -> Array:
        """Inputs of the observations, ``(n, D)``."""
        return self.record.X

    @property
    def y(self) -> Array:
        """Their outcomes, ``(n,)``."""
        return self.record.y

    @property
    def pending(self) -> Array:
        """Points that were asked for and have no outcome yet, ``(n, D)``."""
        return self.record.pending

    @property
    def failed(self) -> tuple[tuple[Array, str], ...]:
        """Points that failed, each with the reason."""
        return tuple(zip(self.record.failed, self.record.reasons, strict=True))

    @property
    def n_done(self) -> int:
        """Experiments with an outcome, failures included."""
        return self.record.n + len(self.record.failed)

    @property
    def has_score(self) -> bool:
        """Whether points have scores: designs such as ``"random"`` have none."""
        return self._score is not None

    @property
    def counts_nats(self) -> bool:
        """Whether scores are of Ridgeway's acquisitions, in nats; those of BoTorch have units of their own."""
        return isinstance(self._score, Acquisition)

    @property
    def scores_have_units_of_their_own(self) -> bool:
        """Whether scores are of an acquisition of BoTorch, and may be negative."""
        return isinstance(self._score, PointAcquisition)

    def promise(self, score: float) -> tuple[float, str]:
        """What a score of the learner's acquisition promises: a number, and what it counts."""
        if self.scores_have_units_of_their_own:
            return score, "by its acquisition"
        return (float(np.exp(score)), "of improvement") if isinstance(self._score, Optimising) else (score, "nats")

    @property
    def searched_at(self) -> int:
        """Observations at the last full search for modes."""
        return self._searched_at

    @_alone
    def score(self, X: Any) -> Array:
        """What each of ``X (n, D)`` would teach now, given the pending points."""
        if self._score is None:
            raise ValueError(f"acquisition {self.acquisition!r} has no score")
        X = checks.inputs(X, self.space.D, names=self.space.names)
        return acquisitions.score(self._score, self._score_outlook(), X)

    @_alone
    def preview(self, n: int = 1) -> maximize.Choice:
        """The points ``X (n, D)`` that :meth:`ask` would give now and their ``scores``; nothing becomes pending.

        A score is NaN where a point fills the space. A pool with fewer than ``n`` points left gives those.
        """
        n = checks.count(n, "n", 1)
        if isinstance(self.space, Pool):
            n = int(min(n, self.record.n_left))
        n = self.number_of_points(n) if n else 0
        return self._choose(n) if n else maximize.Choice(np.zeros((0, self.space.D)), np.zeros(0), None, True)

    def number_of_points(self, n: Any, name: str = "n") -> int:
        """``n`` if so many points can be chosen at once."""
        n = checks.count(n, name, 1)
        most = min(MOST_POINTS, max(1, MOST_NUMBERS // self.space.D))
        if n > most:
            raise ValueError(f"{name} must be at most {most:,} points of {self.space.D:,} inputs at a time, got {n:,}")
        return n

    # -- how it shows itself -------------------------------------------------------------------

    @_alone
    def report(self, path: str | Path, **options: Any) -> Path:
        """Write one self-contained HTML file: what was learned and what to run next; see
        :func:`ridgeway.report.write`.
        """
        from ridgeway import report

        return report.write(self, path, **options)

    def _repr_html_(self) -> str:
        return display.learner_html(self)

    def live(self, seconds: float = 0.5) -> Live:
        """In a notebook: show the learner, and again as experiments are asked for and told, looking so often."""
        return Live(self, self._course, seconds)

    def _course(self) -> tuple[Any, ...]:
        """Changes whenever there is something new to show."""
        belief = self.last_belief
        return display.counts(self), self.n_asked, None if belief is None else belief.n_rows

    def __rich__(self) -> Any:
        return display.learner_rich(self)

    def __repr__(self) -> str:
        return f"ActiveLearner({self.space!r}, {self.embedding}: {display.counts(self)})"

    # -- how it is stored ----------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {key: value for key, value in vars(self).items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()  # a copy has its own

    @_alone
    def resume(self, record: Record, n_asked: int, belief: Belief | None, searched_at: int) -> None:
        """Continue where another learner was: with its observations, its count of asks and its last belief.

        ``belief`` is of the first observations of ``record``, or of all of them.
        """
        if belief is not None and belief.n_rows > record.n:
            raise ValueError(f"belief must be of observations of the record, got {belief.n_rows} of {record.n}")
        known = (self.space.names, self.space.units)
        if belief is not None and (belief.names, belief.units) != known:  # stored without names, or with others
            belief = replace(belief, names=self.space.names, units=self.space.units)
        self.record, self.n_asked = record, n_asked
        self._belief, self._searched_at = belief, searched_at

    def reuse(self, other: ActiveLearner) -> None:
        """Save a search for directions that ``other`` has made, if it is one that this learner would make."""
        same = (self._refit.embedding, self.random_state, self.effort, self.goal)
        if same == (other._refit.embedding, other.random_state, other.effort, other.goal):
            self._searched_before = other._searched_before

    @_alone
    def to_dict(self) -> dict[str, Any]:
        """Everything that the next ask depends on; JSON can hold it."""
        return learner_storage.to_dict(self)

    @classmethod
    def from_dict(
        cls,
        state: dict[str, Any],
        points: Any = None,
        kernel: Kernel | None = None,
        progress: GivenProgress = None,
        acquisition: Any = None,
    ) -> ActiveLearner:
        """The learner that :meth:`to_dict` described, exactly where it was.

        A pool that was made from an array needs its ``points`` again; a kernel that is not built in has to be
        passed as ``kernel``, and the function that makes a BoTorch acquisition as ``acquisition``.
        """
        return learner_storage.from_dict(cls, state, points, kernel, progress, acquisition)
