"""The protocol of Table 2: pools, test points, designs."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.experiments import paper, protocol
from ridgeway.experiments.protocol import ROWS


@pytest.mark.parametrize("D", [10, 20])
def test_the_pool_is_half_in_the_box_and_half_in_the_ball(D: int) -> None:
    points = protocol.pool(D)
    assert points.shape == (20_000, D)
    norms = np.linalg.norm(points, axis=1)
    assert np.abs(points).max() <= 1.0
    assert norms[10_000:].max() <= 1.0
    assert np.mean(norms[:10_000] < 1.0) < 0.01  # the box has next to nothing in the ball
    assert np.mean(norms[10_000:] ** D < 0.5) == pytest.approx(0.5, abs=0.02)  # uniform in volume
    assert np.array_equal(points, protocol.pool(D))


def test_the_rows_are_the_papers_and_the_stand_in() -> None:
    assert set(ROWS) - set(paper.TABLE2) == {"uji"}
    assert set(paper.TABLE2) <= set(ROWS)


def test_the_test_points_are_common_and_fresh() -> None:
    problem = protocol.problem("branin-10", 0)
    first, again, other = problem.test(0), protocol.problem("branin-10", 0).test(0), problem.test(1)
    assert first.X.shape == (100, 10)
    assert first.X_test.shape == (1000, 10)
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y_test, again.y_test)
    assert not np.array_equal(first.X, other.X)
    assert problem.candidates.index_of(np.vstack([first.X, first.X_test])).min() >= 0
    assert len(np.unique(np.vstack([first.X, first.X_test]), axis=0)) == 1100
    assert np.array_equal(first.y_test, first.f_test)  # the Branin function is observed as it is
    assert not np.array_equal(first.X, protocol.problem("branin-10", 1).test(0).X)


def test_synthetic_functions_are_observed_with_noise_and_drawn_at_the_readings_scale() -> None:
    root, literal = protocol.problem("synthetic-10-2", 3), protocol.problem("synthetic-10-2", 3, "literal")
    test = root.test(0)
    assert np.std(test.y_test - test.f_test) == pytest.approx(0.1, rel=0.1)
    assert np.array_equal(test.f_test, root.f(test.X_test))
    assert root.embedding is not None
    assert literal.embedding is not None
    np.testing.assert_allclose(literal.embedding, root.embedding / np.sqrt(10), rtol=1e-12)
    assert literal.priors.scale(10) == pytest.approx(0.125)
    assert root.priors.scale(10) == pytest.approx(1.25 / np.sqrt(10))


def test_branin_is_the_usual_function_of_the_prior_s_box() -> None:
    problem = protocol.problem("branin-20", 2)
    assert problem.embedding is not None
    x = problem.points[5]
    u = problem.embedding @ x
    a, b = 2.5 + 3.0 * u[0], 7.5 + 3.0 * u[1]
    expected = (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10
    assert problem.f(x[None])[0] == pytest.approx(expected)


def test_records_of_a_data_set_are_observed_as_they_are() -> None:
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [-1.0, 0.5]])  # the first two share their inputs
    row = protocol.Row("small", "small", 2, 1, "data")
    problem = protocol.Problem(row, 0, points, np.arange(4.0), None, None, 0.0, rw.Priors())
    learner = protocol.learner(problem, "rand", "map", 3)
    assert list(protocol.select(problem, learner, 3)) == [1, 2, 3]
    assert sorted(learner.y) == [0.0, 2.0, 3.0]
    test = problem.test(0, n=2, n_test=2)
    assert sorted(np.append(test.y, test.y_test)) == [0.0, 1.0, 2.0, 3.0]
    assert np.array_equal(points[test.y.astype(int)], test.X)


def test_a_latin_hypercube_is_of_the_box_and_others_are_of_the_pool() -> None:
    problem = protocol.problem("branin-10", 0)
    design, random = (protocol.learner(problem, method, "map", 20) for method in ("lh", "rand"))
    for learner in (design, random):
        assert max(protocol.select(problem, learner, 20)) == 20
    assert protocol.selected_rows(problem, design) == []
    assert len(set(protocol.selected_rows(problem, random))) == 20
    ranks = np.sort((design.X + 1) / 2 * 20, axis=0)  # one point in each twentieth of each input
    assert np.array_equal(np.floor(ranks), np.tile(np.arange(20.0)[:, None], 10))
