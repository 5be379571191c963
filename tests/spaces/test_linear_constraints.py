"""Linear constraints: what is read, what is refused, and what they say about points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.spaces.linear_constraints import LinearConstraint, read, read_all

NAMES = ["A", "B", "C", "flow rate", "x-1", "AB"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A + B + C = 1", "A + B + C = 1"),
        ("2 A - B <= 3", "2 A - B <= 3"),
        ("2A>=B/2+1", "2 A - 0.5 B >= 1"),
        ("A*3 ≤ 2*B", "3 A - 2 B <= 0"),
        ("flow rate + x-1 <= 1e-3", "`flow rate` + `x-1` <= 0.001"),
        ('`x-1` - "flow rate" == 0', "`x-1` - `flow rate` = 0"),
        ("AB + A - 1 <= 2 * 3 - -1", "AB + A <= 8"),
        ("- A <= .5", "-A <= 0.5"),
        ("A + A + B <= B", "2 A <= 0"),
    ],
)
def test_what_is_read_is_shown_and_read_again(text, shown):
    constraint = read(text, NAMES)
    assert str(constraint) == shown
    assert read(shown, NAMES) == constraint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A * B <= 1", "not linear"),
        ("1 / A <= 1", "not linear"),
        ("A + Q <= 1", "'Q' is no input that varies"),
        ("flowrate <= 1", "did you mean 'flow rate'"),
        ("A < 1", "write <="),
        ("A + B", "needs one of <=, >= and ="),
        ("0 <= A <= 1", "one constraint for each"),
        ("A - A <= 1", "no input is left"),
        ("<= 1", "one side is empty"),
        ("A / 0 <= 1", "divides by 0"),
        ("A^2 <= 1", "not understood"),
        ("A + <= 1", "missing"),
        ("2 * <= A", "either side"),
        ("1e308 * 1e308 A <= 1", "too large"),
    ],
)
def test_what_is_refused_names_the_text_and_says_why(text, says):
    with pytest.raises(ValueError, match=says) as error:
        read(text, NAMES)
    assert repr(text) in str(error.value)


def test_only_text_is_read():
    with pytest.raises(TypeError, match="must be text"):
        read(3, NAMES)
    assert read_all("A <= 1", NAMES) == read_all(["A <= 1"], NAMES)


@given(
    st.lists(st.floats(-1e6, 1e6).filter(lambda v: abs(v) > 1e-6), min_size=3, max_size=3),
    st.floats(-1e6, 1e6),
    st.sampled_from(["<=", ">=", "="]),
)
def test_every_number_survives_its_text(weights, bound, relation):
    constraint = LinearConstraint(tuple(zip(["A", "x-1", "flow rate"], weights, strict=True)), relation, bound)
    assert read(str(constraint), NAMES) == constraint


def test_excess_is_relative_to_what_is_summed():
    X = np.array([[1.0, 2.0], [1.0, 2.5], [100.0, 0.0]])
    assert np.allclose(read("A + B <= 3", "AB").excess(X, "AB"), [0.0, 0.5 / 3.5, 0.97])
    assert np.allclose(read("A + B >= 3", "AB").excess(X, "AB"), 0.0)
    assert np.allclose(read("A + B = 3", "AB").excess(X, "AB"), [0.0, 0.5 / 3.5, 0.97])


def test_given_values_leave_a_constraint_on_the_others():
    constraint = read("2 A - B + C <= 3", "ABC").with_values({"B": 1.0, "C": 2.0})
    assert str(constraint) == "2 A <= 2"
    assert not read("A <= 1", "A").with_values({"A": 2.0}).terms
