"""Parameters of a study as inputs of a learner."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("optuna")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from ridgeway.optuna.parameters import Category, Number, Parameters

SPACE = {
    "rate": FloatDistribution(1e-4, 1e-1, log=True),
    "angle": FloatDistribution(-90.0, 90.0),
    "gap": FloatDistribution(0.5, 2.0, step=0.25),
    "layers": IntDistribution(2, 10, step=2),
    "units": IntDistribution(4, 512, log=True),
    "loss": CategoricalDistribution(["l1", "l2", None]),
    "fixed": FloatDistribution(3.0, 3.0),
}


def drawn(n: int, seed: int = 0) -> list[dict]:
    rng = np.random.default_rng(seed)
    return [
        {
            "rate": float(10 ** rng.uniform(-4, -1)),
            "angle": float(rng.uniform(-90, 90)),
            "gap": 0.5 + 0.25 * int(rng.integers(7)),
            "layers": 2 + 2 * int(rng.integers(5)),
            "units": int(rng.integers(4, 513)),
            "loss": ("l1", "l2", None)[int(rng.integers(3))],
        }
        for _ in range(n)
    ]


def test_every_value_comes_back_from_its_point():
    parameters = Parameters.of(SPACE)
    rows = drawn(200)
    for row, x in zip(rows, parameters.points(rows), strict=True):
        found = parameters.values(x)
        assert found.keys() == row.keys()
        for name, value in row.items():
            assert found[name] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value)
            assert type(found[name]) is type(value)


def test_points_lie_in_the_unit_box():
    parameters = Parameters.of(SPACE)
    X = parameters.points(drawn(100))
    assert X.shape == (100, parameters.box.D)
    assert np.all((X >= 0) & (X <= 1))
    assert parameters.box.D == 5 + 3


def test_what_the_box_proposes_is_what_the_values_say():
    """A learner must not believe that it tried a point between two steps or choices."""
    parameters = Parameters.of({name: SPACE[name] for name in ("angle", "gap", "layers", "loss")})
    X = parameters.box.uniform(200, np.random.default_rng(0))
    np.testing.assert_allclose(parameters.points([parameters.values(x) for x in X]), X, atol=1e-12)


def test_a_log_scale_gives_every_decade_the_same_room():
    rate = Number("rate", SPACE["rate"])
    np.testing.assert_allclose(rate.coordinates([1e-4, 1e-3, 1e-2, 1e-1])[:, 0], [0, 1 / 3, 2 / 3, 1], atol=1e-12)


@pytest.mark.parametrize("name", ["gap", "layers", "units", "rate"])
def test_values_stay_within_their_range_whatever_rounding_does(name):
    number = Number(name, SPACE[name])
    for c in (0.0, 1e-17, 0.5, 1.0 - 1e-16, 1.0, 1.0 + 1e-12):
        value = number.value(np.array([c]))
        assert SPACE[name]._contains(value)


def test_choices_that_are_equal_numbers_are_told_apart():
    category = Category("flag", (1, True, 1.0))
    np.testing.assert_array_equal(category.coordinates([True, 1.0, 1]), np.eye(3)[[1, 2, 0]])
