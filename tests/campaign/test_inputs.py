"""Inputs of a campaign: what is refused, and how values are written and read back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ridgeway.campaign.inputs import Category, Fixed, Input, InputList


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Input("a", 1, 1), "lower below upper"),
        (lambda: Input("a", 0, 1, log=True), "lower must be positive"),
        (lambda: Input("a", 0.5, 3, integer=True), "whole numbers"),
        (lambda: Input("", 0, 1), "name must be a word"),
        (lambda: Input("a", "0", 1), "must be a number"),
        (lambda: Fixed("a", float("nan")), "must be finite"),
        (lambda: InputList(("a",)), "sequence of Input, Category and Fixed"),
    ],
)
def test_inputs_that_make_no_sense(make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_proposals_are_readable_and_come_back_exactly() -> None:
    inputs = InputList(
        (Input("t", 20, 80), Input("r", 1e-6, 1e3, log=True), Fixed("p", 1.2), Input("n", 1, 9, integer=True))
    )
    X = inputs.box.filling(50, np.random.default_rng(0))
    values = inputs.proposals(X)
    assert max(len(repr(v)) for v in values[:, 0].tolist()) <= 8
    assert np.all(values[:, 2] == 1.2)
    assert np.all(values[:, 3] % 1 == 0)
    assert np.abs(inputs.coordinates(values) - X)[:, :2].max() < 1e-4
    assert np.array_equal(inputs.proposals(inputs.coordinates(values)), values)
    assert InputList.from_list(json.loads(json.dumps(inputs.to_list()))) == inputs


def test_steps_are_proposed_exactly() -> None:
    inputs = InputList((Input("a", 0.0, 1.0, step=0.1), Input("n", 1, 9, integer=True, step=2)))
    values = inputs.proposals(inputs.box.snapped(np.array([[0.28, 4.2], [0.77, 8.8]])))
    assert values.tolist() == [[0.3, 5.0], [0.8, 9.0]]


def test_a_category_is_columns_of_its_levels() -> None:
    inputs = InputList((Input("t", 0, 1), Category("solvent", ("water", "oil")), Fixed("load", 3)))
    assert inputs.names == ("t", "solvent=water", "solvent=oil", "load")
    assert inputs.box.categories == ((1, 2),)
    assert inputs.levels[0].word(np.array([0.1, 0.0, 1.0, 3.0])) == "oil"
    assert InputList.from_list(inputs.to_list()) == inputs
    wrong = inputs.problem(np.array([0.1, 1.0, 1.0, 3.0]), outside=False)
    assert wrong is not None
    assert "no single level of 'solvent'" in wrong[1]


@pytest.mark.parametrize(
    ("items", "constraint", "says"),
    [
        ((Input("a", 1, 2, log=True), Input("b", 0, 1)), "a + b <= 1", "log scale"),
        ((Category("a", ("p", "q")), Input("b", 0, 1)), "a + b <= 1", "is a category"),
        ((Fixed("a", 2.0), Input("b", 0, 1)), "2 a <= 1", "contradicts the fixed inputs: a = 2"),
        ((Fixed("a", 2.0), Input("b", 0, 1)), "a + b <= 1", "leaves no point"),
        ((Input("a", 0, 1), Input("b", 0, 1)), "a + c <= 1", "'c' is no input"),
    ],
)
def test_constraints_that_cannot_be_kept_are_refused(items: Any, constraint: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        InputList(items, (constraint,)).box  # noqa: B018 - made when it is first needed


def test_a_constraint_knows_the_fixed_inputs() -> None:
    inputs = InputList((Input("a", 0, 1), Input("b", 0, 1), Fixed("c", 0.4)), ("a + b + c = 1",))
    values = inputs.proposals(inputs.box.uniform(50, np.random.default_rng(0)))
    assert np.abs(values.sum(axis=1) - 1.0).max() < 1e-10


@pytest.mark.parametrize("seed", range(4))
def test_rounded_proposals_satisfy_constraints_with_few_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items = (Input("A", 0, 1), Input("B", 0, 1), Input("C", 0, 10, step=0.5), Input("D", -3, 70))
    inputs = InputList(items, ("A + B + 0.1 C = 1", "2 A - B <= 0.7", "D + 10 A <= 40"))
    corners = [inputs.box.polytope.corner(d) for d in rng.standard_normal((20, 4))]
    at_bounds = inputs.box.snapped(inputs.box._user(np.array(corners)))
    values = inputs.proposals(np.vstack([inputs.box.uniform(40, rng), at_bounds]))
    assert max(c.excess(values, inputs.names).max() for c in inputs.constraints) < 1e-9
    assert np.median([len(repr(v)) for v in values[:, :2].ravel().tolist()]) <= 8
    assert inputs.proposals(inputs.coordinates(values)).tolist() == values.tolist()


def test_constraints_hold_after_rounding_beside_a_log_scale() -> None:
    parts = tuple(Input(name, 0, 1) for name in "abc")
    inputs = InputList((*parts, Input("rate", 100, 10000, log=True)), ("a + b + c = 1", "a - 0.3 b <= 0.123456789"))
    values = inputs.proposals(inputs.box.uniform(200, np.random.default_rng(0)))
    assert np.abs(values[:, :3].sum(axis=1) - 1.0).max() < 1e-9
    assert np.all(values[:, 0] - 0.3 * values[:, 1] <= 0.123456789 + 1e-9)
    assert np.all((values[:, 3] >= 100) & (values[:, 3] <= 10000))
