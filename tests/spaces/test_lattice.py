"""Lattices: values in steps and levels of categories, alone and under constraints."""

import itertools

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.spaces.box import Box


def on_lattice(box, X):
    """Whether each row has values of the steps, and one level of each category."""
    steps = np.array([step or np.nan for step in box.steps or [None] * box.D])
    k = (X - box.lower) / steps
    good = np.all(np.isnan(k) | (np.abs(k - np.round(k)) < 1e-9), axis=1)
    for columns in box.categories:
        good &= (np.sort(X[:, columns], axis=1) == np.eye(len(columns))[-1]).all(axis=1)
    return good


def test_draws_have_every_value_equally_often(rng):
    box = Box([0, 0, 0, 0], [1, 1, 1, 1], steps=[0.25, None, None, None], categories=[(2, 3)])
    X = box.latin_hypercube(200, rng)
    assert on_lattice(box, X).all()
    assert np.unique(X[:, 0], return_counts=True)[1].tolist() == [40] * 5
    assert X[:, 2].sum() == 100


def test_a_step_need_not_end_at_the_upper_end(rng):
    box = Box(0.0, [1.0, 1.0], steps=[0.3, None])
    assert set(box.uniform(100, rng)[:, 0]) == {0.0, 0.3, 0.6, 0.9}
    assert box.snapped(np.array([[1.0, 0.5]])).tolist() == [[0.9, 0.5]]


@pytest.mark.parametrize("texts", [["A + B + C = 1"], ["A + B + C = 1", "A - B <= 0.3"], ["A + B <= 0.55"]])
def test_points_in_steps_satisfy_constraints(rng, texts):
    box = Box(0.0, 1.0, names=["A", "B", "C"], steps=[0.05] * 3, constraints=texts)
    for X in (box.uniform(50, rng), box.filling(20, rng), box.snapped(rng.random((20, 3)))):
        assert on_lattice(box, X).all()
        assert box.contains(X, 1e-12).all()


def test_a_snapped_point_is_nearly_the_nearest(rng):
    box = Box(0.0, 1.0, names=["A", "B", "C"], steps=[0.1] * 3, constraints=["A + B + C = 1"])
    allowed = np.array([p for p in itertools.product(np.arange(11) / 10, repeat=3) if abs(sum(p) - 1) < 1e-9])
    for x in box.scattered(20, rng):
        near = np.abs(allowed - x).sum(axis=1).min()
        assert np.abs(box.snapped(x[None])[0] - x).sum() <= near + 0.1


def test_inputs_that_vary_freely_follow_the_steps(rng):
    box = Box(0.0, 1.0, names=["A", "B", "C"], steps=[0.25, None, None], constraints=["A + B + C = 1", "B <= C"])
    X = box.uniform(40, rng)
    assert on_lattice(box, X).all()
    assert box.contains(X, 1e-10).all()
    assert len(np.unique(X[:, 1])) > 30


def test_steps_that_no_constraint_allows_are_refused():
    with pytest.raises(ValueError, match="no combination of the steps"):
        Box(0.0, 1.0, names=["A", "B"], steps=[0.5, 0.5], constraints=["A + B = 0.75"])


def test_neighbours_differ_in_one_step_or_level():
    box = Box([0, 0, 0, 0], [1, 1, 1, 1], steps=[0.5, None, None, None], categories=[(2, 3)])
    near = box.lattice.neighbours(np.array([0.0, 0.3, 1.0, 0.0]))
    assert sorted(near.tolist()) == [[0.0, 0.3, 0.0, 1.0], [0.5, 0.3, 1.0, 0.0]]


def test_neighbours_under_an_equation_exchange_a_step():
    box = Box(0.0, 1.0, names=["A", "B", "C"], steps=[0.5] * 3, constraints=["A + B + C = 1"])
    near = box.lattice.neighbours(np.array([0.5, 0.5, 0.0]))
    assert sorted(near.tolist()) == [[0, 0.5, 0.5], [0, 1, 0], [0.5, 0, 0.5], [1, 0, 0]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"steps": [0.1]}, "for each of the 2 inputs"),
        ({"steps": [2.0, None]}, "at most the width"),
        ({"categories": [[0]]}, "at least two columns"),
        ({"categories": [[0, 0]]}, "each in one category"),
        ({"categories": [["a", "b"]]}, "must name inputs"),
        ({"categories": [[0, 1]], "constraints": ["x0 <= 0.5"]}, "level of a category"),
        ({"categories": [[0, 1]], "constraints": ["x0 = 0.5"]}, "level of a category"),
        ({"categories": [[0, 1]], "constraints": ["x0 = 1", "x1 = 1"]}, "leave no level"),
        ({"categories": [[0, 1]], "constraints": ["x0 = 0", "x1 = 0"]}, "leave no level"),
    ],
)
def test_what_makes_no_lattice_is_refused(options, says):
    with pytest.raises(ValueError, match=says):
        Box(0.0, [1.0, 1.0], **options)


def test_a_box_is_stored_with_all_of_it():
    box = Box(
        0.0, [1, 1, 1, 1], names=["A", "B", "p", "q"], constraints=["A + 2 B <= 1"], steps=[0.1, None, None, None],
        categories=[["p", "q"]],
    )  # fmt: skip
    again = Box.from_dict(box.to_dict())
    assert again == box
    assert hash(again) == hash(box)
    assert box != Box(0.0, [1, 1, 1, 1], names=["A", "B", "p", "q"])
    assert set(Box(0.0, 1.0).to_dict()) == {"kind", "lower", "upper", "names", "units"}


@pytest.mark.parametrize("others", [[], ["x0 + x1 <= 1.2"]])
@pytest.mark.parametrize(("held", "taken"), [("x3 = 1", {3}), ("x3 = 0", {2, 4}), ("2 x4 = 2", {4})])
def test_levels_that_a_constraint_holds_or_excludes(others: list[str], held: str, taken: set[int]) -> None:
    box = Box(0.0, np.ones(5), steps=[0.5, None, None, None, None], categories=[(2, 3, 4)], constraints=[held, *others])
    rng = np.random.default_rng(0)
    X = np.vstack([box.uniform(40, rng), box.filling(40, rng), box.latin_hypercube(40, rng), box.scattered(40, rng)])
    moved = box.snapped(np.random.default_rng(1).random((60, 5)))
    assert box.lattice is not None
    near = np.vstack([box.lattice.neighbours(x) for x in moved])
    for points in (X, moved, near):
        assert set(np.argmax(points[:, 2:], axis=1) + 2) == taken
        assert np.array_equal(np.sort(points[:, 2:], axis=1), np.tile([0.0, 0.0, 1.0], (len(points), 1)))
        assert box.contains(points).all()
    assert box.unconstrained.lattice is not None
    assert Box.from_dict(box.to_dict()) == box


def shares(box, column, n=20_000):
    X = box.uniform(n, np.random.default_rng(1))
    assert on_lattice(box, X).all()
    assert box.contains(X, 1e-10).all()
    values, counts = np.unique(X[:, column].round(9), return_counts=True)
    return values.tolist(), counts / n, X


def test_a_constraint_that_changes_nothing_leaves_every_value_as_likely():
    with pytest.warns(rw.RidgewayWarning, match="changes nothing"):
        box = Box([0, 0], [2, 1], steps=[1, None], names=["n", "b"], constraints=["n + b <= 99"])
    values, found, X = shares(box, 0)
    assert values == [0.0, 1.0, 2.0]
    np.testing.assert_allclose(found, 1.0 / 3.0, atol=0.015)
    np.testing.assert_allclose([X[:, 1].mean(), X[:, 1].var()], [0.5, 1.0 / 12.0], atol=0.01)
    filled = box.filling(300, np.random.default_rng(0))
    np.testing.assert_allclose(np.unique(filled[:, 0], return_counts=True)[1] / 300, 1.0 / 3.0, atol=0.04)


@pytest.mark.parametrize(
    ("steps", "text", "expected"),
    [
        ([0.25, None, None], "A + B <= 1", [0.4, 0.3, 0.2, 0.1]),  # as long as what is left for B
        ([0.25, None, None], "A + B + C = 1", [0.4, 0.3, 0.2, 0.1]),  # B and C follow
        ([0.3, None, None], "B <= 0.5", [0.25, 0.25, 0.25, 0.25]),  # a step that does not end at the upper end
        ([0.25, 0.25, None], "A + B <= 1", np.array([5, 4, 3, 2, 1]) / 15),
        ([0.25, 0.25, 0.25], "A + B + C = 1", np.array([5, 4, 3, 2, 1]) / 15),
    ],
)
def test_draws_in_steps_are_uniform_where_constraints_hold(steps, text, expected):
    box = Box(0.0, 1.0, names=["A", "B", "C"], steps=steps, constraints=[text])
    values, found, X = shares(box, 0)
    np.testing.assert_allclose(values, steps[0] * np.arange(len(expected)), atol=1e-12)
    np.testing.assert_allclose(found, expected, atol=0.015)
    if steps == [0.25, None, None]:  # what varies freely is uniform beside every value
        for value in values[:3]:
            B = X[X[:, 0] == value, 1] / (1.0 - value)
            np.testing.assert_allclose([B.mean(), B.var()], [0.5, 1.0 / 12.0], atol=0.02)


def test_every_point_of_a_lattice_is_as_likely():
    box = Box(0.0, 1.0, names=["A", "B", "C"], steps=[0.2] * 3, constraints=["A + B + C = 1", "A <= 0.6"])
    X = box.uniform(18_000, np.random.default_rng(0))
    allowed = [p for p in itertools.product(range(6), repeat=3) if sum(p) == 5 and p[0] <= 3]
    found, counts = np.unique((5 * X).round().astype(int), axis=0, return_counts=True)
    assert [tuple(row) for row in found] == allowed
    np.testing.assert_allclose(counts / 18_000, 1.0 / len(allowed), atol=0.01)


def test_where_hardly_any_draw_is_kept_points_are_moved():
    names = [f"x{i}" for i in range(30)]
    box = Box(0.0, 1.0, names=names, steps=[1.0] * 30, constraints=[" + ".join(names) + " = 1"])
    X = box.uniform(60, np.random.default_rng(0))
    assert np.array_equal(np.sort(X, axis=1), np.tile(np.eye(30)[-1], (60, 1)))
    assert len(np.unique(X, axis=0)) > 10


def test_the_values_of_an_input_in_steps():
    box = Box([0.0, -1.0], [1.0, 1.0], steps=[0.3, 0.5])
    assert box.lattice.values(0).tolist() == [0.0, 0.3, 0.6, 0.9]
    assert box.lattice.values(1).tolist() == [-1.0, -0.5, 0.0, 0.5, 1.0]
