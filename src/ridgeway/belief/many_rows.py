"""A fit of many rows: modes found on a few of them, then followed on all with a finite basis."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ridgeway.belief import transfer
from ridgeway.belief.belief import Belief
from ridgeway.belief.fit_task import FitTask, diagnosed
from ridgeway.gp import feature_likelihood, rowspace
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.feature_process import FeatureData, FeatureProcess
from ridgeway.gp.linear import Linear
from ridgeway.gp.moments import plain
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import Data, condition
from ridgeway.gp.row_source import DataRows, RowSource
from ridgeway.inference import many_rows
from ridgeway.inference.mixture import Component, KnownMode
from ridgeway.inference.search_run import SearchRun

#: Rows drawn at random, on which modes are followed first,
PART = 8192
#: and how many of them a belief keeps.
KEPT = 2048
_COMPARED = 800  # rows on which the basis is compared with the exact process
_LARGE_MEAN, _LARGE_STD = 0.01, 0.1  # differences from the exact process from which a user is warned
_LARGEST_AUTO = 3  # directions that ``Linear("auto")`` tries


@dataclass(frozen=True)
class ManyRowsTask:
    """One call of :func:`ridgeway.fit` with many rows, after its arguments have been checked."""

    task: FitTask  # the same about the rows drawn at random
    source: RowSource  # all rows

    def belief(self, embedding: Embedding, initial: Belief | None) -> Belief:
        """The belief with this embedding; ``Linear("auto")`` takes the number of directions of most evidence."""
        if embedding != Linear("auto"):
            return self._fitted(embedding, initial)
        evidence: dict[int, float] = {}
        best: Belief | None = None
        for d in range(1, min(_LARGEST_AUTO, self.task.X.shape[1]) + 1):
            found = self._fitted(Linear(d), None)
            evidence[d] = float(found.log_evidence)
            if best is not None and found.log_evidence <= best.log_evidence:
                break
            best = found
        assert best is not None
        return replace(best, diagnostics=replace(best.diagnostics, dimension_evidence=evidence))

    def _fitted(self, embedding: Embedding, initial: Belief | None) -> Belief:
        task = self.task
        exact = task.posterior(embedding, 0.0)
        drawn = exact.data.rows(slice(None))
        sample = drawn.rows(slice(0, KEPT))
        part = replace(exact, data=FeatureData(sample, drawn.n, DataRows(drawn)))
        whole = replace(exact, data=FeatureData(sample, self.source.n, self.source))
        modes, first = self._modes(embedding, initial, part)
        run = SearchRun(np.random.default_rng(task.seed), task.settings, task.progress, time.monotonic() + task.seconds)
        found = many_rows.infer(part, whole, modes, len(embedding.lower_ranks()) + 1, run)
        components = tuple(_kept(c) for c in found.components)
        error = against_exact(components[0], drawn)
        best = components[0].gp
        assert isinstance(best, FeatureProcess)
        diagnostics = replace(
            diagnosed(found, task.space, task.notes, 0.0),
            n_rows=self.source.n,
            waves=best.basis.m,
            mean_error=error.mean,
            std_error=error.std,
        )
        if first is not None:
            diagnostics = diagnostics.after(first.diagnostics)
        if error.is_large:
            diagnostics = replace(diagnostics, warnings=(*diagnostics.warnings, error.sentence()))
        space = replace(task.space, Z=task.space.Z[:KEPT])
        return Belief(
            posterior=replace(exact, data=FeatureData(sample, self.source.n, None)),
            space=space,
            output=task.output,
            components=components,
            log_evidence=found.log_evidence - self.source.n * float(np.log(task.output.scale)),
            diagnostics=diagnostics,
            inference=task.inference,
            marginal=task.marginal,
            seed=task.seed,
            X=task.X[:KEPT],
            y=task.y[:KEPT],
        )

    def _modes(
        self, embedding: Embedding, initial: Belief | None, part: Posterior
    ) -> tuple[tuple[KnownMode, ...], Belief | None]:
        """Modes to begin with: those of an earlier belief, or of a search on a few rows."""
        task = self.task
        if initial is not None and initial.model == embedding:
            return transfer.known_modes(initial.components, initial.space, part, task.space), None
        n = min(task.settings.part(part.n_parameters), task.X.shape[0])
        few = replace(
            task,
            X=task.X[:n],
            y=task.y[:n],
            known=None if task.known is None else task.known[:n],
            space=rowspace.reduce(task.X[:n], task.space.scaling),
            n_starts=task.n_starts or task.settings.many_rows_climbs,
            settings=task.settings.for_a_part(),
        )
        first = few.belief(embedding, None)
        return transfer.known_modes(first.components, first.space, part, task.space), first


class Difference(NamedTuple):
    """Between predictions with the basis and exact ones, on average."""

    mean: float  # standard deviations of y
    std: float  # relative

    @property
    def is_large(self) -> bool:
        """Whether it is worth a warning."""
        return self.mean > _LARGE_MEAN or self.std > _LARGE_STD

    def sentence(self) -> str:
        """What a user should know of it."""
        return (
            f"the finite basis is coarse for this function: its means differ from exact ones by {self.mean:.1g} "
            f"standard deviations of y on average, its standard deviations by {100 * self.std:.0f} %; a smoother "
            "kernel, fewer directions, or approximation='exact' on a part of the rows are ways on"
        )


def against_exact(component: Component, drawn: Data) -> Difference:
    """The basis against the exact process at the same hyperparameters, both given the same few rows."""
    n = min(_COMPARED, drawn.n // 2)
    given, new = drawn.rows(slice(0, n)), drawn.rows(slice(n, 2 * n))
    gp = component.gp
    exact = plain(condition(gp.embedding, gp.kernel, given, gp.theta, derivatives=False), new.Z)
    assert isinstance(gp, FeatureProcess)
    data = FeatureData(given, given.n, DataRows(given), gp.basis)
    there = plain(data.condition(gp.embedding, gp.kernel, gp.theta), new.Z)
    by_std = np.abs(np.sqrt(there[1]) / np.sqrt(exact[1]) - 1.0)
    return Difference(float(np.mean(np.abs(there[0] - exact[0]))), float(np.mean(by_std)))


def _kept(component: Component) -> Component:
    gp = component.gp
    assert isinstance(gp, FeatureProcess)
    small = feature_likelihood.kept(gp)
    return replace(component, gp=small, posterior=replace(component.posterior, data=small.data))
