"""Column names of the data go with a belief wherever it goes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ridgeway as rw
from ridgeway import acquisition, plots
from ridgeway.belief import storage

NAMES = ("speed", "angle", "load")
SHUFFLED = ["load", "speed", "angle"]
_rng = np.random.default_rng(0)
X = pd.DataFrame(_rng.uniform(-1.0, 1.0, (20, 3)), columns=NAMES)
Y = np.sin(X["speed"] + 2.0 * X["angle"]).to_numpy() + 0.05 * _rng.standard_normal(20)
POINTS = pd.DataFrame(_rng.uniform(-1.0, 1.0, (5, 3)), columns=NAMES)

METHODS = {
    "predict": lambda belief, X: belief.predict(X),
    "bald": lambda belief, X: belief.bald(X),
    "embed": lambda belief, X: belief.embed(X),
    "density": lambda belief, X: belief.log_predictive_density(X, np.zeros(len(X))),
    "condition_on": lambda belief, X: belief.condition_on(X, np.arange(len(X), dtype=float)).predict(POINTS),
    "acquisition": lambda belief, X: acquisition.information(belief, X),
    "gradient": lambda belief, X: acquisition.bald.with_gradient(belief, X),
}


@pytest.fixture(scope="module")
def belief():
    return rw.fit(X, Y, rw.Linear(1), n_starts=2)


@pytest.fixture(scope="module")
def nameless():
    return rw.fit(X.to_numpy(), Y, rw.Linear(1), n_starts=2)


def equal(a, b):
    parts, others = (answer if isinstance(answer, tuple) else (answer,) for answer in (a, b))
    for left, right in zip(parts, others, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("method", METHODS)
def test_a_table_in_another_order_is_answered_the_same(belief, method):
    expected = METHODS[method](belief, POINTS.to_numpy())
    equal(METHODS[method](belief, POINTS), expected)
    equal(METHODS[method](belief, POINTS[SHUFFLED]), expected)
    equal(METHODS[method](belief, POINTS.set_axis(range(3), axis=1)), expected)


@pytest.mark.parametrize("method", METHODS)
def test_another_table_is_refused(belief, method):
    with pytest.raises(ValueError, match="'load' missing and 'weight' not known"):
        METHODS[method](belief, POINTS.rename(columns={"load": "weight"}))


def test_other_kinds_of_tables(belief):
    expected = belief.predict(POINTS.to_numpy())
    equal(belief.predict(pa.Table.from_pandas(POINTS[SHUFFLED])), expected)
    equal(belief.predict({name: POINTS[name] for name in SHUFFLED}), expected)


def test_a_belief_without_names_takes_a_table_by_position_and_says_so(belief, nameless):
    assert nameless.names is None
    with pytest.warns(rw.RidgewayWarning, match="taken by their position"):
        equal(nameless.predict(POINTS), belief.predict(POINTS))


def test_names_change_no_number(belief, nameless):
    assert belief.names == NAMES
    assert belief.log_evidence == nameless.log_evidence


def test_names_and_units_of_an_array(belief):
    named = rw.fit(X.to_numpy(), Y, rw.Linear(1), n_starts=2, names=NAMES, units=["m/s", None, "kg"])
    assert (named.names, named.units) == (NAMES, ("m/s", None, "kg"))
    assert named.labels == ("speed [m/s]", "angle", "load [kg]")
    equal(named.predict(POINTS[SHUFFLED]), belief.predict(POINTS))


def test_given_names_bring_a_table_into_their_order(belief):
    same = rw.fit(X[SHUFFLED], Y, rw.Linear(1), n_starts=2, names=NAMES)
    np.testing.assert_array_equal(same.X, X)
    with pytest.raises(ValueError, match="'angle' missing"):
        rw.fit(X[["speed", "load"]], Y, names=NAMES)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"names": ["a", "b"]}, ValueError, "names must have one entry for each of the 3 inputs, got 2"),
        ({"names": ["a", "b", "b"]}, ValueError, "names must differ from each other, got 'b' twice"),
        ({"names": 3}, TypeError, "names must be a sequence of strings, got 3"),
        ({"units": ["m"]}, ValueError, "units must have one entry for each of the 3 inputs, got 1"),
        ({"units": "m"}, TypeError, "units must be a sequence of strings or None, got 'm'"),
    ],
)
def test_wrong_names_and_units(arguments, error, message):
    with pytest.raises(error, match=message):
        rw.fit(X.to_numpy(), Y, **arguments)


def test_a_fit_begins_from_a_belief_about_the_same_inputs(belief):
    with pytest.raises(ValueError, match="initial must be a belief about inputs with the names"):
        rw.fit(X[SHUFFLED], Y, rw.Linear(1), initial=belief)
    assert rw.fit(X, Y, rw.Linear(1), initial=belief).names == NAMES
    assert rw.fit(X.to_numpy(), Y, rw.Linear(1), initial=belief).names is None


def test_names_survive_a_file(tmp_path, belief):
    named = rw.fit(X, Y, rw.Linear(1), n_starts=2, units=[None, "rad", None])
    for again in (rw.Belief.load(named.save(tmp_path / "b")), storage.from_bytes(storage.to_bytes(named))):
        assert (again.names, again.units) == (NAMES, (None, "rad", None))
        np.testing.assert_allclose(again.predict(POINTS[SHUFFLED]).mean, belief.predict(POINTS).mean, rtol=1e-10)


@pytest.mark.slow
def test_names_are_shown_without_being_given(belief, tmp_path):
    for name in NAMES:
        assert name in belief.summary()
        assert name in belief._repr_html_()
        assert name in belief.report(tmp_path / "r.html").read_text("utf-8")
        assert name in str(plots.importance(belief).to_dict())
    assert "wear" in belief.summary(["wear", "b", "c"])
    assert "speed" not in belief.summary(["wear", "b", "c"])


def test_the_regressor_has_them_as_scikit_learn_wants():
    model = rw.EmbeddingRegressor(rw.Linear(1), n_starts=2).fit(X, Y)
    assert list(model.feature_names_in_) == list(NAMES)
    assert model.belief_.names == NAMES
    equal(model.predict(POINTS), model.belief_.predict(POINTS[SHUFFLED]).mean)
    with pytest.raises(ValueError, match="feature names should match"):  # its words: it never reorders
        model.predict(POINTS[SHUFFLED])
    model.fit(X.to_numpy(), Y)
    assert model.belief_.names is None
