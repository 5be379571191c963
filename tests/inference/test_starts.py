"""Where searches begin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import starts
from tests.helpers import random_posterior


def test_the_start_of_noise_alone():
    posterior = random_posterior(rw.Linear(1))
    theta = starts.noise_only(posterior)
    assert not theta[: posterior.n_parameters].any()
    assert np.exp(theta[LOG_NOISE]) == pytest.approx(0.9, abs=1e-3)
    floored = replace(posterior, priors=replace(posterior.priors, noise_floor=0.8))
    total = np.exp(2 * starts.noise_only(floored)[LOG_NOISE]) + 0.8**2
    assert total == pytest.approx(0.9**2)
