"""The loop behind figures 3 and 4."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active.acquisition import bald
from ridgeway.experiments import figure3
from ridgeway.experiments.actively import learned

pytest.importorskip("matplotlib")


def test_each_point_is_asked_once():
    asked = []

    def f(X):
        asked.append(X)
        return X[:, 0]

    candidates = np.linspace(-1, 1, 9)[:, None]
    beliefs = learned(f, candidates, candidates[[4]], 4, rw.Isotropic(), figure3.PRIORS, bald)
    assert len(beliefs) == 4
    assert np.unique(np.vstack(asked)).shape == (4,)
