"""``fit``: from data in the user's units to a :class:`Belief`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ridgeway import checks, columns
from ridgeway import names as _names
from ridgeway import progress as progresses
from ridgeway.belief import data_notes, row_blocks, streamed, transfer
from ridgeway.belief.approximation import MOST_DIRECTIONS, Plan, planned
from ridgeway.belief.belief import MARGINALS, Belief
from ridgeway.belief.fit_task import FitTask
from ridgeway.belief.many_rows import PART, ManyRowsTask
from ridgeway.belief.robust import Hypothesis, fit_robustly
from ridgeway.belief.row_blocks import Blocks
from ridgeway.belief.sampling import sampled
from ridgeway.belief.suspects import suspects
from ridgeway.blas import blas_threads
from ridgeway.errors import RidgewayWarning
from ridgeway.gp import kernels
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.length_scales import Diagonal, Isotropic
from ridgeway.gp.linear import Linear
from ridgeway.gp.moments import Marginal
from ridgeway.gp.priors import Priors
from ridgeway.gp.row_source import ArrayRows
from ridgeway.gp.scaling import InputScaling, OutputScaling, is_constant
from ridgeway.inference import left_out
from ridgeway.inference.nuts import Nuts
from ridgeway.inference.settings import EFFORTS, SearchSettings
from ridgeway.types import Array, GivenProgress, Inputs, Progress, RandomState

INFERENCES = ("nested", "map", "nuts")
_LARGEST_RATIO = 1e300  # of a known noise variance to that of y, beyond which floating point ends


def fit(
    X: Any,
    y: Any = None,
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
    progress: GivenProgress = None,
    effort: str | float = "normal",
    n_jobs: int = 1,
    settings: SearchSettings | None = None,
    names: Sequence[str] | None = None,
    units: Sequence[str | None] | None = None,
    robust: bool = True,
    approximation: str = "auto",
) -> Belief:
    """Fit the posterior over an embedding and the function on it.

    Parameters
    ----------
    X : (n, D) array, DataFrame or scipy.sparse matrix, in any units
        The column names of a table are kept: what the belief is asked later about a table with the same columns in
        another order is answered rightly, and other columns are refused.
        Arrays above 256 MB are kept by reference: do not change them afterwards. Rows that do not fit into memory
        come as Parquet files (paths, with ``*`` if there are many), as a Dask array or table, or as batches: pairs
        ``(X, y)`` in a list, or from a function that returns an iterator.
    y : (n,) array, in any units
        The name of a column where ``X`` is Parquet files or a Dask table; nothing beside batches.
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
        Climbs of the search for modes at most, where ``effort`` should not decide; by default 1 beside an ``initial``
        belief.
    progress
        Called with a sentence before each longer piece of work; ``True`` shows it as a line of the terminal.
    effort
        How hard to search for modes: ``"quick"`` (a few seconds), ``"normal"``, ``"thorough"`` (minutes), or a
        number of seconds for the climbs. A search ends early where fresh starts keep finding the same best mode.
        An interruption from the keyboard ends it with the best found so far, and a warning.
    n_jobs
        Processes that search side by side; the answer does not depend on their number.
    settings
        Every number that steers the search, in place of ``effort``; see
        :class:`ridgeway.inference.settings.SearchSettings`.
    names, units
        Of the inputs, one for each; by default the names are those of the table ``X``. A table is brought into the
        order of ``names``.
    robust
        Whether an observation that does not fit the others gets a noise of its own, so that it has hardly any
        influence; ``belief.suspects`` and a warning name it. ``False`` takes all at their word, and so does a finite
        basis.
    approximation
        ``"exact"`` costs the cube of the number of rows. ``"features"`` takes a finite basis of waves over the
        embedding, at a cost in proportion to the rows, and says in ``belief.diagnostics`` how far it is from exact.
        ``"auto"`` is exact up to 3,000 rows, and says so before it begins where it is not.

    Examples
    --------
    >>> import numpy as np, ridgeway as rw
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 5))
    >>> belief = rw.fit(X, np.sin(X[:, 0] + X[:, 1]), rw.Linear(1))
    >>> belief.embedding.shape
    (1, 5)
    """
    blocks = row_blocks.opened(X, y)
    if blocks is not None:
        given = {
            "kernel": kernel,
            "inference": inference,
            "marginal": marginal,
            "bounds": bounds,
            "standardize": standardize,
            "priors": priors,
            "noise_variance": noise_variance,
            "initial": initial,
            "random_state": random_state,
            "n_starts": n_starts,
            "progress": progress,
            "effort": effort,
            "n_jobs": n_jobs,
            "settings": settings,
            "names": names,
            "units": units,
            "approximation": approximation,
        }
        return _fit_blocks(blocks, embedding, given)
    names = _names.checked(columns.names_of(X) if names is None else names)
    X = checks.inputs(X, finite=False, names=names)
    extent = checks.finite_range(X)
    n, D = X.shape
    names, units = _names.checked(names, D), _names.checked_units(units, D)
    y = checks.outputs(y, n).copy()
    checks.variation(y)
    check_model(embedding, inference, marginal, priors, D)
    _check_start(initial, n_starts, D, names)
    say = progresses.given(progress)
    box = checks.bounds(bounds, D)
    known = checks.noise_variance(noise_variance, n)
    rng = checks.generator(random_state)
    output = OutputScaling.from_data(y, standardize, known)
    if known is not None and known.max() / _LARGEST_RATIO > output.scale**2:
        raise ValueError(
            f"noise_variance must be in the squared units of y, got {known.max():g} where y varies by {output.scale:g}"
        )
    scaling = InputScaling.from_range(*extent) if box is None else InputScaling.from_bounds(*box)
    sampler = Nuts() if inference == "nuts" else inference if isinstance(inference, Nuts) else None
    earlier = None if initial is None else (initial.X, initial.space)
    resolved = kernels.resolve(kernel)
    plan = planned(approximation, n, D, embedding, resolved, inference)
    _announce(plan, say)
    others: tuple[Any, Any] | None = None
    if plan.part is not None:
        order = rng.permutation(n)
        fitted, left_over = order[: plan.part], order[plan.part : 2 * plan.part]
        others = X[left_over], y[left_over]
        X, y, known = X[fitted], y[fitted], None if known is None else known[fitted]
        n = plan.part
    if not plan.features:  # which keeps a sample alone
        X = checks.owned(X)
    chosen_rows = rng.choice(n, min(n, PART), replace=False) if plan.features else None

    def part(values: Any) -> Any:  # all of them without a copy, which a slice of a sparse matrix would be
        return values if values is None or chosen_rows is None else values[chosen_rows]

    with blas_threads(n):
        space = transfer.row_space(part(X), scaling, embedding, None if plan.features else earlier)
    task = FitTask(
        X=part(X),
        y=part(y),
        known=part(known),
        space=space,
        output=output,
        kernel=resolved,
        priors=priors or Priors(),
        inference="nested" if sampler is not None else str(inference),
        marginal=marginal or ("mgp" if sampler is None else "samples"),
        seed=int(rng.integers(2**31)),
        n_starts=n_starts,
        notes=tuple(data_notes.notes(X, y, box, extent)),
        progress=say,
        settings=settings or search_settings(effort),
        seconds=np.inf if isinstance(effort, str) else float(effort),
        n_jobs=checks.count(n_jobs, "n_jobs", 1),
        standardize=standardize,
    )
    once = partial(_fitted, embedding)
    try:
        if plan.features:
            rows = ArrayRows(X, y, task.noise(y, known), scaling, output)
            belief = ManyRowsTask(task, rows).belief(embedding, initial)
        else:
            chosen = fit_robustly(task, initial, once) if robust else Hypothesis(task, once(task, initial))
            belief = _with_suspects(chosen.task, _checked(chosen, initial))
        if sampler is not None:
            with blas_threads(n):
                belief = sampled(belief, sampler, say)
    finally:
        if progress is True:  # a line of our own
            progresses.clear(say)
    if others is not None:
        notes = (*belief.diagnostics.warnings, _on_others(belief, *others))
        belief = replace(belief, diagnostics=replace(belief.diagnostics, warnings=notes))
    belief = replace(belief, names=names, units=units)
    for note in belief.diagnostics.warnings:
        warnings.warn(note, RidgewayWarning, stacklevel=2)
    return belief


def _on_others(belief: Belief, X: Inputs, y: Array) -> str:
    """How a belief about a part of the rows predicts others."""
    found = belief.predict(X)
    error = y - found.mean
    inside = np.abs(error) < 1.96 * np.sqrt(found.variance + belief.noise_variance)
    explained = 1.0 - float(error.var() / y.var())
    return (
        f"{belief.X.shape[0]:,} rows drawn at random were fitted, because a finite basis for all takes at most "
        f"{MOST_DIRECTIONS} directions: of {y.shape[0]:,} others it explains {100 * explained:.1f} % of the "
        f"variance, and {100 * inside.mean():.0f} % are within their 95 % intervals"
    )


def _fit_blocks(blocks: Blocks, embedding: Embedding, given: dict[str, Any]) -> Belief:
    """:func:`fit` of rows that never come together."""
    kernel, say = kernels.resolve(given["kernel"]), progresses.given(given["progress"])
    if say is not None:
        say("reading all rows once")
    seen = blocks.total(streamed.survey, streamed.together)
    n, D = seen.n, seen.lower.shape[0]
    names = _names.checked(blocks.names if given["names"] is None else given["names"], D)
    units = _names.checked_units(given["units"], D)
    check_model(embedding, given["inference"], given["marginal"], given["priors"], D)
    _check_start(given["initial"], given["n_starts"], D, names)
    known = checks.noise_variance(given["noise_variance"], 1)  # one number for all rows
    box = checks.bounds(given["bounds"], D)
    plan = planned(given["approximation"], n, D, embedding, kernel, given["inference"], streamed=True)
    _announce(plan, say)
    rng = checks.generator(given["random_state"])
    X, y = streamed.sample(blocks, n, min(n, PART), rng)
    checks.variation(y)
    output = seen.scaling(given["standardize"])
    scaling = InputScaling.from_range(seen.lower, seen.upper) if box is None else InputScaling.from_bounds(*box)
    with blas_threads(n):
        space = transfer.row_space(X, scaling, embedding, None)
    task = FitTask(
        X=X,
        y=y,
        known=None if known is None else np.full(y.shape[0], known[0]),
        space=space,
        output=output,
        kernel=kernel,
        priors=given["priors"] or Priors(),
        inference="nested",
        marginal=given["marginal"] or "mgp",
        seed=int(rng.integers(2**31)),
        n_starts=given["n_starts"],
        notes=tuple(data_notes.notes(X, y, None, (seen.lower, seen.upper))),
        progress=say,
        settings=given["settings"] or search_settings(given["effort"]),
        seconds=np.inf if isinstance(given["effort"], str) else float(given["effort"]),
        n_jobs=checks.count(given["n_jobs"], "n_jobs", 1),
        standardize=given["standardize"],
    )
    rows = streamed.BlockRows(blocks, n, scaling, output, task.noise_rule())
    belief = ManyRowsTask(task, rows).belief(embedding, given["initial"])
    if given["progress"] is True:
        progresses.clear(say)
    for note in belief.diagnostics.warnings:
        warnings.warn(note, RidgewayWarning, stacklevel=3)
    return replace(belief, names=names, units=units)


def _announce(plan: Plan, say: Progress | None) -> None:
    """Say what a fit will do and cost, before it begins; a warning where it was not asked to be approximate."""
    if (plan.features or plan.part is not None) and plan.is_automatic:
        warnings.warn(plan.sentence, RidgewayWarning, stacklevel=3)
    if say is not None and plan.is_costly:
        say(plan.sentence)


def search_settings(effort: Any) -> SearchSettings:
    """The settings of an effort; a number of seconds allows as many climbs as fit into them."""
    if isinstance(effort, str) and effort in EFFORTS:
        return EFFORTS[effort]
    is_number = isinstance(effort, int | float | np.integer | np.floating) and not isinstance(effort, bool)
    if not is_number or not 0 < effort < np.inf:
        raise ValueError(f"effort must be one of {', '.join(map(repr, EFFORTS))} or seconds above 0, got {effort!r}")
    return EFFORTS["thorough"]


def check_model(embedding: Any, inference: Any, marginal: Any, priors: Any, D: int) -> None:
    """Raise for what no data could be fitted with."""
    if not isinstance(inference, Nuts):
        checks.choice(inference, INFERENCES, "inference")
    if marginal is not None:
        checks.choice(marginal, MARGINALS, "marginal")
    if not isinstance(embedding, Linear | Diagonal | Isotropic):
        raise TypeError(f"embedding must be Linear(d), Diagonal() or Isotropic(), got {embedding!r}")
    embedding.check(D)
    if priors is not None and not isinstance(priors, Priors):
        raise TypeError(f"priors must be a Priors or None, got {priors!r}")


def _check_start(initial: Any, n_starts: Any, D: int, names: tuple[str, ...] | None) -> None:
    if initial is not None and not isinstance(initial, Belief):
        raise TypeError(f"initial must be a Belief or None, got {initial!r}")
    if initial is not None and initial.space.scaling.D != D:
        raise ValueError(f"initial must be a belief about {D} inputs, got one about {initial.space.scaling.D}")
    if initial is not None and None not in (initial.names, names) and initial.names != names:
        raise ValueError(f"initial must be a belief about inputs with the names {names}, got {initial.names}")
    if n_starts is not None and (
        isinstance(n_starts, bool) or not isinstance(n_starts, int | np.integer) or n_starts < 1
    ):
        raise ValueError(f"n_starts must be a whole number of at least 1 or None, got {n_starts!r}")


def _chosen_dimension(task: FitTask, initial: Belief | None) -> Belief:
    """The belief of the ``d`` of most evidence.

    Each ``d`` gets a part of a search, beside the modes of the ranks below it; the best gets the rest of a full one.
    It stops after two in a row that are worse than the best.
    """
    n, D = task.X.shape
    share = task.settings.auto_share
    misfit = 0.0 if initial is None else initial.diagnostics.misfit / task.output.scale
    evidence: dict[int, float] = {}
    best: Belief | None = None
    last: Belief | None = None
    for d in range(1, min(task.settings.largest_auto, D, max(1, n - 1)) + 1):
        start = initial if initial is not None and initial.model == Linear(d) else None
        last = task.belief(Linear(d), start, misfit, lower=last, share=1.0 if d == 1 else share)
        evidence[d] = float(last.log_evidence)
        if best is None or last.log_evidence > best.log_evidence:
            best = last
        elif d - max(evidence, key=lambda k: evidence[k]) >= 2:
            break
    assert best is not None
    if best.model != Linear(1) and not is_constant(task.y):
        begun = best.diagnostics
        best = task.belief(best.model, best, misfit, share=1.0 - share)
        evidence[max(evidence, key=lambda k: evidence[k])] = float(best.log_evidence)
        n_starts = begun.n_starts + best.diagnostics.n_starts
        best = replace(best, diagnostics=replace(best.diagnostics, n_starts=n_starts))
    return replace(best, diagnostics=replace(best.diagnostics, dimension_evidence=evidence))


def _fitted(embedding: Embedding, task: FitTask, initial: Belief | None) -> Belief:
    """The belief of a task, as if no observation were an outlier but those that the task knows."""
    return _chosen_dimension(task, initial) if embedding == Linear("auto") else task.belief(embedding, initial)


def _with_suspects(task: FitTask, belief: Belief) -> Belief:
    """The belief with its suspects, and a warning about each."""
    if task.own is None:
        return belief
    found = suspects(belief, task.own, task.settings.outliers)
    notes = (*(suspect.sentence() for suspect in found), *belief.diagnostics.warnings)
    return replace(belief, suspects=found, diagnostics=replace(belief.diagnostics, warnings=notes))


def _checked(chosen: Hypothesis, initial: Belief | None) -> Belief:
    """The belief, with more noise where it would have misled about observations left out."""
    task, belief = chosen.task, chosen.belief
    if initial is not None:
        return _noted(belief, "the belief that this one began with had misled") if belief.diagnostics.misfit else belief
    rules = task.settings.left_out
    if task.inference != "nested" or is_constant(task.y):
        return belief
    trusted = chosen.own <= 0
    posterior = replace(belief.posterior, data=belief.posterior.data.rows(trusted))
    if not left_out.doubtful(posterior, belief.components, rules):
        return belief
    if task.progress is not None:
        task.progress("predicting observations left out")
    noise = posterior.data.noise - data_notes.tie_noise(posterior.priors, task.y)[trusted]
    with blas_threads(posterior.data.n):
        found = left_out.check(posterior, belief.components, noise, task.seed, task.settings)
    diagnostics = replace(belief.diagnostics, failures=belief.diagnostics.failures + found.failures)
    if found.misled:
        belief = task.belief(belief.model, belief, found.misfit, misled=True)
        belief = _noted(belief, "a fit to a part of the data misled about the rest")
        diagnostics = belief.diagnostics.after(diagnostics)
    return replace(belief, diagnostics=replace(diagnostics, held_out_excess=found.excess))


def _noted(belief: Belief, why: str) -> Belief:
    diagnostics = belief.diagnostics
    note = f"{why}: extra noise with a standard deviation of {diagnostics.misfit:.2g} is assumed"
    return replace(belief, diagnostics=replace(diagnostics, warnings=(*diagnostics.warnings, note)))
