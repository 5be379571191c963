"""Inputs of a campaign: what is refused, and how values are written and read back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ridgeway import Fixed, Input
from ridgeway.campaign.inputs import InputList


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Input("a", 1, 1), "lower below upper"),
        (lambda: Input("a", 0, 1, log=True), "lower must be positive"),
        (lambda: Input("a", 0.5, 3, integer=True), "whole numbers"),
        (lambda: Input("", 0, 1), "name must be a word"),
        (lambda: Input("a", "0", 1), "must be a number"),
        (lambda: Fixed("a", float("nan")), "must be finite"),
        (lambda: InputList(("a",)), "sequence of Input and Fixed"),
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
