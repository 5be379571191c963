"""From a posterior to a belief over its hyperparameters: ``"map"`` and ``"nested"``.

Either way the result is a mixture of Gaussians, one for each mode that carries weight:
``"map"`` keeps the joint mode alone, as the paper does; ``"nested"`` keeps every mode whose
evidence comes near the best, because with few data several embeddings explain them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from ridgeway import modes, nested, straight
from ridgeway.directions import mean_slopes
from ridgeway.embeddings import Linear
from ridgeway.errors import NumericalError
from ridgeway.gp import LOG_NOISE, LOG_SCALE, N_GLOBAL, ConditionedGP
from ridgeway.laplace import SADDLE, Laplace, climb, settle
from ridgeway.posterior import Posterior
from ridgeway.types import Array

Inference = Literal["map", "nested"]
Progress = Callable[[str], None]

N_STARTS = 40
N_FINALISTS = 6  # modes whose outer hyperparameters are optimised
LOWER_RANK_SHARE = 4  # a lower rank gets one start in so many
N_COMPONENTS = 4  # modes a belief keeps
_TEMPERATURE = 3.0  # Laplace evidences of different modes are wrong by several nats: trust them a third
_RANK_HANDICAP = 3.0  # nats for each row fewer: the user asked for d, and Laplace shortchanges larger models
_LEAST_WEIGHT = 0.02
_HOPELESS = 15.0  # nats below the best at which a mode is given up
_LOUD = float(np.log(0.6))  # log of the noise, outputs standardised, beyond which it hides other modes
_QUIET = tuple(np.log([0.05, 0.02]))  # noise that the best modes are tried with
_QUIETED = 2  # how many
_QUIET_ITERATIONS = 40
_FEW_EVALUATIONS = 3
_HARDLY_NOISE = float(np.log(0.1))  # log of the noise, outputs standardised, below which a mode explains all
_ABOVE = 4  # modes of one row more that are climbed to, and cut
_CUT_ITERATIONS = 40
_MANY_STARTS = 10  # from which a search is a full one, whatever modes are known
_WARM_MARGIN = 5.0  # nats below the best at which one of a few fresh starts beside known modes is not climbed from
_GAIN = 0.2  # nats of evidence that a probe must add to be climbed from, if it beats the best mode
_LARGE_GAIN = 2.0  # and if it does not: the climb to its mode had stopped half way


@dataclass(frozen=True)
class Component:
    """One Gaussian of the belief: the process at a mode, and ``F`` with ``F Fᵀ`` the covariance."""

    gp: ConditionedGP
    factor: Array  # (P + 4, q)
    weight: float
    log_evidence: float  # of the mode, with the prior of its rank


@dataclass(frozen=True)
class Inferred:
    """What an inference found."""

    components: tuple[Component, ...]
    log_evidence: float
    optima: tuple[float, ...]
    n_starts: int
    starts_at_best: int
    disagreement: float
    smallest_curvature: float
    decrement: float
    outer_slack: float

    @property
    def converged(self) -> bool:
        return self.decrement < 1e-2 and self.smallest_curvature > -SADDLE


def infer(
    posterior: Posterior,
    method: Inference,
    rng: np.random.Generator,
    n_starts: int = N_STARTS,
    initial: tuple[Array, ...] = (),
    progress: Progress | None = None,
) -> Inferred:
    """Infer the hyperparameters; ``initial`` are modes of an earlier belief."""
    say = progress or (lambda message: None)
    if method == "map":
        return _joint(posterior, rng, n_starts, initial, say)
    return _nested(posterior, rng, n_starts, initial, say)


def _joint(
    posterior: Posterior, rng: np.random.Generator, n_starts: int, initial: tuple[Array, ...], say: Progress
) -> Inferred:
    """The paper's recipe: one mode over everything, and its Hessian."""
    free = posterior.free()
    free = free[free != posterior.n_parameters + N_GLOBAL + LOG_SCALE]  # the prior scale is given
    searched, n_starts = modes.search(posterior, free, n_starts, rng, say) if n_starts else ([], 0)
    candidates = [(theta, 1) for theta in initial] + [(o.laplace.theta, o.reached) for o in searched[:N_FINALISTS]]
    found: list[modes.Optimum] = []
    for theta, reached in candidates:
        theta = theta.copy()
        theta[LOG_SCALE] = posterior.priors.globals[0][LOG_SCALE]
        found = modes.merge(found, settle(posterior, climb(posterior, theta, free, 100), free), reached)
    found.sort(key=lambda o: -o.laplace.log_density)
    best = found[0].laplace
    factor = np.zeros((best.theta.shape[0], best.factor.shape[1]))
    factor[best.inner] = best.factor
    component = Component(best.gp, factor, 1.0, best.log_evidence)
    ranking = [o.laplace.log_density for o in found]
    return _report((component,), found, ranking, best.log_evidence, n_starts + len(initial), 0.0)


def _nested(
    posterior: Posterior, rng: np.random.Generator, n_starts: int, initial: tuple[Array, ...], say: Progress
) -> Inferred:
    """Modes of every rank up to ``d``, together.

    The paper pads ``R`` with rows of zeros where fewer than ``d`` dimensions matter. A row that
    has to be zero costs the shared prior scale dearly, so each smaller ``d`` is a model of its
    own, and the evidence weighs them all.
    """
    optima: list[modes.Optimum] = []
    concluded: list[nested.Nested] = []
    searches = len(initial)
    lines = [theta for theta in initial if straight.is_straight(posterior, theta)]
    for smaller in ranks(posterior):
        share = n_starts if smaller is posterior else n_starts // LOWER_RANK_SHARE
        bent = (theta for theta in initial if not straight.is_straight(posterior, theta))
        mine = tuple(theta for theta in bent if theta.shape[0] == smaller.n_parameters + N_GLOBAL)
        if not share and not mine:
            continue
        finalists = N_FINALISTS if smaller is posterior else N_FINALISTS // 2
        found, made = _modes_of_rank(smaller, rng, share, finalists, mine, say)
        if smaller is posterior and made == share >= _MANY_STARTS:  # fewer are made where they agree
            found = _with_those_from_above(posterior, found, rng, share, say)
        found, results = _concluded(smaller, found)
        optima, concluded = optima + found, concluded + results
        searches += made if smaller is posterior else 0
    best = max((n.log_evidence for n in concluded), default=-np.inf)
    found, results = _straight_lines(posterior, lines, best - (_WARM_MARGIN if initial else _HOPELESS))
    optima, concluded = optima + found, concluded + results
    if not optima:
        raise NumericalError("no mode of the posterior could be followed in floating point")
    return _mixture(concluded, optima, searches, len(ranks(posterior)))


def ranks(posterior: Posterior) -> list[Posterior]:
    """The posterior itself, and before it those of its lower ranks."""
    embedding = posterior.embedding
    if not isinstance(embedding, Linear):
        return [posterior]
    return [replace(posterior, embedding=Linear(d)) for d in range(1, embedding.rows)] + [posterior]


def _with_those_from_above(
    posterior: Posterior, optima: list[modes.Optimum], rng: np.random.Generator, n_starts: int, say: Progress
) -> list[modes.Optimum]:
    """``optima`` and, where they leave anything to noise, those near modes of one row more, cut to size.

    A search with a direction to spare goes around what stops one without.
    """
    embedding = posterior.embedding
    if not isinstance(embedding, Linear) or embedding.rows >= posterior.data.Z.shape[1]:
        return optima
    if optima and optima[0].laplace.theta[LOG_NOISE] < _HARDLY_NOISE:
        return optima
    wider = replace(posterior, embedding=Linear(embedding.rows + 1))
    inner, _ = nested.split(posterior)
    with suppress(NumericalError):
        found, _ = _modes_of_rank(wider, rng, n_starts, _ABOVE, (), say)
        cut = [_less_a_direction(optimum.laplace.gp) for optimum in _leading(found)]
        optima = _followed(posterior, optima, [climb(posterior, theta, inner, _CUT_ITERATIONS) for theta in cut])
    return optima


def _less_a_direction(gp: ConditionedGP) -> Array:
    """``theta`` of one row fewer: without the direction along which the function varies least at the data."""
    slopes = mean_slopes(gp)
    _, turned = np.linalg.eigh(slopes.T @ slopes)
    A = gp.parameters.reshape(gp.U.shape[1], -1)
    return np.concatenate([(turned[:, 1:].T @ A).ravel(), gp.theta[-N_GLOBAL:]])


def _modes_of_rank(
    posterior: Posterior, rng: np.random.Generator, n_starts: int, finalists: int, initial: tuple[Array, ...],
    say: Progress,
) -> tuple[list[modes.Optimum], int]:  # fmt: skip
    """Modes near those that are known and those that a search finds, and how many starts it made."""
    inner, _ = nested.split(posterior)
    found, n_made = modes.search(posterior, inner, n_starts, rng, say) if n_starts else ([], 0)
    # Climbs begin at the best scales and noise so far. At those of a mode that takes most for noise every other
    # one dissolves, so such modes come last.
    loud = [theta for theta in initial if theta[LOG_NOISE] > _LOUD]
    optima = _followed(posterior, [], [theta for theta in initial if theta[LOG_NOISE] <= _LOUD])
    climbs: list[tuple[Laplace, Laplace]] = []
    for i, optimum in enumerate(found[:finalists]):
        say(f"evidence of mode {i + 1} of {min(len(found), finalists)}")
        with suppress(NumericalError):  # a mode that floating point cannot follow; others remain
            margin = _WARM_MARGIN if initial and n_starts < _MANY_STARTS else np.inf
            climbs.append(_climb_evidence(posterior, optimum.laplace, optima, climbs, margin))
            optima = modes.merge(optima, climbs[-1][1], optimum.reached)
    optima = _followed(posterior, optima, loud)
    for optimum in optima[: _QUIETED if n_starts >= _MANY_STARTS else 1]:
        with suppress(NumericalError):
            optima = _with_quieter(posterior, optima, optimum.laplace)
    return optima, n_made


def _with_quieter(posterior: Posterior, optima: list[modes.Optimum], lap: Laplace) -> list[modes.Optimum]:
    """``optima`` and the one that a mode leads to with hardly any noise, if that explains the data better.

    Searches begin with much noise, which smooths the posterior. What has none, as a simulator, has a sharp mode
    beside the smooth one that they find, and no climb of the evidence leads from one to the other.
    """
    inner, outer = nested.split(posterior)
    at_noise = posterior.n_parameters + N_GLOBAL + LOG_NOISE
    best, found = lap.log_density, lap.theta
    for level in _QUIET:
        if at_noise not in outer or found[LOG_NOISE] <= level:
            continue
        theta = found.copy()
        theta[LOG_NOISE] = level
        theta = climb(posterior, theta, inner, _QUIET_ITERATIONS)
        density = posterior.log_density(theta)
        if density < best:
            break
        best, found = density, theta
    if found is lap.theta:
        return optima
    start = settle(posterior, found, inner)
    if start.log_evidence < lap.log_evidence:
        return optima
    return modes.merge(optima, nested.maximize_evidence(posterior, start))


def _straight_lines(
    posterior: Posterior, known: list[Array], hopeless: float
) -> tuple[list[modes.Optimum], list[nested.Nested]]:
    """The straight line of most evidence: near one that is ``known``, or near a regression that is not ``hopeless``."""
    if not straight.possible(posterior):
        return [], []
    model = straight.model(posterior)
    if known:
        return _concluded(model, _followed(model, [], known))
    regression = straight.regression(model)
    optima: list[modes.Optimum] = []
    if regression.log_evidence > hopeless:
        with suppress(NumericalError):
            start = settle(model, regression.theta, nested.split(model)[0])
            if start.log_evidence > hopeless - _HOPELESS:  # a climb may yet lead that far
                optima = modes.merge([], nested.maximize_evidence(model, start))
    return _concluded(model, optima)


def _followed(posterior: Posterior, optima: list[modes.Optimum], thetas: list[Array]) -> list[modes.Optimum]:
    """``optima`` and the evidence's optima near known modes, best first."""
    inner, _ = nested.split(posterior)
    for i, theta in enumerate(thetas):  # one more observation moves a mode little: the best is followed with care
        evaluations = nested.MOST_EVALUATIONS if i == 0 else _FEW_EVALUATIONS
        with suppress(NumericalError):
            optima = modes.merge(
                optima,
                nested.maximize_evidence(posterior, settle(posterior, theta, inner), most_evaluations=evaluations),
            )
    return optima


def _concluded(posterior: Posterior, optima: list[modes.Optimum]) -> tuple[list[modes.Optimum], list[nested.Nested]]:
    """The modes, and those among them that may carry weight with their scales and noise integrated out."""
    concluded: dict[int, nested.Nested] = {}
    for last in (False, True):  # a probe that beats its mode is climbed from, once
        for optimum in _leading(optima):
            if id(optimum.laplace) in concluded:
                continue
            result, probe = nested.conclude(posterior, optimum.laplace)
            concluded[id(optimum.laplace)] = result
            gain = _GAIN if probe.log_evidence > optima[0].laplace.log_evidence else _LARGE_GAIN
            if probe.log_evidence > optimum.laplace.log_evidence + gain and not last:
                with suppress(NumericalError):
                    better = nested.maximize_evidence(posterior, probe)
                    optima = modes.merge([o for o in optima if o is not optimum], better, optimum.reached)
    return optima, [concluded[id(o.laplace)] for o in optima if id(o.laplace) in concluded]


def _leading(optima: list[modes.Optimum]) -> list[modes.Optimum]:
    best = max((o.laplace.log_evidence for o in optima), default=0.0)
    return [o for o in optima if o.laplace.log_evidence > best - _HOPELESS][:N_COMPONENTS]


def _climb_evidence(
    posterior: Posterior, found: Laplace, optima: list[modes.Optimum], climbs: list[tuple[Laplace, Laplace]],
    margin: float,
) -> tuple[Laplace, Laplace]:  # fmt: skip
    """Where the climb of the evidence from a mode that was ``found`` begins, and the optimum that it leads to.

    One that would begin where one of the ``climbs`` before it began or ended is not made
    again, nor one that would begin more than ``margin`` nats below the best. Each begins at the
    best's scales and noise, or at its own where these suit it better.
    """
    inner, outer = nested.split(posterior)
    start = found
    if optima and outer.shape[0]:
        best = optima[0].laplace
        moved = found.theta.copy()
        moved[outer] = best.theta[outer]
        there = settle(posterior, moved, inner)
        if there.log_evidence < best.log_evidence - margin:
            return there, there
        start = max((there, found), key=lambda lap: lap.log_evidence)
    if start is found:
        start = settle(posterior, found.theta, inner)
    for known in (*((o.laplace, o.laplace) for o in optima), *climbs):
        if modes.same(start, known[0]):
            return known
    hopeless = optima[0].laplace.log_evidence - _HOPELESS if optima else -np.inf
    return start, nested.maximize_evidence(posterior, start, hopeless)


def _mixture(concluded: list[nested.Nested], optima: list[modes.Optimum], n_starts: int, d: int) -> Inferred:
    """Modes of all ranks as one mixture, each by its evidence and the prior of its rank."""
    ranking = {id(n.inner): n.log_evidence + _log_rank_prior(n.inner, d) for n in concluded}
    concluded = sorted(concluded, key=lambda n: -ranking[id(n.inner)])[:N_COMPONENTS]
    logs = np.array([ranking[id(n.inner)] for n in concluded])
    weights = np.exp((logs - logs[0]) / _TEMPERATURE)
    weights = np.where(weights > _LEAST_WEIGHT * weights.sum(), weights, 0.0)
    components = tuple(
        Component(n.inner.gp, n.factor, float(w), float(log))
        for n, w, log in zip(concluded, weights / weights.sum(), logs, strict=True)
        if w > 0
    )
    best = concluded[0]
    # Modes that were given up have no evidence with scales and noise integrated out: theirs changes as the best's.
    gained = best.log_evidence - best.inner.log_evidence
    values = {
        id(o.laplace): min(
            ranking.get(id(o.laplace), o.laplace.log_evidence + _log_rank_prior(o.laplace, d) + gained), logs[0]
        )
        for o in optima
    }
    found = sorted(optima, key=lambda o: (-values[id(o.laplace)], o.laplace is not best.inner))
    return _report(
        components, found, [values[id(o.laplace)] for o in found], float(logsumexp(logs)), n_starts, best.slack
    )


def _log_rank_prior(lap: Laplace, d: int) -> float:
    """Each row fewer than the user asked for is ``_RANK_HANDICAP`` nats less likely beforehand."""
    if not isinstance(lap.gp.embedding, Linear):
        return 0.0
    handicap = -_RANK_HANDICAP * np.arange(d)
    return float(handicap[d - lap.gp.embedding.rows] - logsumexp(handicap))


def _report(
    components: tuple[Component, ...],
    found: list[modes.Optimum],
    ranking: list[float],
    log_evidence: float,
    n_starts: int,
    slack: float,
) -> Inferred:
    best = found[0].laplace
    others = [o.laplace for o in found[1:]]
    disagreement = 0.0
    if others:
        gap = modes.fitted(best.gp) - modes.fitted(others[0].gp)
        disagreement = float(np.sqrt(np.mean(gap**2)))
    return Inferred(
        components=components,
        log_evidence=log_evidence,
        optima=tuple(map(float, ranking)),
        n_starts=n_starts,
        starts_at_best=found[0].reached,
        disagreement=disagreement,
        smallest_curvature=best.smallest_curvature,
        decrement=best.decrement,
        outer_slack=slack,
    )
