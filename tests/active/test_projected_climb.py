"""Ascents within a polytope: they end at the maximum of a concave score, and never leave."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint as Rows
from scipy.optimize import minimize

from ridgeway.active.projected_climb import climb
from tests.spaces.test_polytope import random_polytope


@pytest.mark.parametrize("held", [None, np.arange(6) == 0])
def test_a_concave_score_is_maximised(rng, held):
    P = random_polytope(rng, 6, 3, 1)
    M = rng.standard_normal((6, 6))
    M, top = M @ M.T + 0.5 * np.eye(6), rng.uniform(-2, 2, 6)
    best, seen = np.full(4, -np.inf), []
    starts = P.uniform(4, rng)
    if held is not None:
        starts = np.tile(starts[:1], (4, 1))

    def score(V):
        seen.append(V)
        gaps = V - top
        values = -0.5 * ((gaps @ M) * gaps).sum(axis=1)
        best[:] = np.maximum(best, values)
        return values, -gaps @ M

    climb(P, score, starts, 200, 1e-12, held)
    visited = np.vstack(seen)
    assert P.excess(visited).max() < 1e-9
    if held is not None:
        assert np.array_equal(np.unique(visited[:, 0]), starts[:1, 0])
    ends = [(-1, 1) if held is None or not held[j] else (starts[0, j],) * 2 for j in range(6)]
    expected = minimize(
        lambda v: 0.5 * (v - top) @ M @ (v - top), starts[0], jac=lambda v: M @ (v - top), method="trust-constr",
        bounds=ends, constraints=[Rows(P.A, -np.inf, P.b), Rows(P.E, P.e, P.e)], options={"gtol": 1e-10},
    )  # fmt: skip
    assert np.all(best >= -expected.fun - 1e-5 * abs(expected.fun))
