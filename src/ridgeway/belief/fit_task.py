"""One fit: data and choices, checked and on the standardised scale, and the belief that inference makes of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ridgeway.belief import approximation, data_notes, transfer
from ridgeway.belief.belief import Belief
from ridgeway.belief.diagnostics import Diagnostics
from ridgeway.belief.processes import in_processes
from ridgeway.belief.streamed import Noise
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.linear import Linear
from ridgeway.gp.moments import Marginal
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import Data
from ridgeway.gp.rowspace import RowSpace, reduced
from ridgeway.gp.scaling import OutputScaling, is_constant
from ridgeway.inference import exact_refinement, joint, nested, starts
from ridgeway.inference.mixture import Inferred, KnownMode
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT, SearchSettings
from ridgeway.types import Array, Inputs, Progress

_INFER = {"nested": nested.infer, "map": joint.infer}
_MANY_FAILURES = 0.5  # of the searches, from which failures are warned about


def full_search(n: int, settings: SearchSettings = DEFAULT, D: int = 0) -> int:
    """How many climbs a fit to ``n`` observations of ``D`` inputs makes at most where nothing is known."""
    factor = min(settings.most_factor, (100.0 / n) ** settings.cost_power)
    fewest, enough = settings.observations_an_input
    if fewest * D <= n <= enough * D:
        factor *= min(settings.most_for_inputs, max(1.0, (D / settings.usual_inputs) ** 2))
    most = min(round(settings.n_climbs * factor), settings.climbs_per_observation * n)
    return max(settings.least_climbs, most)


@dataclass(frozen=True)
class FitTask:
    """One call of :func:`ridgeway.fit`, after its arguments have been checked."""

    X: Inputs
    y: Array
    known: Array | None  # (n,) noise variances in the user's units
    space: RowSpace
    output: OutputScaling
    kernel: Kernel
    priors: Priors
    inference: str
    marginal: Marginal
    seed: int
    n_starts: int | None
    notes: tuple[str, ...]
    progress: Progress | None
    settings: SearchSettings
    seconds: float = np.inf  # that a search for modes may take
    n_jobs: int = 1  # processes that climb side by side
    standardize: bool = True
    own: Array | None = None  # (n,) noise variances of suspected observations alone, in the user's units

    def with_own(self, own: Array) -> FitTask:
        """The same with these noise variances of single observations; they have no say in how ``y`` is scaled."""
        trusted = own <= 0
        known = None if self.known is None else self.known[trusted]
        output = OutputScaling.from_data(self.y[trusted], self.standardize, known)
        return replace(self, output=output, own=None if trusted.all() else own)

    def belief(
        self,
        embedding: Embedding,
        initial: Belief | None,
        misfit: float | None = None,
        misled: bool = False,
        lower: Belief | None = None,
        share: float | None = None,
    ) -> Belief:
        """The belief with this embedding, begun at the modes of ``initial``.

        ``lower`` is a belief about the same data with a row less: its ranks are not searched again. ``share`` of a
        full search is made, by default all of it, or hardly any beside the modes of ``initial``.

        ``misfit`` is the standard deviation of extra noise on the standardised scale, by default that of
        ``initial``. Where ``initial`` has ``misled``, there may be nothing but noise: that is tried as well.
        """
        if misfit is None:
            misfit = 0.0 if initial is None else initial.diagnostics.misfit / self.output.scale
        posterior = self.posterior(embedding, misfit)
        modes: tuple[KnownMode, ...] = ()
        if initial is not None and initial.model == embedding:
            modes = transfer.known_modes(initial.components, initial.space, posterior, self.space)
            modes += transfer.spare_modes(initial.population, initial.space, posterior, self.space)
        searched_rank = 0
        if lower is not None:
            modes += transfer.known_modes(lower.components, lower.space, posterior, self.space)
            searched_rank = lower.model.n_rows(self.X.shape[1])
        if misled:
            flat = replace(posterior, embedding=Linear(1))
            modes += (KnownMode(flat, starts.noise_only(flat, self.settings.starts)),)
        found = self._inferred(posterior, modes, share, searched_rank)
        return Belief(
            posterior=posterior,
            space=self.space,
            output=self.output,
            components=found.components,
            log_evidence=found.log_evidence - posterior.data.n * float(np.log(self.output.scale)),
            diagnostics=diagnosed(found, self.space, self.notes, misfit * self.output.scale),
            inference=self.inference,
            marginal=self.marginal,
            seed=self.seed,
            X=self.X,
            y=self.y,
            population=found.population,
        )

    def posterior(self, embedding: Embedding, misfit: float) -> Posterior:
        """The posterior of this embedding's parameters, scales and noise."""
        priors = data_notes.raised_floor(self.priors, self.y, misfit)
        noise = self.noise(self.y, self.known, misfit)
        if self.own is not None:
            noise = noise + self.own / self.output.scale**2
        Z, _ = reduced(embedding, self.space.Z, np.zeros(self.y.shape[0]))
        data = Data(np.ascontiguousarray(Z), self.output.scaled(self.y), noise)
        return Posterior(embedding, self.kernel, data, priors, self.X.shape[1])

    def noise(self, y: Array, known: Array | None, misfit: float = 0.0) -> Array:
        """Noise variances on the standardised scale, known beforehand, of outputs like those of the task."""
        priors = data_notes.raised_floor(self.priors, self.y, misfit)
        return data_notes.known_noise(priors, y, known, self.output.scale, self.y)

    def noise_rule(self) -> Noise:
        """The same as a rule for any output, where the user knows of no noise or of one for all."""
        priors = data_notes.raised_floor(self.priors, self.y, 0.0)
        base = priors.noise_floor**2 + (0.0 if self.known is None else float(self.known[0]) / self.output.scale**2)
        return Noise(base, np.unique(self.y[data_notes.saturated(self.y) > 0]), priors.tie_noise**2)

    def _inferred(
        self, posterior: Posterior, modes: tuple[KnownMode, ...], share: float | None, searched_rank: int
    ) -> Inferred:
        settings, infer = self.settings, _INFER[self.inference]
        n_starts, n = self.n_starts, posterior.data.n
        run = SearchRun(
            np.random.default_rng(self.seed),
            settings,
            self.progress,
            deadline=time.monotonic() + self.seconds,
            map_tasks=None if self.n_jobs == 1 else partial(in_processes, n_jobs=self.n_jobs, n=n),
        )
        if n_starts is None:
            # Modes are known, or there is nothing to find:
            little = (bool(modes) and share is None) or is_constant(self.y)
            n_starts = settings.warm_starts if little else full_search(min(n, settings.subset), settings, posterior.D)
        if share is not None:
            n_starts = max(1, round(share * n_starts))
        by_waves = n > settings.many_rows and self.inference == "nested" and not approximation.obstacle(posterior)
        n_ranks = len(nested.ranks(posterior))
        if n <= settings.subset or n_starts <= settings.warm_starts:
            known = [mode for mode in modes if not mode.is_spare]
            found = None
            if by_waves and known and not any(mode.posterior.is_line for mode in known):
                found = exact_refinement.infer(posterior, known, n_ranks, run)
            return infer(posterior, n_starts, modes, run, searched_rank) if found is None else found
        part_size = settings.subset
        if by_waves:  # few modes are left with so many rows, and following one is cheap
            n_starts = min(n_starts, settings.many_rows_climbs)
            run.settings, part_size = settings.for_a_part(), settings.part(posterior.n_parameters)
        # Modes are found on a part of the data at a fraction of the cost, then followed on all.
        part = posterior.data.rows(run.rng.choice(n, part_size, replace=False))
        on_part = [replace(mode, posterior=replace(mode.posterior, data=part)) for mode in modes]
        first = infer(replace(posterior, data=part), n_starts, on_part, run, searched_rank)
        run.settings = settings
        best = first.components[: settings.subset_modes]
        followed = [KnownMode(replace(c.posterior, data=posterior.data), c.gp.theta) for c in best]
        found = None
        if by_waves and not any(mode.posterior.is_line for mode in followed):
            found = exact_refinement.infer(posterior, followed, n_ranks, run)
        if found is None:
            found = infer(posterior, 0, followed, run)
        return replace(
            found,
            n_starts=first.n_starts,
            starts_at_best=first.starts_at_best,
            n_modes=first.n_modes,
            found_at=first.found_at,
            chance_missed=first.chance_missed,
            population=first.population,
        )


def diagnosed(found: Inferred, space: RowSpace, notes: tuple[str, ...], misfit: float) -> Diagnostics:
    """How an inference went, with what a user should know of it."""
    gp = found.components[0].gp
    diagnostics = Diagnostics(
        converged=found.converged,
        n_starts=found.n_starts,
        starts_at_best=found.starts_at_best,
        optima=found.optima,
        disagreement=found.disagreement,
        smallest_curvature=found.smallest_curvature,
        decrement=found.decrement,
        outer_slack=found.outer_slack,
        jitter=gp.jitter / gp.output_variance,
        reduced_dimension=space.r,
        used_qr=space.used_qr,
        misfit=misfit,
        failures=found.failures,
        n_modes=found.n_modes,
        found_at=found.found_at,
        chance_missed=found.chance_missed,
    )
    more = []
    if found.interrupted:
        more.append(f"the search was interrupted after {found.n_starts} climbs: this is the best found until then")
    if diagnostics.jitter > 0:
        more.append(
            f"a jitter of {diagnostics.jitter:.0e} of the output variance was needed to factorise "
            "the covariance: are there near-duplicate points with next to no noise?"
        )
    if diagnostics.failures > _MANY_FAILURES * max(found.n_starts, 1):
        more.append(
            f"{diagnostics.failures} climbs to a mode were given up because their numbers left the range of floating "
            f"point, beside {found.n_starts} searches: is an input or output of enormous range?"
        )
    if found.n_dropped:
        more.append(
            f"{found.n_dropped} explanation{'s' * (found.n_dropped > 1)} of the data left out because no mode could be "
            "reached: a longer search (effort, n_starts) may find it"
        )
    if not diagnostics.converged:
        more.append(f"the fit is {diagnostics.status}")
    return replace(diagnostics, warnings=(*notes, *more))
