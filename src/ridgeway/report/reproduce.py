"""How to make the same belief again."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.checks import column_range
from ridgeway.gp.scaling import InputScaling
from ridgeway.report.content import Section
from ridgeway.report.tables import Table

if TYPE_CHECKING:
    from ridgeway.active.learner import ActiveLearner
    from ridgeway.belief.belief import Belief

_PACKAGES = ("ridgeway", "numpy", "scipy", "scikit-learn", "plotly")


def reproduce(
    belief: Belief | None, learner: ActiveLearner | None, command: str = "", inputs: Table | None = None
) -> Section:
    """Versions, settings and the lines of code, or a campaign's ``command`` and its ``inputs``."""
    rows = [(name, version(name)) for name in _PACKAGES]
    rows += [("Python", sys.version.split()[0]), ("platform", f"{platform.system()} {platform.machine()}")]
    if belief is not None:
        rows += [
            ("embedding", str(belief.model)), ("kernel", belief.kernel.name), ("inference", belief.inference),
            ("marginal", belief.marginal), ("seed of draws", str(belief.seed)),
        ]  # fmt: skip
    if learner is not None:
        rows += [("acquisition", _called(learner.acquisition)), ("random state", str(learner.random_state))]
    table = Table(("what", "which"), tuple(rows), "Versions and settings.")
    intro = f"With the {'campaign' if command else 'data of this page'} and the same versions:"
    tables = (table,) if inputs is None else (inputs, table)
    return Section("reproduce", "How to reproduce it", intro, tables=tables, code=command or _code(belief, learner))


def _code(belief: Belief | None, learner: ActiveLearner | None) -> str:
    lines = ["import numpy as np", "import ridgeway as rw", ""]
    if learner is not None:
        lines += [
            f"learner = rw.ActiveLearner(space, rw.{learner.embedding!r}, acquisition={_written(learner.acquisition)},",
            f"                           random_state={learner.random_state})",
            "learner.tell(X, y)  # the observations of this page, in their order",
            'learner.report("report.html")',
        ]
        return "\n".join(lines)
    assert belief is not None
    bounds = _bounds(belief)
    lines += [
        'data = np.genfromtxt("observations.csv.gz", delimiter=",", skip_header=1)  # numpy reads gzip',
        f"belief = rw.fit(data[:, :-1], data[:, -1], rw.{belief.model!r}, inference={belief.inference!r},",
        f"                marginal={belief.marginal!r}, bounds={bounds}, random_state=0)  # or the one you gave",
        'belief.report("report.html")',
    ]
    return "\n".join(lines)


def _bounds(belief: Belief) -> str:
    """The bounds as they would be written."""
    scaling, data = belief.space.scaling, InputScaling.from_range(*column_range(belief.X))
    if np.array_equal(scaling.center, data.center) and np.array_equal(scaling.half_width, data.half_width):
        return "None"
    lower, upper = scaling.center - scaling.half_width, scaling.center + scaling.half_width
    if np.ptp(lower) == 0 and np.ptp(upper) == 0:
        return f"({lower[0]:g}, {upper[0]:g})"
    return "(lower, upper)"


def _called(acquisition: Any) -> str:
    """The name of an acquisition, or of the function that makes one."""
    return str(getattr(acquisition, "__name__", acquisition))


def _written(acquisition: Any) -> str:
    """As it stands in code."""
    return str(getattr(acquisition, "__name__", repr(acquisition)))
