"""What ``is_ridge`` says of few observations, of one input and of categories; its answers are tests of sensitivity."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.belief.embeddability import Embeddability, Model, embeddability

pytestmark = pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")


def of(X: np.ndarray, y: np.ndarray, **options: object) -> Embeddability:
    return embeddability(rw.fit(X, y, rw.Linear(1), n_starts=4, effort="quick", **options))


def test_too_few_and_equal_observations_are_said() -> None:
    X = np.random.default_rng(0).uniform(0, 1, (6, 3))
    one = of(X[:1], np.ones(1))
    assert one.sentence == "Not clear yet: 1 observation is too few, it takes at least 4."
    assert one.answer == "unclear"
    assert of(X, np.ones(6)).sentence == "Not clear yet: all 6 observations are equal."
    assert "nan" not in of(X[:3], X[:3, 0]).sentence


def test_one_input_has_nothing_to_embed() -> None:
    x = np.linspace(0, 1, 8)[:, None]
    found = of(x, np.sin(3 * x[:, 0]))
    assert found.sentence.startswith("There is only one input, so there is nothing to embed; it explains ")
    assert found.sentence.endswith(" % of the variation.")
    assert found.answer == "unclear"


def test_a_category_is_one_input() -> None:
    rng = np.random.default_rng(0)
    heat, solvent = rng.uniform(0, 1, 16), np.eye(3)[rng.integers(3, size=16)]
    names = ["heat", "solvent=water", "solvent=wax", "solvent=acetone"]
    found = of(np.column_stack([heat, solvent]), heat + solvent[:, 0], names=names)
    assert (found.n_inputs, found.n_columns) == (2, 4)
    assert "1 combination of the 2 inputs explains" in found.sentence
    names = ["a=b", "a=c", "x", "y"]  # numbers whose names have an equals sign are no category
    assert of(rng.uniform(0, 1, (16, 4)), heat, names=names).n_inputs == 4


def test_a_category_alone_is_columns_of_one_input() -> None:
    model = Model("Linear(d=1)", -1.0, 1.0, 0.5, 0.1)
    assert "1 combination of the 3 columns of the only input explains" in Embeddability(model, (), 1, 1, 3).sentence
