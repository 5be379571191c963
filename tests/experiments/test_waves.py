"""Functions drawn from a process."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.experiments.waves import Waves

pytest.importorskip("matplotlib")


def test_waves_have_the_models_covariance():
    values = np.array([Waves(0.5, seed)(np.array([0.0, 0.4])) for seed in range(3000)])
    assert values.std(axis=0) == pytest.approx(1.0, abs=0.05)
    assert np.corrcoef(values.T)[0, 1] == pytest.approx(np.exp(-0.5 * (0.4 / 0.5) ** 2), abs=0.03)
