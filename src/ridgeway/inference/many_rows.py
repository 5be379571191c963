"""Modes known from a part of many rows, followed on all of them with a finite basis.

A search for modes needs few rows; scales, noise and the embedding's last digits need all. So modes that were found on
a part are climbed from on a larger part, and those that carry weight there on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ridgeway.errors import NumericalError
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import N_GLOBAL
from ridgeway.inference import evidence, many_rows_starts
from ridgeway.inference.all_rows import on_all_rows
from ridgeway.inference.laplace import Laplace
from ridgeway.inference.mixture import Inferred, KnownMode, mixture
from ridgeway.inference.mode_following import ROWS_A_PARAMETER, followed, jointly, too_many_waves
from ridgeway.inference.population import Optimum, merge
from ridgeway.inference.search_run import SearchRun
from ridgeway.types import Array

_SAME_EVIDENCE = 5.0  # nats by which the evidence of one mode differs with its basis
_TOGETHER, _CURVATURES = 2, 3  # steps in all of theta with each curvature, after those in what rows decide,
_MOST_TOGETHER = 1_000_000  # up to so many rows: with more, rounding hides how the density is curved in the rest
_BASES = 3  # for which these steps are made at most
_RECOGNISED = 0.8  # similarity of an embedding on the way to that of the mode that it comes to


def infer(part: Posterior, whole: Posterior, modes: Sequence[KnownMode], n_ranks: int, run: SearchRun) -> Inferred:
    """The mixture of modes of ``whole``: of those near ``modes`` and of a regression on ``part``, all that have weight.

    ``part`` and ``whole`` are the same model on a part of the rows and on all.
    """
    optima: list[Optimum] = []
    for i, (model, theta) in enumerate(many_rows_starts.from_modes(part, modes, run)):
        run.say(f"following mode {i + 1} on {part.data.n:,} rows")
        with run.counting_failures():
            optima = _merged(optima, Optimum(followed(model, theta, run)), run)
    with run.counting_failures():
        run.say(f"climbing from moments of {part.data.n:,} rows")
        theta = many_rows_starts.from_moments(part)
        if not any(_leads_to(theta, optimum) for optimum in optima):
            optima = _merged(optima, Optimum(followed(part, theta, run)), run)
    if not optima:
        raise NumericalError(too_many_waves(part))
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
            lap = _brought(model, optimum.laplace, run)
            found = _merged(found, replace(optimum, laplace=lap), run)
    if not found:
        raise NumericalError(too_many_waves(whole))
    return found


def _brought(whole: Posterior, known: Laplace, run: SearchRun) -> Laplace:
    """A mode of a part of the rows on all of them."""
    n = whole.data.n
    if n <= ROWS_A_PARAMETER * known.theta.shape[0]:
        return followed(whole, known.theta, run, known)
    found = on_all_rows(whole, known)
    if n > _MOST_TOGETHER:
        return found
    fixed, better = found.posterior, found
    for _ in range(_BASES):
        better = jointly(fixed, better, _CURVATURES, _TOGETHER)
        if fixed.data.covers(better.theta):
            return better
        fixed = replace(whole, data=whole.data.around(whole.embedding, whole.kernel, better.theta))
    return found
