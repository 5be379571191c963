"""The embedding against models without one."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active import alternatives
from ridgeway.active.alternatives import AlternativeSettings
from tests.active.learner_problem import LOWER, UPPER, make


def told(function, n=24, D=3, **options):
    learner = make(embedding=rw.Linear(1), goal="minimize", acquisition=None, **options)
    X = np.random.default_rng(0).uniform(LOWER, UPPER, (n, 3))
    learner.tell(X, np.apply_along_axis(function, 1, 2.0 * (X - LOWER) / (UPPER - LOWER) - 1.0))
    return learner


def weight(learner, model):
    mixture = learner.averaged.mixture
    return sum(w for belief, w in zip(mixture.beliefs, mixture.weights, strict=True) if belief.model == model)


@pytest.mark.slow
def test_the_data_decide():
    """A ridge in one direction, and a function that has none."""
    assert weight(told(lambda z: np.sin(3.0 * (z @ [0.5, 0.6, -0.6]))), rw.Linear(1)) > 0.8
    assert weight(told(lambda z: z @ z + 0.3 * np.cos(4 * z[0])), rw.Linear(1)) < 0.2


@pytest.mark.slow
def test_outcomes_are_warped_and_the_learners_own_belief_is_not():
    learner = told(lambda z: np.exp(4.0 * z.sum()))
    mixture, warp = learner.averaged.mixture, learner.averaged.warp
    np.testing.assert_allclose(warp.inverse(mixture.beliefs[0].y), learner.y, rtol=1e-9)
    assert np.ptp(mixture.beliefs[0].y) < 0.1 * np.ptp(learner.y)
    np.testing.assert_array_equal(learner.belief.y, learner.y)


@pytest.mark.slow
def test_evidence_decides_how_much_is_warped():
    """What grows without bounds is compressed; what is smooth as it is stays so."""
    assert told(lambda z: np.exp(4.0 * z.sum())).averaged.warp.scale < np.inf
    assert told(lambda z: z.sum(), n=40).averaged.warp.scale > 10.0 * 0.5


@pytest.mark.slow
def test_known_noise_is_warped_with_its_outcome():
    learner = make(embedding=rw.Linear(1), goal="minimize", acquisition=None)
    X = np.random.default_rng(0).uniform(LOWER, UPPER, (12, 3))
    y = np.exp(np.linspace(0.0, 6.0, 12))
    learner.tell(X, y, noise_variance=np.full(12, 4.0))
    mixture, warp = learner.averaged.mixture, learner.averaged.warp
    belief = mixture.beliefs[0]
    noise = belief.posterior.data.noise * belief.output.scale**2
    assert warp.slope(y).min() < 0.2
    np.testing.assert_allclose(noise - noise.min(), 4.0 * (warp.slope(y) ** 2 - warp.slope(y).min() ** 2), atol=1e-6)


@pytest.mark.slow
def test_many_inputs_share_a_length_scale():
    few = AlternativeSettings(most_diagonal=2)
    learner = told(lambda z: z @ z)
    models = {str(m) for m in alternatives.models(3, few)}
    assert models == {str(rw.Isotropic())}
    found = alternatives.averaged(learner.record, learner._refit, 1.0, few)
    assert all(belief.model != rw.Diagonal() for belief in found.mixture.beliefs)


@pytest.mark.slow
def test_they_depend_on_nothing_but_the_observations_and_the_belief():
    learner = told(lambda z: z @ z)
    again = alternatives.averaged(learner.record, learner._refit, 1.0)
    np.testing.assert_array_equal(again.mixture.weights, learner.averaged.mixture.weights)


def test_learning_has_no_alternatives():
    learner = make()
    X = np.random.default_rng(0).uniform(LOWER, UPPER, (6, 3))
    learner.tell(X, X[:, 0])
    with pytest.raises(ValueError, match="goal must be"):
        _ = learner.averaged


@pytest.mark.slow
def test_an_optimiser_that_was_stopped_goes_on_as_it_would_have():
    """Directions that were searched for before are found again, whatever the learner went through."""
    learner = told(lambda z: np.sin(3.0 * (z @ [0.5, 0.6, -0.6])), n=9)
    for _ in range(3):  # through a full search and past it
        x = learner.ask()
        learner.tell(x, float(np.sin(x.sum())))
    fresh = told(lambda z: z.sum(), n=9)
    fresh.record, fresh.n_asked = learner.record, learner.n_asked
    np.testing.assert_array_equal(fresh.ask(), learner.ask())


@pytest.mark.slow
def test_a_search_is_reused_only_where_it_would_be_made():
    learner = told(lambda z: z @ z, n=10)
    found = learner.averaged.searched
    again = told(lambda z: z @ z, n=10)
    again.reuse(learner)
    assert again.averaged.searched is found
    other = told(lambda z: z @ z + z[0], n=10)
    other.reuse(learner)
    assert other.averaged.searched is not found
    corrected = told(lambda z: z @ z, n=10, random_state=5)
    corrected.reuse(learner)
    assert corrected.averaged.searched is not found


def test_with_thousands_of_observations_the_embedding_stands_alone():
    """The others are exact, and would cost the cube of their number."""
    learner = told(lambda z: np.sin(3.0 * (z @ [0.5, 0.6, -0.6])), n=40)
    few = AlternativeSettings(most_rows=30, warp_rows=20)
    found = alternatives.averaged(learner.record, learner._refit, 1.0, few)
    assert [belief.model for belief in found.mixture.beliefs] == [rw.Linear(1)]
    assert found.mixture.beliefs[0].n_rows == 40


def test_unrelated_outcomes_of_many_inputs_do_not_make_all_points_unrelated():
    D, rng = 200, np.random.default_rng(0)
    learner = rw.ActiveLearner(rw.Box(-np.ones(D), np.ones(D)), rw.Isotropic(), goal="minimize", random_state=0)
    learner.tell(rng.uniform(-1.0, 1.0, (12, D)), rng.standard_normal(12))
    belief = learner.averaged.mixture.beliefs[0]
    length_scale = np.exp(belief.components[0].gp.parameters[0])
    distance = np.sqrt(2.0 * D / 3.0)  # typical of two points
    assert length_scale > 0.5 * distance
