"""A belief from draws of the exact posterior, made by the No-U-Turn sampler from the modes of an earlier one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ridgeway.belief.belief import Belief
from ridgeway.inference import nuts
from ridgeway.inference.importance_sampling import WeightedDraws
from ridgeway.inference.mixture import Component, at_full_rank
from ridgeway.inference.nuts import Nuts
from ridgeway.types import Progress


def sampled(belief: Belief, sampler: Nuts, progress: Progress | None) -> Belief:
    """The belief with draws from the exact posterior in place of Gaussians around its modes."""
    if progress is not None:
        progress(f"sampling {sampler.chains} chains of {sampler.tune} + {sampler.draws} draws")
    posterior, best = belief.posterior, belief.components[0]
    full = [nuts.Mode(c.gp.theta, c.weight) for c in belief.components if c.gp.embedding == posterior.embedding]
    padded = at_full_rank(posterior, best.gp.theta, np.random.default_rng(belief.seed))
    modes = full or [nuts.Mode(padded, 1.0)]
    found = nuts.sample(posterior, modes, sampler, belief.seed)
    _, s, Vt = np.linalg.svd(found.theta - found.theta.mean(axis=0), full_matrices=False)
    factor = Vt.T * (s / np.sqrt(found.theta.shape[0]))
    component = Component(posterior, posterior.condition(modes[0].theta), factor, 1.0, best.log_evidence)
    kept = found.theta[:: max(1, found.theta.shape[0] // nuts.KEPT)]
    draws = WeightedDraws(kept, np.full(kept.shape[0], 1.0 / kept.shape[0]), float("nan"))
    diagnostics = replace(
        belief.diagnostics,
        r_hat=found.r_hat,
        effective_draws=found.effective_size,
        divergences=found.divergences,
        warnings=(*belief.diagnostics.warnings, *found.warnings),
    )
    return replace(belief, components=(component,), draws=(draws,), inference="nuts", diagnostics=diagnostics)
