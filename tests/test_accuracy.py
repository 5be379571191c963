"""Layer (d): the paper's problems, small enough for every run; the whole tables are ``make accuracy``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.testfunctions import borehole, from_model, padded, subspace_angles


def nlpd(belief: rw.Belief, X: np.ndarray, y: np.ndarray) -> float:
    return float(-belief.log_predictive_density(X, y).mean())


@pytest.mark.slow
def test_two_directions_of_ten_inputs() -> None:
    """The paper's synthetic problem (D=10, d=2), one draw, random design; its best with active selection is 0.138."""
    f = from_model(10, 2, random_state=0)
    rng = np.random.default_rng(0)
    X, X_test = f.sample(100, rng), f.sample(500, rng)
    belief = rw.fit(X, f(X) + 0.1 * rng.standard_normal(100), rw.Linear(2), bounds=(f.lower, f.upper), n_starts=12)
    prediction = belief.predict(X_test)
    assert np.sqrt(np.mean((prediction.mean - f(X_test)) ** 2)) < 0.15
    assert nlpd(belief, X_test, f(X_test) + 0.1 * rng.standard_normal(500)) < -0.4
    assert 0.85 < np.mean(np.abs(prediction.mean - f(X_test)) < 1.96 * prediction.std) <= 1.0
    assert np.sqrt(belief.noise_variance) == pytest.approx(0.1, rel=0.35)
    assert np.rad2deg(subspace_angles(belief.embedding, f.embedding)).max() < 12


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "most"), [("wide_D10_d2_s1", (0.08, -0.65)), ("narrow_D20_d2_s4", (0.07, -0.65))])
def test_on_data_that_other_libraries_were_scored_on(shared: Path, kind: str, most: tuple[float, float]) -> None:
    data = np.load(shared / "peers" / f"{kind}.npz")
    belief = rw.fit(data["X"], data["y"], rw.Linear(2))
    error = belief.predict(data["X_test"]).mean - data["f_test"]
    assert np.sqrt(np.mean(error**2)) < most[0]
    assert nlpd(belief, data["X_test"], data["y_test"]) < most[1]


# What these ask for is honesty about data the model does not fit; a warning about ties is part of it.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
@pytest.mark.parametrize("response", ["noise", "clipped", "heavy tails", "wrong rank"])
def test_does_no_harm(response: str) -> None:
    """Never much worse than predicting the sample's mean and variance."""
    rng = np.random.default_rng(3)
    f = padded(borehole(), 27)
    X, X_test = f.sample(50, rng), f.sample(400, rng)
    y, y_test = f(X), f(X_test)
    if response == "noise":
        y, y_test = rng.standard_normal(50), rng.standard_normal(400)
    elif response == "clipped":
        middle = np.median(y)
        y, y_test = np.maximum(y, middle), np.maximum(y_test, middle)
    elif response == "heavy tails":
        y, y_test = y + 20 * rng.standard_t(2.5, 50), y_test + 20 * rng.standard_t(2.5, 400)
    belief = rw.fit(X, y, rw.Linear(3 if response == "wrong rank" else 2), bounds=(f.lower, f.upper), n_starts=8)
    baseline = np.mean(0.5 * (np.log(2 * np.pi * y.var()) + (y_test - y.mean()) ** 2 / y.var()))
    assert nlpd(belief, X_test, y_test) < baseline + 0.3


@pytest.mark.slow
def test_linear_responses_are_as_good_as_least_squares() -> None:
    rng = np.random.default_rng(5)
    w = rng.standard_normal(12)
    X, X_test = rng.uniform(-1, 1, (60, 12)), rng.uniform(-1, 1, (300, 12))
    y = X @ w + 0.2 * rng.standard_normal(60)
    belief = rw.fit(X, y, rw.Linear(2), bounds=(-1, 1), n_starts=8)
    ours = np.sqrt(np.mean((belief.predict(X_test).mean - X_test @ w) ** 2))
    centred = np.linalg.lstsq(np.column_stack([X, np.ones(60)]), y, rcond=None)[0]
    theirs = np.sqrt(np.mean((X_test @ centred[:-1] + centred[-1] - X_test @ w) ** 2))
    assert ours < 1.15 * theirs
    assert belief.rank == 1
