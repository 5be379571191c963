"""Several beliefs as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ridgeway.belief.belief_mixture import BeliefMixture
from tests.active.cases import fitted, points


def beliefs():
    found = [fitted(name, modes=modes) for name, modes in (("two directions", 2), ("isotropic", 1), ("diagonal", 1))]
    return [replace(belief, log_evidence=level) for belief, level in zip(found, (-10.0, -11.0, -30.0), strict=True)]


def test_weights_are_evidences_flattened_by_the_temperature():
    mixture = BeliefMixture.by_evidence(beliefs(), temperature=2.0)
    assert mixture.weights.sum() == pytest.approx(1.0)
    assert mixture.weights[0] / mixture.weights[1] == pytest.approx(np.exp(0.5))
    assert mixture.weights[0] / mixture.weights[2] == pytest.approx(np.exp(10.0))


def test_what_has_next_to_no_weight_is_left_out():
    mixture = BeliefMixture.by_evidence(beliefs(), temperature=2.0, least_weight=0.01)
    assert len(mixture.beliefs) == 2
    assert mixture.weights.sum() == pytest.approx(1.0)


def test_predictions_have_the_moments_of_all():
    some, X = beliefs(), points(6, 4)
    mixture = BeliefMixture.by_evidence(some, temperature=5.0)
    parts = [belief.predict(X, "mgp") for belief in some]
    mean = sum(w * p.mean for w, p in zip(mixture.weights, parts, strict=True))
    second = sum(w * (p.variance + p.mean**2) for w, p in zip(mixture.weights, parts, strict=True))
    found = mixture.predict(X)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.variance, second - mean**2, rtol=1e-9)


def test_quantiles_are_those_of_draws():
    some, X = beliefs(), points(3, 4)
    mixture = BeliefMixture.by_evidence(some, temperature=5.0)
    rng = np.random.default_rng(0)
    draws = []
    for weight, belief in zip(mixture.weights, some, strict=True):
        for component in belief.components:
            alone = replace(belief, components=(replace(component, weight=1.0),)).predict(X, "mgp")
            n = round(400_000 * weight * component.weight)
            draws.append(alone.mean + alone.std * rng.standard_normal((n, 3)))
    expected = np.quantile(np.concatenate(draws), [0.025, 0.5, 0.975], axis=0).T
    found = mixture.quantiles(X, [0.025, 0.5, 0.975])
    np.testing.assert_allclose(found, expected, atol=0.02 * np.sqrt(mixture.predict(X).variance).max())
    assert np.all(np.diff(found, axis=1) > 0)
