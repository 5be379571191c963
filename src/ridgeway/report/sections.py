"""The sections of a report about a belief."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ridgeway import plots
from ridgeway.belief import embedding_draws
from ridgeway.belief.directions import UnavailableError
from ridgeway.belief.subspace import SubspaceUncertainty, degrees
from ridgeway.belief.suspects import distance
from ridgeway.plots.inputs import TOP, shared
from ridgeway.plots.trust import measured
from ridgeway.report.content import Download, Picture, Section, picture, present
from ridgeway.report.facts import Facts
from ridgeway.report.subject import Subject
from ridgeway.report.tables import Table, csv_file, number, observations
from ridgeway.report.warnings import FEW
from ridgeway.text.counts import counted

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief
    from ridgeway.plots.error_course import ErrorCourse

ERRORS = "errors"  # the picture of the error of predictions
_SHOWN_DIRECTIONS = 4
_COLUMNS = 8  # inputs in the table of observations
_ROWS = 1000  # observations in it


def response(found: Facts, subject: Subject) -> Section:
    """The response over the learned directions."""
    belief, called = found.belief, subject.observed.called
    intro = " ".join(
        [
            "Each direction is a weighted sum of the inputs, mapped to between -1 and 1.",
            *subject.remarks,
            "Dots are observations; what the belief expects between them is drawn with them.",
        ]
    )
    if found.directions is None:
        return Section("response", "The response", "", missing=found.no_directions)
    title, caption = _RESPONSE[min(found.directions.k, 3)]
    shown = [
        picture("response", title, caption, lambda: plots.response(belief, subject.output, called, found.directions))
    ]
    if found.directions.k >= 2:
        title, caption = (
            "The surface",
            "The same over the first two directions; drag it, or use the arrow keys, to turn it.",
        )
        shown.append(
            picture(
                "surface", title, caption, lambda: plots.surface(belief, output=subject.output, found=found.directions)
            )
        )
    return Section("response", "The response over the learned directions", intro, tuple(shown))


_RESPONSE = {
    1: ("Observations along the direction", "The band holds the function with 95 % probability."),
    2: ("Contours", "Dots have the colour of what was observed: where it is the colour around them, the fit agrees."),
    3: ("Pairs of directions", "Other directions at the mean of the data; dots have the colour of what was observed."),
}


def inputs(found: Facts) -> Section:
    """Which inputs matter."""
    intro = "Which inputs the response depends on, whichever way the directions are turned. Lines are 90 % intervals."
    if not found.shares_mean_something:
        why = found.no_directions or _unchecked(found) or "the model treats all inputs alike"
        return Section("inputs", "Which inputs matter", "", missing=why)
    shown = picture(
        "importance",
        "Share of the variation",
        "The mean square of the response's slope in each input, as a share of all, averaged over what the data allow.",
        lambda: shared(found.inputs, found.input_shares),
        lambda: _share_table(found),
    )
    directions = _weights(found)
    # Two directions stand side by side, so that they can be compared.
    return Section("inputs", "Which inputs matter", intro, (replace(shown, wide=len(directions) == 2), *directions))


def _weights(found: Facts) -> tuple[Picture, ...]:
    if found.directions is None:
        return (Picture("weights0", "Weights in each direction", "", missing=found.no_directions),)
    interval = embedding_draws.weights(found.directions, found.R)

    def one(i: int) -> Picture:
        assert found.directions is not None
        best = found.directions.weights[i]
        order = sorted(range(best.size), key=lambda j: -abs(best[j]))[: 5 * TOP]
        rows = tuple(
            (found.labels[j], f"{best[j]:.3f}", f"{interval.low[i, j]:.3f}", f"{interval.high[i, j]:.3f}")
            for j in order
        )
        table = Table(
            ("input", "weight", "5 %", "95 %"),
            rows,
            _largest(len(rows), best.size, "weight") + f" in direction {i + 1}.",
        )
        caption = "On inputs mapped to between -1 and 1; the sign is fixed so that the largest weight is positive."
        return picture(
            f"weights{i}",
            f"Weights in direction {i + 1}",
            caption,
            lambda: plots.weights(found.belief, i, found.labels, R=found.R, found=found.directions),
            lambda: table,
        )

    return tuple(one(i) for i in range(min(found.directions.k, _SHOWN_DIRECTIONS)))


def _share_table(found: Facts) -> Table:
    shares = found.input_shares
    rows = tuple(
        (found.inputs[j], f"{shares.mean[j]:.2%}", f"{shares.low[j]:.2%}", f"{shares.high[j]:.2%}")
        for j in np.argsort(-shares.mean, kind="stable")[: 5 * TOP]
    )
    return Table(("input", "share", "5 %", "95 %"), rows, f"{_largest(len(rows), len(found.inputs), 'share')}.")


def _largest(some: int, of: int, noun: str) -> str:
    """Which of so many a table has."""
    if some == of:
        return f"All {of:,} {noun}s" if of > 1 else f"The only {noun}"
    return f"The {'largest' if some == 1 else f'{some} largest'} of {counted(of, noun)}"


def trust(found: Facts, subject: Subject, history: Sequence[Belief | SubspaceUncertainty]) -> Section:
    """How sure it is."""
    belief = found.belief
    steps = [] if found.directions is None else measured(history)

    def checked() -> None:
        if found.calibration is None:
            raise UnavailableError(_unchecked(found))

    def left_out() -> go.Figure:
        checked()
        return plots.left_out(belief, subject.observed.called, found.calibration)

    def coverage() -> go.Figure:
        checked()
        return plots.coverage(belief, found.calibration)

    def course() -> go.Figure:
        if found.directions is None:
            raise UnavailableError(found.no_directions)
        if not history:
            raise UnavailableError("no earlier beliefs were kept: hand them over as history")
        return plots.subspace(steps)

    note = "Hyperparameters have seen every observation, so this is a little optimistic."
    shown = (
        picture("left_out", "Predictions left out", f"95 % intervals, noise included. {note}", left_out),
        picture(
            "coverage",
            "Coverage",
            "Inside the band is what chance allows; below it the belief is too sure, above it too cautious.",
            coverage,
            lambda: _coverage_table(found),
        ),
        *([] if subject.errors is None else [_error_course(subject.errors)]),
        picture(
            "subspace",
            "The directions over the campaign",
            "The largest angle between the subspace and others that the data allow.",
            course,
            lambda: _course_table(steps),
        ),
    )
    return Section("trust", "How sure it is", "Whether predictions and directions can be relied on.", shown)


def _error_course(course: ErrorCourse) -> Picture:
    """The error of predictions over a campaign."""
    steps = (*course.past, *course.ahead)
    rows = tuple((str(s.n), number(s.error, 3), number(s.low, 2), number(s.high, 2)) for s in steps)
    of = f" of {course.output}"
    target = "" if course.target is None else f"{number(course.target)} {course.unit}".strip()
    wanted = f" The dashed line is the error that is wanted, {target}." if target else ""
    return picture(
        ERRORS,
        "The error of predictions",
        f"How far a prediction{of} is typically off, noise not included, as each fit expected it; dotted is what is "
        f"expected of further experiments. The band holds the error in four of five cases.{wanted}",
        lambda: plots.errors(course),
        lambda: Table(("observations", "typical error", "10 %", "90 %"), rows, f"Typical error{of}."),
    )


def _unchecked(found: Facts) -> str:
    """Why predictions cannot be checked; nothing where they can."""
    n = found.belief.y.shape[0]
    if n < FEW:
        return (
            f"{counted(n, 'observation')} {'is' if n == 1 else 'are'} too few to check predictions ({FEW} are needed)"
        )
    return "" if found.calibration is not None else "the observations do not vary"


def _coverage_table(found: Facts) -> Table:
    c = found.calibration
    assert c is not None
    rows = tuple(
        (f"{level:.0%}", f"{got:.0%}", f"{low:.0%} to {high:.0%}")
        for level, got, low, high in zip(c.levels, c.coverage, c.low, c.high, strict=True)
    )
    return Table(("interval", "observations inside", "by chance"), rows, "Coverage of leave-one-out intervals.")


def _course_table(steps: Sequence[SubspaceUncertainty]) -> Table:
    rows = tuple((str(s.n), degrees(s.median), degrees(s.low), degrees(s.high)) for s in steps)
    return Table(("observations", "median angle", "5 %", "95 %"), rows, "Angles between draws and the best estimate.")


def searching(found: Facts) -> Section:
    """How the fit went."""
    belief, diagnostics = found.belief, found.belief.diagnostics
    evidence = diagnostics.dimension_evidence
    shown = (
        picture(
            "optima",
            "Optima found by the searches",
            "Evidence of the different explanations found. A clear first one is reassuring.",
            lambda: plots.optima(belief),
            lambda: Table(
                ("optimum", "log evidence"),
                tuple((str(i + 1), f"{value:.1f}") for i, value in enumerate(diagnostics.optima)),
                f"Log evidence of {counted(len(diagnostics.optima), 'mode')}, the best first.",
            ),
        ),
        picture(
            "dimensions",
            "How many directions",
            "Evidence of each number of directions; the one in use stands out.",
            lambda: plots.dimensions(belief),
            lambda: Table(
                ("directions", "log evidence"),
                tuple((str(d), f"{evidence[d]:.1f}") for d in sorted(evidence)),
                "Evidence.",
            ),
        ),
    )
    searched = f" {diagnostics.search}." if diagnostics.search else ""
    intro = f"The result is {diagnostics.status}.{searched}"
    return Section("search", "How the fit went", intro, shown, (_scales(belief),))


def _scales(belief: Belief) -> Table:
    d = belief.diagnostics
    rows = (
        ("mean of the response", number(belief.mean)),
        ("standard deviation of the function", number(belief.output_scale)),
        ("standard deviation of the noise", number(belief.noise_variance**0.5)),
        ("log evidence", f"{belief.log_evidence:.1f}"),
        ("inputs after the reduction", f"{d.reduced_dimension:,}"),
        ("modes kept, with their weights", ", ".join(f"{c.weight:.0%}" for c in belief.components)),
        ("gradient left, nats", f"{d.decrement:.1g}"),
        ("smallest curvature, of the prior's", f"{d.smallest_curvature:.2g}"),
        ("left-out observations beside predicting the mean, nats", _or_none(d.held_out_excess)),
        ("jitter, of the output variance", f"{d.jitter:.0e}" if d.jitter else "none"),
    )
    return Table(("quantity", "value"), rows, "Scales and diagnostics.")


def _or_none(value: float | None) -> str:
    return "not needed" if value is None else f"{value:+.2f} (below 0 is better)"


def data(found: Facts, subject: Subject) -> Section:
    """The observations."""
    belief, observed = found.belief, subject.observed
    n, order = belief.y.shape[0], [subject.columns[j] for j in found.order[:_COLUMNS]]
    predicted = None if found.calibration is None else found.calibration.mean
    uri = csv_file(observed, belief.y, "y" if observed.ids is None else subject.output)
    intro = "" if uri else "The data are too large to travel inside this page in full."
    if n > _ROWS:
        intro = f"The first {_ROWS:,} of {n:,} observations. {intro}"
    left = None if predicted is None else predicted[:_ROWS]
    table = observations(
        observed.first(_ROWS), belief.y[:_ROWS], left, order, found.shares_mean_something, subject.output
    )
    files = (Download("observations.csv.gz", "All observations and inputs (CSV, gzip)", uri),) if uri else ()
    text = " ".join(present([intro.strip(), subject.fixed]))
    others = (_suspects(belief, subject), subject.failed, subject.corrections)
    return Section("data", "The data", text, tables=(table, *filter(None, others)), downloads=files)


def _suspects(belief: Belief, subject: Subject) -> Table | None:
    """Observations that do not fit the others; none where all do."""
    found = sorted(belief.suspects, key=lambda suspect: -abs(suspect.residual))
    if not found:
        return None
    names = subject.observed.ids or tuple(map(str, range(1, subject.observed.n + 1)))
    rows = tuple((names[s.row], number(s.value), number(s.predicted), distance(s.residual)) for s in found)
    head = ("no." if subject.observed.ids is None else "trial", subject.output, "predicted from the others", "distance")
    caption = f"{counted(len(rows), 'suspected outlier')}: they have hardly any influence."
    return Table(head, rows, caption, words=False)
