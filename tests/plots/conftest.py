"""Beliefs to draw, fitted once a file."""

from __future__ import annotations

import pytest

import ridgeway as rw
from tests.plots.beliefs import fitted


@pytest.fixture(scope="module")
def one() -> rw.Belief:
    return fitted(1)


@pytest.fixture(scope="module")
def two() -> rw.Belief:
    return fitted(2)
