"""Warnings about the data themselves: ties, clipped and constant outputs."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from tests.belief.problems import fit, one_direction
from tests.helpers import inputs


@pytest.mark.slow
def test_clipped_response_is_warned_about_and_does_no_harm():
    """27 inputs, 50 points, half of them clipped: zero noise would have more evidence, and be wrong."""
    X, X_new = inputs(50, 27), inputs(200, 27, seed=1)
    y, y_new = np.maximum(one_direction(X), 0.0), np.maximum(one_direction(X_new), 0.0)
    with pytest.warns(rw.RidgewayWarning, match=r"\d+ of 50 values of y are tied") as record:
        belief = rw.fit(X, y, rw.Linear(2), bounds=(-1, 1), n_starts=4)
    assert len(record) == 1
    assert record[0].filename == __file__  # the line that called fit, not one inside it
    assert str(record[0].message) in belief.diagnostics.warnings
    assert f"{int(np.sum(y == 0))} of 50 values" in belief.diagnostics.warnings[0]
    assert "warning: " in belief.summary()
    loss = -belief.log_predictive_density(X_new, y_new).mean()
    trivial = 0.5 * np.mean(np.log(2 * np.pi * y.var()) + (y_new - y.mean()) ** 2 / y.var())
    assert loss < trivial + 0.2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:a fit to a part of the data misled")  # two of twenty values are wrong
def test_ties_of_a_few_are_no_saturation():
    X = inputs(20, 2)
    y = one_direction(X)
    y[:2] = y[2]
    assert not any("tied" in text for text in fit(X, y).diagnostics.warnings)


def test_constant_response_is_warned_about():
    X = inputs(15, 2)
    with pytest.warns(rw.RidgewayWarning, match=r"y is constant \(3\): there is nothing to learn"):
        belief = fit(X, np.full(15, 3.0))
    assert belief.diagnostics.warnings[0].startswith("y is constant")
    np.testing.assert_allclose(belief.predict(inputs(5, 2, seed=1)).mean, 3.0, atol=0.05)
