"""``Belief``: what is known about the embedding and the function, given the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ridgeway import checks
from ridgeway import names as _names
from ridgeway.belief import transfer
from ridgeway.belief.diagnostics import Diagnostics
from ridgeway.belief.embedding_posterior import Directional, Embedded, EmbeddingPosterior, embedding_posterior
from ridgeway.belief.suspects import Suspect
from ridgeway.blas import blas_threads
from ridgeway.gp import moments, rowspace
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.moments import Marginal, Moments, mix
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN, Data
from ridgeway.gp.rowspace import RowSpace, reduced
from ridgeway.gp.scaling import OutputScaling
from ridgeway.inference import importance_sampling
from ridgeway.inference.mixture import Component
from ridgeway.types import Array, Inputs, Mask

if TYPE_CHECKING:
    from ridgeway.belief.effects import Effect
    from ridgeway.belief.embeddability import Embeddability
    from ridgeway.belief.embedding_draws import Interval
    from ridgeway.belief.formula import Formula
    from ridgeway.belief.integral import Integral
    from ridgeway.belief.output_distribution import OutputDistribution
    from ridgeway.belief.sensitivity import Sensitivity

__all__ = ["MARGINALS", "Belief", "Embedded", "Prediction"]

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


@dataclass(frozen=True)
class Belief:
    """The posterior over embedding, scales, noise and function; made by :func:`ridgeway.fit`.

    A mixture of Gaussians over the hyperparameters, one for each mode with weight, each with
    its conditioned process. Everything that takes points takes them in the user's units: an array
    with columns in the order of the data's, or, where the data had names, a table with columns of these
    names in any order. What a belief without names gets as a table is taken by position, with a warning.
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
    draws: tuple[importance_sampling.WeightedDraws, ...] | None = None  # of theta, where they came from other data
    population: tuple[Array, ...] = ()  # theta of all modes that the search kept, for one that goes on with more data
    names: tuple[str, ...] | None = None  # of the inputs, where the data had them
    units: tuple[str | None, ...] | None = None  # of the inputs, where any has one
    suspects: tuple[Suspect, ...] = ()  # observations with a noise of their own, because they do not fit the others

    # -- what it says about the function ---------------------------------------------------

    def predict(self, X: Any, marginal: Marginal | None = None) -> Prediction:
        """Mean and variance of ``f`` at ``X (n, D)`` (paper eqs. 18-19 by default).

        ``marginal`` is ``"map"`` (best mode, hyperparameters taken as known), ``"bbq"``, ``"mgp"`` or
        ``"samples"`` (draws from the belief with importance weights); ``None`` is the fit's. At the points of a Dask
        array, the answer is Dask arrays that are computed a chunk at a time.
        """
        kind = checks.choice(self.marginal if marginal is None else marginal, MARGINALS, "marginal")
        if type(X).__module__.startswith("dask."):
            from ridgeway.belief import dask_points

            return dask_points.predict(self, X, kind)
        X = self.points(X)
        parts = [self.reduced_moments(z, rho, kind) for z, rho in self._projected(X)]
        mean, variance, plain = (np.concatenate(p) for p in zip(*parts, strict=True))
        return Prediction(self.output.mean(mean), self.output.variance(variance), self.output.variance(plain))

    def bald(self, X: Any) -> Array:
        """Information about the hyperparameters that ``f`` at each point would give, in nats.

        ``½ log(variance / map variance)`` (paper eqs. 20-21); with several modes the variance is
        that of their mixture, so a point where the modes disagree tells much.
        """
        X = self.points(X)
        kind: Marginal = "bbq" if self.marginal == "bbq" else "mgp"
        parts = [self.reduced_moments(z, rho, kind) for z, rho in self._projected(X)]
        return np.concatenate([moments.information(part) for part in parts])

    def log_predictive_density(
        self, X: Any, y: Any, marginal: Marginal | None = None, noise_variance: Any = None
    ) -> Array:
        """``log p(y | x, data)`` of new observations, ``(n,)``; ``noise_variance`` is their known part."""
        X = self.points(X)
        y = checks.outputs(y, X.shape[0])
        known = checks.noise_variance(noise_variance, X.shape[0])
        prediction = self.predict(X, marginal)
        variance = prediction.variance + self.noise_variance + (0.0 if known is None else known)
        result: Array = -0.5 * (np.log(2.0 * np.pi * variance) + (y - prediction.mean) ** 2 / variance)
        return result

    def leave_one_out(self) -> Prediction:
        """Each observation of ``y`` predicted from the others, hyperparameters as fitted; closed form."""
        return self._left_out

    @cached_property
    def _left_out(self) -> Prediction:
        parts = [c.gp.leave_one_out() for c in self.components]
        moments = mix(self._weights, [Moments(mean, variance, variance) for mean, variance in parts])
        return Prediction(*(f(m) for f, m in zip(self._to_user, moments, strict=True)))

    def condition_on(self, X: Any, y: Any, noise_variance: Any = None) -> Belief:
        """The same hyperparameters on other data, in the same units: what was learned about the
        embedding, carried over to a new experiment (the paper's test protocol).
        """
        X = checks.owned(self.points(X))
        y = checks.outputs(y, X.shape[0]).copy()
        known = checks.noise_variance(noise_variance, X.shape[0])
        noise = np.full(y.shape[0], self.posterior.priors.noise_floor**2)
        if known is not None:
            noise += known / self.output.scale**2
        # What of the new points the old data do not span becomes parameters, which have their prior still.
        space = rowspace.extend(replace(self.space, Z=np.zeros((0, self.space.r)), in_order=False), X)
        z, _ = reduced(self.model, space.Z, np.zeros(y.shape[0]))
        data = Data(np.ascontiguousarray(z), self.output.scaled(y), noise)
        with blas_threads(y.shape[0]):
            components = tuple(transfer.component_on(c, data, space.r) for c in self.components)
        # What was learned of theta came from the first data, and so did the weights of its draws.
        draws = tuple(transfer.draws_on(c, d, space.r) for c, d in zip(self.components, self._draws, strict=True))
        posterior = replace(self.posterior, data=data)
        carried = replace(self, posterior=posterior, space=space, components=components, draws=draws)
        return replace(carried, X=X, y=y, suspects=(), population=())

    # -- what it says about the embedding --------------------------------------------------

    @cached_property
    def embedding(self) -> Array:
        """``R (d, D)`` at the best mode, acting on inputs mapped to [-1, 1]; rows by importance.

        For a linear embedding the rotation is free: it is fixed so that the rows are orthogonal
        and ordered by length, each with its largest entry positive. Rows that the evidence does
        not ask for are zero.
        """
        return self.embedding_posterior.matrix

    @property
    def embedding_std(self) -> Array:
        """Standard deviations of the entries of :attr:`embedding`, ``(d, D)``."""
        return self.embedding_posterior.std

    def embed(self, X: Any) -> Embedded:
        """``p(u | x)`` for points in the user's units: Gaussian with this mean and covariance."""
        return self.embedding_posterior.embed(self.points(X))

    def sample_embeddings(self, n: int, random_state: Any = 0) -> Array:
        """``n`` draws of ``R``, ``(n, d, D)``, from the mixture of all modes."""
        n = checks.count(n, "n")
        rng = checks.generator(random_state)
        counts = rng.multinomial(n, [c.weight for c in self.components])
        draws = [self._sample(c, k, rng) for c, k in zip(self.components, counts, strict=True) if k]
        return rng.permutation(np.concatenate(draws)) if draws else np.zeros((0, *self.embedding.shape))

    def importances(self) -> Array:
        """Share of each input in the variation along the embedding, ``(D,)``; free of rotation.

        The mean square of the predictive mean's derivative in each input over the data, inputs in
        units of the box, normalised to sum to 1. These are shares at the modes; :attr:`input_shares` averages
        over draws of the embedding.
        """
        total = np.zeros(self.space.scaling.D)
        for c in self.components:
            root: Array = np.linalg.qr(c.gp.mean_slopes(), mode="r")  # type: ignore[assignment]  # an array in this mode
            slopes = c.gp.embedding.slopes(root, c.gp.parameters, self.space)
            total += c.weight * np.sum(slopes**2, axis=0)
        return total / total.sum() if total.sum() > 0 else np.full_like(total, 1.0 / total.shape[0])

    @cached_property
    def input_shares(self) -> Interval:
        """Share of each input in the variation ``(D,)``: mean and central 90 % over draws of the embedding.

        A summary, a campaign's status and a report show these.
        """
        from ridgeway.belief import embedding_draws

        return embedding_draws.input_shares(self)

    @cached_property
    def embedding_posterior(self) -> EmbeddingPosterior:
        """The posterior over the rows of the embedding."""
        return embedding_posterior(self.model, self.space, self._best)

    @property
    def directional(self) -> Directional:
        """The posterior over the rows of a linear embedding: their covariances and how active they are."""
        if not isinstance(self.embedding_posterior, Directional):
            raise TypeError(f"only a linear embedding has directions, got {self.model}")
        return self.embedding_posterior

    @property
    def trusted(self) -> Mask:
        """Which observations are not suspects, ``(n,)``."""
        return ~np.isin(np.arange(self.y.shape[0]), [suspect.row for suspect in self.suspects])

    # -- what follows from it ----------------------------------------------------------------

    def integrate(self, over: Any = None, n_draws: int | None = None, random_state: int = 0) -> Integral:
        """Mean and standard deviation of ``∫ f dp``, noise not included.

        ``over`` says how the inputs are distributed: ``None`` is uniform in the belief's box; a
        :class:`ridgeway.Box` is uniform in what its constraints allow, every value of an input in steps as likely;
        :class:`ridgeway.measures.Uniform`, ``Gaussian``, ``Independent`` or ``Points`` are what they say; a dictionary
        gives some inputs a distribution of their own; an array, a table or a pool is the user's own points. The mean
        is that of :meth:`predict`, integrated; for the squared exponential on up to three directions it is exact to
        rounding. Where points stand for constraints or heavy tails, their error is part of the standard deviation.

        >>> import numpy as np, ridgeway as rw
        >>> X = np.random.default_rng(0).uniform(0, 1, (40, 3))
        >>> belief = rw.fit(X, (X[:, 0] + X[:, 1]) ** 2, rw.Linear(1), bounds=(0, 1))
        >>> round(belief.integrate().mean, 2)  # 7/6
        1.17
        """
        from ridgeway.belief.integral import integrate

        return integrate(self, over, n_draws, random_state)

    def distribution(
        self,
        over: Any = None,
        level: float = 0.95,
        rivals: bool = True,
        n_draws: int | None = None,
        random_state: int = 0,
    ) -> OutputDistribution:
        """The distribution of the output when the inputs vary: quantiles and exceedance, with intervals.

        ``over`` as in :meth:`integrate`, the rest as in :meth:`sensitivity`.
        """
        from ridgeway.belief.averages import Drawing
        from ridgeway.belief.output_distribution import distribution

        return distribution(self, over, Drawing(level, rivals, n_draws, random_state))

    def sensitivity(
        self,
        over: Any = None,
        level: float = 0.95,
        rivals: bool = True,
        n_draws: int | None = None,
        random_state: int = 0,
    ) -> Sensitivity:
        """First-order and total Sobol indices and activity scores of every input, with intervals.

        ``over`` is as in :meth:`integrate`, of independent inputs. Embedding and function are drawn ``n_draws`` times
        and the indices of each draw are computed; intervals hold ``level`` of them. With ``rivals`` a length scale for
        each input and one for all are fitted to the same data, and draws come from each in proportion to its
        evidence, so that the indices hold what the embedding misses of the function; intervals also allow for the
        noise that was learned to be function in part.

        >>> import numpy as np, ridgeway as rw
        >>> X = np.random.default_rng(0).uniform(0, 1, (40, 3))
        >>> belief = rw.fit(X, X[:, 0] + 2 * X[:, 1], rw.Linear(1), bounds=(0, 1))
        >>> belief.sensitivity(rivals=False).total.mean.round(1) + 0.0
        array([0.2, 0.8, 0. ])
        """
        from ridgeway.belief.averages import Drawing
        from ridgeway.belief.sensitivity import sensitivity

        return sensitivity(self, over, Drawing(level, rivals, n_draws, random_state))

    def effect(
        self,
        name: Any,
        over: Any = None,
        n_points: int = 41,
        level: float = 0.95,
        rivals: bool = True,
        n_draws: int | None = None,
        random_state: int = 0,
    ) -> Effect:
        """The main effect of an input, by its name or number: the output's mean at each of its values, with a band.

        The other inputs are averaged over; arguments are those of :meth:`sensitivity`.
        """
        from ridgeway.belief.averages import Drawing
        from ridgeway.belief.effects import effect

        return effect(self, name, over, n_points, Drawing(level, rivals, n_draws, random_state))

    def formula(self) -> Formula:
        """Each learned direction as a weighted sum of the inputs in their own units, with uncertain weights."""
        from ridgeway.belief.formula import formula

        return formula(self)

    def is_ridge(self) -> Embeddability:
        """Whether a few combinations of the inputs explain the function, against a length scale for each input."""
        from ridgeway.belief.embeddability import embeddability

        return embeddability(self)

    @cached_property
    def rivals(self) -> tuple[Belief, ...]:
        """The same data with other embeddings: a length scale for each input, one for all. Fitted when first used."""
        from ridgeway.belief import rivals

        return rivals.fitted(self)

    # -- scales ----------------------------------------------------------------------------

    @property
    def model(self) -> Embedding:
        """The kind of embedding."""
        return self.posterior.embedding

    @property
    def n_rows(self) -> int:
        """Observations that were fitted: :attr:`X` and :attr:`y` hold all of them, or a sample of very many."""
        return self.posterior.data.n

    @property
    def rank(self) -> int:
        """Dimensions that the best mode uses: at most ``d``, because rows of zeros are allowed."""
        return self._best.rank

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
        return float(sum(c.weight for c in self.components if c.is_line))

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
        from ridgeway.belief import storage

        return storage.save(self, path)

    @staticmethod
    def load(path: str | Path, kernel: Kernel | None = None) -> Belief:
        """Read a belief; a kernel that is not built in has to be handed over."""
        from ridgeway.belief import storage

        return storage.load(path, kernel)

    def summary(self, names: Any = None, top: int = 8) -> str:
        """A few readable lines: scales, the inputs that matter, how far to trust it."""
        from ridgeway.belief.summary import summarize

        return summarize(self, names, top)

    def report(self, path: str | Path, names: Any = None, **options: Any) -> Path:
        """Write one self-contained HTML file that shows all of it; see :func:`ridgeway.report.write`."""
        from ridgeway import report

        return report.write(self, path, names=names, **options)

    def _repr_html_(self) -> str:
        from ridgeway.belief.display import belief_html

        return belief_html(self)

    def __rich__(self) -> Any:
        from ridgeway.belief.display import belief_rich

        return belief_rich(self)

    def __repr__(self) -> str:
        D, n = self.X.shape[1], self.n_rows
        return f"Belief({self.model}, n={n}, D={D}, log_evidence={self.log_evidence:.1f}, {self.diagnostics.status})"

    @property
    def labels(self) -> tuple[str, ...]:
        """What each input is called where it is shown: its name with its unit, or ``x0``, ``x1``, ..."""
        return _names.labels(self.names, self.space.scaling.D, self.units)

    # -- parts -----------------------------------------------------------------------------

    @property
    def _weights(self) -> Array:
        return np.array([c.weight for c in self.components])

    @property
    def _best(self) -> Component:
        return self.components[0]

    @property
    def _to_user(self) -> tuple[Any, Any, Any]:
        return self.output.mean, self.output.variance, self.output.variance

    @cached_property
    def _draws(self) -> tuple[importance_sampling.WeightedDraws, ...]:
        if self.draws is not None:
            return self.draws
        rng = np.random.default_rng(self.seed)
        with blas_threads(self.y.shape[0]):
            return tuple(
                importance_sampling.draw(c.posterior, c.gp.theta, c.factor, N_DRAWS, rng) for c in self.components
            )

    def points(self, X: Any) -> Inputs:
        """``X`` checked, with the columns of a table in the order of :attr:`names`."""
        return checks.inputs(X, self.space.scaling.D, names=self.names)

    def _projected(self, X: Inputs) -> Iterator[tuple[Array, Array]]:
        """Reduced coordinates of ``X``, a bounded number of rows at a time."""
        step = max(256, _POINT_BYTES // (8 * (self.space.r + self.space.scaling.D + 1)))
        for start in range(0, X.shape[0], step):
            yield self.reduced_coordinates(X[start : start + step])

    def reduced_coordinates(self, X: Inputs) -> tuple[Array, Array]:
        """Points in reduced coordinates, and their squared distance to what the data span."""
        return reduced(self.model, *self.space.project(X))

    def reduced_moments(self, z: Array, rho: Array, kind: Marginal) -> Moments:
        """Moments of ``f`` at points in reduced coordinates, outputs standardised."""
        with blas_threads(self.y.shape[0]):
            if kind == "samples":
                return mix(self._weights, [self._sampled(i, z, rho) for i in range(len(self.components))])
            if kind == "map":
                return moments.moments(self._best.gp, self._best.factor, z, rho, self._best.prior_variance, kind)
        return mix(self._weights, self.modes_moments(z, rho, kind))

    def modes_moments(self, z: Array, rho: Array, kind: Marginal) -> list[Moments]:
        """The same by each mode alone; not for ``"samples"``."""
        with blas_threads(self.y.shape[0]):
            return [moments.moments(c.gp, c.factor, z, rho, c.prior_variance, kind) for c in self.components]

    def _sampled(self, i: int, z: Array, rho: Array) -> Moments:
        """A mixture over draws of ``theta``, reduced to its moments (paper eq. 6 by Monte Carlo)."""
        draws, component = self._draws[i], self.components[i]
        first, second, conditional = np.zeros(z.shape[0]), np.zeros(z.shape[0]), np.zeros(z.shape[0])
        kind: Marginal = "bbq" if rho.max(initial=0.0) > _SPANNED else "map"  # slopes matter beyond the span alone
        for theta, weight in zip(draws.theta, draws.weights, strict=True):
            if weight < 1e-8:
                continue
            gp = component.posterior.condition(theta)
            part = moments.moments(gp, component.factor[:, :0], z, rho, component.prior_variance, kind)
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
        return self.embedding_posterior.sample(component, parameters, rng)
