"""Scales and noise by maximum evidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import evidence, laplace
from ridgeway.inference.settings import DEFAULT
from tests.inference.problems import best_mode, model_posterior


def test_evidence_gradient_by_differences() -> None:
    posterior = model_posterior(5, 2, n=60, priors=Priors())
    inner, outer = evidence.split(posterior)
    found = best_mode(posterior, 6)
    lap = laplace.settle(posterior, found.theta, inner)
    gradient = evidence.evidence_gradient(posterior, lap, outer)
    for j, q in enumerate(outer):
        step = np.zeros(lap.theta.shape[0])
        step[q] = 1e-3
        up, down = (laplace.settle(posterior, lap.theta + s * step, inner).log_evidence for s in (1, -1))
        assert gradient[j] == pytest.approx((up - down) / 2e-3, rel=0.02, abs=0.02)


def test_a_mode_nearby_lends_its_curvature(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = model_posterior(6, 2)
    inner, _ = evidence.split(posterior)
    mode = best_mode(posterior, 10)
    mode = laplace.settle(posterior, mode.theta, inner)
    theta = mode.theta + 1e-3 * np.random.default_rng(1).standard_normal(mode.theta.shape[0])
    theta[-4:] = mode.theta[-4:]
    theta[LOG_NOISE] += 0.01
    hessians = []
    original = Posterior.hessian
    monkeypatch.setattr(Posterior, "hessian", lambda self, gp: hessians.append(1) or original(self, gp))
    far = laplace.settle(posterior, theta, inner)
    n_far = len(hessians)
    near = laplace.settle(posterior, theta, inner, near=mode)
    assert len(hessians) - n_far < n_far
    assert near.log_evidence == pytest.approx(far.log_evidence, abs=1e-4)
    np.testing.assert_allclose(near.gp.fitted(), far.gp.fitted(), atol=1e-4)


def test_a_climb_ends_at_a_bifurcation(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = model_posterior(4, 1, priors=Priors(log_noise=(-1.0, 1.0), log_scale=(0.0, 1.0)))
    inner, _ = evidence.split(posterior)
    start = laplace.settle(posterior, posterior.initial(np.full(4, 0.3)), inner)
    assert evidence.maximize_evidence(posterior, start).log_evidence > start.log_evidence
    steps: list[float] = []

    def leave(
        _: Posterior, lap: laplace.Laplace, outer: np.ndarray, step: np.ndarray, *args: object
    ) -> laplace.Laplace:
        steps.append(float(np.linalg.norm(step / posterior.prior_width(lap.theta)[outer])))
        return replace(lap, log_evidence=lap.log_evidence - 5.0)

    monkeypatch.setattr(evidence, "_moved", leave)
    assert evidence.maximize_evidence(posterior, start) is start
    rules = DEFAULT.evidence
    assert np.allclose(steps, steps[0] * rules.shrink ** np.arange(len(steps)))
    assert all(step >= rules.bifurcation for step in steps[:-1])
    assert steps[-1] < rules.bifurcation
