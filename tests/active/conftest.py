"""Searches of little effort."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.active import maximize, refit


@pytest.fixture
def little_effort(monkeypatch):
    """Fewer searches for modes and fewer points tried: what is asked may be worse, and comes sooner."""
    monkeypatch.setattr(refit, "full_search", lambda n, settings: 1)
    few = maximize.MaximizeSettings(sample=128, directions=16, climbs=2, evaluations=15)
    monkeypatch.setattr(maximize, "DEFAULT", few)


@pytest.fixture
def rng():
    """The same random numbers in every test."""
    return np.random.default_rng(7)
