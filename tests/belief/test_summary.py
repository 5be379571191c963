"""The readable summary of a belief."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from tests.belief.cases import LOWER, UPPER, fit, outputs, points, scaled


def test_summary_fits_a_terminal():
    rng = np.random.default_rng(14)
    X = rng.uniform(LOWER, UPPER, (16, 300))
    y = 1e9 * np.maximum(scaled(X)[:, 0], 0.0)  # tied, so that there is a long warning too
    names = [
        f"{j:03d} temperature of the cooling water at the inlet, in kelvin"[:60].ljust(60, ".") for j in range(300)
    ]
    with pytest.warns(rw.RidgewayWarning, match="tied"):
        belief = fit(X, y, rw.Linear(2), n_starts=3)
    for text in (belief.summary(names), belief.summary(), belief.summary(names, top=300)):
        lines = text.splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[0] == "Linear(d=2) on 16 observations of 300 inputs, nested inference"
        assert "tied" in text
    assert "292 others together" in belief.summary(names)
    assert "others together" not in belief.summary(names, top=300)


def test_summary_names_the_inputs_that_matter_first():
    X = points(50, 4, seed=12)
    belief = fit(X, outputs(X, noise=0.05), rw.Linear(1))
    lines = belief.summary(["load", "span", "colour", "day"]).splitlines()
    rows = [line for line in lines if "%" in line]
    assert rows[0].split()[0] == "load"
    assert rows[1].split()[0] == "span"
    share = belief.input_shares.mean
    assert f"{100 * share[0]:.1f} %" in rows[0]
    assert f"log evidence  {belief.log_evidence:.1f}" in lines[1]
    assert f"noise {np.sqrt(belief.noise_variance):.4g}" in lines[2]
    assert "status: a mode" in belief.summary()
    assert len([line for line in belief.summary(top=2).splitlines() if "█" in line]) == 2
