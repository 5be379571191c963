"""The test functions against the literature, and the ones drawn from the model."""

from __future__ import annotations

from math import cos, log, pi, radians, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import ortho_group

from ridgeway import testfunctions
from ridgeway.testfunctions import (
    borehole,
    branin,
    from_model,
    hartmann6,
    otl_circuit,
    padded,
    piston,
    robot_arm,
    subspace_angles,
    wing_weight,
)
from tests.helpers import inputs


def test_test_functions_check_their_points():
    f = testfunctions.borehole()
    with pytest.raises(ValueError, match=r"X must have shape \(n, 8\) for borehole, got \(3, 7\)"):
        f(np.zeros((3, 7)))
    with pytest.raises(ValueError, match="D must be at least 8 for borehole, got 5"):
        testfunctions.padded(f, 5)


def test_branin_has_its_three_minima():
    f = branin()
    minimisers = np.array([[-pi, 12.275], [pi, 2.275], [9.42478, 2.475]])
    mapped = (minimisers - [2.5, 7.5]) / 7.5  # [-5, 10] × [0, 15] to [-1, 1]²
    assert np.all((mapped >= f.lower) & (mapped <= f.upper))
    np.testing.assert_allclose(f(mapped), 0.397887, atol=1e-5)
    assert f(f.sample(5000)).min() > 0.397887
    assert f(np.array([[-1.0, -1.0]]))[0] == pytest.approx(308.129, abs=1e-3)  # the corner (-5, 0)


def test_branin_of_many_inputs_depends_on_two_directions():
    f = branin(12, random_state=3)
    assert f.embedding.shape == (2, 12)
    X = f.sample(50)
    _, _, Vt = np.linalg.svd(f.embedding)
    np.testing.assert_allclose(f(X + np.random.default_rng(0).normal(size=(50, 10)) @ Vt[2:]), f(X), rtol=1e-9)
    np.testing.assert_allclose(branin()(X @ f.embedding.T), f(X), rtol=1e-9)
    assert not np.allclose(branin(12, random_state=4).embedding, f.embedding)


def test_hartmann_has_its_minimum():
    f = hartmann6()
    x = 2.0 * np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]) - 1.0
    assert f(x[None])[0] == pytest.approx(-3.32237, abs=1e-5)
    found = minimize(lambda x: f(x[None])[0], x, bounds=[(-1, 1)] * 6)
    assert found.fun == pytest.approx(-3.32237, abs=1e-5)
    assert f(f.sample(5000)).min() > -3.32237
    more = hartmann6(9)
    assert more.D == 9
    assert more(np.append(x, [0.3, -0.2, 1.0])[None])[0] == pytest.approx(-3.32237, abs=1e-5)


def test_borehole_as_in_the_literature():
    rw_, r, Tu, Hu, Tl, Hl, L, Kw = 0.1, 25050.0, 89335.0, 1050.0, 89.55, 760.0, 1400.0, 10950.0
    ratio = log(r / rw_)
    flow = 2 * pi * Tu * (Hu - Hl) / (ratio * (1 + 2 * L * Tu / (ratio * rw_**2 * Kw) + Tu / Tl))
    f = borehole()
    assert f(np.array([[rw_, r, Tu, Hu, Tl, Hl, L, Kw]]))[0] == pytest.approx(flow, rel=1e-12)
    np.testing.assert_allclose(0.5 * (f.lower + f.upper), [rw_, r, Tu, Hu, Tl, Hl, L, Kw])
    assert 70.0 < flow < 72.0
    assert f(f.sample(3000)).mean() == pytest.approx(77.7, abs=4.0)  # as the literature has it for uniform inputs


def test_piston_as_in_the_literature():
    M, S, V0, k, P0, Ta, T0 = 45.0, 0.0125, 0.006, 3000.0, 100000.0, 293.0, 350.0
    A = P0 * S + 19.62 * M - k * V0 / S
    V = S / (2 * k) * (sqrt(A**2 + 4 * k * (P0 * V0 / T0) * Ta) - A)
    cycle = 2 * pi * sqrt(M / (k + S**2 * (P0 * V0 / T0) * (Ta / V**2)))
    f = piston()
    assert f(np.array([[M, S, V0, k, P0, Ta, T0]]))[0] == pytest.approx(cycle, rel=1e-12)
    np.testing.assert_allclose(0.5 * (f.lower + f.upper), [M, S, V0, k, P0, Ta, T0])
    assert 0.1 < f(f.sample(2000)).min() < f(f.sample(2000)).max() < 1.2  # seconds


def test_circuit_as_in_the_literature():
    Rb1, Rb2, Rf, Rc1, Rc2, beta = 100.0, 47.5, 1.75, 1.85, 0.725, 175.0
    Vb1 = 12 * Rb2 / (Rb1 + Rb2)
    share = beta * (Rc2 + 9) / (beta * (Rc2 + 9) + Rf)
    voltage = (Vb1 + 0.74) * share + 11.35 * Rf / (beta * (Rc2 + 9) + Rf) + 0.74 * Rf * share / Rc1
    f = otl_circuit()
    assert f(np.array([[Rb1, Rb2, Rf, Rc1, Rc2, beta]]))[0] == pytest.approx(voltage, rel=1e-12)
    np.testing.assert_allclose(0.5 * (f.lower + f.upper), [Rb1, Rb2, Rf, Rc1, Rc2, beta])
    assert 2.0 < f(f.sample(2000)).min() < f(f.sample(2000)).max() < 10.0  # volts


def test_wing_as_in_the_literature():
    Sw, Wfw, A, sweep, q, taper, tc, Nz, Wdg, Wp = 174.0, 252.0, 7.52, 5.0, 34.0, 0.672, 0.12, 3.8, 2000.0, 0.064
    c = cos(radians(sweep))
    weight = 0.036 * Sw**0.758 * Wfw**0.0035 * (A / c**2) ** 0.6 * q**0.006 * taper**0.04
    weight = weight * (100 * tc / c) ** -0.3 * (Nz * Wdg) ** 0.49 + Sw * Wp
    f = wing_weight()
    x = np.array([[Sw, Wfw, A, sweep, q, taper, tc, Nz, Wdg, Wp]])
    assert f(x)[0] == pytest.approx(weight, rel=1e-12)
    assert np.all((x >= f.lower) & (x <= f.upper))
    assert 220.0 < weight < 260.0  # pounds; a Cessna's wing weighs about 236
    x[0, 3] = -sweep
    assert f(x)[0] == pytest.approx(weight)


def test_robot_arm_reaches_as_far_as_its_segments():
    f = robot_arm()
    straight = np.array([0.7, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.4])
    folded = np.array([0.7, pi, 0.0, 0.0, 0.4, 0.4, 0.0, 0.0])
    corner = np.array([0.0, pi / 2, 0.0, 0.0, 0.3, 0.4, 0.0, 0.0])
    np.testing.assert_allclose(f(np.array([straight, folded, corner])), [1.0, 0.0, 0.5], atol=1e-12)


def test_padding_adds_inputs_that_do_nothing():
    f = padded(borehole(), 12)
    assert f.D == 12
    assert f.name == "borehole+4"
    X = f.sample(20)
    assert np.all(np.abs(X[:, 8:]) <= 1)
    np.testing.assert_array_equal(f(X), borehole()(X[:, :8]))
    drawn = padded(from_model(4, 2), 6)
    assert drawn.embedding.shape == (2, 6)
    assert np.all(drawn.embedding[:, 4:] == 0)
    with pytest.raises(ValueError, match="at least 8"):
        padded(borehole(), 7)


def test_functions_drawn_from_the_model_have_its_moments():
    """Over many draws: mean 0 and the squared exponential of the embedded distance as covariance."""
    X = inputs(6, 5)
    draws, kernels = [], []
    for seed in range(1500):
        f = from_model(5, 2, random_state=seed, n_features=64)
        draws.append(f(X))
        U = X @ f.embedding.T
        kernels.append(np.exp(-0.5 * np.sum((U[:, None] - U) ** 2, axis=-1)))
    draws = np.array(draws)
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=4.5 / np.sqrt(1500))
    np.testing.assert_allclose(draws.var(axis=0), 1.0, atol=0.2)
    np.testing.assert_allclose(draws.T @ draws / 1500, np.mean(kernels, axis=0), atol=0.2)
    entries = np.array([from_model(5, 2, random_state=seed, n_features=1).embedding for seed in range(1500)])
    assert entries.std() == pytest.approx(1.25 / np.sqrt(5), rel=0.03)
    assert from_model(5, 2, scale=0.01).embedding.std() < 0.05


def test_functions_drawn_from_the_model_know_their_embedding():
    f = from_model(7, 2, random_state=1)
    X = f.sample(30)
    _, _, Vt = np.linalg.svd(f.embedding)
    across = np.random.default_rng(0).normal(size=(30, 5)) @ Vt[2:]
    np.testing.assert_allclose(f(X + across), f(X), atol=1e-10)
    assert np.abs(f(X + np.random.default_rng(0).normal(size=(30, 2)) @ Vt[:2]) - f(X)).max() > 0.3
    np.testing.assert_array_equal(from_model(7, 2, random_state=1)(X), f(X))
    assert X.min() >= -1
    assert X.max() <= 1


def test_angles_do_not_depend_on_rotation_scale_or_sign():
    rng = np.random.default_rng(0)
    R, S = rng.normal(size=(2, 6)), rng.normal(size=(2, 6))
    angles = subspace_angles(R, S)
    assert angles.shape == (2,)
    assert angles[0] >= angles[1]
    for turn in ortho_group.rvs(2, size=3, random_state=1):
        np.testing.assert_allclose(subspace_angles(turn @ R, S), angles, atol=1e-10)
        np.testing.assert_allclose(subspace_angles(S, np.diag([3.0, -0.1]) @ turn @ R), angles, atol=1e-10)
        np.testing.assert_allclose(subspace_angles(R, np.diag([100.0, -1.0]) @ turn @ R), 0.0, atol=1e-7)
    known = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0], [0.0, cos(0.3), np.sin(0.3)]])
    np.testing.assert_allclose(subspace_angles(*known), [0.3, 0.0], atol=1e-7)
