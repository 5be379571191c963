"""The best point so far: the section of a report about an optimisation."""

from __future__ import annotations

from ridgeway import plots
from ridgeway.report.content import Section, picture
from ridgeway.report.facts import Facts
from ridgeway.report.subject import Subject
from ridgeway.report.tables import Table, number

_TITLE = "The best point so far"
_COLUMNS = 12  # inputs that are shown


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
        else f"The best outcome was {number(best.observed_value, 4)}, at {names[best.observed_index]}: by luck, as far "
        "as the model can tell."
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
