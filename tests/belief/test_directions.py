"""The numbers behind the pictures, against naive re-derivations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from scipy.stats import norm, ortho_group

import ridgeway as rw
from ridgeway import draws, surface
from ridgeway.calibration import calibration
from ridgeway.directions import Directions, UnavailableError, canonical, directions
from ridgeway.labels import labels, lines
from ridgeway.subspace import principal_angles, uncertainty


@pytest.fixture(scope="module")
def belief() -> rw.Belief:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (45, 5))
    u, v = 0.3 * X[:, 0] - 0.2 * X[:, 3], 0.25 * X[:, 1]
    return rw.fit(X, np.sin(u) + 0.4 * v**2 + 0.02 * rng.standard_normal(45), rw.Linear(2), n_starts=6, inference="map")


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


def test_shares_of_inputs_at_the_mode_are_the_beliefs_own(belief: rw.Belief) -> None:
    assert len(belief.components) == 1
    assert draws.shares(belief, belief.embedding[None])[0] == pytest.approx(belief.importances(), abs=1e-8)
    drawn = draws.shares(belief, draws.embeddings(belief, 30))
    assert drawn.sum(axis=1) == pytest.approx(np.ones(30))
    assert np.ptp(drawn, axis=0).max() > 1e-3


@pytest.mark.parametrize("model", [rw.Diagonal(), rw.Isotropic()], ids=str)
def test_shares_exist_for_every_model(model: rw.Diagonal | rw.Isotropic) -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (25, 3))
    belief = rw.fit(X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1], model, n_starts=3, inference="map")
    assert draws.shares(belief, belief.embedding[None])[0] == pytest.approx(belief.importances(), abs=1e-8)
    with pytest.raises(UnavailableError, match="no shared combinations"):
        directions(belief)


def test_a_row_that_has_shrunk_to_nothing_is_no_direction(belief: rw.Belief) -> None:
    shrunk = replace(belief)
    shrunk.__dict__["embedding"] = belief.embedding * np.array([[1.0], [1e-18]])
    found = directions(shrunk)
    assert (found.k, found.share.tolist()) == (1, [1.0])
    assert np.abs(found.weights[0]) == pytest.approx(np.abs(belief.embedding[0]) / np.linalg.norm(belief.embedding[0]))
    interval = draws.weights(found, draws.embeddings(belief, 20))
    assert np.all(np.isfinite(interval.mean))
    shrunk.__dict__["embedding"] = np.zeros_like(belief.embedding)
    with pytest.raises(UnavailableError, match="no direction"):
        directions(shrunk)


def test_weights_of_draws_are_turned_towards_the_best_estimate(belief: rw.Belief) -> None:
    found, R = directions(belief), belief.embedding
    turned = np.stack([ortho_group.rvs(2, random_state=i) @ R for i in range(20)])
    interval = draws.weights(found, turned)
    assert interval.low == pytest.approx(found.weights, abs=1e-9)
    assert interval.high == pytest.approx(found.weights, abs=1e-9)
    spread = draws.weights(found, draws.embeddings(belief, 100))
    assert np.all(spread.high > spread.low)


def test_principal_angles_are_scipys() -> None:
    rng = np.random.default_rng(0)
    R = rng.standard_normal((8, 3, 7))
    weights = np.linalg.qr(rng.standard_normal((7, 2)))[0].T
    expected = np.stack([np.sort(np.rad2deg(subspace_angles(weights.T, rows.T))) for rows in R])
    assert principal_angles(weights, R) == pytest.approx(expected, abs=1e-9)
    assert principal_angles(weights, np.zeros((1, 3, 7)))[0] == pytest.approx([90.0, 90.0])


def test_more_observations_pin_the_subspace_down() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (80, 6))
    y = np.sin(2 * X[:, 0] - X[:, 4]) + 0.1 * rng.standard_normal(80)
    few, many = (uncertainty(rw.fit(X[:n], y[:n], rw.Linear(1), n_starts=5)) for n in (15, 80))
    assert many.n == 80
    assert many.median < 0.7 * few.median
    assert many.low <= many.median <= many.high


def test_coverage_is_counted(belief: rw.Belief) -> None:
    found, left_out = calibration(belief, (0.5, 0.9)), belief.leave_one_out()
    for level, got in zip((0.5, 0.9), found.coverage, strict=True):
        reach = norm.ppf(0.5 + level / 2) * np.sqrt(left_out.variance)
        assert got == np.mean([abs(y - m) <= r for y, m, r in zip(belief.y, left_out.mean, reach, strict=True)])
    assert found.explained == pytest.approx(1 - np.mean((belief.y - left_out.mean) ** 2) / np.var(belief.y))
    assert np.all(found.low < found.levels)
    assert np.all(found.levels < found.high)


def test_points_made_from_coordinates_have_those_coordinates(belief: rw.Belief) -> None:
    found = directions(belief)
    u = np.random.default_rng(0).uniform(-1, 1, (6, 2))
    assert surface.coordinates(found, belief, surface.inputs(found, belief, u)) == pytest.approx(u, abs=1e-12)
    grid = surface.grid(found, belief, m=5)
    corner = surface.inputs(found, belief, np.array([[grid.u[3], grid.v[1]]]))
    assert grid.mean[1, 3] == pytest.approx(belief.predict(corner).mean[0])


def test_a_response_that_does_not_vary_has_no_directions() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (12, 3))
    with pytest.warns(rw.RidgewayWarning, match="constant"):
        belief = rw.fit(X, np.ones(12), rw.Linear(1), n_starts=2)
    with pytest.raises(UnavailableError, match="no direction"):
        directions(belief)


@given(st.text(min_size=1, max_size=80), st.integers(4, 40))
def test_labels_are_broken_and_never_cut(text: str, width: int) -> None:
    broken = lines(text, width)
    assert all(len(line) <= width for line in broken) or not text.strip()
    assert "".join("".join(broken).split()) == "".join(text.split())


def test_labels_are_names_or_numbers() -> None:
    assert labels(None, 2) == ("x0", "x1")
    with pytest.raises(ValueError, match="one entry for each of the 3 inputs"):
        labels(["a", "b"], 3)
