"""The libraries that we compare with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

from ridgeway.experiments import libraries
from ridgeway.experiments.libraries import LIBRARIES, Predicted


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "SAAS_WARMUP", 32)
    monkeypatch.setattr(libraries, "SAAS_DRAWS", 32)


@pytest.mark.slow
def test_a_mixture_has_a_density() -> None:
    mixture = Predicted(np.array([[0.0], [3.0]]), np.array([[1.0], [0.25]]))
    grid = np.linspace(-10.0, 15.0, 5001)
    densities = np.exp([mixture.log_density(np.array([y]))[0] for y in grid])
    assert trapezoid(densities, grid) == pytest.approx(1.0, abs=1e-6)
    assert trapezoid(grid * densities, grid) == pytest.approx(mixture.mean[0], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_each_library_learns_a_line_and_its_noise(name: str, few_steps: None) -> None:
    """A response that suits all of them: units that are not standard, and noise to be found."""
    library = LIBRARIES[name]
    if not library.installed:
        pytest.skip(f"{name} needs ridgeway[comparison]")
    rng = np.random.default_rng(0)
    X, w = rng.uniform(-1, 1, (130, 3)), np.array([2.0, -1.0, 0.0])
    y = 50.0 + 10.0 * (X @ w) + 2.0 * rng.standard_normal(130)
    library.prepare()
    found = library.fit(X[:50], y[:50], 1)(X[50:])
    assert found.mean.shape == (80,)
    assert np.sqrt(np.mean((found.mean - 50.0 - 10.0 * (X[50:] @ w)) ** 2)) < 2.0  # of a spread of 13
    assert np.sqrt(np.mean(found.variances)) == pytest.approx(2.0, rel=0.5)
    assert -found.log_density(y[50:]).mean() < 2.5  # 2.11 with everything known; 4.0 with mean and variance alone
