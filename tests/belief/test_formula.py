"""Formulas of directions in real units: as text, for a paper, and as Python."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.belief.formula import Formula
from tests.belief.averaged import fitted


def of_names(*names: str) -> Formula:
    """Two directions of inputs with these names."""
    D = len(names)
    weights = np.random.default_rng(0).standard_normal((2, D))
    return Formula(
        names, (None,) * D, np.array([0.5, -1.0]), weights, weights - 0.1, weights + 0.1, np.array([0.7, 0.3]),
        np.zeros(D), np.ones(D),
    )  # fmt: skip


@pytest.mark.parametrize(
    "names",
    [
        ("u1", "u2", "x"),  # what the source calls its own values
        ("a_b_2", "a b", "a_b"),
        ("a_b", "a b", "a_b_1"),
        ("area_m²", "½", "lambda"),
        ("2nd", "", "x1"),
        ("directions", "None", "Größe"),
    ],
)
def test_the_source_computes_the_directions_whatever_inputs_are_called(names: tuple[str, ...]) -> None:
    formula = of_names(*names)
    space: dict = {}
    exec(formula.python(), space)
    X = np.random.default_rng(1).standard_normal((5, 3))
    found = np.column_stack(space["directions"](*X.T))
    np.testing.assert_allclose(found, formula(X), rtol=1e-13)
    source = formula.python().splitlines()[0]
    assert len(set(source[len("def directions(") : -2].split(", "))) == 3


def test_how_much_is_shown_is_checked() -> None:
    formula = fitted(1).formula()
    with pytest.raises(ValueError, match="top must be a whole number of at least 1, got -1"):
        formula.text(top=-1)
    with pytest.raises(ValueError, match="digits must be a whole number of at least 1, got -1"):
        formula.latex(digits=-1)
