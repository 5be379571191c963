"""``fit``: from data in the user's units to a :class:`Belief`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ridgeway import holdout, kernels, nuts, rowspace, starts, validation
from ridgeway.belief import MARGINALS, Belief, reduced
from ridgeway.diagnostics import Diagnostics
from ridgeway.embeddings import Diagonal, Embedding, Isotropic, Linear
from ridgeway.errors import RidgewayWarning
from ridgeway.gp import LOG_SCALE, N_GLOBAL, Data, condition
from ridgeway.importance import WeightedDraws
from ridgeway.inference import N_STARTS, Component, Inferred, Progress, infer
from ridgeway.kernels import Kernel
from ridgeway.marginal import Marginal
from ridgeway.nuts import Nuts
from ridgeway.posterior import Posterior
from ridgeway.priors import Priors
from ridgeway.rowspace import RowSpace
from ridgeway.scaling import InputScaling, OutputScaling, is_constant
from ridgeway.threads import blas_threads
from ridgeway.types import Array, Inputs, RandomState

INFERENCES = ("nested", "map", "nuts")
WARM_STARTS = 1  # fresh searches beside the modes of an earlier belief
SUBSET = 400  # observations above which modes are first searched for on a part of them
LARGEST_AUTO = 5  # dimensions that Linear("auto") tries
_TIES = 0.2  # share of the outputs that one value must have for the response to count as saturated


def fit(
    X: Any,
    y: Any,
    embedding: Embedding = Linear(2),  # noqa: B008 - frozen
    kernel: str | Kernel = "se",
    inference: str | Nuts = "nested",
    marginal: Marginal | None = None,
    bounds: Any = None,
    standardize: bool = True,
    priors: Priors | None = None,
    noise_variance: Any = None,
    initial: Belief | None = None,
    random_state: RandomState = 0,
    n_starts: int | None = None,
    progress: Progress | None = None,
) -> Belief:
    """Fit the posterior over an embedding and the function on it.

    Parameters
    ----------
    X : (n, D) array, DataFrame or scipy.sparse matrix, in any units
        Arrays above 256 MB are kept by reference: do not change them afterwards.
    y : (n,) array, in any units
    embedding
        ``Linear(d)``, ``Linear("auto")``, ``Diagonal()`` or ``Isotropic()``.
    kernel
        ``"se"``, ``"matern32"``, ``"matern52"``, ``"rq"`` or any :class:`ridgeway.kernels.Kernel`.
    inference
        ``"nested"`` chooses output scale, noise and prior scale by evidence with the embedding
        integrated out; ``"map"`` is the paper's joint mode; ``"nuts"`` (or :class:`Nuts`, which says
        for how long) goes on from the nested modes to draws from the exact posterior.
    marginal
        What ``predict`` uses by default: ``"map"``, ``"bbq"``, ``"mgp"`` or ``"samples"``; ``None`` is
        ``"samples"`` after ``"nuts"`` and ``"mgp"`` otherwise.
    bounds : (lower, upper) or None
        The box that maps to [-1, 1]^D, numbers or one for each input; ``None`` takes the data's
        range. Points outside are fine, before and after the fit: the box sets units, not walls.
    standardize
        Whether outputs are brought to mean 0 and variance 1 first, as the default priors expect.
    priors
        See :class:`Priors`.
    noise_variance : number, (n,) array or None
        Variances of the noise known beforehand, in the squared units of ``y``.
    initial
        An earlier belief whose modes to start from, for instance before one more observation.
    random_state
        Seed of the starts; the same seed gives the same belief.
    n_starts
        Searches for modes at most; by default 40 (more from ``d = 3``), or 1 beside an ``initial``
        belief. 20 are enough where most of them agree.
    progress
        Called with a sentence before each longer piece of work.

    Examples
    --------
    >>> import numpy as np, ridgeway as rw
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 5))
    >>> belief = rw.fit(X, np.sin(X[:, 0] + X[:, 1]), rw.Linear(1))
    >>> belief.embedding.shape
    (1, 5)
    """
    X = validation.owned(validation.inputs(X, finite=False))
    extent = validation.finite_range(X)
    n, D = X.shape
    y = validation.outputs(y, n).copy()
    check_model(embedding, inference, marginal, priors, D)
    _check_start(initial, n_starts, D)
    box = validation.bounds(bounds, D)
    known = validation.noise_variance(noise_variance, n)
    rng = validation.generator(random_state)
    notes = _look_at(X, y, box, extent)
    scaling = InputScaling.from_range(*extent) if box is None else InputScaling.from_bounds(*box)
    output = OutputScaling.from_data(y, standardize, known)
    seed = int(rng.integers(2**31))
    sampler = Nuts() if inference == "nuts" else inference if isinstance(inference, Nuts) else None
    method = "nested" if sampler is not None else inference
    marginal = marginal or ("mgp" if sampler is None else "samples")

    with blas_threads(n):
        space = _space(X, scaling, embedding, initial)

    carried = _carried(initial, output)

    def once(model: Embedding, start: Belief | None, misfit: float = carried) -> Belief:
        posterior = _posterior(model, kernels.resolve(kernel), space, output, y, known, priors or Priors(), misfit, D)
        modes = _modes(start, posterior, space)
        if start is not None and start is not initial:  # it misled: there may be nothing but noise
            modes += (starts.silent(replace(posterior, embedding=Linear(1))),)
        with blas_threads(n):
            found = _infer(posterior, method, np.random.default_rng(seed), n_starts, modes, progress)
        belief = Belief(
            posterior=posterior,
            space=space,
            output=output,
            components=found.components,
            log_evidence=found.log_evidence - n * float(np.log(output.scale)),
            diagnostics=replace(_diagnose(found, space, notes), misfit=misfit * output.scale),
            inference=str(method),
            marginal=marginal,
            seed=seed,
            X=X,
            y=y,
        )
        return belief

    if isinstance(embedding, Linear) and embedding.d == "auto":
        belief = _choose_dimension(once, initial, min(LARGEST_AUTO, D, max(1, n - 1)))
    else:
        belief = once(embedding, initial)
    belief = _checked(belief, once, initial, progress)
    if sampler is not None:
        with blas_threads(n):
            belief = _sampled(belief, sampler, progress)
    for note in belief.diagnostics.warnings:
        warnings.warn(note, RidgewayWarning, stacklevel=2)
    return belief


def _choose_dimension(once: Any, initial: Belief | None, largest: int) -> Belief:
    """The ``d`` of most evidence; stops after two in a row that are worse than the best."""
    evidence: dict[int, float] = {}
    best: Belief | None = None
    for d in range(1, largest + 1):
        start = initial if initial is not None and initial.model == Linear(d) else None
        belief = once(Linear(d), start)
        evidence[d] = float(belief.log_evidence)
        if best is None or belief.log_evidence > best.log_evidence:
            best = belief
        elif d - max(evidence, key=lambda k: evidence[k]) >= 2:
            break
    assert best is not None
    return replace(best, diagnostics=replace(best.diagnostics, dimension_evidence=evidence))


def _sampled(belief: Belief, sampler: Nuts, progress: Progress | None) -> Belief:
    """The belief with draws from the exact posterior in place of Gaussians around its modes."""
    if progress is not None:
        progress(f"sampling {sampler.chains} chains of {sampler.tune} + {sampler.draws} draws")
    posterior = belief.posterior
    full = [nuts.Mode(c.gp.theta, c.weight) for c in belief.components if c.gp.embedding == posterior.embedding]
    modes = full or [nuts.Mode(_full_rank(belief), 1.0)]
    found = nuts.sample(posterior, modes, sampler, belief.seed)
    gp = condition(posterior.embedding, posterior.kernel, posterior.data, modes[0].theta)
    _, s, Vt = np.linalg.svd(found.theta - found.theta.mean(axis=0), full_matrices=False)
    component = Component(gp, Vt.T * (s / np.sqrt(found.theta.shape[0])), 1.0, belief.components[0].log_evidence)
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


def _full_rank(belief: Belief) -> Array:
    """The best mode with rows that it does without, as small as a start from the prior may be."""
    gp, posterior = belief.components[0].gp, belief.posterior
    missing = posterior.n_parameters - gp.parameters.shape[0]
    small = 0.1 * posterior.scale(gp.theta[LOG_SCALE]) * np.random.default_rng(belief.seed).standard_normal(missing)
    return np.concatenate([gp.parameters, small, gp.theta[-N_GLOBAL:]])


def _carried(initial: Belief | None, output: OutputScaling) -> float:
    """The misfit that an earlier belief was found to have, on the engine's scale."""
    return 0.0 if initial is None else initial.diagnostics.misfit / output.scale


def _checked(belief: Belief, once: Any, initial: Belief | None, progress: Progress | None) -> Belief:
    """The belief, with more noise where it would have misled about observations left out."""
    if initial is not None:
        return _noted(belief, "the belief that this one began with had misled") if belief.diagnostics.misfit else belief
    if not holdout.doubtful(belief):
        return belief
    if progress is not None:
        progress("predicting observations left out")
    tie_noise = belief.posterior.priors.tie_noise**2 * _saturated(belief.y)  # not part of a prediction
    with blas_threads(belief.y.shape[0]):
        found = holdout.check(belief, belief.posterior.data.noise - tie_noise, SUBSET)
    evidence = belief.diagnostics.dimension_evidence
    if found.misled:
        belief = _noted(once(belief.model, belief, found.misfit), "a fit to a part of the data misled about the rest")
    diagnostics = replace(belief.diagnostics, held_out_excess=found.excess, dimension_evidence=evidence)
    return replace(belief, diagnostics=diagnostics)


def _noted(belief: Belief, why: str) -> Belief:
    diagnostics = belief.diagnostics
    note = f"{why}: extra noise with a standard deviation of {diagnostics.misfit:.2g} is assumed"
    return replace(belief, diagnostics=replace(diagnostics, warnings=(*diagnostics.warnings, note)))


def check_model(embedding: Any, inference: Any, marginal: Any, priors: Any, D: int) -> None:
    """Raise for what no data could be fitted with."""
    if not isinstance(inference, Nuts):
        validation.choice(inference, INFERENCES, "inference")
    if marginal is not None:
        validation.choice(marginal, MARGINALS, "marginal")
    if not isinstance(embedding, Linear | Diagonal | Isotropic):
        raise TypeError(f"embedding must be Linear(d), Diagonal() or Isotropic(), got {embedding!r}")
    if isinstance(embedding, Linear) and embedding.d != "auto" and embedding.rows > D:
        raise ValueError(f"d of Linear must be at most the number of inputs, {D}, got {embedding.rows}")
    if priors is not None and not isinstance(priors, Priors):
        raise TypeError(f"priors must be a Priors or None, got {priors!r}")


def _check_start(initial: Any, n_starts: Any, D: int) -> None:
    if initial is not None and not isinstance(initial, Belief):
        raise TypeError(f"initial must be a Belief or None, got {initial!r}")
    if initial is not None and initial.space.scaling.D != D:
        raise ValueError(f"initial must be a belief about {D} inputs, got one about {initial.space.scaling.D}")
    if n_starts is not None and (
        isinstance(n_starts, bool) or not isinstance(n_starts, int | np.integer) or n_starts < 1
    ):
        raise ValueError(f"n_starts must be a whole number of at least 1 or None, got {n_starts!r}")


def _look_at(X: Inputs, y: Array, box: tuple[Array, Array] | None, extent: tuple[Array, Array]) -> list[str]:
    """What a user should know about the data before believing any fit of them."""
    notes = []
    n = y.shape[0]
    if n == 1:
        notes.append("y has a single observation: the belief is little more than the prior")
    elif is_constant(y):
        notes.append(f"y is constant ({y[0]:g}): there is nothing to learn about the embedding")
    else:
        tied = int(_saturated(y).sum())
        if tied:
            notes.append(
                f"{tied} of {n} values of y are tied: a response that saturates passes for exact knowledge, "
                "so extra noise is assumed (tie_noise and kink_noise of Priors)"
            )
    if box is not None:
        outside = _count_outside(X, extent, *box)
        if outside:
            notes.append(f"{outside} of {n} rows of X are outside the bounds; they are used as they are")
    return notes


def _count_outside(X: Inputs, extent: tuple[Array, Array], lower: Array, upper: Array) -> int:
    """How many rows leave the box, a row at a time so that nothing of X's size is made."""
    if np.all(extent[0] >= lower) and np.all(extent[1] <= upper):
        return 0
    rows = (X[[i]].toarray()[0] for i in range(X.shape[0])) if sparse.issparse(X) else iter(X)
    return sum(bool(np.any(row < lower) or np.any(row > upper)) for row in rows)


def _saturated(y: Array) -> Array:
    """1.0 where an output has the very value that many others have, else 0.0, ``(n,)``."""
    _, which, counts = np.unique(y, return_inverse=True, return_counts=True)
    often = counts[which] >= max(3.0, _TIES * y.shape[0])
    return (often & (counts.shape[0] > 1)).astype(float)


def _space(X: Inputs, scaling: InputScaling, embedding: Embedding, initial: Belief | None) -> RowSpace:
    """The row space, grown from the earlier belief's where the data have only been added to."""
    if embedding.reduction == "none":
        return rowspace.unreduced(X, scaling)
    if initial is not None and _continues(X, scaling, initial):
        return rowspace.extend(initial.space, X)
    return rowspace.reduce(X, scaling)


def _continues(X: Inputs, scaling: InputScaling, initial: Belief) -> bool:
    known = initial.X.shape[0]
    old = initial.space.scaling
    if sparse.issparse(X) or sparse.issparse(initial.X) or not 0 < X.shape[0] - known <= known:
        return False
    same_units = np.array_equal(old.center, scaling.center) and np.array_equal(old.half_width, scaling.half_width)
    return bool(same_units and np.array_equal(X[:known], initial.X))


def _posterior(
    model: Embedding, kernel: Kernel, space: RowSpace, output: OutputScaling, y: Array, known: Array | None,
    priors: Priors, misfit: float, D: int,
) -> Posterior:  # fmt: skip
    tied = _saturated(y)
    if tied.any():
        priors = replace(priors, noise_floor=max(priors.noise_floor, priors.kink_noise))
    if misfit:
        priors = replace(priors, noise_floor=float(np.hypot(priors.noise_floor, misfit)))
    noise = priors.noise_floor**2 + priors.tie_noise**2 * tied
    if known is not None:
        noise += known / output.scale**2
    Z, _ = reduced(model, space.Z, np.zeros(y.shape[0]))
    return Posterior(model, kernel, Data(np.ascontiguousarray(Z), output.scaled(y), noise), priors, D)


def _modes(initial: Belief | None, posterior: Posterior, space: RowSpace) -> tuple[Array, ...]:
    """The modes of an earlier belief in the coordinates of the new one."""
    if initial is None or initial.model != posterior.embedding:
        return ()
    if not isinstance(initial.model, Linear):
        return tuple(c.gp.theta for c in initial.components)
    ratio = space.scaling.half_width / initial.space.scaling.half_width
    modes = []
    for c in initial.components:
        R = initial.space.lift(c.gp.parameters.reshape(c.gp.U.shape[1], initial.space.r)) * ratio
        modes.append(np.concatenate([space.restrict(R).ravel(), c.gp.theta[-N_GLOBAL:]]))
    return tuple(modes)


def full_search(embedding: Embedding) -> int:
    """How many searches for modes a fit makes where nothing is known; more rows have more modes."""
    d = embedding.d if isinstance(embedding, Linear) and embedding.d != "auto" else 1
    return N_STARTS * max(1, int(d) - 1)


def _infer(
    posterior: Posterior, inference: Any, rng: np.random.Generator, n_starts: int | None,
    modes: tuple[Array, ...], progress: Progress | None,
) -> Inferred:  # fmt: skip
    if n_starts is None:
        n_starts = WARM_STARTS if modes else full_search(posterior.embedding)
    n = posterior.data.n
    if n > SUBSET and n_starts > WARM_STARTS:
        # Modes are found on a part of the data at a fraction of the cost, then followed on all.
        rows = rng.choice(n, SUBSET, replace=False)
        part = Data(posterior.data.Z[rows], posterior.data.y[rows], posterior.data.noise[rows])
        first = infer(replace(posterior, data=part), inference, rng, n_starts, modes, progress)
        modes = tuple(c.gp.theta for c in first.components[:2])
        found = infer(posterior, inference, rng, 0, modes, progress)
        return replace(found, n_starts=first.n_starts, starts_at_best=first.starts_at_best)
    return infer(posterior, inference, rng, n_starts, modes, progress)


def _diagnose(found: Inferred, space: RowSpace, notes: list[str]) -> Diagnostics:
    notes = list(notes)
    gp = found.components[0].gp
    if gp.jitter > 0:
        notes.append(
            f"a jitter of {gp.jitter / gp.output_variance:.0e} of the output variance was needed to factorise "
            "the covariance: are there near-duplicate points with next to no noise?"
        )
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
    )
    if not diagnostics.converged:
        notes.append(f"the fit is {diagnostics.status}")
    return replace(diagnostics, warnings=tuple(notes))
