"""The gold standard: Hamiltonian Monte Carlo over all hyperparameters, from the modes found.

The No-U-Turn sampler (nutpie) with the closed-form gradient, in coordinates in which the
Laplace approximation at the best mode is a unit Gaussian, so that its own adaptation has little
left to do. Chains begin at draws around the modes, each mode in turn. Rotations of a linear
embedding are one model: chains wander along them freely, so draws are turned to face the mode
afterwards, and convergence is judged by what does not turn: the log density, scales, noise and
mean, and the function at the data.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, orthogonal_procrustes

from ridgeway import validation
from ridgeway.embeddings import Linear
from ridgeway.errors import NumericalError
from ridgeway.gp import N_GLOBAL, condition
from ridgeway.laplace import prior_width
from ridgeway.posterior import Posterior
from ridgeway.types import Array

KEPT = 400  # draws that a belief keeps, evenly over the chains
_AGREED = 1.01  # R-hat
_WATCHED = 40  # observations at which the function is watched for convergence


@dataclass(frozen=True)
class Nuts:
    """How long to sample.

    >>> Nuts(chains=2, draws=500)
    Nuts(chains=2, draws=500, tune=300)
    """

    chains: int = 4
    draws: int = 500  # of each chain
    tune: int = 300

    def __post_init__(self) -> None:
        for name, least in (("chains", 2), ("draws", 4), ("tune", 10)):
            validation.count(getattr(self, name), f"{name} of Nuts", least)


@dataclass(frozen=True)
class Sampled:
    """Draws of all chains, and whether they agree."""

    theta: Array  # (S, P + 4), chain after chain, turned to face the mode
    r_hat: float  # the largest of all that was watched; below 1.01 chains agree
    effective_size: float  # the smallest
    divergences: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know before believing the draws."""
        notes = []
        if not self.r_hat < _AGREED:
            notes.append(
                f"the chains do not agree (R-hat {self.r_hat:.3f}, {_AGREED} at most): sample longer, "
                "Nuts(draws=...), or suspect several modes"
            )
        if self.divergences:
            notes.append(f"{self.divergences} transitions of the sampler diverged: the draws may miss narrow places")
        return tuple(notes)


def sample(posterior: Posterior, modes: list[Array], options: Nuts, seed: int) -> Sampled:
    """Draws from ``p(theta | y)``, begun at ``modes`` of the full rank, best first."""
    model = _Model.at(posterior, modes[0])
    rng = np.random.default_rng(seed)
    starts = [model.coordinates(modes[i % len(modes)]) for i in range(options.chains)]
    starts = [start + 0.3 * rng.standard_normal(start.shape[0]) for start in starts]
    theta, divergences = _run(model, starts, options, int(rng.integers(2**31)))
    r_hat, effective = _agreement(posterior, theta)
    flat = theta.reshape(-1, theta.shape[2])
    return Sampled(_facing(posterior, flat, modes[0]), r_hat, effective, divergences)


@dataclass(frozen=True)
class _Model:
    """``log p(y, theta)`` in coordinates in which it is nearly a unit Gaussian."""

    posterior: Posterior
    origin: Array  # theta
    free: Array  # indices of theta that no prior fixes
    axes: Array  # (n, n): theta[free] = origin[free] + axes @ coordinates

    @classmethod
    def at(cls, posterior: Posterior, mode: Array) -> _Model:
        free = posterior.free()
        gp = condition(posterior.embedding, posterior.kernel, posterior.data, mode)
        width = prior_width(posterior, mode)[free]
        values, vectors = eigh(-posterior.hessian(gp)[np.ix_(free, free)] * np.outer(width, width))
        # Along the rotations nothing curves: there the prior's width stands for the length of the way around.
        return cls(posterior, mode, free, width[:, None] * vectors / np.sqrt(np.maximum(values, 1.0)))

    def theta(self, z: Array) -> Array:
        theta = self.origin.copy()
        theta[self.free] += self.axes @ z
        return theta

    def coordinates(self, theta: Array) -> Array:
        return np.linalg.solve(self.axes, theta[self.free] - self.origin[self.free])

    def log_density(self, z: Array) -> tuple[float, Array]:
        try:
            at = self.posterior.evaluate(self.theta(z))
        except NumericalError:  # as unlikely as can be: the sampler turns back
            return -np.inf, np.zeros_like(z)
        return at.log_density, self.axes.T @ at.gradient[self.free]


def _run(model: _Model, starts: list[Array], options: Nuts, seed: int) -> tuple[Array, int]:
    """Draws ``(chains, draws, P + 4)`` and how many transitions diverged."""
    nutpie, from_pyfunc = _sampler()
    n = model.free.shape[0]
    order = iter(starts)
    compiled = from_pyfunc(
        ndim=n,
        make_logp_fn=lambda: model.log_density,
        make_expand_fn=lambda *_: lambda z: {"theta": model.theta(np.asarray(z))},
        expanded_dtypes=[np.dtype(np.float64)],
        expanded_shapes=[model.origin.shape],
        expanded_names=["theta"],
        make_initial_point_fn=lambda _: next(order),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own and ArviZ' announcements
        trace = nutpie.sample(
            compiled, draws=options.draws, tune=options.tune, chains=options.chains, cores=1, seed=seed,
            save_warmup=False, progress_bar=False,
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
    """The largest R-hat and the smallest effective sample size of what does not turn."""
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
        rows.append(np.concatenate([[gp.log_likelihood()], row[-N_GLOBAL:][~fixed], fitted[::step]]))
    watched = np.array(rows).reshape(chains, draws, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r_hat = [float(tools.rhat(watched[:, :, j])) for j in range(watched.shape[2])]
        effective = [float(tools.ess(watched[:, :, j])) for j in range(watched.shape[2])]
    return float(np.nanmax(r_hat)), float(np.nanmin(effective))


def _facing(posterior: Posterior, theta: Array, mode: Array) -> Array:
    """Draws with the rows of ``R`` turned to be as near the mode's as a rotation can bring them."""
    embedding, p = posterior.embedding, posterior.n_parameters
    if not isinstance(embedding, Linear):
        return theta
    turned, target = theta.copy(), mode[:p].reshape(embedding.rows, -1)
    for row in turned:
        A = row[:p].reshape(embedding.rows, -1)
        rotation, _ = orthogonal_procrustes(A.T, target.T)
        row[:p] = (rotation.T @ A).ravel()
    return turned
