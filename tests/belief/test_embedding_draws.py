"""What draws of the embedding say about directions and inputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group

import ridgeway as rw
from ridgeway.belief import embedding_draws
from ridgeway.belief.directions import UnavailableError, directions


def test_shares_of_inputs_at_the_mode_are_the_beliefs_own(belief: rw.Belief) -> None:
    assert len(belief.components) == 1
    assert embedding_draws.shares(belief, belief.embedding[None])[0] == pytest.approx(belief.importances(), abs=1e-8)
    drawn = embedding_draws.shares(belief, embedding_draws.embeddings(belief, 30))
    assert drawn.sum(axis=1) == pytest.approx(np.ones(30))
    assert np.ptp(drawn, axis=0).max() > 1e-3


@pytest.mark.parametrize("model", [rw.Diagonal(), rw.Isotropic()], ids=str)
def test_shares_exist_for_every_model(model: rw.Diagonal | rw.Isotropic) -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (25, 3))
    belief = rw.fit(X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1], model, n_starts=3, inference="map")
    assert embedding_draws.shares(belief, belief.embedding[None])[0] == pytest.approx(belief.importances(), abs=1e-8)
    with pytest.raises(UnavailableError, match="no shared combinations"):
        directions(belief)


def test_weights_of_draws_are_turned_towards_the_best_estimate(belief: rw.Belief) -> None:
    found, R = directions(belief), belief.embedding
    turned = np.stack([ortho_group.rvs(2, random_state=i) @ R for i in range(20)])
    interval = embedding_draws.weights(found, turned)
    assert interval.low == pytest.approx(found.weights, abs=1e-9)
    assert interval.high == pytest.approx(found.weights, abs=1e-9)
    spread = embedding_draws.weights(found, embedding_draws.embeddings(belief, 100))
    assert np.all(spread.high > spread.low)


def test_weights_do_not_depend_on_how_long_the_rows_of_a_draw_are(belief: rw.Belief) -> None:
    found, R = directions(belief), embedding_draws.embeddings(belief, 50)
    lengths = np.random.default_rng(0).uniform(0.1, 10.0, (50, 1, 1))
    plain, scaled = embedding_draws.weights(found, R), embedding_draws.weights(found, lengths * R)
    assert scaled.low == pytest.approx(plain.low)
    assert scaled.high == pytest.approx(plain.high)
    assert np.all(np.abs([plain.low, plain.high]) <= 1.0)


def test_shares_of_a_belief_are_those_of_its_draws(belief: rw.Belief) -> None:
    drawn = embedding_draws.Interval.of(embedding_draws.shares(belief, embedding_draws.embeddings(belief)))
    assert belief.input_shares.mean == pytest.approx(drawn.mean)
    assert belief.input_shares.mean.sum() == pytest.approx(1.0)
    assert np.all(belief.input_shares.low <= belief.input_shares.high)
