"""Categories among the inputs that functions are averaged over, against sums over every level and many points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ridgeway.gp.kernel_means import sobol_points
from ridgeway.gp.leveled import Leveled
from ridgeway.gp.measures import Uniform, groups, independent
from ridgeway.gp.scaling import InputScaling

LEVELED = Leveled(
    [0.0, -1.0, 0.0, 0.0, 2.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 5.0, 1.0, 1.0], [(2, 0, 3), (5, 6)], {4: [2.0, 3.5, 4.0]}
)
STEPPED = Leveled([0.0, -1.0, 0.0], [2.0, 1.0, 1.0], steps={0: [0.0, 1.0, 2.0], 2: [0.0, 0.3, 0.6, 0.9]})
R = np.random.default_rng(0).standard_normal((2, 7))
OMEGA = np.array([[0.0, 0.0], [1.0, 0.5], [-0.7, 2.0], [3.0, -1.0]])


def test_exactly_one_level_of_each_category_is_taken() -> None:
    X = sobol_points(LEVELED, 12)
    for columns in LEVELED.categories:
        levels = X[:, list(columns)]
        assert set(np.unique(levels)) == {0.0, 1.0}
        np.testing.assert_array_equal(levels.sum(axis=1), 1.0)
        np.testing.assert_allclose(levels.mean(axis=0), 1.0 / len(columns), atol=0.01)


def test_its_moments_are_those_of_its_points() -> None:
    X = sobol_points(LEVELED, 16)
    away = (X - LEVELED.center) @ R.T
    np.testing.assert_allclose(X.mean(axis=0), LEVELED.center, atol=1e-3)
    np.testing.assert_allclose(LEVELED.covariance(R), np.cov(away.T), rtol=0.01, atol=2e-3)
    np.testing.assert_allclose(LEVELED.characteristic(R, OMEGA), np.exp(1j * away @ OMEGA.T).mean(axis=0), atol=2e-3)
    assert np.all(np.abs(away).max(axis=0) <= LEVELED.extent(R) * (1 + 1e-12))


def test_the_characteristic_function_is_a_product_over_the_inputs() -> None:
    whole = np.ones(len(OMEGA), dtype=complex)
    for i, columns in enumerate(LEVELED.groups):
        along = OMEGA @ R[:, list(columns)]
        whole = whole * LEVELED.factor(i, along[:, 0] if len(columns) == 1 else along)
    np.testing.assert_allclose(whole, LEVELED.characteristic(R, OMEGA))


def test_in_other_units_it_is_the_same() -> None:
    scaling = InputScaling(np.full(7, 0.5), np.full(7, 0.5))
    q = np.random.default_rng(1).uniform(size=(6, 7))
    np.testing.assert_allclose(LEVELED.scaled(scaling).from_uniform(q), scaling.scaled(LEVELED.from_uniform(q)))


def test_groups_are_the_inputs() -> None:
    assert LEVELED.groups == ((1,), (2, 0, 3), (4,), (5, 6))
    assert groups(Uniform([0.0, 0.0], [1.0, 1.0])) == ((0,), (1,))
    assert not independent(LEVELED)  # its columns are not


@pytest.mark.parametrize("categories", [[(0, 1), (1, 2)], [(0, 3)], [(0, 0)]])
def test_columns_belong_to_one_category(categories: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="categories must be columns below 3, each in one category"):
        Leveled(np.zeros(3), np.ones(3), categories)


def test_atoms_are_the_levels_in_the_order_of_the_columns() -> None:
    measure = Leveled([-1.0, 0.0, -1.0], [1.0, 2.0, 1.0], [(2, 0)])
    assert [tuple(row) for row in measure.atoms((2, 0))] == [(1.0, -1.0), (-1.0, 1.0)]


def test_every_value_of_a_column_in_steps_is_as_likely() -> None:
    X = sobol_points(STEPPED, 12)
    for j, n in ((0, 3), (2, 4)):
        found, counts = np.unique(X[:, j], return_counts=True)
        np.testing.assert_array_equal(found, STEPPED.values(j))
        np.testing.assert_allclose(counts / len(X), 1.0 / n, atol=1e-3)
    assert STEPPED.values(1) is None
    assert STEPPED.interval(2) == (0.0, 0.9)
    assert independent(STEPPED)


def test_means_over_columns_in_steps_are_sums_over_their_values() -> None:
    rng = np.random.default_rng(0)
    scale, at = np.array([0.7, 1.1, 2.0]), rng.standard_normal((4, 3))
    grid = np.array(list(itertools.product([0.0, 1.0, 2.0], np.linspace(-1, 1, 2001), [0.0, 0.3, 0.6, 0.9])))
    for j in range(3):
        direct = np.exp(-0.5 * (scale[j] * (grid[:, j] - at[:, j, None])) ** 2).mean(axis=1)
        np.testing.assert_allclose(STEPPED.line_means(scale, at)[:, j], direct, rtol=1e-3)
        one = np.unique(grid[:, j])[:: 1 if j != 1 else 10]
        pairs = np.exp(-0.5 * (scale[j] * (one[:, None] - one)) ** 2).mean()
        assert STEPPED.line_squares(scale)[j] == pytest.approx(pairs, rel=0.01 if j == 1 else 1e-12)
        t, w = STEPPED.nodes(j, 20)
        assert w @ np.cos(t) == pytest.approx(np.cos(grid[:, j]).mean(), rel=1e-3)
    rows = rng.standard_normal((2, 3))
    away = (grid - STEPPED.center) @ rows.T
    np.testing.assert_allclose(STEPPED.covariance(rows), away.T @ away / len(grid), rtol=2e-3)
    np.testing.assert_allclose(STEPPED.characteristic(rows, OMEGA), np.exp(1j * away @ OMEGA.T).mean(axis=0), atol=2e-3)


def test_steps_are_of_columns_that_are_no_levels() -> None:
    for steps in ({0: [1.0]}, {3: [0.0]}, {2: []}):
        with pytest.raises(ValueError, match="steps must be values of columns below 3 in no category"):
            Leveled(np.zeros(3), np.ones(3), [(0, 1)], steps)
