"""Tables are taken by the names of their columns, arrays by position."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ridgeway as rw
from ridgeway import checks
from ridgeway.columns import in_order, named_point, names_of

NAMES = ("a", "b", "c")
VALUES = np.arange(6.0).reshape(2, 3)
FRAME = pd.DataFrame(VALUES, columns=NAMES)

TABLES = {
    "pandas": lambda frame: frame,
    "pyarrow": pa.Table.from_pandas,
    "mapping": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "lists": lambda frame: {name: frame[name].tolist() for name in frame},
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "a", "b")])
def test_a_table_is_brought_into_order(kind, order):
    table = TABLES[kind](FRAME[list(order)])
    assert names_of(table) == order
    np.testing.assert_array_equal(checks.inputs(table, 3, names=NAMES), VALUES)


def test_an_array_is_taken_by_position():
    assert names_of(VALUES) is None
    assert in_order(VALUES, NAMES) is VALUES


def test_numbers_above_columns_are_no_names():
    frame = pd.DataFrame(VALUES)
    assert names_of(frame) is None
    np.testing.assert_array_equal(checks.inputs(frame, names=NAMES), VALUES)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "b", "d"], r"X must have the columns 'a', 'b', 'c': 'c' missing and 'd' not known"),
        (["a", "b"], r"X must have the columns 'a', 'b', 'c': 'c' missing"),
        (["a", "b", "c", "d", "e"], r"X must have the columns 'a', 'b', 'c': 'd', 'e' not known"),
        (["a", "b", "b", "c"], r"X must have columns of different names, got 'b' more than once"),
        (["A", "b", "c"], r"'a' missing and 'A' not known"),
    ],
)
def test_other_columns_are_refused_by_name(columns, message):
    frame = pd.DataFrame(np.zeros((2, len(columns))), columns=columns)
    with pytest.raises(ValueError, match=message):
        in_order(frame, NAMES)


def test_of_many_names_a_few_are_shown():
    with pytest.raises(ValueError, match=r"'x0', 'x1', 'x2', 'x3', 'x4' and 95 more not known$"):
        in_order({f"x{j}": [1.0] for j in range(100)}, NAMES)


def test_names_of_two_kinds_are_refused():
    with pytest.raises(TypeError, match="names are all text or all not, got 0 among them"):
        names_of(pd.DataFrame(VALUES, columns=["a", "b", 0]))


def test_names_where_none_are_known_are_warned_about():
    with pytest.warns(rw.RidgewayWarning, match=r"X has columns with names \('a', 'b', 'c'\).* by their position"):
        np.testing.assert_array_equal(checks.inputs(FRAME), VALUES)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="X must have columns of one length"):
        in_order({"a": [1.0], "b": [1.0, 2.0], "c": [1.0]}, NAMES)


def test_a_point_may_have_names():
    np.testing.assert_array_equal(checks.inputs({"c": 3.0, "a": 1.0, "b": 2.0}, names=NAMES), [[1.0, 2.0, 3.0]])
    series = FRAME.loc[1, ["b", "c", "a"]]
    np.testing.assert_array_equal(checks.inputs(named_point(series), names=NAMES), [VALUES[1]])
    plain = pd.Series([1.0, 2.0])
    assert named_point(plain) is plain
    assert named_point("abc") == "abc"
    assert named_point([1.0]) == [1.0]
