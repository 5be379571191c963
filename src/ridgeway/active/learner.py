"""``ActiveLearner``: asks for the experiment that teaches most, is told its outcome, and learns."""

from __future__ import annotations

import base64
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway import acquisition as acquisitions
from ridgeway import kernels, search, storage, validation
from ridgeway.acquisition import Acquisition
from ridgeway.belief import Belief
from ridgeway.design import Design
from ridgeway.embeddings import Embedding, Linear
from ridgeway.errors import RidgewayWarning
from ridgeway.fit import check_model, fit, full_search
from ridgeway.inference import Progress
from ridgeway.kernels import Kernel
from ridgeway.marginal import Marginal
from ridgeway.outlook import Outlook
from ridgeway.pool import Pool
from ridgeway.poolview import PoolView
from ridgeway.priors import Priors
from ridgeway.record import Record
from ridgeway.spaces import Space, space_from_dict
from ridgeway.types import Array

FORMAT = 1
_LEAST_TO_MODEL = 2  # observations before a model has anything to go by
_SEARCH_AGAIN = 1.12  # growth of the data since the last full search for modes that calls for another
_LEAST_STARTS = 10  # of a full search
_FRESH_STARTS = 2  # searches beside the known modes in every other fit
_LOST = 0.4  # share of the variation that passes for noise from which a belief has nothing to ask with
_SURPRISE = 4.0  # standard deviations by which a new observation may miss before modes are searched again


class ActiveLearner:
    """Learns where a function varies, by experiments that it chooses (the paper's Algorithm 1).

    Parameters
    ----------
    space
        ``Box(lower, upper)`` or ``Pool(points)``: where experiments can be made.
    embedding, kernel, inference, marginal, priors
        As for :func:`ridgeway.fit`. With ``Linear("auto")`` the dimension is chosen anew at each
        full search for modes and kept in between.
    acquisition
        ``"information"`` (the default: what a noisy observation would tell about the hyperparameters),
        ``"bald"`` (the paper's: what the function's value without noise would), ``"uncertainty"``,
        ``"random"``, ``"latin-hypercube"``, or an object as in :mod:`ridgeway.acquisition`.
    n_initial
        Points that fill the space before the model chooses; data told without being asked for count as
        such. By default ``2 d + 4``, at least 6. A Latin hypercube is drawn for this many at a time.
    fill_every
        One point in so many goes on filling the space, whatever the model says: a belief that is sure
        of the wrong thing asks for nothing that would show it. By default every other one, which costs
        little where the belief is right (docs/selection.md). ``None`` leaves every choice to the model.
    random_state
        A whole number. The same one gives the same sequence, also after :meth:`to_dict` and
        :meth:`from_dict` in between.
    progress
        Called with a sentence before each longer piece of work.

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
        embedding: Embedding = Linear(2),  # noqa: B008 - frozen
        acquisition: str | Acquisition = "information",
        kernel: str | Kernel = "se",
        inference: str = "nested",
        marginal: Marginal = "mgp",
        priors: Priors | None = None,
        n_initial: int | None = None,
        fill_every: int | None = 2,
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> None:
        self.space = validation.instance(space, Space, "space", "a Box or a Pool")
        check_model(embedding, inference, marginal, priors, space.D)  # not after experiments that cost something
        self.embedding = embedding
        self.acquisition = acquisition
        self.kernel = kernels.resolve(kernel)
        self.inference = inference
        self.marginal: Marginal = marginal
        self.priors = priors
        self.n_initial = (
            _default_initial(embedding) if n_initial is None else validation.count(n_initial, "n_initial", 1)
        )
        self.fill_every = None if fill_every is None else validation.count(fill_every, "fill_every", 2)
        self.random_state = validation.count(random_state, "random_state")
        self.progress = progress
        self.record = Record.empty(space)
        self.n_asked = 0
        self.expected: Array = np.zeros(0)  # scores of the points of the last ask, nats for information
        self.ended = ""  # why the last loop over it ended
        self._design = Design.named(acquisition, space)
        self._score = None if self._design.forever else acquisitions.resolve(acquisition)
        self._belief: Belief | None = None
        self._searched_at = 0
        self._view = PoolView(space) if isinstance(space, Pool) else None

    # -- Algorithm 1 -------------------------------------------------------------------------

    def ask(self, n: int | None = None) -> Array:
        """The next experiment, ``(D,)``, or the next ``n``, ``(n, D)``.

        They count as out until :meth:`tell`, :meth:`fail` or :meth:`withdraw` names them, and later
        asks take them into account.
        """
        many = 1 if n is None else validation.count(n, "n", 1)
        self.record.check_left(many)
        chosen = self._choose(many)
        self.record = self.record.with_out(chosen.X)
        self.n_asked += many
        self.expected = chosen.scores
        X = chosen.X.copy()  # the caller's to change
        return X[0] if n is None else X

    def tell(self, x: Any, y: Any, noise_variance: Any = None, outside: bool = False) -> None:
        """The outcome of experiments ``x``, ``(D,)`` or ``(n, D)``: a number or ``(n,)``.

        They need not have been asked for, and may repeat. NaN is recorded as a failure.
        ``noise_variance`` is what is known about the outcome's noise, in the squared units of ``y`` (the next
        experiment is taken to be as noisy as the median of those so far);
        ``outside`` accepts points that are not in the space.
        """
        self.record = self.record.told(x, y, noise_variance, outside)

    def fail(self, x: Any, reason: str = "failed") -> None:
        """An experiment that gave nothing: it is not modelled, nor asked for again."""
        self.record = self.record.failing(x, reason)

    def withdraw(self, x: Any) -> None:
        """A point that is out and will not be evaluated; it may be asked for again."""
        self.record = self.record.without_out(x)

    @property
    def belief(self) -> Belief:
        """What is known now; fitted when it is first looked at after new observations."""
        n = self.record.n
        if n == 0:
            raise ValueError("there is no belief before the first observation: ask(), then tell()")
        if self._belief is None or self._belief.y.shape[0] != n:
            self._belief = self._fit(self._belief)
        return self._belief

    @property
    def last_belief(self) -> Belief | None:
        """The belief fitted last, which may lack the latest observations; ``None`` before the first."""
        return self._belief

    # -- what it has seen ----------------------------------------------------------------------

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
        """Points that are out, ``(n, D)``."""
        return self.record.out

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

    def score(self, X: Any) -> Array:
        """What each of ``X (n, D)`` would teach now, given what is out."""
        if self._score is None:
            raise ValueError(f"acquisition {self.acquisition!r} has no score")
        X = validation.inputs(X, self.space.D)
        return acquisitions.score(self._score, self.outlook(), X)

    def preview(self, n: int = 1) -> search.Choice:
        """The points ``X (n, D)`` that :meth:`ask` would give now and their ``scores``, without taking them out.

        A score is NaN where a point fills the space. A pool with fewer than ``n`` points left gives those.
        """
        n = validation.count(n, "n", 1)
        if isinstance(self.space, Pool):
            n = min(n, int(self.record.free.sum()))
        return self._choose(n) if n else search.Choice(np.zeros((0, self.space.D)), np.zeros(0), None, True)

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write one self-contained HTML file: what was learned and what to run next; see
        :func:`ridgeway.report.write`.
        """
        from ridgeway import report

        return report.write(self, path, **options)

    def _repr_html_(self) -> str:
        from ridgeway.display import learner_html

        return learner_html(self)

    def __rich__(self) -> Any:
        from ridgeway.display import learner_rich

        return learner_rich(self)

    def __repr__(self) -> str:
        told, out, failed = self.record.n, len(self.record.out), len(self.record.failed)
        return f"ActiveLearner({self.space!r}, {self.embedding}: {told} told, {out} out, {failed} failed)"

    def consults(self, n: int = 1) -> bool:
        """Whether the next ``n`` choices will look at the belief; a design needs none."""
        if self.record.n < _LEAST_TO_MODEL or all(self._fills(i) for i in range(self.n_asked, self.n_asked + n)):
            return False
        last = self._belief  # one that explains too little to be asked may be a few observations old
        return last is None or not _is_lost(last) or self.record.n > _SEARCH_AGAIN * self._searched_at

    def outlook(self) -> Outlook:
        """The belief with what is out taken into account: what acquisitions score points by."""
        # A point that failed is as good as out: its outcome will not come, but asking there again is no use.
        beyond = np.vstack([self.record.out, self.record.failed])
        return acquisitions.outlook_of(self.belief, self.record.noise_to_come).given(beyond)

    # -- how it chooses ------------------------------------------------------------------------

    def _choose(self, n: int) -> search.Choice:
        filling = [i for i in range(self.n_asked, self.n_asked + n) if self._fills(i)]
        if not self.consults(n) or _is_lost(self.belief):
            return self._designed(n)
        chosen = self._searched(n - len(filling))
        if chosen.flat:
            return self._designed(n)
        if not filling:
            return chosen
        ahead = self.record.with_out(chosen.X)
        more = self._design.points(len(filling), filling[0], self.n_initial, self.random_state, ahead)
        return search.Choice(
            np.vstack([chosen.X, more]), np.append(chosen.scores, np.full(len(filling), np.nan)), None, False
        )

    def _fills(self, i: int) -> bool:
        """Whether the point number ``i`` fills the space; what was told without being asked for counts as a start."""
        record = self.record
        seen = record.n + len(record.out) + len(record.failed) + (i - self.n_asked)
        if self._score is None or seen < self.n_initial:
            return True
        return self.fill_every is not None and i % self.fill_every == self.fill_every - 1

    def _designed(self, n: int) -> search.Choice:
        X = self._design.points(n, self.n_asked, self.n_initial, self.random_state, self.record)
        return search.Choice(X, np.full(n, np.nan), None, True)

    def _searched(self, n: int) -> search.Choice:
        assert self._score is not None
        rng = np.random.default_rng([self.random_state, 1, self.n_asked])
        if self._view is None:
            return search.over_box(self.space, self.outlook(), self._score, n, rng)
        return search.over_pool(self._view, self.outlook(), self._score, n, self.record.free)

    def search_again(self) -> Belief:
        """The belief after a search that starts from nothing, as at the end of a campaign.

        It is put to the test on observations left out (docs/method.md), as every first fit is; what was
        followed so far stays if it has more evidence and nothing speaks against it.
        """
        if self.record.n and self._searched_at != self.record.n:
            followed, fresh = self.belief, self._fit(None)
            misled = fresh.diagnostics.misfit > 0.0
            self._belief = fresh if misled or fresh.log_evidence >= followed.log_evidence else followed
        return self.belief

    def _fit(self, last: Belief | None) -> Belief:
        record = self.record
        embedding, n_starts = self.embedding, searches(self.embedding, record.n)
        again = last is None or self._calls_for_search(last)
        if last is not None and again:  # noise that fewer data were found to lack is not carried over
            last = replace(last, diagnostics=replace(last.diagnostics, misfit=0.0))
        elif last is not None:
            embedding, n_starts = last.model, _FRESH_STARTS
        seed = int(np.random.default_rng([self.random_state, 2, record.n]).integers(2**31))
        with warnings.catch_warnings():  # each fit would repeat what its diagnostics say
            warnings.simplefilter("ignore", RidgewayWarning)
            belief = fit(
                record.X,
                record.y,
                embedding,
                kernel=self.kernel,
                inference=self.inference,
                marginal=self.marginal,
                bounds=self.space.bounds,
                priors=self.priors,
                noise_variance=record.known_noise,
                initial=last,
                n_starts=n_starts,
                random_state=seed,
                progress=self.progress,
            )
        if again:
            self._searched_at = record.n
        return belief

    def _calls_for_search(self, last: Belief) -> bool:
        """Whether much has been observed since the last full search, or what ``last`` does not explain."""
        if self.record.n > _SEARCH_AGAIN * self._searched_at:
            return True
        if _is_lost(last):  # it has predicted nothing that could surprise
            return False
        known = last.y.shape[0]
        prediction = last.predict(self.record.X[known:])
        variance = prediction.variance + last.noise_variance + self.record.noise[known:]
        return bool(np.any(np.abs(self.record.y[known:] - prediction.mean) > _SURPRISE * np.sqrt(variance)))

    # -- state -----------------------------------------------------------------------------------

    @property
    def searched_at(self) -> int:
        """Observations at the last full search for modes."""
        return self._searched_at

    def resume(self, record: Record, n_asked: int, belief: Belief | None, searched_at: int) -> None:
        """Stand where another learner stood: what it had seen and asked, and the last belief it had.

        ``belief`` is of the first observations of ``record``, or of all of them.
        """
        if belief is not None and belief.y.shape[0] > record.n:
            raise ValueError(f"belief must be of observations of the record, got {belief.y.shape[0]} of {record.n}")
        self.record, self.n_asked = record, n_asked
        self._belief, self._searched_at = belief, searched_at

    def to_dict(self) -> dict[str, Any]:
        """Everything that the next ask depends on; JSON can hold it."""
        belief = None if self._belief is None else base64.b64encode(storage.to_bytes(self._belief)).decode()
        return {
            "format": FORMAT,
            "space": self.space.to_dict(),
            "embedding": storage.embedding_to_dict(self.embedding),
            "acquisition": self._acquisition_name,
            "kernel": kernels.to_dict(self.kernel),
            "inference": self.inference,
            "marginal": self.marginal,
            "priors": None if self.priors is None else asdict(self.priors),
            "n_initial": self.n_initial,
            "fill_every": self.fill_every,
            "random_state": self.random_state,
            "record": self.record.to_dict(),
            "n_asked": self.n_asked,
            "expected": [None if np.isnan(value) else float(value) for value in self.expected],
            "searched_at": self._searched_at,
            "belief": belief,
        }

    @property
    def _acquisition_name(self) -> str:
        if isinstance(self.acquisition, str):
            return self.acquisition
        name = self.acquisition.name
        if acquisitions.BY_NAME.get(name) != self.acquisition:
            raise ValueError(f"only an acquisition that is built in can be stored, got {self.acquisition!r}")
        return name

    @classmethod
    def from_dict(
        cls, state: dict[str, Any], points: Any = None, kernel: Kernel | None = None, progress: Progress | None = None
    ) -> ActiveLearner:
        """The learner that :meth:`to_dict` described, at the very place where it was.

        A pool that was made from an array needs its ``points`` again; a kernel that is not built in
        has to be handed over.
        """
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            found = state.get("format") if isinstance(state, dict) else state
            raise ValueError(f"state must be a learner's of format {FORMAT}, got {found!r}")
        resolved = kernels.from_dict(state["kernel"], kernel)
        learner = cls(
            space_from_dict(state["space"], points),
            storage.embedding_from_dict(state["embedding"]),
            state["acquisition"],
            resolved,
            state["inference"],
            state["marginal"],
            None if state["priors"] is None else storage.priors_from_dict(state["priors"]),
            state["n_initial"],
            state["fill_every"],
            state["random_state"],
            progress,
        )
        learner.record = Record.from_dict(state["record"], learner.space)
        learner.n_asked = state["n_asked"]
        learner.expected = np.array([np.nan if value is None else value for value in state["expected"]])
        learner._searched_at = state["searched_at"]
        if state["belief"] is not None:
            learner._belief = storage.from_bytes(base64.b64decode(state["belief"]), kernel)
        return learner


def searches(embedding: Embedding, n: int) -> int:
    """How many searches for modes a fit from nothing to ``n`` observations makes: few have few worth finding."""
    return min(full_search(embedding), max(_LEAST_STARTS, n))


def _is_lost(belief: Belief) -> bool:
    """Whether so much of the variation passes for noise that the right mode has yet to be found."""
    return bool(belief.noise_variance > _LOST * float(np.var(belief.y)))


def _default_initial(embedding: Embedding) -> int:
    d = embedding.d if isinstance(embedding, Linear) and embedding.d != "auto" else 2
    return max(6, 2 * int(d) + 4)
