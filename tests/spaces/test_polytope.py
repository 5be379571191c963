"""Polytopes: nearest points and corners against naive solutions, and draws that are even."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from ridgeway.errors import NumericalError
from ridgeway.spaces.linear_constraints import LinearConstraint, read_all
from ridgeway.spaces.polytope import Polytope


def polytope(texts, names, lower=-1.0, upper=1.0):
    D = len(names)
    return Polytope.of(read_all(texts, names), names, np.full(D, lower), np.full(D, upper))[0]


def random_polytope(rng, D, inequalities, equations):
    names = [f"x{j}" for j in range(D)]
    inside = rng.uniform(-0.5, 0.5, D)
    rows = []
    for i in range(inequalities + equations):
        a = rng.standard_normal(D)
        gap = rng.uniform(0.05, 0.5) * np.linalg.norm(a) if i < inequalities else 0.0
        rows.append(
            LinearConstraint(tuple(zip(names, a.tolist(), strict=True)), "<=" if gap else "=", float(a @ inside + gap))
        )
    return Polytope.of(rows, names, -np.ones(D), np.ones(D))[0]


def test_nearest_points_are_those_of_a_general_solver(rng):
    P = random_polytope(rng, 5, 3, 1)
    V = rng.uniform(-2, 2, (6, 5))
    for v, near in zip(V, P.nearest(V), strict=True):
        assert P.excess(near[None])[0] < 1e-12
        rows = [
            {"type": "ineq", "fun": lambda x: P.b - P.A @ x, "jac": lambda x: -P.A},
            {"type": "eq", "fun": lambda x: P.E @ x - P.e, "jac": lambda x: P.E},
        ]
        found = minimize(
            lambda x, v=v: 0.5 * ((x - v) ** 2).sum(), near, jac=lambda x, v=v: x - v, bounds=[(-1, 1)] * 5,
            constraints=rows, options={"ftol": 1e-14},
        )  # fmt: skip
        assert np.linalg.norm(near - v) <= np.linalg.norm(found.x - v) + 1e-7


def test_inputs_that_are_held_stay(rng):
    P = polytope(["A + B + C = 1"], "ABC")
    near = P.nearest(np.array([[0.7, 0.9, 0.0]]), np.array([True, False, False]))
    assert near[0, 0] == 0.7
    assert np.allclose(near, [[0.7, 0.6, -0.3]])
    with pytest.raises(NumericalError):
        polytope(["A <= 0.5"], "AB").nearest(np.array([[0.7, 0.0]]), np.array([True, False]))


def test_corners_are_those_of_a_linear_program(rng):
    P = random_polytope(rng, 6, 3, 1)
    for direction in rng.standard_normal((5, 6)):
        best = linprog(-direction, P.A, P.b, P.E, P.e, bounds=[(-1, 1)] * 6)
        corner = P.corner(direction)
        assert P.excess(corner[None])[0] < 1e-9
        assert np.isclose(direction @ corner, -best.fun, atol=1e-7)


def test_draws_of_a_simplex_have_its_moments(rng):
    P = polytope(["A + B + C + D = 1"], "ABCD", 0.0, 1.0)
    X = 0.5 + 0.5 * P.uniform(4000, rng)
    assert P.excess(2 * X - 1).max() < 1e-12
    # Dirichlet(1, 1, 1, 1): mean 1/4, variance 3/80, covariance -1/80; bands of five standard errors.
    assert np.abs(X.mean(axis=0) - 0.25).max() < 5 * np.sqrt(3 / 80 / 4000)
    assert np.abs(np.cov(X.T) - (np.eye(4) * 4 - 1) / 80).max() < 0.004


def test_draws_cross_a_narrow_polytope(rng):
    P = polytope(["A - B <= 0.01", "A - B >= -0.01"], "AB")
    V = P.uniform(2000, rng)
    assert P.excess(V).max() < 1e-12
    along = V.sum(axis=1) / 2
    assert abs(along.mean()) < 0.07
    assert abs(along.std() - np.sqrt(1 / 3)) < 0.04


def test_filling_points_are_more_even_than_random_ones(rng):
    P = polytope(["A + B + C = 1", "A <= 0.6"], "ABC", 0.0, 1.0)
    reference = P.uniform(600, rng)

    def mean(a, b):
        return np.linalg.norm(a[:, None] - b[None], axis=2).mean()

    own = mean(reference, reference)

    def energy(V):
        return 2 * mean(V, reference) - mean(V, V) - own

    even = energy(P.filling(12, rng))
    assert even < 0.6 * np.mean([energy(P.uniform(12, rng)) for _ in range(5)])


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["A + B >= 5"], r"constraint 'A \+ B >= 5' leaves no point"),
        (["A <= 0.2", "A >= 0.4"], "'A >= 0.4' together with those before it leaves no point"),
        (["A + B = 1", "A + B = 0"], "contradict each other"),
        (["A <= 0.2", "A >= 0.2"], "no room between them"),
        (["A = 0.1", "B = 0.1", "C = 0"], "fix every input"),
    ],
)
def test_constraints_that_leave_nothing_are_refused(texts, says):
    with pytest.raises(ValueError, match=says):
        polytope(texts, "ABC")


def test_constraints_that_change_nothing_are_remarked_on():
    ends = -np.ones(2), np.ones(2)
    assert "changes nothing" in Polytope.of(read_all(["A <= 3"], "AB"), "AB", *ends)[1][0]
    assert "follows from the others" in Polytope.of(read_all(["A + B = 1", "2 A + 2 B = 2"], "AB"), "AB", *ends)[1][0]
    assert not Polytope.of(read_all(["A + B <= 1"], "AB"), "AB", *ends)[1]
