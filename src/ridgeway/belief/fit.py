"""``fit``: from data in the user's units to a :class:`Belief`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ridgeway import checks, columns
from ridgeway import names as _names
from ridgeway.belief import data_notes, row_blocks, streamed, transfer
from ridgeway.belief.approximation import MOST_DIRECTIONS
from ridgeway.belief.belief import Belief
from ridgeway.belief.exact_fit import exact_fit
from ridgeway.belief.fit_options import FitOptions
from ridgeway.belief.many_rows import KEPT, PART, ManyRowsTask
from ridgeway.belief.observations import Observations
from ridgeway.belief.row_blocks import Blocks
from ridgeway.belief.sampling import sampled
from ridgeway.blas import blas_threads, one_blas_thread
from ridgeway.errors import RidgewayWarning
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.moments import Marginal
from ridgeway.gp.priors import Priors
from ridgeway.gp.row_source import ArrayRows
from ridgeway.gp.scaling import InputScaling, OutputScaling
from ridgeway.inference.nuts import Nuts
from ridgeway.inference.settings import SearchSettings
from ridgeway.types import Array, GivenProgress, RandomState

_LARGEST_RATIO = 1e300  # of a known noise variance to that of y, beyond which floating point ends


def fit(
    X: Any,
    y: Any = None,
    embedding: Embedding | None = None,
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
        ``Linear(d)``, ``Linear("auto")``, ``Diagonal()`` or ``Isotropic()``; by default ``Linear(2)``, or
        ``Linear(1)`` of a single input.
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
    options = FitOptions(
        embedding=embedding,
        kernel=kernel,
        inference=inference,
        marginal=marginal,
        bounds=bounds,
        standardize=standardize,
        priors=priors,
        noise_variance=noise_variance,
        initial=initial,
        random_state=random_state,
        n_starts=n_starts,
        progress=progress,
        effort=effort,
        n_jobs=n_jobs,
        settings=settings,
        names=names,
        units=units,
        robust=robust,
        approximation=approximation,
    )
    blocks = row_blocks.opened(X, y)
    with options.progress_line():
        belief = _fit_arrays(X, y, options) if blocks is None else _fit_blocks(blocks, options)
    for note in belief.diagnostics.warnings:
        warnings.warn(note, RidgewayWarning, stacklevel=2)
    return belief


def _fit_arrays(X: Any, y: Any, options: FitOptions) -> Belief:
    """:func:`fit` of rows in memory."""
    names = _names.checked(columns.names_of(X) if options.names is None else options.names)
    X = checks.inputs(X, finite=False, names=names)
    extent = checks.finite_range(X)
    n, D = X.shape
    names, units = _names.checked(names, D), _names.checked_units(options.units, D)
    y = checks.outputs(y, n).copy()
    checks.variation(y)
    options = options.for_inputs(D, names)
    seen = Observations(X, y, checks.noise_variance(options.noise_variance, n))
    rng = checks.generator(options.random_state)
    output = OutputScaling.from_data(y, options.standardize, seen.known)
    _check_noise(seen, output)
    plan, way = options.plan(n, D), _InMemory(extent, output, options, rng)
    if plan.features:
        belief = way.with_basis(seen)
    elif plan.part is not None:
        belief = way.of_a_part(plan.part, seen)
    else:
        belief = way.exactly(seen)
    return replace(belief, names=names, units=units)


def _check_noise(seen: Observations, output: OutputScaling) -> None:
    if seen.known is not None and seen.known.max() / _LARGEST_RATIO > output.scale**2:
        raise ValueError(
            f"noise_variance must be in the squared units of y, got {seen.known.max():g} where y varies by "
            f"{output.scale:g}"
        )


@dataclass(frozen=True)
class _InMemory:
    """A fit of rows in memory, after its arguments have been checked: all that its ways of computing share."""

    extent: tuple[Array, Array]
    output: OutputScaling
    options: FitOptions
    rng: np.random.Generator

    def exactly(self, seen: Observations) -> Belief:
        """The exact process of all rows."""
        options, seen = self.options, seen._replace(X=checks.owned(seen.X))
        initial = options.initial
        earlier = None if initial is None else (initial.X, initial.space)
        with blas_threads(seen.n):
            space = transfer.row_space(seen.X, self._scaling, options.model, earlier)
        task = options.task(seen, space, self.output, self._notes(seen), self.rng)
        with one_blas_thread():
            belief = exact_fit(task, options.model, initial, options.robust)
            return belief if options.sampler is None else sampled(belief, options.sampler, options.say)

    def with_basis(self, seen: Observations) -> Belief:
        """A finite basis for all rows, which are not copied."""
        options = self.options
        drawn = seen.rows(self.rng.choice(seen.n, min(seen.n, PART), replace=False))
        with blas_threads(seen.n):
            space = transfer.row_space(drawn.X, self._scaling, options.model, None)
        drawn = drawn._replace(X=drawn.X[:KEPT].copy())  # of the others only what the row space holds is needed
        task = options.task(drawn, space, self.output, self._notes(seen), self.rng)
        rows = ArrayRows(seen.X, seen.y, task.noise(seen.y, seen.known), self._scaling, self.output)
        with one_blas_thread():
            return ManyRowsTask(task, rows).belief(options.model, options.initial)

    def of_a_part(self, size: int, seen: Observations) -> Belief:
        """The exact process of ``size`` rows drawn at random, with a note about how it predicts as many others."""
        order = self.rng.permutation(seen.n)
        belief, others = self.exactly(seen.rows(order[:size])), seen.rows(order[size : 2 * size])
        notes = (*belief.diagnostics.warnings, _on_others(belief, others))
        return replace(belief, diagnostics=replace(belief.diagnostics, warnings=notes))

    @property
    def _scaling(self) -> InputScaling:
        return self.options.scaling(self.extent)

    def _notes(self, seen: Observations) -> list[str]:
        box = checks.bounds(self.options.bounds, self.extent[0].shape[0])
        return data_notes.notes(seen.X, seen.y, box, self.extent)


def _on_others(belief: Belief, others: Observations) -> str:
    """How a belief about a part of the rows predicts others."""
    found = belief.predict(others.X)
    error = others.y - found.mean
    inside = np.abs(error) < 1.96 * np.sqrt(found.variance + belief.noise_variance)
    explained = 1.0 - float(error.var() / others.y.var())
    return (
        f"{belief.X.shape[0]:,} rows drawn at random were fitted, because a finite basis for all takes at most "
        f"{MOST_DIRECTIONS} directions: of {others.n:,} others it explains {100 * explained:.1f} % of the "
        f"variance, and {100 * inside.mean():.0f} % are within their 95 % intervals"
    )


def _fit_blocks(blocks: Blocks, options: FitOptions) -> Belief:
    """:func:`fit` of rows that never come together."""
    if options.say is not None:
        options.say("reading all rows once")
    seen = blocks.total(partial(streamed.survey, names=blocks.names), streamed.together)
    n, extent = seen.n, (seen.lower, seen.upper)
    D = seen.lower.shape[0]
    names = _names.checked(blocks.names if options.names is None else options.names, D)
    units = _names.checked_units(options.units, D)
    options = options.for_inputs(D, names)
    if options.noise_variance is not None and np.ndim(options.noise_variance):
        raise ValueError(
            "noise_variance must be one number for all rows where these come in blocks, got an array of shape "
            f"{np.shape(options.noise_variance)}"
        )
    known = checks.noise_variance(options.noise_variance, 1)
    scaling = options.scaling(extent)
    options.plan(n, D, streamed=True)
    rng = checks.generator(options.random_state)
    X, y = streamed.sample(blocks, n, min(n, PART), rng)
    checks.variation(y)
    drawn = Observations(X, y, None if known is None else np.full(y.shape[0], known[0]))
    output = seen.scaling(options.standardize)
    with blas_threads(n):
        space = transfer.row_space(X, scaling, options.model, None)
    task = options.task(drawn, space, output, data_notes.notes(X, y, None, extent), rng)
    rows = streamed.BlockRows(blocks, n, scaling, output, task.noise_rule())
    with one_blas_thread():
        belief = ManyRowsTask(task, rows).belief(options.model, options.initial)
    return replace(belief, names=names, units=units)
