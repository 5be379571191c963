"""Modes known from a part of many rows, followed on all of them with a finite basis.

A search for modes needs few rows; scales, noise and the embedding's last digits need all. So modes that were found on
a part are climbed from on a larger part, and those that carry weight there on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.posterior import Evaluation, Posterior, Process
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE, N_GLOBAL, Data
from ridgeway.gp.row_source import DataRows
from ridgeway.inference import evidence, gauge, newton
from ridgeway.inference.laplace import Laplace, approximate, settle
from ridgeway.inference.mixture import Inferred, KnownMode, mixture
from ridgeway.inference.newton import climb
from ridgeway.inference.population import Optimum, merge
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import SearchSettings
from ridgeway.types import Array

_ROUNDS = 4  # bases at most, each chosen around the mode found with the one before
_FINE = 0.8  # of the waves that would be chosen again
_ROWS_A_PARAMETER = 20  # beyond which there are many rows for so many parameters
_ROUGHLY, _TOLERANCE = 1.0, 0.1  # gradients, in units of the prior, to which the first climb and the others go
_REUSE = 0.7  # of a gradient that a step may leave
_NEWTON = 15  # iterations of each
_TILTS, _SETTLED = 3, 1e-2  # at most, and nats that are not worth another
_SAME_EVIDENCE = 5.0  # nats by which the evidence of one mode differs with its basis
_RECOGNISED = 0.8  # similarity of an embedding on the way to that of the mode that it comes to
_AFFORDABLE = 0.1  # nats a row that a direction less may cost to be tried
_SAMPLE = 2048  # rows at which modes are compared
_ITERATIONS = 40  # of a quasi-Newton climb before Newton's method takes over
_LINE_SCALE = 1.5  # log output scale that a straight line begins with
_FIRST_NOISES = ((0.6, 25), (0.25, 25))  # noise and iterations through which a start from moments climbs


def infer(part: Posterior, whole: Posterior, modes: Sequence[KnownMode], n_ranks: int, run: SearchRun) -> Inferred:
    """The mixture of modes of ``whole``: of those near ``modes`` and of a regression on ``part``, all that have weight.

    ``part`` and ``whole`` are the same model on a part of the rows and on all.
    """
    optima: list[Optimum] = []
    for i, (model, theta) in enumerate(_starts(part, modes, run)):
        run.say(f"following mode {i + 1} on {part.data.n:,} rows")
        with run.counting_failures():
            optima = _merged(optima, Optimum(followed(model, theta, run)), run)
    with run.counting_failures():
        run.say(f"climbing from moments of {part.data.n:,} rows")
        theta = _from_moments(part)
        if not any(_leads_to(theta, optimum) for optimum in optima):
            optima = _merged(optima, Optimum(followed(part, theta, run)), run)
    if not optima:
        raise NumericalError(_too_many(part))
    if whole.data.n > part.data.n:
        optima = _on_all(whole, optima, run)
    done = [replace(o, nested=evidence.concluded_by_curvature(o.laplace.posterior, o.laplace)) for o in optima]
    return mixture(done, 0, n_ranks, run)


def _merged(optima: list[Optimum], found: Optimum, run: SearchRun) -> list[Optimum]:
    """``optima`` and one more, best first; modes that differ by no more than their bases do are one."""
    alike = [o for o in optima if o.laplace.gp.embedding == found.laplace.gp.embedding]
    others = [o for o in optima if o.laplace.gp.embedding != found.laplace.gp.embedding]
    rules = replace(run.settings.population, same_evidence=_SAME_EVIDENCE)
    return sorted([*others, *merge(alike, found, rules)], key=lambda o: -o.laplace.log_evidence)


def _leads_to(theta: Array, optimum: Optimum) -> bool:
    """Whether a climb has come to an embedding that is known."""
    gp = optimum.laplace.gp
    if gp.theta.shape != theta.shape:
        return False
    return bool(gp.embedding.similarity(theta[:-N_GLOBAL], gp.parameters) > _RECOGNISED)


def _too_many(posterior: Posterior) -> str:
    return (
        f"no finite basis is large enough for a function of {posterior.embedding.n_rows(posterior.D)} directions that "
        "varies so fast: are there inputs of enormous range? Fewer directions, bounds, or approximation='exact' on a "
        "part of the rows are ways on"
    )


def _on_all(whole: Posterior, optima: list[Optimum], run: SearchRun) -> list[Optimum]:
    """The leading modes of a part of the rows, on all of them."""
    rules, best = run.settings, optima[0].laplace.log_evidence
    # Evidence grows with the rows: what is far behind on a part is out of the question on all.
    leading = [o for o in optima if o.laplace.log_evidence > best - rules.mixture.discard][: rules.subset_modes]
    found: list[Optimum] = []
    for i, optimum in enumerate(leading):
        run.say(f"following mode {i + 1} of {len(leading)} on all {whole.data.n:,} rows")
        model = replace(optimum.laplace.posterior, data=whole.data)
        with run.counting_failures():
            lap = followed(model, optimum.laplace.theta, run, optimum.laplace)
            found = _merged(found, replace(optimum, laplace=lap), run)
    if not found:
        raise NumericalError(_too_many(whole))
    return found


def followed(model: Posterior, theta: Array, run: SearchRun, near: Laplace | None = None) -> Laplace:
    """The mode near ``theta``, with a basis that is accurate there.

    A mode ``near``, of fewer rows, lends its curvature to the first steps.
    """
    data = model.data
    assert isinstance(data, FeatureData)
    joint = data.n > _ROWS_A_PARAMETER * theta.shape[0]
    if near is None and joint:
        near = _drafted(
            replace(model, data=data.around(model.embedding, model.kernel, theta, is_draft=True)), theta, run
        )
        theta = near.theta
    for _ in range(_ROUNDS):
        fixed = replace(model, data=data.around(model.embedding, model.kernel, theta))
        near = _jointly(fixed, near, run) if joint and near is not None else _nested(fixed, theta, near, run)
        theta = near.theta
        assert isinstance(fixed.data, FeatureData)
        if fixed.data.covers(theta) and _is_fine(fixed.data, data.around(model.embedding, model.kernel, theta)):
            return near
    raise NumericalError("the embedding grows out of every basis")


def _drafted(fixed: Posterior, theta: Array, run: SearchRun) -> Laplace:
    """About where the mode is: that of density and volume together, with few waves."""
    inner, outer = evidence.split(fixed)
    both, rough = np.concatenate([inner, outer]), WithVolume.of(fixed)
    theta = climb(rough, theta, both, _ITERATIONS)
    rules = replace(run.settings.newton, gradient_tolerance=_ROUGHLY)
    found, H = newton.find_mode(rough, theta, both, None, _NEWTON, rules)
    at = rough.without(found)
    return approximate(fixed, at, inner, None if H is None else H - volume_hessian(at.gp))


def _jointly(fixed: Posterior, lap: Laplace, run: SearchRun) -> Laplace:
    """The same mode as :func:`_nested` where there are many rows, at the cost of a few curvatures, from one nearby.

    Embedding, scales and noise are climbed together, on a density that is tilted by what the volume around the mode of
    the embedding says about scales and noise. That hardly changes on the way, so that few tilts are needed.
    """
    inner, outer = evidence.split(fixed)
    both = np.concatenate([inner, outer])
    # a curvature costs many gradients here, so that each serves as long as it leads on
    rules = replace(run.settings.newton, gradient_tolerance=_TOLERANCE, reuse=_REUSE, reuse_progress=_REUSE)
    for _ in range(_TILTS):
        frame = _Frame.at(lap, outer, fixed.data.n / lap.posterior.data.n)
        tilted = Tilted.of(fixed, frame.tilt)
        found, H = newton.find_mode(tilted, lap.theta, both, frame.joint.solve, _NEWTON, rules)
        lap = approximate(fixed, tilted.without(found), inner, H)
        if _Frame.at(lap, outer).left < _SETTLED:
            break
    return lap


@dataclass(frozen=True)
class _Frame:
    """The curvature at one point over embedding, mean, scales and noise, and the volume's gradient in the last two."""

    joint: Laplace
    tilt: Array  # (P + 4,)

    @classmethod
    def at(cls, lap: Laplace, outer: Array, more: float = 1.0) -> _Frame:
        """From an approximation, for so many times ``more`` rows, and so curvature, than it had."""
        there = Evaluation(lap.gp, lap.log_density, lap.gradient)
        joint = approximate(lap.posterior, there, np.concatenate([lap.inner, outer]), lap.hessian)
        volume = volume_gradient(lap.gp, 1.0 - float(np.mean(1.0 / (more * lap.eigenvalues))))
        tilt = np.zeros_like(volume)
        tilt[outer] = volume[outer] + evidence.tangent(lap, outer).T @ volume[lap.inner]
        return cls(replace(joint, eigenvalues=more * joint.eigenvalues), tilt)

    @property
    def left(self) -> float:
        """Nats that are left to gain."""
        pull = self.joint.factor.T @ (self.joint.gradient + self.tilt)[self.joint.inner]
        return 0.5 * float(pull @ pull)


def volume_gradient(gp: Process, share: float = 1.0) -> Array:
    """How the logarithm of the posterior's volume around the mode of the embedding changes with ``theta``.

    Where there are many rows, the width of the embedding's entries goes with its own size and with the noise, because
    the function itself is known: ``½ D log |R Rᵀ| + P log noise``. The ``share`` of it that is the prior's own goes
    with the prior's scale.
    """
    R = _rows(gp)
    result = np.zeros(gp.theta.shape[0])
    result[:-N_GLOBAL] = share * R.shape[1] * np.linalg.solve(R @ R.T, R).ravel()
    result[LOG_NOISE] = share * R.size
    result[LOG_SCALE] = (1.0 - share) * R.size
    return result


def volume_hessian(gp: Process) -> Array:
    """Its second derivatives, all of it being the rows' share."""
    R = _rows(gp)
    S = np.linalg.inv(R @ R.T)
    SR = S @ R
    across = np.eye(R.shape[1]) - R.T @ SR
    blocks = np.einsum("kl,ij->kilj", S, across) - np.einsum("kj,li->kilj", SR, SR)
    turns, _ = np.linalg.qr(gp.embedding.rotations(gp.parameters))  # which change nothing
    result = np.zeros((gp.theta.shape[0],) * 2)
    result[:-N_GLOBAL, :-N_GLOBAL] = gauge.project_out(R.shape[1] * blocks.reshape(R.size, R.size), turns)
    return result


def _rows(gp: Process) -> Array:
    parameters: Array = gp.parameters
    return parameters.reshape(-1, gp.data.Z.shape[1])


@dataclass(frozen=True)
class Tilted(Posterior):
    """A posterior density times the exponential of a line in ``theta``."""

    tilt: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, posterior: Posterior, tilt: Array) -> Tilted:
        """With the slopes of that line."""
        return cls(**{f.name: getattr(posterior, f.name) for f in fields(posterior)}, tilt=tilt)

    def evaluate(self, theta: Array) -> Evaluation:
        """The logarithm of the product, and its gradient."""
        at = super().evaluate(theta)
        return Evaluation(at.gp, at.log_density + float(self.tilt @ theta), at.gradient + self.tilt)

    def without(self, at: Evaluation) -> Evaluation:
        """The same of the density alone."""
        return Evaluation(at.gp, at.log_density - float(self.tilt @ at.gp.theta), at.gradient - self.tilt)


@dataclass(frozen=True)
class WithVolume(Posterior):
    """A posterior density times the volume around the mode of the embedding: its mode is near that of the evidence."""

    @classmethod
    def of(cls, posterior: Posterior) -> WithVolume:
        """Of this density."""
        return cls(**{f.name: getattr(posterior, f.name) for f in fields(posterior)})

    def evaluate(self, theta: Array) -> Evaluation:
        """The logarithm of the product, and its gradient."""
        at = super().evaluate(theta)
        return Evaluation(at.gp, at.log_density + _volume(at.gp), at.gradient + volume_gradient(at.gp))

    def without(self, at: Evaluation) -> Evaluation:
        """The same of the density alone."""
        return Evaluation(at.gp, at.log_density - _volume(at.gp), at.gradient - volume_gradient(at.gp))

    def hessian(self, gp: Process) -> Array:
        """Its second derivatives."""
        return super().hessian(gp) + volume_hessian(gp)


def _volume(gp: Process) -> float:
    R = _rows(gp)
    return 0.5 * R.shape[1] * float(np.linalg.slogdet(R @ R.T)[1]) + R.size * float(gp.theta[LOG_NOISE])


def _nested(fixed: Posterior, theta: Array, near: Laplace | None, run: SearchRun) -> Laplace:
    """The mode where rows are few for so many parameters: the embedding is integrated out at every step."""
    inner, _ = evidence.split(fixed)
    evaluations = None
    if near is None:
        theta = climb(fixed, theta, inner, _ITERATIONS)
    elif near.posterior.data.n < fixed.data.n:
        evaluations = run.settings.evidence.few_evaluations
        near = replace(near, eigenvalues=fixed.data.n / near.posterior.data.n * near.eigenvalues)
    start = settle(fixed, theta, inner, near, settings=run.settings.newton)
    return evidence.maximize_evidence(fixed, start, max_evaluations=evaluations, settings=run.settings)


def refined(posterior: Posterior, found: Laplace, settings: SearchSettings) -> Optimum:
    """A mode found with a finite basis as a mode of the exact ``posterior`` of the same rows.

    Density and gradient are exact, so that the mode is. Curvatures are those of the basis, which are as good as exact
    (:mod:`ridgeway.gp.feature_likelihood`) at a small part of the cost.
    """
    at = newton.refined(posterior, found.theta, found.inner, found.solve, settings.newton)
    lap = approximate(posterior, at, found.inner, found.hessian)
    outer, _ = evidence.conclude(found.posterior, found, settings)
    gained = lap.log_evidence - found.log_evidence
    return Optimum(lap, nested=replace(outer, inner=lap, log_evidence=outer.log_evidence + gained))


def _is_fine(used: FeatureData, wanted: FeatureData) -> bool:
    """Whether a basis has about as many waves as would be chosen for the scales and noise that it led to."""
    assert used.basis is not None
    assert wanted.basis is not None
    return used.basis.m >= _FINE * wanted.basis.m


def infer_exactly(posterior: Posterior, modes: Sequence[KnownMode], n_ranks: int, run: SearchRun) -> Inferred:
    """The mixture of exact modes near ``modes``, each followed with a finite basis before it is refined."""
    data = posterior.data
    assert isinstance(data, Data)
    behind = FeatureData(data.rows(slice(0, _SAMPLE)), data.n, DataRows(data))
    laps: list[Optimum] = []
    for i, mode in enumerate(modes):
        run.say(f"following mode {i + 1} of {len(modes)} on {data.n:,} rows")
        with run.counting_failures():
            model = replace(mode.posterior, data=behind)
            laps = merge(laps, Optimum(followed(model, mode.theta, run)), run.settings.population)
    if not laps:
        raise NumericalError(_too_many(posterior))
    best = laps[0].laplace.log_evidence
    optima = []
    for optimum in laps:
        if optimum.laplace.log_evidence > best - run.settings.mixture.discard:
            run.say(f"refining a mode on {data.n:,} rows")
            model = replace(optimum.laplace.posterior, data=data)
            optima.append(refined(model, optimum.laplace, run.settings))
    return mixture(optima, 0, n_ranks, run)


def _starts(part: Posterior, modes: Sequence[KnownMode], run: SearchRun) -> list[tuple[Posterior, Array]]:
    """Models and where to begin: at known modes, and at the best of them without a direction that hardly matters."""
    result = []
    for mode in modes:
        model = replace(part, embedding=mode.posterior.embedding)
        result.append((model, _bent(model, mode.theta) if mode.posterior.is_line else mode.theta))
    if modes:
        result += _of_lower_rank(*result[0], run)
    return result


def _of_lower_rank(model: Posterior, theta: Array, run: SearchRun) -> list[tuple[Posterior, Array]]:
    """The same mode without the direction along which the function varies least, and so on while that costs little."""
    result: list[tuple[Posterior, Array]] = []
    few = replace(model, data=model.data.rows(slice(0, run.settings.subset)))
    for smaller in reversed(model.embedding.lower_ranks()):
        gp = few.condition(theta)
        _, axes = np.linalg.eigh(np.cov(gp.mean_slopes().T))
        rows = axes.T[1:] @ gp.parameters.reshape(axes.shape[0], -1)
        lower = replace(few, embedding=smaller)
        theta = np.concatenate([rows.ravel(), theta[-N_GLOBAL:]])
        if lower.log_density(theta) < few.log_density_of(gp) - _AFFORDABLE * few.data.n:
            break
        result.append((replace(model, embedding=smaller), theta))
        few = lower
    return result


def _bent(model: Posterior, theta: Array) -> Array:
    """A straight line as a function that is nearly one."""
    result = theta.copy()
    result[:-N_GLOBAL] *= np.exp(theta[LOG_OUTPUT_SCALE] - _LINE_SCALE)
    result[LOG_OUTPUT_SCALE] = _LINE_SCALE
    size = float(np.sqrt(np.mean(result[:-N_GLOBAL] ** 2)))
    result[LOG_SCALE] = np.clip(np.log(max(size, 1e-12) / model.scale(0.0)), -2.0, 2.0)
    return result


def _from_moments(part: Posterior) -> Array:
    """A climb from the directions of a linear regression and of the residuals' quadratic part (Li 1992)."""
    data = part.data
    assert isinstance(data, FeatureData)
    rows = moment_directions(data.sample, part.embedding.n_rows(part.D))
    length = part.scale(0.0) * np.sqrt(part.D)
    theta = np.concatenate([(length * rows).ravel(), part.priors.globals[0]])
    inner, _ = evidence.split(part)
    for noise, iterations in _FIRST_NOISES:
        if part.priors.globals[1][LOG_NOISE] > 0:
            theta[LOG_NOISE] = np.log(noise)
        fixed = replace(part, data=data.around(part.embedding, part.kernel, theta, is_draft=True))
        theta = climb(fixed, theta, inner, iterations)
    return theta


def moment_directions(data: Data, d: int) -> Array:
    """``d`` orthonormal rows: the slope of a linear regression, then principal Hessian directions of what it leaves."""
    Z = data.Z - data.Z.mean(axis=0)
    y = data.y - data.y.mean()
    slope = np.linalg.lstsq(Z, y, rcond=None)[0]
    left = y - Z @ slope
    values, vectors = np.linalg.eigh((Z * left[:, None]).T @ Z)
    order = np.argsort(-np.abs(values))
    rows = np.vstack([slope, vectors[:, order[:d]].T])
    basis, _ = np.linalg.qr(rows.T)
    return np.ascontiguousarray(basis.T[:d])
