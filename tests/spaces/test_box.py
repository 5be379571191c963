"""``Box``: what it holds, and designs in it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import qmc

from ridgeway.spaces.space import Box, Pool, space_from_dict
from tests.spaces.points import INF, NAMES, NAN, POINTS, rng


@pytest.mark.parametrize(
    ("lower", "upper", "names", "expected"),
    [
        ([0, 1], [2, 3], None, ([0.0, 1.0], [2.0, 3.0])),
        (0, [2, 3], None, ([0.0, 0.0], [2.0, 3.0])),
        ([-1, -2], 0.5, None, ([-1.0, -2.0], [0.5, 0.5])),
        (0, 1, None, ([0.0], [1.0])),
        (0, 1, ["a", "b"], ([0.0, 0.0], [1.0, 1.0])),
        (np.array([1], dtype=np.int8), np.float32(2), ["a"], ([1.0], [2.0])),
    ],
)
def test_box_broadcasts(lower, upper, names, expected):
    box = Box(lower, upper, names)
    assert len(expected[0]) == box.D
    assert box.lower.dtype == box.upper.dtype == np.float64
    np.testing.assert_array_equal(box.bounds, expected)
    assert box.names == (None if names is None else tuple(names))


def test_box_cannot_change():
    given = np.array([0.0, 1.0])
    box = Box(given, 5.0)
    given[0] = 3.0
    assert box.lower[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 1.0
    with pytest.raises(AttributeError):
        box.lower = given


def test_box_equality():
    box = Box([0.0, 1.0], 2.0, ["a", "b"])
    assert box == Box([-0.0, 1.0], [2.0, 2.0], ("a", "b"))
    assert hash(box) == hash(Box([-0.0, 1.0], [2.0, 2.0], ("a", "b")))
    others = [Box([0.0, 1.5], 2.0, ["a", "b"]), Box([0.0, 1.0], 3.0, ["a", "b"]), Box([0.0, 1.0], 2.0), 3]
    assert all(box != other for other in others)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (([0, 5], [1, 4], ["a", "speed"]), ValueError, "lower must be below upper: input 'speed' has 5.0 and 4.0"),
        (([0, 5], [1, 5]), ValueError, "lower must be below upper: input 1 has 5.0 and 5.0"),
        (([0, NAN], 1, ["a", "b"]), ValueError, "lower must be finite, got nan for input 'b'"),
        ((0, [1, INF]), ValueError, "upper must be finite, got inf for input 1"),
        (([0, 0], [1, 1, 1]), ValueError, "lower and upper must have one number for each input, got 2 and 3"),
        (([0], [1, 1]), ValueError, "lower and upper must have one number for each input, got 1 and 2"),
        (([], []), ValueError, r"lower must be a number or have shape \(D,\) with D at least 1, got shape \(0,\)"),
        ((0, [[1.0]]), ValueError, r"upper must be a number or have shape \(D,\).*got shape \(1, 1\)"),
        (("low", 1), TypeError, "lower must be a number or a sequence of numbers, got 'low'"),
        ((0, None), TypeError, "upper must be a number or a sequence of numbers, got None"),
        ((0, [1, [2]]), TypeError, "upper must be a number or a sequence of numbers, got"),
        ((0, 1j), TypeError, "upper must be a number or a sequence of numbers, got 1j"),
        ((0, [1, 2], ["a"]), ValueError, "names must have one entry for each of the 2 inputs, got 1"),
        ((0, [1, 2], ["a", "a"]), ValueError, "names must differ from each other, got 'a' twice"),
        ((0, [1, 2], "ab"), TypeError, "names must be a sequence of strings, got 'ab'"),
        ((0, [1, 2], [1, 2]), TypeError, r"names must be a sequence of strings, got \[1, 2\]"),
        ((0, 1, []), ValueError, "names must have at least one entry"),
    ],
)
def test_bad_box(arguments, kind, message):
    with pytest.raises(kind, match=message):
        Box(*arguments)


def test_contains():
    box = Box([0.0, -100.0], [1.0, 100.0])
    X = [[0.0, 100.0], [1.0 + 1e-6, 0.0], [0.5, 100.0 + 1e-4], [1.0 + 1e-10, 100.0 + 1e-7], [-0.1, 0.0]]
    assert box.contains(X).tolist() == [True, False, False, True, False]
    assert box.contains(X, tolerance=1e-5).tolist() == [True, True, True, True, False]
    assert box.contains(X, tolerance=0).tolist() == [True, False, False, False, False]
    assert box.contains(sparse.csr_matrix(X)).tolist() == box.contains(X).tolist()
    with pytest.raises(ValueError, match="X must have one column for each of the 2 inputs of the box, got 3"):
        box.contains(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="tolerance must be a number of at least 0, got -1"):
        box.contains(X, tolerance=-1)


DESIGNS = ["uniform", "latin_hypercube", "filling"]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("n", [0, 1, 5, 64, 100])
def test_designs_lie_in_the_box(design, n):
    box = Box([0.0, -100.0, 5.0], [1.0, 100.0, 5.5])
    X = getattr(box, design)(n, rng())
    assert X.shape == (n, 3)
    assert n == 0 or box.contains(X, tolerance=0).all()
    if n >= 64:  # and reach all of it
        np.testing.assert_allclose((X.min(axis=0) - box.lower) / (box.upper - box.lower), 0.0, atol=0.1)
        np.testing.assert_allclose((X.max(axis=0) - box.lower) / (box.upper - box.lower), 1.0, atol=0.1)


@pytest.mark.parametrize("design", DESIGNS)
def test_designs_depend_on_the_generator_alone(design):
    """Also on one that was stored and restored: SciPy would spawn a child that its state knows nothing of."""
    draw = getattr(Box(0.0, [1.0, 2.0]), design)
    generator = rng()
    first = draw(6, generator)
    stored = generator.bit_generator.state
    second = draw(6, generator)
    restored = rng(99)
    restored.bit_generator.state = stored
    np.testing.assert_array_equal(draw(6, rng()), first)
    np.testing.assert_array_equal(draw(6, restored), second)
    assert (first != second).all()


def test_latin_hypercube_has_one_point_in_each_part():
    X = Box(0.0, [1.0, 10.0]).latin_hypercube(20, rng())
    for column, width in zip(X.T, (1.0, 10.0), strict=True):
        assert sorted((column / width * 20).astype(int)) == list(range(20))


def test_filling_is_even():
    box = Box(0.0, 1.0, NAMES)
    assert qmc.discrepancy(box.filling(100, rng())) < 0.5 * qmc.discrepancy(box.uniform(100, rng()))


def test_filling_of_many_inputs_is_a_latin_hypercube():
    for D, same in ((64, False), (65, True)):
        box = Box([0.0] * D, [1.0] * D)
        assert np.array_equal(box.filling(7, rng()), box.latin_hypercube(7, rng())) is same


def test_box_as_wide_as_floats():
    box = Box(-1.7e308, 1.7e308)
    for design in DESIGNS:
        X = getattr(box, design)(16, rng())
        assert np.isfinite(X).all()
        assert (X > 0).any()
        assert (X < 0).any()
    assert box.contains([[0.0], [1.75e308]]).tolist() == [True, False]


@pytest.mark.parametrize("n", [-1, 1.5, None])
def test_bad_number_of_points(n):
    for space in (Box(0.0, 1.0), Pool(POINTS)):
        for design in ("uniform", "filling" if isinstance(space, Box) else "spread"):
            with pytest.raises(ValueError, match=f"n must be a whole number of at least 0, got {n}"):
                getattr(space, design)(n, rng())


@pytest.mark.parametrize("names", [None, ["a", "b"]])
def test_box_in_json(names):
    box = Box([0.1, 1 / 3], [1e300, 2.0], names)
    text = json.dumps(box.to_dict())
    assert json.loads(text)["kind"] == "box"
    assert Box.from_dict(json.loads(text)) == box
    assert space_from_dict(json.loads(text)) == box


def test_names_and_units():
    box = Box([0.0, 20.0], [1.0, 80.0], ["share", "temperature"], [None, "°C"])
    assert box.labels == ("share", "temperature [°C]")
    assert "temperature [°C] in [20, 80]" in repr(box)
    assert Box.from_dict(json.loads(json.dumps(box.to_dict()))) == box
    assert box != Box(box.lower, box.upper, box.names)
    points = {"temperature": [30.0, 0.5], "share": [0.5, 30.0]}
    assert box.contains(points).tolist() == [True, False]
    with pytest.raises(ValueError, match="X must have the columns 'share', 'temperature': 'share' missing"):
        box.contains({"temperature": [30.0]})
    with pytest.raises(ValueError, match="units must have one entry for each of the 2 inputs, got 1"):
        Box(box.lower, box.upper, box.names, ["°C"])


@pytest.mark.parametrize("description", [{"kind": "box"}, {"kind": "box", "lower": 0.0, "upper": 1.0}])
def test_a_description_that_lacks_something(description):
    with pytest.raises(ValueError, match="description must have the key"):
        Box.from_dict(description)
