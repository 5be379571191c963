"""``inference="nested"``: modes of every rank, each with scales and noise chosen by evidence.

The result is a mixture of Gaussians that keeps every mode whose evidence comes near the best,
because with few data several embeddings explain them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.gp.posterior import Posterior
from ridgeway.inference import evidence, line_model, rank_modes
from ridgeway.inference.laplace import settle
from ridgeway.inference.mixture import Inferred, KnownMode, mixture
from ridgeway.inference.newton import climb
from ridgeway.inference.population import Optimum, merge
from ridgeway.inference.search_run import SearchRun
from ridgeway.types import Array


def infer(
    posterior: Posterior, n_starts: int, known: Sequence[KnownMode], run: SearchRun, searched_rank: int = 0
) -> Inferred:
    """Modes of every rank up to ``d``, together; ``known`` are modes of an earlier belief.

    Ranks up to ``searched_rank`` have been searched before: the ``known`` modes are all there is of them.

    The paper pads ``R`` with rows of zeros where fewer than ``d`` dimensions matter. A row that
    has to be zero costs the shared prior scale dearly, so each smaller ``d`` is a model of its
    own, and the evidence weighs them all.
    """
    settings = run.settings
    optima: list[Optimum] = []
    population: tuple[Array, ...] = ()
    searches = sum(not mode.is_spare for mode in known)
    models = ranks(posterior)
    n_searches = settings.searches(n_starts)
    for rank, model in enumerate(models, start=1):
        full = model is posterior
        share = n_starts if full else n_starts // n_searches // settings.lower_rank_share
        if rank <= searched_rank:
            share = 0
        mine = [mode.theta for mode in known if mode.belongs_to(model) and not mode.is_spare]
        spare = [mode.theta for mode in known if mode.belongs_to(model) and mode.is_spare]
        if not share and not mine:
            continue
        n_finalists = settings.n_finalists if full else settings.n_finalists // 2
        found, searched, made = rank_modes.find(
            model, share, n_searches if full else 1, n_finalists, mine, spare, run, optima
        )
        optima += _concluded(model, found, run)
        if full:
            searches += made
            population = tuple(o.laplace.theta for o in searched) or tuple(spare)
    best = max((o.nested.log_evidence for o in optima if o.nested is not None), default=-np.inf)
    margin = settings.warm_margin if known else settings.mixture.discard
    lines = [mode.theta for mode in known if mode.posterior.is_line]
    optima += _straight_lines(posterior, lines, best - margin, run)
    if not optima:
        raise NumericalError("no mode of the posterior could be followed in floating point")
    return replace(mixture(optima, searches, len(models), run), population=population)


def ranks(posterior: Posterior) -> list[Posterior]:
    """The posteriors of all lower ranks, and the posterior itself."""
    return [replace(posterior, embedding=smaller) for smaller in posterior.embedding.lower_ranks()] + [posterior]


def _straight_lines(posterior: Posterior, known: list[Array], floor: float, run: SearchRun) -> list[Optimum]:
    """The straight line of most evidence: near a ``known`` one, or near a regression of evidence above ``floor``."""
    settings = run.settings
    if not line_model.possible(posterior, settings.lines):
        return []
    model = line_model.model(posterior, settings.lines)
    if known:
        return _concluded(model, rank_modes.followed(model, [], known, run), run)
    regression = line_model.regression(model, settings.lines)
    optima: list[Optimum] = []
    if regression.log_evidence > floor:
        with run.counting_failures():
            start = settle(model, regression.theta, evidence.split(model)[0], settings=settings.newton)
            if start.log_evidence > floor - settings.mixture.discard:  # a climb may yet lead that far
                best = evidence.maximize_evidence(model, start, settings=settings)
                optima = [Optimum(best)]
    return _concluded(model, optima, run)


def _concluded(posterior: Posterior, optima: list[Optimum], run: SearchRun) -> list[Optimum]:
    """The modes, those among them that may carry weight with their scales and noise integrated out."""
    settings = run.settings
    optima = _at_modes(posterior, optima, run)
    for last in (False, True):  # a probe that beats its mode is climbed from, once
        for optimum in _leading(optima, run):
            if optimum.nested is not None:
                continue
            result, probe = evidence.conclude(posterior, optimum.laplace, settings)
            done = replace(optimum, nested=result)
            optima = [done if o is optimum else o for o in optima]
            beats_all = probe.log_evidence > optima[0].laplace.log_evidence
            gain = settings.probe_gain if beats_all else settings.probe_gain_lesser
            if probe.log_evidence > optimum.laplace.log_evidence + gain and not last:
                with run.counting_failures():
                    better = evidence.maximize_evidence(posterior, probe, settings=settings)
                    others = [o for o in optima if o is not done]
                    optima = merge(others, replace(optimum, laplace=better), settings.population)
    return optima


def _at_modes(posterior: Posterior, optima: list[Optimum], run: SearchRun) -> list[Optimum]:
    """The optima, with those among the leading ones that were left on the way to their mode brought there.

    A climb of the evidence gives its inner steps few iterations. Short of the mode the curvature is not the mode's,
    and raised to the prior's it passes for much evidence and a wide Gaussian.
    """
    settings = run.settings
    for optimum in _leading(optima, run):
        if optimum.laplace.has_arrived(settings.newton):
            continue
        with run.counting_failures():
            inner, _ = evidence.split(posterior)
            climbed = climb(posterior, optimum.laplace.theta, inner, settings.joint_iterations)
            start = settle(posterior, climbed, inner, settings=settings.newton)
            best = evidence.maximize_evidence(posterior, start, settings=settings)
            there = best if best.has_arrived(settings.newton) else start
            others = [o for o in optima if o is not optimum]
            optima = merge(others, replace(optimum, laplace=there), settings.population)
    return optima


def _leading(optima: list[Optimum], run: SearchRun) -> list[Optimum]:
    rules = run.settings.mixture
    best = max((o.laplace.log_evidence for o in optima), default=0.0)
    return [o for o in optima if o.laplace.log_evidence > best - rules.discard][: rules.n_components]
