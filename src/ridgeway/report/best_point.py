"""The best point so far: the section of a report about an optimisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ridgeway import plots
from ridgeway.report.content import Section, picture
from ridgeway.report.facts import Facts
from ridgeway.report.subject import Subject
from ridgeway.report.tables import Table, number

if TYPE_CHECKING:
    from ridgeway.active.best import Best
    from ridgeway.active.learner import ActiveLearner

_TITLE = "The best point so far"
_COLUMNS = 12  # inputs that are shown
_LUCK = 3.0  # standard deviations of the noise between two outcomes, beyond which it was more than luck


def best_point(subject: Subject, found: Facts) -> tuple[Section, ...]:
    """Where the best predicted value is, and how the search came there; none where the goal is to learn."""
    learner = subject.learner
    if learner is None or learner.goal == "learn":
        return ()
    best, points = learner.best(), subject.observed
    names = points.called or [f"observation {i + 1}" for i in range(points.n)]
    low, high = best.interval
    word = "least" if learner.goal == "minimize" else "largest"
    intro = (
        f"The {word} {subject.output} is predicted at {names[best.index]}: {number(best.value, 4)}, with 95 % "
        f"probability between {number(low, 4)} and {number(high, 4)}, noise not included. "
    )
    intro += (
        f"Its outcome was {number(best.observed_value, 4)}, the best of all."
        if best.index == best.observed_index
        else f"The best outcome was {number(best.observed_value, 4)}, at {names[best.observed_index]}"
        + (": by luck, as far as the model can tell." if may_be_luck(learner, best) else ".")
    )
    order = [subject.columns[int(j)] for j in found.order[:_COLUMNS]]
    rows = tuple((points.columns[j], number(float(points.values[best.index, j]), 6)) for j in order)
    ranked = ", those that matter most first" if found.shares_mean_something else ""
    caption = f"The inputs that vary at the best point{ranked}. The data below have all inputs."
    drawn = picture(
        "best",
        "How the search went",
        "Each outcome in its order, and the best so far.",
        lambda: plots.best_so_far(learner.y, learner.goal, names, subject.output),
    )
    return (Section("best", _TITLE, intro, (drawn,), (Table(("input", "value"), rows, caption),)),)


def may_be_luck(learner: ActiveLearner, best: Best) -> bool:
    """Whether noise is large enough for the best outcome to be worth no more than that of the best point."""
    mixture, y = learner.averaged.mixture, learner.y
    rows = [best.index, best.observed_index]
    noise = float(mixture.weights @ [np.sqrt(belief.noise_variance) for belief in mixture.beliefs])
    known = float(np.sqrt(np.sum(learner.record.noise[rows])))
    # The noise that was learned is on the scale to which outcomes were brought before the models were fitted.
    return bool(np.ptp(mixture.beliefs[0].y[rows]) <= _LUCK * noise or np.ptp(y[rows]) <= _LUCK * known)
