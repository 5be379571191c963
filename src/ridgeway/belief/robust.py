"""A fit in which single observations may have a noise of their own, where the evidence asks for it.

A hypothesis says which observations are suspects. It is worth the log evidence of the belief under it, less a price for
each suspect. Without suspects, the belief is the very one that a plain fit gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ridgeway.belief.belief import Belief
from ridgeway.belief.fit_task import FitTask, full_search
from ridgeway.blas import blas_threads
from ridgeway.gp.scaling import is_constant
from ridgeway.inference import outliers
from ridgeway.types import Array, Mask

FitOnce = Callable[[FitTask, Belief | None], Belief]  # from the modes of an earlier belief, if there is one


@dataclass(frozen=True)
class Hypothesis:
    """Suspects, as a task that gives them a noise of their own, and the belief that goes with them."""

    task: FitTask
    belief: Belief

    @property
    def own(self) -> Array:
        """Noise variances of the suspects in squared units of ``y``, 0 for all others, ``(n,)``."""
        return np.zeros(self.task.y.shape[0]) if self.task.own is None else self.task.own

    @property
    def worth(self) -> float:
        """Log evidence less the price of the suspects."""
        return self.belief.log_evidence - self.task.settings.outliers.price * float(np.sum(self.own > 0))

    def accuses(self, own: Array) -> bool:
        """Whether its suspects are those with variances of their ``own``."""
        return np.array_equal(self.own > 0, own > 0)


def fit_robustly(task: FitTask, initial: Belief | None, fit_once: FitOnce) -> Hypothesis:
    """The hypothesis of most worth among those that the data, and the suspects of ``initial``, suggest."""
    rules, y = task.settings.outliers, task.y
    nobody = np.zeros(y.shape[0])
    if y.shape[0] < rules.least_observations or is_constant(y):
        return _fitted(task, nobody, initial, fit_once)
    far = outliers.screened(y, task.known, rules)
    if initial is not None:
        return _updated(task, far, initial, fit_once)
    if y.shape[0] > rules.most_compared:
        # Enough are left without those far away to find the modes by, which then clear the innocent. Where they do
        # not spoil the scale of y, they hardly move the modes either.
        spoiled = y.std() > rules.spoiled * y[far <= 0].std()
        return _appealed(_settled(_fitted(task, far if spoiled else nobody, None, fit_once)), fit_once)
    own = nobody
    if np.any(far > 0):
        _say(task, "comparing suspected outliers")
        own = max(_tried(task, far, fit_once), key=_worth).own
    return _appealed(_settled(_fitted(task, own, None, fit_once)), fit_once)


def _updated(task: FitTask, far: Array, initial: Belief, fit_once: FitOnce) -> Hypothesis:
    """From an earlier belief: its suspects are examined again, and new values that are ``far`` from all are tried."""
    known = _unchanged(initial, task)
    own = np.zeros_like(far)
    for suspect in initial.suspects:
        if suspect.row < own.shape[0] and known[suspect.row]:
            own[suspect.row] = suspect.noise_std**2
    first = _settled(_fitted(task, own, initial, fit_once))
    new = np.where(known, own, np.maximum(far, own))  # values that were there before have been judged before
    if np.array_equal(new > 0, own > 0) or first.accuses(new):
        return first
    return max(first, _settled(_fitted(task, new, initial, fit_once)), key=_worth)


def _worth(hypothesis: Hypothesis) -> float:
    return hypothesis.worth


def _say(task: FitTask, sentence: str) -> None:
    if task.progress is not None:
        task.progress(sentence)


def _fitted(task: FitTask, own: Array, initial: Belief | None, fit_once: FitOnce) -> Hypothesis:
    chosen = task.with_own(own)
    return Hypothesis(chosen, fit_once(chosen, initial))


def _tried(task: FitTask, far: Array, fit_once: FitOnce) -> Iterator[Hypothesis]:
    """Nobody, all values ``far`` from the others, and fewer of them, the nearest left out first while that helps.

    Short searches are long enough to compare them.
    """
    n_climbs = task.n_starts or full_search(task.y.shape[0], task.settings)
    short = replace(task, n_starts=min(n_climbs, task.settings.outliers.short_search))
    yield _fitted(short, np.zeros_like(far), None, fit_once)
    own, last = far, -np.inf
    while np.any(own > 0):
        there = _settled(_fitted(short, own, None, fit_once))
        yield there
        if there.worth <= last:
            break
        last = there.worth
        own = np.where(own > own[own > 0].min(), own, 0.0)


def _settled(start: Hypothesis) -> Hypothesis:
    """Fits from known modes and examinations in turn.

    Suspects that the others explain are cleared, whatever that is worth: a wrong kernel would rather have any point
    out. New ones are added as long as the hypothesis is worth more with them.
    """
    best = start
    for _ in range(start.task.settings.outliers.most_fits):
        with blas_threads(best.task.y.shape[0]):
            guilty, found = _examined(best)
        if not best.accuses(guilty):
            best = _followed(best, guilty)
            continue
        if best.accuses(found):
            break
        there = _followed(best, found)
        if there.worth <= best.worth:
            break
        best = there
    return best


def _examined(hypothesis: Hypothesis) -> tuple[Array, Array]:
    """Own variances of the suspects that stay suspects, and of those that a pursuit from them finds."""
    rules, best = hypothesis.task.settings.outliers, hypothesis.belief.components[0]
    scale2 = hypothesis.belief.output.scale**2
    own = hypothesis.own / scale2
    seen = outliers.behind(best.gp, own, best.posterior.priors, rules)
    verdict = outliers.examine(seen, own, best.gp.log_noise, rules)
    guilty = np.where((own > 0) & (verdict.gain > rules.price), verdict.variance, 0.0)
    return guilty * scale2, outliers.pursue(seen, own, rules).own * scale2


def _followed(hypothesis: Hypothesis, own: Array) -> Hypothesis:
    """Other suspects, from the modes of this hypothesis."""
    task, last = hypothesis.task.with_own(own), hypothesis.belief
    belief = replace(task, n_starts=0).belief(last.model, last)
    return Hypothesis(task, replace(belief, diagnostics=belief.diagnostics.after(last.diagnostics)))


def _appealed(best: Hypothesis, fit_once: FitOnce) -> Hypothesis:
    """Without suspects after all, if the modes found with them explain them."""
    nobody = np.zeros_like(best.own)
    if best.accuses(nobody) or _followed(best, nobody).worth <= best.worth:
        return best
    return _fitted(best.task, nobody, None, fit_once)


def _unchanged(initial: Belief, task: FitTask) -> Mask:
    """Which observations of the task are those of an earlier belief in the same place, ``(n,)``."""
    n = task.y.shape[0]
    result = np.zeros(n, dtype=bool)
    m = min(n, initial.y.shape[0])
    A, B = task.X[:m], initial.X[:m]
    if sparse.issparse(A) or sparse.issparse(B):
        differs = np.asarray((A != B).sum(axis=1)).ravel() > 0
    else:
        differs = np.any(A != B, axis=1)
    result[:m] = ~differs & (task.y[:m] == initial.y[:m])
    return result
