"""The numbers behind the pictures, against naive re-derivations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

import ridgeway as rw
from ridgeway.belief import embedding_draws
from ridgeway.belief.directions import Directions, UnavailableError, canonical, directions


def test_directions_are_eigenvectors_of_the_mean_outer_product_of_slopes(belief: rw.Belief) -> None:
    scaling, step = belief.space.scaling, 1e-4
    slopes = np.empty(belief.X.shape)
    for j in range(belief.X.shape[1]):
        shift = np.zeros(belief.X.shape[1])
        shift[j] = step * scaling.half_width[j]
        ahead, behind = (belief.predict(belief.X + sign * shift, "map").mean for sign in (1, -1))
        slopes[:, j] = (ahead - behind) / (2 * step)
    values, vectors = np.linalg.eigh(slopes.T @ slopes)
    found = directions(belief)
    assert found.share == pytest.approx(values[::-1][:2] / values.sum(), abs=1e-6)
    assert found.share[0] > found.share[1]
    for k in range(2):
        assert abs(found.weights[k] @ vectors[:, -1 - k]) == pytest.approx(1.0, abs=1e-6)
    assert found.turn @ belief.embedding == pytest.approx(found.weights, abs=1e-10)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_no_rotation_of_the_embedding_changes_the_directions(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    R, root = rng.standard_normal((d, 6)), rng.standard_normal((d, d))
    turn = np.atleast_2d(ortho_group.rvs(d, random_state=seed)) if d > 1 else -np.eye(1)
    before, after = canonical(R, root.T @ root), canonical(turn @ R, turn @ root.T @ root @ turn.T)
    assert after.share == pytest.approx(before.share, abs=1e-8)
    gaps = np.abs(np.diff(before.share, append=0.0, prepend=1.0))
    for k in range(d):
        if min(gaps[k], gaps[k + 1]) > 1e-3 and before.share[k] > 1e-3:  # else its eigenvector is not determined
            assert after.weights[k] == pytest.approx(before.weights[k], abs=1e-5)
            assert before.weights[k, np.argmax(np.abs(before.weights[k]))] > 0
    assert before.weights @ before.weights.T == pytest.approx(np.eye(d), abs=1e-10)


def test_signs_follow_an_earlier_picture() -> None:
    now = Directions(np.eye(3)[:2], np.array([0.7, 0.3]), np.eye(2))
    before = Directions(-np.eye(3)[:1] + 0.1, np.ones(1), np.eye(1))
    assert now.like(before).weights.tolist() == [[-1, 0, 0], [0, 1, 0]]
    with pytest.raises(ValueError, match="about 3 inputs"):
        now.like(Directions(np.ones((1, 2)), np.ones(1), np.eye(1)))


def test_a_row_that_has_shrunk_to_nothing_is_no_direction(belief: rw.Belief) -> None:
    shrunk = replace(belief)
    shrunk.__dict__["embedding"] = belief.embedding * np.array([[1.0], [1e-18]])
    found = directions(shrunk)
    assert (found.k, found.share.tolist()) == (1, [1.0])
    assert np.abs(found.weights[0]) == pytest.approx(np.abs(belief.embedding[0]) / np.linalg.norm(belief.embedding[0]))
    interval = embedding_draws.weights(found, embedding_draws.embeddings(belief, 20))
    assert np.all(np.isfinite(interval.mean))
    shrunk.__dict__["embedding"] = np.zeros_like(belief.embedding)
    with pytest.raises(UnavailableError, match="no direction"):
        directions(shrunk)


def test_a_response_that_does_not_vary_has_no_directions() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (12, 3))
    with pytest.warns(rw.RidgewayWarning, match="constant"):
        belief = rw.fit(X, np.ones(12), rw.Linear(1), n_starts=2)
    with pytest.raises(UnavailableError, match="no direction"):
        directions(belief)
