"""Warnings of the report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.belief import calibration
from ridgeway.belief.calibration import Calibration
from ridgeway.belief.subspace import SubspaceUncertainty
from ridgeway.belief.suspects import Suspect
from ridgeway.report import sentences, warnings


@pytest.mark.parametrize(("inside", "n", "words"), [(6, 6, "hold all 6 observations"), (0, 6, "hold 0 % of 6")])
def test_a_few_observations_inside_their_intervals_are_no_caution(inside: int, n: int, words: str) -> None:
    observed = np.where(np.arange(n) < inside, 0.0, 100.0)
    low, high = calibration._by_chance(np.array([0.95]), n)
    found = Calibration(observed, np.zeros(n), np.ones(n), np.array([0.95]), np.array([inside / n]), low, high)
    said = sentences.calibrated(found)
    assert words in said
    assert said.endswith(", as they should." if inside == n else ": the intervals are too narrow.")


def test_bad_diagnostics_are_warned_about(belief: rw.Belief) -> None:
    assert warnings.warnings(belief) == ()
    narrow = Calibration(
        belief.y, belief.y, np.ones(40), np.array([0.95]), np.array([0.6]), np.array([0.88]), np.array([0.99])
    )
    assert "too sure of itself" in warnings.warnings(belief, narrow)[0]
    assert "uncertain by 70°" in warnings.warnings(belief, None, SubspaceUncertainty(40, 70.0, 50.0, 89.0))[0]
    rng = np.random.default_rng(1)
    noise = rw.fit(rng.uniform(-1, 1, (30, 5)), rng.standard_normal(30), rw.Linear(1), n_starts=4)
    assert "is taken for noise" in " ".join(warnings.warnings(noise))


def test_a_suspect_is_named_as_its_reader_calls_it(belief: rw.Belief) -> None:
    suspect = Suspect(row=4, value=1e6, predicted=0.0, residual=1e6, noise_std=1e6, nats=1e3)
    notes = replace(belief.diagnostics, warnings=(suspect.sentence(),))
    spoiled = replace(belief, suspects=(suspect,), diagnostics=notes)
    assert warnings.warnings(spoiled)[0].startswith("observation 5 is 1e+06")
    called = [f"trial {i + 20}" for i in range(len(belief.y))]
    assert warnings.warnings(spoiled, called=called)[0].startswith("trial 24 is 1e+06")
