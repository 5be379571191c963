"""Options of a fit: what a user asked of :func:`ridgeway.fit` beside the data, and what follows for one fit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ridgeway import checks
from ridgeway import progress as progresses
from ridgeway.belief.approximation import Plan, planned
from ridgeway.belief.belief import MARGINALS, Belief
from ridgeway.belief.fit_task import FitTask
from ridgeway.belief.observations import Observations
from ridgeway.errors import RidgewayWarning
from ridgeway.gp import kernels
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.length_scales import Diagonal, Isotropic
from ridgeway.gp.linear import Linear
from ridgeway.gp.moments import Marginal
from ridgeway.gp.priors import Priors
from ridgeway.gp.rowspace import RowSpace
from ridgeway.gp.scaling import InputScaling, OutputScaling
from ridgeway.inference.nuts import Nuts
from ridgeway.inference.settings import EFFORTS, SearchSettings
from ridgeway.types import Array, GivenProgress, Progress, RandomState

INFERENCES = ("nested", "map", "nuts")


@dataclass(frozen=True)
class FitOptions:
    """As a user gave them; :func:`ridgeway.fit` says what each means."""

    embedding: Embedding | None  # the usual one of the inputs
    kernel: str | Kernel
    inference: str | Nuts
    marginal: Marginal | None
    bounds: Any
    standardize: bool
    priors: Priors | None
    noise_variance: Any
    initial: Belief | None
    random_state: RandomState
    n_starts: int | None
    progress: GivenProgress
    effort: str | float
    n_jobs: int
    settings: SearchSettings | None
    names: Sequence[str] | None
    units: Sequence[str | None] | None
    robust: bool
    approximation: str

    def for_inputs(self, D: int, names: tuple[str, ...] | None) -> FitOptions:
        """The same with the embedding that is meant; raises for what does not go with ``D`` inputs of these names."""
        embedding = Linear.usual(D) if self.embedding is None else self.embedding
        check_model(embedding, self.inference, self.marginal, self.priors, D)
        _check_start(self.initial, self.n_starts, D, names)
        checks.bounds(self.bounds, D)
        return replace(self, embedding=embedding, progress=self.say)

    @property
    def model(self) -> Embedding:
        """The embedding, once the inputs are known."""
        assert self.embedding is not None
        return self.embedding

    @cached_property
    def say(self) -> Progress | None:
        """Takes a sentence before each longer piece of work."""
        return progresses.given(self.progress)

    @contextmanager
    def progress_line(self) -> Iterator[None]:
        """Where the progress is a line of our own, it is cleared at the end."""
        try:
            yield
        finally:
            if self.progress is True:
                progresses.clear(self.say)

    @property
    def sampler(self) -> Nuts | None:
        """What goes on from the modes to draws, if anything."""
        if isinstance(self.inference, Nuts):
            return self.inference
        return Nuts() if self.inference == "nuts" else None

    def scaling(self, extent: tuple[Array, Array]) -> InputScaling:
        """Of inputs, where ``extent`` is their range, which counts where the user gave no bounds."""
        box = checks.bounds(self.bounds, extent[0].shape[0])
        return InputScaling.from_range(*extent) if box is None else InputScaling.from_bounds(*box)

    def plan(self, n: int, D: int, streamed: bool = False) -> Plan:
        """What a fit of ``n`` rows will do, said before it begins: a warning where it was not asked to be approximate.

        The warning points to who called what called this one's caller.
        """
        kernel = kernels.resolve(self.kernel)
        plan = planned(self.approximation, n, D, self.model, kernel, self.inference, streamed)
        if (plan.features or plan.part is not None) and plan.is_automatic:
            warnings.warn(plan.sentence, RidgewayWarning, stacklevel=4)
        if self.say is not None and plan.is_costly:
            self.say(plan.sentence)
        return plan

    def task(
        self, seen: Observations, space: RowSpace, output: OutputScaling, notes: list[str], rng: np.random.Generator
    ) -> FitTask:
        """One fit of these observations."""
        return FitTask(
            X=seen.X,
            y=seen.y,
            known=seen.known,
            space=space,
            output=output,
            kernel=kernels.resolve(self.kernel),
            priors=self.priors or Priors.for_data(seen.n, seen.X.shape[1]),
            inference="nested" if self.sampler is not None else str(self.inference),
            marginal=self.marginal or ("mgp" if self.sampler is None else "samples"),
            seed=int(rng.integers(2**31)),
            n_starts=self.n_starts,
            notes=tuple(notes),
            progress=self.say,
            settings=self.settings or search_settings(self.effort),
            seconds=np.inf if isinstance(self.effort, str) else float(self.effort),
            n_jobs=checks.count(self.n_jobs, "n_jobs", 1),
            standardize=self.standardize,
        )


def search_settings(effort: Any) -> SearchSettings:
    """The settings of an effort; a number of seconds allows as many climbs as fit into them."""
    if isinstance(effort, str) and effort in EFFORTS:
        return EFFORTS[effort]
    is_number = isinstance(effort, int | float | np.integer | np.floating) and not isinstance(effort, bool)
    if not is_number or not 0 < effort < np.inf:
        raise ValueError(f"effort must be one of {', '.join(map(repr, EFFORTS))} or seconds above 0, got {effort!r}")
    return EFFORTS["thorough"]


def check_model(embedding: Any, inference: Any, marginal: Any, priors: Any, D: int) -> None:
    """Raise for what no data could be fitted with."""
    if not isinstance(inference, Nuts):
        checks.choice(inference, INFERENCES, "inference")
    if marginal is not None:
        checks.choice(marginal, MARGINALS, "marginal")
    if not isinstance(embedding, Linear | Diagonal | Isotropic):
        raise TypeError(f"embedding must be Linear(d), Diagonal() or Isotropic(), got {embedding!r}")
    embedding.check(D)
    if priors is not None and not isinstance(priors, Priors):
        raise TypeError(f"priors must be a Priors or None, got {priors!r}")


def _check_start(initial: Any, n_starts: Any, D: int, names: tuple[str, ...] | None) -> None:
    if initial is not None and not isinstance(initial, Belief):
        raise TypeError(f"initial must be a Belief or None, got {initial!r}")
    if initial is not None and initial.space.scaling.D != D:
        raise ValueError(f"initial must be a belief about {D} inputs, got one about {initial.space.scaling.D}")
    if initial is not None and None not in (initial.names, names) and initial.names != names:
        raise ValueError(f"initial must be a belief about inputs with the names {names}, got {initial.names}")
    if n_starts is not None and (
        isinstance(n_starts, bool) or not isinstance(n_starts, int | np.integer) or n_starts < 1
    ):
        raise ValueError(f"n_starts must be a whole number of at least 1 or None, got {n_starts!r}")
