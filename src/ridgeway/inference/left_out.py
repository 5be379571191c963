"""Whether a belief's scales and noise would have predicted observations that were left out.

Evidence and closed-form leave-one-out judge an embedding by the data it was chosen with. Where
the model is wrong (too few directions, a kink) an embedding along which the function turns often
can, with little noise, score well in both and predict nothing. Here a part of the data is left out
and the embedding is searched for afresh in the rest, so that what was left out had no influence on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from ridgeway.gp import moments
from ridgeway.gp.posterior import Posterior, Process
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import evidence, starts
from ridgeway.inference.laplace import Laplace, approximate
from ridgeway.inference.mixture import Component, tempered
from ridgeway.inference.newton import climb
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT, LeftOutSettings, SearchSettings
from ridgeway.types import Array, Mask


@dataclass(frozen=True)
class Check:
    """How the observations left out were predicted."""

    excess: float  # nats an observation worse than by the mean and variance of the rest; negative is better
    misfit: float  # standard deviation of the extra noise that predicts them best
    gain: float  # nats that this noise gains, for as many observations as there are
    failures: int = 0  # searches that floating point could not follow
    settings: LeftOutSettings = DEFAULT.left_out

    @property
    def misled(self) -> bool:
        """Whether the mean would have served about as well, by more than chance."""
        return self.excess > self.settings.harm and self.gain > self.settings.least_gain


def doubtful(
    posterior: Posterior, components: Sequence[Component], settings: LeftOutSettings = DEFAULT.left_out
) -> bool:
    """Whether a check is worth its time: little evidence, or a function with many turns along a direction.

    Not where all is taken for noise: that predicts what the mean and variance do.
    """
    y, best = posterior.data.y, components[0]
    learned_noise = posterior.priors.log_noise[1] > 0
    if not posterior.embedding.has_directions or not learned_noise or y.shape[0] < settings.least_observations:
        return False
    if np.var(best.gp.fitted()) < settings.explains_nothing * np.var(y):
        return False
    all_noise = -0.5 * y.shape[0] * np.log(2.0 * np.pi * math.e * np.var(y))
    little = best.log_evidence - all_noise < settings.beyond_doubt * y.shape[0]
    return bool(little or _has_many_turns(best.gp, settings))


def check(
    posterior: Posterior, components: Sequence[Component], noise: Array, seed: int, settings: SearchSettings = DEFAULT
) -> Check:
    """How the scales and noise of the best mode predict observations left out.

    ``noise (n,)`` is the variance known beforehand of an observation that is predicted. Of many
    observations a part is drawn.
    """
    best, data, rules = components[0].gp, posterior.data, settings.left_out
    run = SearchRun(np.random.default_rng(seed), settings)
    most = rules.most_observations
    rows = run.rng.choice(data.n, most, replace=False) if data.n > most else np.arange(data.n)
    modes = [c.gp.theta for c in components if c.gp.embedding == best.embedding]
    part = replace(posterior, embedding=best.embedding, data=data.rows(rows))
    return _compared(part, modes, noise[rows], rules.rounds if _has_many_turns(best, rules) else 1, run)


def _has_many_turns(gp: Process, settings: LeftOutSettings) -> bool:
    return bool(gp.U.std(axis=0).max() > settings.many_turns)


def _folds(n: int, n_folds: int, rounds: int, rng: np.random.Generator) -> list[Mask]:
    """What to leave out, each observation once a round."""
    orders = [rng.permutation(n) for _ in range(rounds)]
    return [np.isin(np.arange(n), order[k::n_folds]) for order in orders for k in range(n_folds)]


def _compared(posterior: Posterior, modes: Sequence[Array], noise: Array, rounds: int, run: SearchRun) -> Check:
    """Leave out each fold in turn and predict it from the rest."""
    rules = run.settings.left_out
    errors, variances, losses = np.zeros(0), np.zeros(0), np.zeros(0)
    folds = _folds(posterior.data.n, rules.n_folds, rounds, run.rng)
    for k, out in enumerate(folds):
        mean, variance = _predicted(posterior, modes, out, run)
        y, rest = posterior.data.y[out], posterior.data.y[~out]
        errors = np.concatenate([errors, y - mean])
        variances = np.concatenate([variances, variance + noise[out]])
        spread = max(rest.var(), 1e-12) + (noise[out] - noise.min())  # known noise counts for the mean as well
        losses = np.concatenate([losses, _loss(y - rest.mean(), spread)])
        excess = float(np.mean(_loss(errors, variances) - losses))
        if 2 * (k + 1) == len(folds) and excess < -rules.clear:
            break
    misfit2, gain = _extra_noise(errors, variances)
    scaled = gain * posterior.data.n / errors.shape[0]
    return Check(excess, float(np.sqrt(misfit2)), scaled, run.failures, rules)


def _predicted(posterior: Posterior, modes: Sequence[Array], out: Mask, run: SearchRun) -> tuple[Array, Array]:
    """Mean and variance of the observations that are left ``out``, from the others, known noise apart."""
    data = posterior.data
    part = replace(posterior, data=data.rows(~out))
    fresh, known = _fresh(part, modes[0], run), _followed(part, modes, run)
    penalty = run.settings.left_out.known_penalty
    log_weights = np.array([o.log_evidence for o in fresh] + [o.log_evidence - penalty for o in known])
    weights = tempered(log_weights, run.settings.mixture.temperature)
    spanned = np.zeros(int(out.sum()))
    parts = [moments.moments(lap.gp, lap.full_factor, data.Z[out], spanned, 0.0, "mgp") for lap in (*fresh, *known)]
    together = moments.mix(weights, parts)
    return together.mean, together.variance + np.exp(2.0 * modes[0][LOG_NOISE])


def _fresh(part: Posterior, mode: Array, run: SearchRun) -> list[Laplace]:
    """Modes at the scales and noise of ``mode`` that a short search in this part of the data finds."""
    rules = run.settings.left_out
    short, middle, long = rules.iterations
    inner, outer = evidence.split(part)
    climbed = []
    for theta in starts.draw(part, rules.n_starts, run.rng, run.settings.starts):
        first_noise = max(theta[LOG_NOISE], mode[LOG_NOISE])
        theta[outer] = mode[outer]
        theta[LOG_NOISE] = first_noise
        with run.counting_failures():
            theta = climb(part, theta, inner, short)
            theta[LOG_NOISE] = mode[LOG_NOISE]
            theta = climb(part, theta, inner, middle)
            climbed.append((part.log_density(theta), theta))
    climbed.sort(key=lambda pair: -pair[0])
    return [_approximated(part, theta, inner, long) for _, theta in climbed[: rules.kept]]


def _followed(part: Posterior, modes: Sequence[Array], run: SearchRun) -> list[Laplace]:
    """The known modes in this part of the data, so that a short search that fails does not pass for misfit."""
    rules = run.settings.left_out
    inner, outer = evidence.split(part)
    moved = []
    for mode in modes[: rules.kept]:
        theta = mode.copy()
        theta[outer] = modes[0][outer]
        moved.append(_approximated(part, theta, inner, rules.iterations[2]))
    return moved


def _approximated(part: Posterior, theta: Array, inner: Array, iterations: int) -> Laplace:
    return approximate(part, part.evaluate(climb(part, theta, inner, iterations)), inner)


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
