"""``Belief``: what is known about the embedding and the function, given the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ridgeway import importance, marginal, padding, rowspace, straight, validation
from ridgeway.diagnostics import Diagnostics
from ridgeway.directions import mean_slopes
from ridgeway.embeddings import Embedding, Isotropic, Linear
from ridgeway.gp import LOG_NOISE, LOG_OUTPUT_SCALE, LOG_SCALE, MEAN, Data, condition
from ridgeway.inference import Component
from ridgeway.kernels import Kernel
from ridgeway.marginal import Marginal, Moments
from ridgeway.posterior import Posterior
from ridgeway.rowspace import RowSpace
from ridgeway.scaling import OutputScaling
from ridgeway.threads import blas_threads
from ridgeway.types import Array, Inputs

MARGINALS: tuple[Marginal, ...] = ("map", "bbq", "mgp", "samples")
N_DRAWS = 512  # of theta for the "samples" marginal
_SPANNED = 1e-12  # a squared distance to the data's span that is rounding
_POINT_BYTES = 2**26  # of projected candidates held at a time


class Prediction(NamedTuple):
    """Moments of ``f`` at new points, in the user's units; noise is not included."""

    mean: Array  # (n,)
    variance: Array  # (n,) with the hyperparameters' uncertainty
    map_variance: Array  # (n,) without

    @property
    def std(self) -> Array:
        return np.sqrt(self.variance)


class Embedded(NamedTuple):
    """``p(u | x)``: mean ``(n, d)`` and covariance ``(n, d, d)``."""

    mean: Array
    covariance: Array


@dataclass(frozen=True)
class Belief:
    """The posterior over embedding, scales, noise and function; made by :func:`ridgeway.fit`.

    A mixture of Gaussians over the hyperparameters, one for each mode with weight, each with
    its conditioned process. Everything that takes points takes them in the user's units.
    """

    posterior: Posterior
    space: RowSpace
    output: OutputScaling
    components: tuple[Component, ...]
    log_evidence: float  # log p(y), in the user's units
    diagnostics: Diagnostics
    inference: str
    marginal: Marginal
    seed: int
    X: Inputs  # as handed over; large arrays by reference
    y: Array
    draws: tuple[importance.WeightedDraws, ...] | None = None  # of theta, where they came from other data

    # -- what it says about the function ---------------------------------------------------

    def predict(self, X: Any, marginal: Marginal | None = None) -> Prediction:
        """Mean and variance of ``f`` at ``X (n, D)`` (paper eqs. 18-19 by default).

        ``marginal`` is ``"map"`` (best mode, hyperparameters taken as known), ``"bbq"``, ``"mgp"`` or
        ``"samples"`` (draws from the belief with importance weights); ``None`` is the fit's.
        """
        X = validation.inputs(X, self.space.scaling.D)
        kind = validation.choice(self.marginal if marginal is None else marginal, MARGINALS, "marginal")
        parts = [self.reduced_moments(z, rho, kind) for z, rho in self._projected(X)]
        mean, variance, plain = (np.concatenate(p) for p in zip(*parts, strict=True))
        return Prediction(self.output.mean(mean), self.output.variance(variance), self.output.variance(plain))

    def bald(self, X: Any) -> Array:
        """Information about the hyperparameters that ``f`` at each point would give, in nats.

        ``½ log(variance / map variance)`` (paper eqs. 20-21); with several modes the variance is
        that of their mixture, so a point where the modes disagree tells much.
        """
        X = validation.inputs(X, self.space.scaling.D)
        kind: Marginal = "bbq" if self.marginal == "bbq" else "mgp"
        parts = [self.reduced_moments(z, rho, kind) for z, rho in self._projected(X)]
        return np.concatenate([0.5 * np.log(part.variance / part.map_variance) for part in parts])

    def log_predictive_density(
        self, X: Any, y: Any, marginal: Marginal | None = None, noise_variance: Any = None
    ) -> Array:
        """``log p(y | x, data)`` of new observations, ``(n,)``; ``noise_variance`` is their known part."""
        X = validation.inputs(X, self.space.scaling.D)
        y = validation.outputs(y, X.shape[0])
        known = validation.noise_variance(noise_variance, X.shape[0])
        prediction = self.predict(X, marginal)
        variance = prediction.variance + self.noise_variance + (0.0 if known is None else known)
        result: Array = -0.5 * (np.log(2.0 * np.pi * variance) + (y - prediction.mean) ** 2 / variance)
        return result

    def leave_one_out(self) -> Prediction:
        """Each observation of ``y`` predicted from the others, hyperparameters as fitted; closed form."""
        parts = [c.gp.leave_one_out() for c in self.components]
        moments = _mix(self.components, [Moments(mean, variance, variance) for mean, variance in parts])
        return Prediction(*(f(m) for f, m in zip(self._to_user, moments, strict=True)))

    def condition_on(self, X: Any, y: Any, noise_variance: Any = None) -> Belief:
        """The same hyperparameters on other data, in the same units: what was learned about the
        embedding, carried over to a new experiment (the paper's test protocol).
        """
        X = validation.owned(validation.inputs(X, self.space.scaling.D))
        y = validation.outputs(y, X.shape[0]).copy()
        known = validation.noise_variance(noise_variance, X.shape[0])
        noise = np.full(y.shape[0], self.posterior.priors.noise_floor**2)
        if known is not None:
            noise += known / self.output.scale**2
        # What of the new points the old data do not span becomes parameters, which have their prior still.
        space = rowspace.extend(replace(self.space, Z=np.zeros((0, self.space.r)), in_order=False), X)
        z, _ = reduced(self.model, space.Z, np.zeros(y.shape[0]))
        data = Data(np.ascontiguousarray(z), self.output.scaled(y), noise)
        posterior = replace(self.posterior, data=data)
        with blas_threads(y.shape[0]):
            components = tuple(
                replace(
                    c,
                    gp=condition(c.gp.embedding, self.kernel, data, padding.thetas(c.gp, c.gp.theta[None], space.r)[0]),
                    factor=padding.factor(c.gp, c.factor, space.r, np.sqrt(self.prior_variance(c))),
                )
                for c in self.components
            )
        # What was learned of theta came from the first data, and so did the weights of its draws.
        draws = tuple(
            replace(draws, theta=padding.thetas(c.gp, draws.theta, space.r))
            for c, draws in zip(self.components, self._draws, strict=True)
        )
        return replace(self, posterior=posterior, space=space, components=components, X=X, y=y, draws=draws)

    # -- what it says about the embedding --------------------------------------------------

    @cached_property
    def embedding(self) -> Array:
        """``R (d, D)`` at the best mode, acting on inputs mapped to [-1, 1]; rows by importance.

        For a linear embedding the rotation is free: it is fixed so that the rows are orthogonal
        and ordered by length, each with its largest entry positive. Rows that the evidence does
        not ask for are zero.
        """
        parameters = self._best.gp.parameters
        D = self.space.scaling.D
        if isinstance(self.model, Linear):
            rows = self.space.lift(self._rotation @ parameters.reshape(self.rank, self.space.r))
            return np.vstack([rows, np.zeros((self.model.rows - rows.shape[0], D))])
        diagonal = np.full(D, np.exp(-parameters[0])) if isinstance(self.model, Isotropic) else np.exp(-parameters)
        return np.diag(diagonal)

    @cached_property
    def embedding_std(self) -> Array:
        """Standard deviations of the entries of :attr:`embedding`, ``(d, D)``."""
        D = self.space.scaling.D
        if not isinstance(self.model, Linear):
            factor = self._best.factor[: self._best.gp.parameters.shape[0]]
            spread = np.linalg.norm(factor, axis=1) * np.exp(-self._best.gp.parameters)
            return np.diag(np.broadcast_to(spread, (D,)))
        rotated, prior_variance = self.embedding_factor
        lifted = [self.space.lift(np.ascontiguousarray(row.T)) for row in rotated]
        variance = np.stack([np.einsum("qj,qj->j", rows, rows) for rows in lifted])
        used = np.sqrt(variance + prior_variance * self._unspanned)
        return np.vstack([used, np.zeros((self.model.rows - self.rank, D))])

    def embed(self, X: Any) -> Embedded:
        """``p(u | x)`` for points in the user's units: Gaussian with this mean and covariance."""
        X = validation.inputs(X, self.space.scaling.D)
        if not isinstance(self.model, Linear):
            Z = self.space.scaling.scaled(X)
            R, spread = np.diagonal(self.embedding), np.diagonal(self.embedding_std)
            deviation = Z * spread
            if isinstance(self.model, Isotropic):
                return Embedded(Z * R, np.einsum("ni,nj->nij", deviation, deviation))
            F = self._best.factor[: R.shape[0]] * R[:, None]
            return Embedded(Z * R, np.einsum("ni,iq,jq,nj->nij", Z, F, F, Z, optimize=True))
        z, rho = self.space.project(X)
        k, r = self.rank, self.space.r
        A = self._rotation @ self._best.gp.parameters.reshape(k, r)
        factor, prior_variance = self.embedding_factor
        moved = np.einsum("nr,krq->nkq", z, factor, optimize=True)
        covariance = moved @ moved.transpose(0, 2, 1)
        covariance += (prior_variance * rho)[:, None, None] * np.eye(k)
        padding = (0, self.model.rows - k)
        return Embedded(np.pad(z @ A.T, ((0, 0), padding)), np.pad(covariance, ((0, 0), padding, padding)))

    @property
    def embedding_factor(self) -> tuple[Array, float]:
        """``F (rank, r, q)``, whose products are the covariances of the reduced rows of a linear
        :attr:`embedding` within the span of the data, and the prior variance beyond it.
        """
        k, r = self.rank, self.space.r
        factor = self._best.factor[: k * r].reshape(k, r, self._best.factor.shape[1])
        return np.einsum("kl,lrq->krq", self._rotation, factor), self.prior_variance(self._best)

    def sample_embeddings(self, n: int, random_state: Any = 0) -> Array:
        """``n`` draws of ``R``, ``(n, d, D)``, from the mixture of all modes."""
        n = validation.count(n, "n")
        rng = validation.generator(random_state)
        counts = rng.multinomial(n, [c.weight for c in self.components])
        draws = [self._sample(c, k, rng) for c, k in zip(self.components, counts, strict=True) if k]
        return rng.permutation(np.concatenate(draws)) if draws else np.zeros((0, *self.embedding.shape))

    def importances(self) -> Array:
        """Share of each input in the variation along the embedding, ``(D,)``; free of rotation.

        The mean square of the predictive mean's derivative in each input over the data, inputs in
        units of the box, normalised to sum to 1.
        """
        total = np.zeros(self.space.scaling.D)
        for c in self.components:
            gp, r = c.gp, self.space.r
            root: Array = np.linalg.qr(mean_slopes(gp), mode="r")  # type: ignore[assignment]  # an array in this mode
            if isinstance(self.model, Linear):
                rows = root @ gp.parameters.reshape(gp.U.shape[1], r)
            else:
                rows = root[:, :r] * np.exp(-gp.parameters)
            total += c.weight * np.sum(self.space.lift(rows) ** 2, axis=0)
        return total / total.sum() if total.sum() > 0 else np.full_like(total, 1.0 / total.shape[0])

    @cached_property
    def activity(self) -> Array:
        """Mean outer product of the predictive mean's slopes along the rows of a linear :attr:`embedding`
        that are used, ``(rank, rank)``, outputs standardised.
        """
        slopes = mean_slopes(self._best.gp) @ self._rotation.T
        return slopes.T @ slopes / slopes.shape[0]

    # -- scales ----------------------------------------------------------------------------

    @property
    def model(self) -> Embedding:
        """The kind of embedding."""
        return self.posterior.embedding

    @property
    def rank(self) -> int:
        """Dimensions that the best mode uses: at most ``d``, because rows of zeros are allowed."""
        return int(self._best.gp.U.shape[1])

    @property
    def kernel(self) -> Kernel:
        return self.posterior.kernel

    @property
    def noise_variance(self) -> float:
        """Learned variance of the noise, in the user's units; known parts come on top."""
        floor = self.posterior.priors.noise_floor**2
        own = sum(c.weight * c.gp.noise_variance for c in self.components)
        if self.inference == "nuts":
            own = float(np.mean(np.exp(2.0 * self._draws[0].theta[:, LOG_NOISE])))
        return float(self.output.scale**2 * (own + floor))

    @property
    def output_scale(self) -> float:
        """Standard deviation of the function about its mean, in the user's units."""
        return float(self.output.scale * np.exp(self._best.gp.theta[LOG_OUTPUT_SCALE]))

    @property
    def straight_share(self) -> float:
        """Weight of straight lines among what the data allow: near 1 a linear regression would do as well."""
        return float(sum(c.weight for c in self.components if straight.is_straight(self.posterior, c.gp.theta)))

    @property
    def mean(self) -> float:
        """The constant mean, in the user's units."""
        return float(self.output.shift + self.output.scale * self._best.gp.theta[MEAN])

    @property
    def effective_sample_size(self) -> float:
        """How many equally weighted draws the ``"samples"`` marginal is worth."""
        if self.diagnostics.effective_draws is not None:
            return min(self.diagnostics.effective_draws, float(self._draws[0].weights.shape[0]))
        return float(sum(c.weight * w.effective_size for c, w in zip(self.components, self._draws, strict=True)))

    @property
    def pareto_k(self) -> float:
        """Shape of the importance weights' tail at the best mode: above 0.7 the Gaussian is a poor likeness."""
        return self._draws[0].pareto_k

    # -- files and words -------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write everything to one ``.npz`` file, without pickle; returns its path."""
        from ridgeway import storage

        return storage.save(self, path)

    @staticmethod
    def load(path: str | Path, kernel: Kernel | None = None) -> Belief:
        """Read a belief; a kernel that is not built in has to be handed over."""
        from ridgeway import storage

        return storage.load(path, kernel)

    def summary(self, names: Any = None, top: int = 8) -> str:
        """A few readable lines: scales, the inputs that matter, how far to trust it."""
        from ridgeway.summary import summarize

        return summarize(self, names, top)

    def report(self, path: str | Path, names: Any = None, **options: Any) -> Path:
        """Write one self-contained HTML file that shows all of it; see :func:`ridgeway.report.write`."""
        from ridgeway import report

        return report.write(self, path, names=names, **options)

    def _repr_html_(self) -> str:
        from ridgeway.display import belief_html

        return belief_html(self)

    def __rich__(self) -> Any:
        from ridgeway.display import belief_rich

        return belief_rich(self)

    def __repr__(self) -> str:
        n, D = self.X.shape
        return f"Belief({self.model}, n={n}, D={D}, log_evidence={self.log_evidence:.1f}, {self.diagnostics.status})"

    # -- parts -----------------------------------------------------------------------------

    @property
    def _best(self) -> Component:
        return self.components[0]

    def prior_variance(self, component: Component) -> float:
        """Of the entries of ``R`` where the data say nothing, under one component."""
        return self.posterior.scale(component.gp.theta[LOG_SCALE]) ** 2

    @property
    def _to_user(self) -> tuple[Any, Any, Any]:
        return self.output.mean, self.output.variance, self.output.variance

    @cached_property
    def _rotation(self) -> Array:
        return self._turn(self._best)

    def _turn(self, component: Component) -> Array:
        """The rotation ``(d, d)`` that puts the rows of ``R`` in canonical form."""
        A = component.gp.parameters.reshape(component.gp.U.shape[1], -1)
        _, vectors = np.linalg.eigh(A @ A.T)
        rotation = vectors[:, ::-1].T
        rows = self.space.lift(rotation @ A)
        largest = rows[np.arange(rows.shape[0]), np.argmax(np.abs(rows), axis=1)]
        return rotation * np.where(largest < 0, -1.0, 1.0)[:, None]

    @cached_property
    def _unspanned(self) -> Array:
        """``1 - |Q_j|²``: how much of each input's axis the data do not span, ``(D,)``."""
        if self.space.rows is None:
            return np.zeros(self.space.scaling.D)
        Q = self.space.lift(np.eye(self.space.r))
        return np.maximum(1.0 - np.einsum("rj,rj->j", Q, Q), 0.0)

    @cached_property
    def _draws(self) -> tuple[importance.WeightedDraws, ...]:
        if self.draws is not None:
            return self.draws
        rng = np.random.default_rng(self.seed)
        with blas_threads(self.y.shape[0]):
            return tuple(
                importance.draw(self._posterior_of(c), c.gp.theta, c.factor, N_DRAWS, rng) for c in self.components
            )

    def _posterior_of(self, component: Component) -> Posterior:
        """The model that a component is a mode of: of its rank, or of straight lines."""
        if straight.is_straight(self.posterior, component.gp.theta):
            return straight.model(self.posterior)
        return replace(self.posterior, embedding=component.gp.embedding)

    def _matrix(self, parameters: Array) -> Array:
        if isinstance(self.model, Linear):
            return self.space.lift(parameters.reshape(parameters.shape[0] // max(self.space.r, 1), self.space.r))
        D = self.space.scaling.D
        return np.diag(np.broadcast_to(np.exp(-parameters), (D,)))

    def _projected(self, X: Inputs) -> Iterator[tuple[Array, Array]]:
        """Reduced coordinates of ``X``, a bounded number of rows at a time."""
        step = max(256, _POINT_BYTES // (8 * (self.space.r + self.space.scaling.D + 1)))
        for start in range(0, X.shape[0], step):
            yield self.reduced_coordinates(X[start : start + step])

    def reduced_coordinates(self, X: Inputs) -> tuple[Array, Array]:
        """Points in the coordinates the engine works in, and their squared distance to what the data span."""
        return reduced(self.model, *self.space.project(X))

    def reduced_moments(self, z: Array, rho: Array, kind: Marginal) -> Moments:
        """Moments of ``f`` at points in the engine's coordinates, in its units."""
        with blas_threads(self.y.shape[0]):
            if kind == "samples":
                return _mix(self.components, [self._sampled(i, z, rho) for i in range(len(self.components))])
            if kind == "map":
                return marginal.moments(self._best.gp, self._best.factor, z, rho, self.prior_variance(self._best), kind)
            parts = [marginal.moments(c.gp, c.factor, z, rho, self.prior_variance(c), kind) for c in self.components]
        return _mix(self.components, parts)

    def _sampled(self, i: int, z: Array, rho: Array) -> Moments:
        """A mixture over draws of ``theta``, reduced to its moments (paper eq. 6 by Monte Carlo)."""
        draws, component = self._draws[i], self.components[i]
        first, second, conditional = np.zeros(z.shape[0]), np.zeros(z.shape[0]), np.zeros(z.shape[0])
        kind: Marginal = "bbq" if rho.max(initial=0.0) > _SPANNED else "map"  # slopes matter beyond the span alone
        for theta, weight in zip(draws.theta, draws.weights, strict=True):
            if weight < 1e-8:
                continue
            gp = condition(component.gp.embedding, self.kernel, self.posterior.data, theta)
            part = marginal.moments(gp, component.factor[:, :0], z, rho, self.prior_variance(component), kind)
            first += weight * part.mean
            second += weight * (part.variance + part.mean**2)
            conditional += weight * part.map_variance
        return Moments(first, np.maximum(second - first**2, conditional), conditional)

    def _sample(self, component: Component, n: int, rng: np.random.Generator) -> Array:
        p, q = component.gp.parameters.shape[0], component.factor.shape[1]
        if self.inference == "nuts":
            parameters = rng.choice(self._draws[0].theta, n)[:, :p]
        else:
            parameters = component.gp.parameters + rng.standard_normal((n, q)) @ component.factor[:p].T
        if not isinstance(self.model, Linear):
            return np.stack([self._matrix(row) for row in parameters])
        k, D = component.gp.U.shape[1], self.space.scaling.D
        turned = self._turn(component) @ parameters.reshape(n, k, self.space.r)  # as in `embedding`
        R = turned.reshape(n * k, self.space.r)
        if self.space.rows is not None:
            prior = np.sqrt(self.prior_variance(component)) * rng.standard_normal((n * k, D))
            R = prior + self.space.lift(R - self.space.restrict(prior))
        return np.pad(R.reshape(n, k, D), ((0, 0), (0, self.model.rows - k), (0, 0)))


def reduced(model: Embedding, z: Array, rho: Array) -> tuple[Array, Array]:
    """Coordinates as the model wants them: distances need the part outside the span, too."""
    if model.reduction == "distance":
        return np.column_stack([z, np.sqrt(rho)]), np.zeros_like(rho)
    return z, rho


def _mix(components: tuple[Component, ...], parts: list[Moments]) -> Moments:
    """Moments of the mixture."""
    if len(parts) == 1:
        return parts[0]
    w = np.array([c.weight for c in components])
    means = np.stack([p.mean for p in parts])
    mean = w @ means
    spread = w @ (means - mean) ** 2
    return Moments(
        mean, w @ np.stack([p.variance for p in parts]) + spread, w @ np.stack([p.map_variance for p in parts])
    )
