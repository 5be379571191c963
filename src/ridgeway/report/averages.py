"""What follows from a belief: the sections of a report about the inputs' parts and the output's distribution."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ridgeway import plots
from ridgeway.active.integral import own_measure
from ridgeway.belief import averages, measures
from ridgeway.belief.effects import effects
from ridgeway.belief.formula import formula
from ridgeway.report.content import Section, picture
from ridgeway.report.facts import Facts
from ridgeway.report.subject import Subject
from ridgeway.report.tables import Table, number
from ridgeway.report.warnings import FEW
from ridgeway.text.counts import counted

if TYPE_CHECKING:
    from ridgeway.belief.estimates import Estimate
    from ridgeway.belief.sensitivity import Sensitivity

_DRAWS, _FEWEST = 60, 24
_WORK = 2e9  # multiply-adds: a page is written in seconds
_EFFECTS = 3  # inputs whose effects are drawn
_TERMS = 8  # inputs in a formula
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def explained(found: Facts, subject: Subject) -> Section:
    """Sobol indices, main effects and the directions as formulas."""
    key, title = "sensitivity", "How much each input matters"
    over = None if subject.box is None else subject.box.unconstrained
    n_draws, why = _affordable(found, over)
    if why:
        return Section(key, title, "", missing=why)
    indices = found.belief.sensitivity(over, rivals=False, n_draws=n_draws)
    first = [indices.labels[j] for j in indices.ranking[:_EFFECTS]]
    curves = effects(found.belief, first, over, drawing=averages.Drawing(rivals=False, n_draws=n_draws))
    indices = replace(indices, labels=found.inputs)
    shown = [
        picture(
            "sobol",
            "Sobol indices",
            "Dots: share of the variance in which an input takes part, with its 95 % interval. "
            "Crosses: the share that it explains alone.",
            lambda: plots.sensitivity(indices),
            lambda: _index_table(indices),
        )
    ]
    for i, (j, curve) in enumerate(zip(indices.ranking, curves, strict=False)):
        one = replace(curve, label=found.inputs[j])
        shown.append(
            picture(
                f"effect{i}",
                f"Effect of {found.inputs[j]}",
                "The response's mean at each value, over all other inputs.",
                lambda one=one: plots.effect(one, subject.output),  # type: ignore[misc]
            )
        )
    intro = (
        "Inputs vary uniformly and independently over the box. Embedding and function are drawn together, so intervals "
        "hold the uncertainty of both; other models of the data are left out here, belief.sensitivity() weighs them in."
    )
    return Section(key, title, intro, tuple(shown), code=_formula(found))


def distributed(found: Facts, subject: Subject) -> Section:
    """The output's mean, spread and quantiles over the box, or over the points of the pool."""
    over = subject.box if subject.pool is None else own_measure(subject.pool)
    key, title = "distribution", f"The output over the {'box' if subject.pool is None else 'pool'}"
    n_draws, why = _affordable(found, over)
    if why:
        return Section(key, title, "", missing=why)
    spread = found.belief.distribution(over, rivals=False, n_draws=n_draws)
    rows = [_row("mean", spread.mean), _row("standard deviation", spread.std)]
    rows += [_row(f"{100 * q:.0f} % quantile", spread.quantile(q)) for q in _QUANTILES]
    table = Table(("of the output", "value", "2.5 %", "97.5 %"), tuple(rows), "With 95 % intervals.")
    shown = picture(
        "distribution",
        "Distribution of the output",
        f"{_where(subject)}; noise is not included.",
        lambda: plots.distribution(spread, subject.output),
        lambda: table,
    )
    return Section(key, title, "", (shown,))


def _where(subject: Subject) -> str:
    if subject.pool is not None:
        return "If every point of the pool is as likely"
    constrained = subject.box is not None and bool(subject.box.constraints)
    return f"If inputs vary uniformly over {'what the constraints allow' if constrained else 'the box'}"


def _affordable(found: Facts, over: Any) -> tuple[int, str]:
    """How many draws to take, or why none."""
    belief = found.belief
    if found.calibration is None:
        return 0, f"it takes at least {FEW} observations that vary"
    work = averages.work(belief, measures.scaled(belief, over))
    if _FEWEST * work > _WORK:
        return 0, "this would take long for so many inputs and observations: belief.sensitivity() computes it"
    return int(min(_DRAWS, max(_FEWEST, _WORK / work))), ""


def _index_table(found: Sensitivity) -> Table:
    rows = tuple(found.rows(60))
    caption = f"First-order and total indices, and shares of the mean squared slope, of {counted(len(rows), 'input')}."
    return Table(("input", "first order", "total", "activity"), rows, caption)


def _formula(found: Facts) -> str:
    if found.directions is None:
        return ""
    made = replace(
        formula(found.belief, found.directions, found.R), names=found.labels, units=(None,) * len(found.labels)
    )
    return f"The directions as sums of the inputs, with 90 % intervals of the weights:\n\n{made.text(top=_TERMS)}"


def _row(name: str, estimate: Estimate) -> tuple[str, str, str, str]:
    return name, *(number(float(side)) for side in (estimate.mean, estimate.low, estimate.high))  # type: ignore[return-value]
