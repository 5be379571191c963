"""``nested``: the search among modes, by evidence."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.experiments.protocol import problem
from ridgeway.experiments.scores import quiet_fit, rmse
from ridgeway.gp import kernels, moments
from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.process import Data
from ridgeway.inference import evidence, joint, nested
from ridgeway.inference.settings import DEFAULT
from ridgeway.testfunctions import from_model
from tests.helpers import inputs
from tests.inference.problems import FIXED, run


@pytest.mark.slow
def test_no_fit_has_far_less_evidence_than_noise_alone(monkeypatch):
    """A model of one direction for three: searches with little noise end in modes that climbs of the evidence leave."""
    settings = replace(
        DEFAULT,
        left_out=replace(DEFAULT.left_out, least_observations=1000),
        lines=replace(DEFAULT.lines, least_observations=1000),
    )
    f = from_model(11, 3, random_state=4)
    X = inputs(120, 11, seed=4)
    y = f(X)
    noise = -0.5 * len(y) * np.log(2 * np.pi * np.e * y.var())
    assert rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), n_starts=10, settings=settings).log_evidence > noise - 12.0
    monkeypatch.setattr(evidence, "maximize_evidence", lambda posterior, start, *_, **__: start)
    assert rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), n_starts=10, settings=settings).log_evidence < noise - 12.0


@pytest.mark.parametrize("method", [joint, nested], ids=["map", "nested"])
def test_nothing_to_learn_has_one_mode(method: ModuleType) -> None:
    """One observation in the middle of the box says nothing of any direction, and all else is given."""
    data = Data(np.zeros((1, 0)), np.array([0.5]), np.zeros(1))
    posterior = Posterior(Linear(1), kernels.resolve("se"), data, FIXED, D=2)
    found = method.infer(posterior, 2, (), run())
    assert found.components[0].factor.shape[1] == 0
    assert np.isfinite(found.log_evidence)


@pytest.mark.slow
def test_a_simulator_of_many_inputs_is_found() -> None:
    """Branin's function of 20 inputs, 100 points without noise: most climbs end in wrong modes, the best does not."""
    test = problem("branin-20", 0).test(0)
    found = quiet_fit(test.X, test.y, Linear(2), bounds=(-1, 1))
    assert rmse(found.predict(test.X_test).mean, test.f_test) < 1.0
    assert np.sqrt(found.noise_variance) < 0.05 * test.y.std()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "kernel", "power"), [(6, "matern52", 2), (129, "matern32", 2), (105, "matern32", 5), (171, "rq", 5)]
)
def test_few_starts_leave_no_component_short_of_its_mode(seed: int, kernel: str, power: int) -> None:
    """A point short of its mode passed for much evidence, with a standard deviation thousands of times the others'."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (29, 3))
    new = rng.uniform(X.min(axis=0), X.max(axis=0), (300, 3))
    u = X @ rng.standard_normal((3, 3))
    y = u[:, 0] ** 5 if power == 5 else u[:, 0] ** 2 + 1e-3 * u[:, 1]
    belief = quiet_fit(X, y, rw.Linear(3), kernel=kernel, n_starts=4, random_state=seed, robust=False)
    z, rho = belief.reduced_coordinates(new)
    parts = [moments.moments(c.gp, c.factor, z, rho, c.prior_variance, "mgp") for c in belief.components]
    assert belief.diagnostics.converged
    assert max(float(np.sqrt(np.median(part.variance))) for part in parts) < 0.2
