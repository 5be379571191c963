"""An exact fit: how many directions, which observations are outliers, and whether it misleads about those left out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ridgeway.belief import data_notes
from ridgeway.belief.belief import Belief
from ridgeway.belief.fit_task import FitTask
from ridgeway.belief.robust import Hypothesis, fit_robustly
from ridgeway.belief.suspects import suspects
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.linear import Linear
from ridgeway.gp.scaling import is_constant
from ridgeway.inference import left_out


def exact_fit(task: FitTask, embedding: Embedding, initial: Belief | None, robust: bool) -> Belief:
    """The belief of a task; where it is ``robust``, outliers get a noise of their own."""
    once = partial(_fitted, embedding)
    chosen = fit_robustly(task, initial, once) if robust else Hypothesis(task, once(task, initial))
    return _with_suspects(chosen.task, _checked(chosen, initial))


def _fitted(embedding: Embedding, task: FitTask, initial: Belief | None) -> Belief:
    """The belief of a task, as if no observation were an outlier but those that the task knows."""
    return _chosen_dimension(task, initial) if embedding == Linear("auto") else task.belief(embedding, initial)


def _chosen_dimension(task: FitTask, initial: Belief | None) -> Belief:
    """The belief of the ``d`` of most evidence.

    Each ``d`` gets a short search, beside the modes of the ranks below it; the best gets the rest of a full one.
    It stops after two in a row that are worse than the best.
    """
    n, D = task.X.shape
    share = task.settings.auto_share
    short = replace(task, settings=replace(task.settings, most_searches=1))
    misfit = 0.0 if initial is None else initial.diagnostics.misfit / task.output.scale
    evidence: dict[int, float] = {}
    best: Belief | None = None
    last: Belief | None = None
    for d in range(1, min(task.settings.largest_auto, D, max(1, n - 1)) + 1):
        start = initial if initial is not None and initial.model == Linear(d) else None
        last = short.belief(Linear(d), start, misfit, lower=last, share=share)
        evidence[d] = float(last.log_evidence)
        if best is None or last.log_evidence > best.log_evidence:
            best = last
        elif d - max(evidence, key=lambda k: evidence[k]) >= 2:
            break
    assert best is not None
    if not is_constant(task.y):
        begun = best.diagnostics
        best = task.belief(best.model, best, misfit, share=1.0 - share)
        evidence[max(evidence, key=lambda k: evidence[k])] = float(best.log_evidence)
        rest = best.diagnostics
        found_at = begun.n_starts + rest.found_at if rest.found_at else begun.found_at
        counts = replace(rest, n_starts=begun.n_starts + rest.n_starts, found_at=found_at)
        best = replace(best, diagnostics=counts)
    return replace(best, diagnostics=replace(best.diagnostics, dimension_evidence=evidence))


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
