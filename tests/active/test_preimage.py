"""The input that maps to a given ``u`` most surely: within the box, on ``u``, and none is surer."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active.preimage import DEFAULT, Preimage, PreimageSettings, most_certain_input

SHAPES = {"12 of 20": (12, 20), "40 of 20": (40, 20), "30 of 60": (30, 60), "70 of 60": (70, 60)}

every_shape = pytest.mark.parametrize("shape", SHAPES)

_fitted: dict[tuple, rw.Belief] = {}


def box(D):
    lower = np.linspace(-5.0, 3.0, D)
    return lower, lower + np.geomspace(0.5, 20.0, D)


def scaled(X):
    lower, upper = box(X.shape[-1])
    return 2.0 * (X - lower) / (upper - lower) - 1.0


def points(n, D, seed=9):
    return np.random.default_rng(seed).uniform(*box(D), (n, D))


def fitted(n, D, d):
    """A belief in which ``d`` directions are there, with errors of their own; made once."""
    if (n, D, d) not in _fitted:
        X = points(n, D, seed=1)
        y = np.random.default_rng(2).standard_normal(n)
        belief = rw.fit(X, y, rw.Linear(1), inference="map", n_starts=1, bounds=box(D))
        rng, r = np.random.default_rng(3), belief.space.r
        theta = np.append(1.5 / np.sqrt(r) * rng.standard_normal(d * r), [0.0, -1.5, 0.0, 0.0])
        factor = rng.uniform(0.02, 0.2, (d * r + 4, 1)) * rng.standard_normal((d * r + 4, d * r)) / np.sqrt(r)
        posterior = replace(belief.posterior, embedding=rw.Linear(d))
        gp = posterior.condition(theta)
        component = replace(belief.components[0], posterior=posterior, gp=gp, factor=factor)
        _fitted[n, D, d] = replace(belief, posterior=posterior, components=(component,))
    return _fitted[n, D, d]


def log_det(belief, X):
    """What is to be small, ``(n,)``."""
    k = belief.rank
    return np.linalg.slogdet(belief.embed(X).covariance[:, :k, :k])[1]


def rows(belief):
    return belief.embedding[: belief.rank]


def check_feasible(belief, x, u, bounds):
    width = bounds[1] - bounds[0]
    assert np.all((x - bounds[0]) / width >= -1e-12)
    assert np.all((bounds[1] - x) / width >= -1e-12)
    np.testing.assert_allclose(belief.embed(x[None]).mean[0, : belief.rank], u, atol=1e-8)


def along_the_box(belief, x, n, rng):
    """Directions ``(n, D)`` of the scaled box that keep ``u`` and that can be followed from ``x``."""
    R, at = rows(belief), scaled(x)
    V = rng.standard_normal((n, len(x)))
    V[(V > 0) & (at > 1.0 - 1e-9)] = 0.0
    V[(V < 0) & (at < -1.0 + 1e-9)] = 0.0
    free = np.abs(at) < 1.0 - 1e-9
    inside = R * free
    V -= (V @ R.T) @ np.linalg.pinv(inside @ inside.T) @ inside
    np.testing.assert_allclose(V @ R.T, 0.0, atol=1e-9)
    return V


def longest(x, V):
    """How far each direction can be followed."""
    room = np.where(V > 0, 1.0 - scaled(x), 1.0 + scaled(x))
    with np.errstate(divide="ignore"):
        return np.where(np.abs(V) > 1e-12, np.maximum(room, 0.0) / np.abs(V), np.inf).min(axis=1)


def elsewhere(belief, u, n, rng):
    """Points of the scaled box that map to ``u``, one direction: from anywhere towards a corner until ``u``."""
    R = rows(belief)[0]
    Z = rng.uniform(-1, 1, (n, len(R))) * rng.choice([0.2, 1.0, 3.0], (n, 1))
    Z = np.clip(Z, -1, 1)
    corner = np.where((u > Z @ R)[:, None], np.sign(R), -np.sign(R))
    share = (u - Z @ R) / (corner @ R - Z @ R)
    return Z + share[:, None] * (corner - Z)


def user(Z):
    lower, upper = box(Z.shape[-1])
    return lower + (Z + 1.0) / 2.0 * (upper - lower)


@every_shape
@pytest.mark.parametrize("reach", [0.1, 0.4, 0.95])
def test_one_direction_has_no_surer_input(shape, reach):
    n, D = SHAPES[shape]
    belief, rng = fitted(n, D, 1), np.random.default_rng(4)
    u = np.array([reach * np.abs(rows(belief)[0]).sum()])
    x = most_certain_input(belief, u)
    check_feasible(belief, x, u, box(D))
    least = np.exp(log_det(belief, x[None]))[0]
    V = along_the_box(belief, x, 5000, rng)
    steps = longest(x, V) * rng.choice([1e-4, 1e-2, 0.3, 1.0], 5000)
    assert np.median(steps) > 0
    near = scaled(x) + steps[:, None] * V
    far = elsewhere(belief, u[0], 5000, rng)
    between = scaled(x) + rng.choice([1e-3, 0.1, 1.0], (5000, 1)) * (far - scaled(x))
    for Z in (near, between):
        assert np.abs(Z).max() <= 1.0 + 1e-9
        np.testing.assert_allclose(Z @ rows(belief)[0], u[0], atol=1e-8)
        assert np.exp(log_det(belief, user(Z))).min() >= least * (1 - 1e-8)
    assert np.exp(log_det(belief, user(far))).mean() > 1.001 * least


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["12 of 20", "40 of 20", "30 of 60"])
def test_two_directions_have_no_surer_input_nearby(shape):
    n, D = SHAPES[shape]
    belief, rng = fitted(n, D, 2), np.random.default_rng(5)
    for x0 in points(3, D):
        u = rows(belief) @ scaled(x0)
        x = most_certain_input(belief, u)
        check_feasible(belief, x, u, box(D))
        least = log_det(belief, x[None])[0]
        assert least < log_det(belief, x0[None])[0]
        # Programs stop at the fourth digit; the neighbourhood of their limit is what is claimed.
        limit = converged(belief, u)
        assert least <= log_det(belief, limit[None])[0] + 1e-3
        V = along_the_box(belief, limit, 3000, rng)
        steps = longest(limit, V) * rng.choice([1e-4, 1e-3, 1e-2], 3000)
        around = log_det(belief, user(scaled(limit) + steps[:, None] * V))
        assert around.min() >= log_det(belief, limit[None])[0] - 1e-6


def converged(belief, u):
    return most_certain_input(belief, u, settings=PreimageSettings(least_gain=1e-12, most_programs=200))


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("shape", ["12 of 20", "40 of 20"])
def test_more_programs_are_never_worse(d, shape):
    n, D = SHAPES[shape]
    belief = fitted(n, D, d)
    for x in points(3, D, seed=6):
        u = rows(belief) @ scaled(x)
        limits = [PreimageSettings(most_programs=k) for k in range(1, 7)]
        sizes = [log_det(belief, most_certain_input(belief, u, settings=limit)[None])[0] for limit in limits]
        assert np.all(np.diff(sizes) <= 1e-9)
        assert sizes[-1] <= log_det(belief, x[None])[0]


@pytest.mark.parametrize("d", [1, 2])
def test_the_structured_program_has_the_dense_ones_answer(d):
    belief = fitted(12, 40, d)
    u = rows(belief) @ scaled(points(1, 40)[0])
    dense = most_certain_input(belief, u)
    split = most_certain_input(belief, u, settings=PreimageSettings(most_dense=10))
    np.testing.assert_allclose(scaled(split), scaled(dense), atol=1e-4)
    assert log_det(belief, split[None])[0] == pytest.approx(log_det(belief, dense[None])[0], abs=1e-7)


def test_many_inputs(monkeypatch):
    D = DEFAULT.most_dense + 20
    belief = fitted(10, D, 1)
    u = rows(belief) @ scaled(points(1, D)[0])
    monkeypatch.setattr(Preimage, "_full", None)  # would be called by a dense program
    x = most_certain_input(belief, u)
    check_feasible(belief, x, u, box(D))
    monkeypatch.undo()
    other = most_certain_input(belief, u, settings=PreimageSettings(most_dense=D))
    assert log_det(belief, x[None])[0] == pytest.approx(log_det(belief, other[None])[0], abs=1e-7)


@every_shape
@pytest.mark.parametrize("d", [1, 2])
def test_the_farthest_u_of_all_is_reached_by_its_corner(shape, d):
    """There is one input only, on the edge of what is possible."""
    n, D = SHAPES[shape]
    belief = fitted(n, D, d)
    programs = Preimage.of(belief)
    for direction in np.vstack([np.eye(d), -np.eye(d), np.random.default_rng(7).standard_normal((6, d))]):
        corner = programs.corner(direction)
        u = rows(belief) @ corner
        x = most_certain_input(belief, u)
        check_feasible(belief, x, u, box(D))
        np.testing.assert_allclose(scaled(x), corner, atol=1e-4)


@pytest.mark.parametrize("d", [1, 2])
def test_the_centre_is_certain(d):
    """Whatever the embedding, the centre of the box maps to zero: there is no variance to divide by."""
    belief = fitted(12, 20, d)
    np.testing.assert_allclose(scaled(most_certain_input(belief, np.zeros(d))), 0.0, atol=1e-6)


def test_other_bounds():
    n, D = SHAPES["12 of 20"]
    belief = fitted(n, D, 1)
    lower, upper = box(D)
    bounds = lower + 0.3 * (upper - lower), upper + 0.2 * (upper - lower)
    u = rows(belief) @ scaled(0.5 * (bounds[0] + bounds[1]))
    x = most_certain_input(belief, u, bounds)
    check_feasible(belief, x, u, bounds)
    wide = most_certain_input(belief, u, (lower, upper + 0.2 * (upper - lower)))
    assert log_det(belief, wide[None])[0] <= log_det(belief, x[None])[0] + 1e-9


def test_a_u_out_of_reach():
    belief = fitted(12, 20, 1)
    farthest = np.abs(rows(belief)[0]).sum()
    with pytest.raises(ValueError, match=r"u cannot be reached within the box: got \[.*\], the farthest there is \["):
        most_certain_input(belief, [1.5 * farthest])
    with pytest.raises(ValueError, match="u cannot be reached within the box"):
        most_certain_input(belief, [-1.01 * farthest])
    with pytest.raises(ValueError, match="u cannot be reached"):
        most_certain_input(fitted(12, 20, 2), [0.0, 1e3])


def test_what_is_no_u():
    belief = fitted(12, 20, 2)
    for wrong in ([0.0], [0.0, 0.0, 0.0], 0.0, [[0.0, 0.0]]):
        with pytest.raises(
            ValueError, match=r"u must have shape \(2,\), a number for each direction that is used, got"
        ):
            most_certain_input(belief, wrong)
    with pytest.raises(ValueError, match="u must be finite"):
        most_certain_input(belief, [0.0, np.nan])
    with pytest.raises(ValueError, match="lower bound must be below upper"):
        most_certain_input(belief, [0.0, 0.0], (1.0, -1.0))


@pytest.mark.parametrize("d", [1, 2])
def test_corners_are_the_signatures_of_the_rows(d):
    """The paper's bounds of the embedded space: brute force over all corners."""
    belief = fitted(30, 8, d)
    corners = np.array(list(product([-1.0, 1.0], repeat=8)))
    U = corners @ rows(belief).T
    np.testing.assert_allclose(belief.embed(user(corners)).mean[:, :d], U, atol=1e-9)
    programs = Preimage.of(belief)
    for i, axis in enumerate(np.eye(d)):
        assert (rows(belief) @ programs.corner(axis))[i] == pytest.approx(U[:, i].max())
        assert (rows(belief) @ programs.corner(-axis))[i] == pytest.approx(U[:, i].min())
        np.testing.assert_array_equal(programs.corner(axis), np.sign(rows(belief)[i]))
    for direction in np.random.default_rng(8).standard_normal((5, d)):
        reach = direction @ rows(belief) @ programs.corner(direction)
        assert reach == pytest.approx((U @ direction).max())


@pytest.mark.parametrize("embedding", [rw.Diagonal(), rw.Isotropic()])
def test_only_linear_embeddings_have_one(embedding):
    X = points(12, 4)
    belief = rw.fit(X, np.sin(scaled(X)[:, 0]), embedding, inference="map", n_starts=1, bounds=box(4))
    with pytest.raises(TypeError, match="only a linear embedding has inputs that map to a given u"):
        most_certain_input(belief, [0.0])


def test_u_may_come_from_embed_where_fewer_directions_are_used():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 5))
    belief = rw.fit(X, X @ [1.0, 0.5, 0.0, 0.0, 0.0], rw.Linear(2), bounds=(-1, 1), n_starts=4)
    assert belief.rank == 1
    u = belief.embed(X[:1]).mean[0]
    assert u.shape == (2,)
    np.testing.assert_allclose(belief.embed(most_certain_input(belief, u)[None]).mean[0], u, atol=1e-8)
