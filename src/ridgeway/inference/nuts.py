"""The gold standard: Hamiltonian Monte Carlo over all hyperparameters, from the modes found.

The No-U-Turn sampler (nutpie) with the closed-form gradient, in coordinates in which the
Laplace approximation at the mode is a unit Gaussian, so that its own adaptation has little
left to do. Rotations of a linear embedding are one model, and a chain that wanders along them
finds itself where those coordinates are wrong; so chains stay on a slice across the rotation
orbits, on which the density is weighed by how much of an orbit each point stands for
(``docs/method.md``). Convergence is judged by what a rotation does not change: the log density,
scales, noise and mean, and the function at the data.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgeway import checks
from ridgeway.errors import NumericalError
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import N_GLOBAL, condition
from ridgeway.inference.laplace import approximate
from ridgeway.types import Array

KEPT = 400  # draws that a belief keeps, evenly over the chains
_AGREED = 1.01  # R-hat
_WATCHED = 40  # observations at which the function is watched for convergence
_DEPTH = 4  # of the trees: at most 15 gradients a draw; longer ways cost more than they gain
_JITTER = 0.3  # how far from the mode a chain begins, in standard deviations a coordinate


@dataclass(frozen=True)
class Nuts:
    """How long to sample.

    >>> Nuts(chains=2, draws=500)
    Nuts(chains=2, draws=500, tune=150)
    """

    chains: int = 4
    draws: int = 400  # of each chain
    tune: int = 150

    def __post_init__(self) -> None:
        for name, least in (("chains", 2), ("draws", 4), ("tune", 10)):
            checks.count(getattr(self, name), f"{name} of Nuts", least)


@dataclass(frozen=True)
class Mode:
    """Where chains may begin."""

    theta: Array
    weight: float  # its share of the posterior, as far as is known


@dataclass(frozen=True)
class Sampled:
    """Draws of all chains, and whether they agree."""

    theta: Array  # (S, P + 4), chain after chain, turned to face the best mode
    r_hat: float  # the largest of all that was watched; below 1.01 chains agree
    effective_size: float  # the smallest
    divergences: int
    chains: tuple[int, ...] = (1,)  # how many began at each mode
    shares: tuple[float, ...] = (1.0,)  # what each mode was thought to hold

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know before believing the draws."""
        notes = []
        if not self.r_hat < _AGREED:
            notes.append(f"the chains do not agree (R-hat {self.r_hat:.3f}, {_AGREED} at most): {self._advice}")
        if self.divergences:
            notes.append(f"{self.divergences} transitions of the sampler diverged: the draws may miss narrow places")
        return tuple(notes)

    @property
    def _advice(self) -> str:
        if len(self.chains) == 1:
            return "sample longer, Nuts(draws=...), or suspect several modes"
        parts = [
            f"{n} chain{'s' if n > 1 else ''} at one of {share:.0%}"
            for n, share in zip(self.chains, self.shares, strict=True)
        ]
        begun = f"{len(parts)} modes of the posterior ({', '.join(parts)})"
        return f"they began at {begun}, and each may have stayed at its own"


def sample(posterior: Posterior, modes: Sequence[Mode], options: Nuts, seed: int) -> Sampled:
    """Draws from ``p(theta | y)``, begun at ``modes`` of the full rank, best first.

    Modes get chains in proportion to what they hold, so a minor one gets none: a chain that stays
    there would give it more than its due.
    """
    rng = np.random.default_rng(seed)
    chains = _shared_out(options.chains, np.array([mode.weight for mode in modes]))
    begun = [(mode, n) for mode, n in zip(modes, chains, strict=True) if n]
    runs = [_run(_Model.at(posterior, mode.theta), n, options, int(rng.integers(2**31))) for mode, n in begun]
    theta = np.concatenate([draws for draws, _ in runs])
    r_hat, effective = _agreement(posterior, theta)
    return Sampled(
        theta=_facing(posterior, theta.reshape(-1, theta.shape[2]), modes[0].theta),
        r_hat=r_hat,
        effective_size=effective,
        divergences=sum(diverged for _, diverged in runs),
        chains=tuple(n for _, n in begun),
        shares=tuple(mode.weight for mode, _ in begun),
    )


def _shared_out(chains: int, weights: Array) -> list[int]:
    """Chains in proportion to ``weights``, by largest remainders."""
    exact = chains * weights / weights.sum()
    counts = np.floor(exact).astype(int)
    counts[np.argsort(counts - exact, kind="stable")[: chains - counts.sum()]] += 1
    return [int(n) for n in counts]


@dataclass(frozen=True)
class _Model:
    """``log p(y, theta)`` near one mode, on a slice across the rotations, where it is nearly a unit Gaussian."""

    posterior: Posterior
    origin: Array  # theta of the mode
    free: Array  # (n,) indices of theta that no prior fixes
    axes: Array  # (n, n - g): theta[free] = origin[free] + axes @ coordinates
    crossing: Array  # (g, P, g): how the rotations of A cross the slice is ``crossing · A``, linear in A

    @classmethod
    def at(cls, posterior: Posterior, mode: Array) -> _Model:
        free, embedding = posterior.free(), posterior.embedding
        laplace = approximate(posterior, posterior.evaluate(mode), free)
        tangents = embedding.rotations(mode[: posterior.n_parameters]).T
        # The generators of rotations are antisymmetric: <t, G A> = <-G t, A>.
        crossing = [-embedding.rotations(tangent) for tangent in tangents]
        shape = (tangents.shape[0], posterior.n_parameters, tangents.shape[0])
        return cls(posterior, mode, free, laplace.factor, np.reshape(crossing, shape))

    @property
    def n(self) -> int:
        return self.axes.shape[1]

    def theta(self, z: Array) -> Array:
        theta = self.origin.copy()
        theta[self.free] += self.axes @ z
        return theta

    def log_density(self, z: Array) -> tuple[float, Array]:
        theta = self.theta(z)
        try:
            at = self.posterior.evaluate(theta)
        except NumericalError:  # as unlikely as can be: the sampler turns back
            return -np.inf, np.zeros_like(z)
        if not self.crossing.size:
            return at.log_density, self.axes.T @ at.gradient[self.free]
        volume, slope = self._orbit(theta[: self.crossing.shape[1]])
        gradient = at.gradient
        gradient[: slope.shape[0]] += slope
        return at.log_density + volume, self.axes.T @ gradient[self.free]

    def _orbit(self, parameters: Array) -> tuple[float, Array]:
        """How much of each rotation orbit a piece of the slice stands for, as a logarithm, and its gradient."""
        M = np.einsum("ipj,p->ij", self.crossing, parameters)
        _, volume = np.linalg.slogdet(M)
        return float(volume), np.einsum("ji,ipj->p", np.linalg.inv(M), self.crossing)


def _run(model: _Model, chains: int, options: Nuts, seed: int) -> tuple[Array, int]:
    """Draws ``(chains, draws, P + 4)`` and how many transitions diverged."""
    nutpie, from_pyfunc = _sampler()
    rng = np.random.default_rng(seed)
    compiled = from_pyfunc(
        ndim=model.n,
        make_logp_fn=lambda: model.log_density,
        make_expand_fn=lambda *_: lambda z: {"theta": model.theta(np.asarray(z))},
        expanded_dtypes=[np.dtype(np.float64)],
        expanded_shapes=[model.origin.shape],
        expanded_names=["theta"],
        make_initial_point_fn=lambda _: _JITTER * rng.standard_normal(model.n),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own and ArviZ' announcements
        trace = nutpie.sample(
            compiled, draws=options.draws, tune=options.tune, chains=chains, cores=1, seed=seed,
            save_warmup=False, progress_bar=False, maxdepth=_DEPTH,
        )  # fmt: skip
    theta = np.asarray(trace.posterior["theta"])
    return theta, int(np.asarray(trace.sample_stats["diverging"]).sum())


def _sampler() -> tuple[Any, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import nutpie
            from nutpie.compiled_pyfunc import from_pyfunc
    except ImportError as error:
        raise ImportError('inference="nuts" needs nutpie: pip install "ridgeway[mcmc]"') from error
    return nutpie, from_pyfunc


def _agreement(posterior: Posterior, theta: Array) -> tuple[float, float]:
    """The largest R-hat and the smallest effective sample size of what a rotation does not change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz
    tools: Any = arviz
    chains, draws, _ = theta.shape
    fixed = posterior.priors.globals[1] == 0
    rows = []
    step = max(1, posterior.data.n // _WATCHED)
    for row in theta.reshape(chains * draws, -1):
        gp = condition(posterior.embedding, posterior.kernel, posterior.data, row)
        fitted = gp.data.y - gp.noise_diagonal * gp.alpha
        own = row[:0] if posterior.embedding.has_directions else row[:-N_GLOBAL]  # length scales do not rotate
        rows.append(np.concatenate([[gp.log_likelihood()], own, row[-N_GLOBAL:][~fixed], fitted[::step]]))
    watched = np.array(rows).reshape(chains, draws, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r_hat = [float(tools.rhat(watched[:, :, j])) for j in range(watched.shape[2])]
        effective = [float(tools.ess(watched[:, :, j])) for j in range(watched.shape[2])]
    return float(np.nanmax(r_hat)), float(np.nanmin(effective))


def _facing(posterior: Posterior, theta: Array, mode: Array) -> Array:
    """Draws with the rows of ``R`` rotated to be as near to the mode's as a rotation can bring them."""
    p = posterior.n_parameters
    return np.hstack([posterior.embedding.aligned(theta[:, :p], mode[:p]), theta[:, p:]])
