"""Whether a belief's scales and noise would have predicted observations that were left out.

Evidence and closed-form leave-one-out judge an embedding by the data it was chosen with. Where
the model is wrong (too few directions, a kink) a wiggly embedding with little noise can please
both and predict nothing. Here a part of the data is left out and the embedding is searched for
afresh in the rest, so that what was left out had no say in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from ridgeway import marginal, nested, starts
from ridgeway.belief import Belief
from ridgeway.embeddings import Linear
from ridgeway.errors import NumericalError
from ridgeway.gp import LOG_NOISE, ConditionedGP, Data
from ridgeway.laplace import Laplace, approximate, climb
from ridgeway.modes import fitted
from ridgeway.posterior import Posterior
from ridgeway.scaling import is_constant
from ridgeway.types import Array

Mask = npt.NDArray[np.bool_]

_N_FOLDS = 4
_ROUNDS = 3  # of all folds where a fit is wiggly: it predicts some points very well and others not at all
_LEAST = 12  # observations below which a part of them says nothing
_BEYOND_DOUBT = 0.5  # nats of evidence an observation, above that of plain noise, that need no check
_WIGGLY = 2.0  # length scales that the data spread over (one standard deviation) beyond which a fit is doubted
_SILENT = 1e-3  # share of the variance explained below which a belief takes all for noise
_HARM = -0.1  # nats an observation: hardly better than the mean and variance
_LEAST_GAIN = 3.0  # nats that extra noise must gain: chance rarely does
_N_STARTS = 6
_KEPT = 2  # fresh modes, and known ones, that a fold is predicted with
_SHORT, _MIDDLE, _LONG = 20, 30, 40  # iterations of the climbs
_TEMPERATURE = 3.0  # as the modes of a belief are weighted
_KNOWN_HANDICAP = 5.0  # nats: known modes have seen what was left out
_PLAIN = 0.5  # nats an observation that half the folds must gain for the others to be spared


@dataclass(frozen=True)
class Check:
    """How the observations left out were predicted."""

    excess: float  # nats an observation worse than by the mean and variance of the rest; negative is better
    misfit: float  # standard deviation of the extra noise that predicts them best
    gain: float  # nats that this noise gains, for as many observations as there are

    @property
    def misled(self) -> bool:
        """Whether the mean would have served about as well, and chance is no excuse."""
        return self.excess > _HARM and self.gain > _LEAST_GAIN


def doubtful(belief: Belief) -> bool:
    """Whether a check is worth its time: little evidence, or a function that turns often along a direction.

    Not where all is taken for noise: that says what the mean and variance do.
    """
    y, best = belief.posterior.data.y, belief.components[0]
    learned_noise = belief.posterior.priors.log_noise[1] > 0
    if belief.inference != "nested" or not isinstance(belief.model, Linear) or not learned_noise:
        return False
    if y.shape[0] < _LEAST or is_constant(belief.y):
        return False
    if np.var(fitted(best.gp)) < _SILENT * np.var(y):
        return False
    all_noise = -0.5 * y.shape[0] * np.log(2.0 * np.pi * math.e * np.var(y))
    little = best.log_evidence - all_noise < _BEYOND_DOUBT * y.shape[0]
    return bool(little or _wiggly(best.gp))


def check(belief: Belief, noise: Array, most: int) -> Check:
    """How the scales and noise of the best mode predict observations left out.

    ``noise (n,)`` is the variance known beforehand of an observation that is predicted; of more
    than ``most`` observations a part is drawn.
    """
    best, data = belief.components[0].gp, belief.posterior.data
    rng = np.random.default_rng(belief.seed)
    rows = rng.choice(data.n, most, replace=False) if data.n > most else np.arange(data.n)
    part = Data(data.Z[rows], data.y[rows], data.noise[rows])
    modes = [c.gp.theta for c in belief.components if c.gp.embedding == best.embedding]
    posterior = replace(belief.posterior, embedding=best.embedding, data=part)
    return _compared(posterior, modes, noise[rows], _ROUNDS if _wiggly(best) else 1, rng)


def _wiggly(gp: ConditionedGP) -> bool:
    return bool(gp.U.std(axis=0).max() > _WIGGLY)


def _folds(n: int, rounds: int, rng: np.random.Generator) -> list[Mask]:
    """What to leave out, each observation once a round."""
    orders = [rng.permutation(n) for _ in range(rounds)]
    return [np.isin(np.arange(n), order[k::_N_FOLDS]) for order in orders for k in range(_N_FOLDS)]


def _compared(
    posterior: Posterior, modes: Sequence[Array], noise: Array, rounds: int, rng: np.random.Generator
) -> Check:
    """Leave out each fold in turn and predict it from the rest."""
    errors, variances, losses = np.zeros(0), np.zeros(0), np.zeros(0)
    folds = _folds(posterior.data.n, rounds, rng)
    for k, out in enumerate(folds):
        mean, variance = _predicted(posterior, modes, out, rng)
        y, rest = posterior.data.y[out], posterior.data.y[~out]
        errors = np.concatenate([errors, y - mean])
        variances = np.concatenate([variances, variance + noise[out]])
        spread = max(rest.var(), 1e-12) + (noise[out] - noise.min())  # what is known of the noise, the mean knows too
        losses = np.concatenate([losses, _loss(y - rest.mean(), spread)])
        excess = float(np.mean(_loss(errors, variances) - losses))
        if 2 * (k + 1) == len(folds) and excess < -_PLAIN:
            break
    misfit2, gain = _extra_noise(errors, variances)
    return Check(excess, float(np.sqrt(misfit2)), gain * posterior.data.n / errors.shape[0])


def _predicted(
    posterior: Posterior, modes: Sequence[Array], out: Mask, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Mean and variance of the observations that are ``out``, from the others, known noise apart."""
    data = posterior.data
    part = replace(posterior, data=Data(data.Z[~out], data.y[~out], data.noise[~out]))
    fresh, known = _fresh(part, modes[0], rng), _followed(part, modes)
    log_weights = np.array([o.log_evidence for o in fresh] + [o.log_evidence - _KNOWN_HANDICAP for o in known])
    weights = np.exp((log_weights - log_weights.max()) / _TEMPERATURE)
    weights /= weights.sum()
    nothing = np.zeros(int(out.sum()))
    parts = []
    for lap in [*fresh, *known]:
        factor = np.zeros((lap.theta.shape[0], lap.factor.shape[1]))
        factor[lap.inner] = lap.factor
        parts.append(marginal.moments(lap.gp, factor, data.Z[out], nothing, 0.0, "mgp"))
    means = np.stack([p.mean for p in parts])
    mean = weights @ means
    variance = weights @ np.stack([p.variance for p in parts]) + weights @ (means - mean) ** 2
    return mean, variance + np.exp(2.0 * modes[0][LOG_NOISE])


def _fresh(part: Posterior, mode: Array, rng: np.random.Generator) -> list[Laplace]:
    """Modes at the scales and noise of ``mode`` that searches in this part of the data find."""
    inner, outer = nested.split(part)
    climbed = []
    for theta in starts.draw(part, _N_STARTS, rng):
        loud = max(theta[LOG_NOISE], mode[LOG_NOISE])
        theta[outer] = mode[outer]
        theta[LOG_NOISE] = loud
        with suppress(NumericalError):  # a start that floating point cannot follow; others remain
            theta = climb(part, theta, inner, _SHORT)
            theta[LOG_NOISE] = mode[LOG_NOISE]
            theta = climb(part, theta, inner, _MIDDLE)
            climbed.append((part.log_density(theta), theta))
    climbed.sort(key=lambda pair: -pair[0])
    return [_approximated(part, theta, inner) for _, theta in climbed[:_KEPT]]


def _followed(part: Posterior, modes: Sequence[Array]) -> list[Laplace]:
    """The known modes in this part of the data, lest a short search that fails pass for misfit."""
    inner, outer = nested.split(part)
    moved = []
    for mode in modes[:_KEPT]:
        theta = mode.copy()
        theta[outer] = modes[0][outer]
        moved.append(_approximated(part, theta, inner))
    return moved


def _approximated(part: Posterior, theta: Array, inner: Array) -> Laplace:
    return approximate(part, part.evaluate(climb(part, theta, inner, _LONG)), inner)


def _loss(errors: Array, variances: Array) -> Array:
    """Negative log densities, constants apart."""
    return 0.5 * (np.log(variances) + errors**2 / variances)


def _extra_noise(errors: Array, variances: Array) -> tuple[float, float]:
    """The extra variance under which ``errors`` are likeliest, and the nats that it gains."""
    largest = float(np.max(errors**2, initial=0.0))
    found = minimize_scalar(
        lambda extra: _loss(errors, variances + extra).sum(), bounds=(0.0, largest), method="bounded"
    )
    gain = float(_loss(errors, variances).sum() - found.fun)
    return (float(found.x), gain) if gain > 0 else (0.0, 0.0)
