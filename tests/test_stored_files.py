"""Files written by version 0.1.0, before its modules were moved into packages, still open and say the same.

The campaign of that version has its test in ``campaign/test_schema.py``.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.experiments import table2
from ridgeway.experiments.cells import finished, run, saved
from tests.helpers import ASSETS, SEVERAL, variance_rounding

#: What that version answered, by the name of the file.
EXPECTED: dict[str, Any] = json.loads((ASSETS / "beliefs_v1.json").read_text("utf-8"))
BELIEFS = ["linear", "straight", "diagonal", "wide"]
#: The same of format 2, which knows no names of inputs either.
SECOND: dict[str, Any] = json.loads((ASSETS / "beliefs_v2.json").read_text("utf-8"))


def opened(name: str) -> tuple[rw.Belief, dict[str, Any], np.ndarray]:
    expected, version = (SECOND["linear"], 2) if name == "second" else (EXPECTED[name], 1)
    kind = "linear" if name == "second" else name
    return rw.Belief.load(ASSETS / f"belief_v{version}_{kind}.npz"), expected, np.array(expected["X"])


@pytest.mark.parametrize("name", [*BELIEFS, "second"])
def test_what_a_belief_holds_is_read_exactly(name: str) -> None:
    belief, expected, _ = opened(name)
    assert [component.weight for component in belief.components] == expected["weights"]
    assert belief.log_evidence == expected["evidence"]
    assert belief.straight_share == expected["straight"]
    assert belief.model.name == ("diagonal" if name == "diagonal" else "linear")


@pytest.mark.parametrize("name", [*BELIEFS, "second"])
def test_what_a_belief_predicts_is_what_it_predicted(name: str) -> None:
    """A loaded belief conditions its processes anew, so results agree to rounding: see ``variance_rounding``."""
    belief, expected, X = opened(name)
    rounding = SEVERAL * variance_rounding(belief)
    found = belief.predict(X)
    assert rounding < 0.01 * found.variance.min()  # or the next lines would compare nothing
    np.testing.assert_allclose(found.mean, expected["mean"], rtol=1e-7)
    np.testing.assert_allclose(found.variance, expected["variance"], rtol=1e-9, atol=rounding)
    # half the logarithm of a ratio of variances: an absolute error of it is a relative one of theirs
    np.testing.assert_allclose(belief.bald(X), expected["bald"], atol=rounding / found.map_variance.min())
    np.testing.assert_allclose(belief.importances(), expected["importances"], rtol=1e-7)


@pytest.mark.parametrize("name", ["linear", "second"])
def test_a_belief_from_before_names_is_saved_in_the_present_format(name: str, tmp_path: Path) -> None:
    belief, _, X = opened(name)
    assert (belief.names, belief.units) == (None, None)
    again = rw.Belief.load(belief.save(tmp_path / "again.npz"))
    np.testing.assert_array_equal(again.predict(X).mean, belief.predict(X).mean)


def test_a_learner_goes_on_where_it_was() -> None:
    state = json.loads((ASSETS / "learner_v1.json").read_text("utf-8"))
    learner = rw.ActiveLearner.from_dict(state)
    np.testing.assert_array_equal(learner.X, state["record"]["X"])
    asked = np.array(learner.ask(3))
    # The scores are flat at their maximum: a point found there is known to the root of their rounding.
    np.testing.assert_allclose(asked, EXPECTED["learner"], atol=1e-3)
    assert learner.n_asked == state["n_asked"] + 3


def test_a_saved_cell_is_read_and_not_computed_again(tmp_path: Path) -> None:
    """Saved cells carry the name of their function's module: it must not change."""
    name, rmse = "table2-quick/synthetic-10-2/root-none-lasso/0", 0.38779448336696354
    cells = table2.cells(quick=True, rows=["synthetic-10-2"])
    read = finished(cells, ASSETS / "cells_v1")
    assert list(read) == [name]
    assert read[name]["final"]["rmse"] == rmse
    (cell,) = (cell for cell in cells if cell.name == name)
    copy = shutil.copytree(ASSETS / "cells_v1", tmp_path / "cells")
    assert run([cell], copy)[name] == read[name]
    assert saved(cell, copy) == saved(cell, ASSETS / "cells_v1")  # the time it took included: nothing was run
