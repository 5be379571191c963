"""Every odd input has a clear error or a sensible, documented answer.

An error names the argument, what came and what was expected; an input that is taken although
it is odd gives finite numbers, a positive variance and, where a user should look, a warning
that also stands in ``belief.diagnostics.warnings``.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ridgeway as rw
from ridgeway.gp import kernels
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, Data, condition
from ridgeway.inference.settings import DEFAULT
from tests.helpers import assert_says

NAN, INF = float("nan"), float("inf")

EMBEDDINGS = [rw.Linear(1), rw.Linear(2), rw.Diagonal(), rw.Isotropic()]

_rng = np.random.default_rng(0)

X = _rng.uniform(-1.0, 1.0, (20, 4))

Y = np.sin(2.0 * X[:, 0] + X[:, 1]) + 0.02 * _rng.normal(size=20)

X_TEST = _rng.uniform(-1.0, 1.0, (8, 4))


def fit(X=X, y=Y, embedding=None, **arguments):
    return rw.fit(X, y, embedding or rw.Linear(2), **{"n_starts": 2, **arguments})


def at(array, index, value):
    """A copy with one entry changed."""
    array = np.array(array)
    array[index] = value
    return array


def assert_sensible(belief, points=X_TEST):
    """Finite numbers and positive variances, whatever is asked."""
    for kind in ("map", "bbq", "mgp"):
        prediction = belief.predict(points, marginal=kind)
        assert np.isfinite(prediction).all()
        assert (prediction.variance > 0.0).all()
        assert (prediction.variance >= prediction.map_variance * (1.0 - 1e-12)).all()
        assert (prediction.map_variance > 0.0).all()
    bald = belief.bald(points)
    assert np.isfinite(bald).all()
    assert (bald >= 0.0).all()
    embedded = belief.embed(points)
    assert np.isfinite(embedded.mean).all()
    widths = np.linalg.eigvalsh(embedded.covariance)
    assert (widths[:, 0] >= -1e-12 * np.abs(widths).max()).all()
    assert np.isfinite(belief.embedding).all()
    assert np.isfinite(belief.embedding_std).all()
    assert np.isfinite(belief.sample_embeddings(3)).all()
    assert np.isfinite(belief.log_evidence)
    assert belief.noise_variance > 0.0
    assert belief.output_scale > 0.0
    assert np.isfinite(belief.log_predictive_density(points, np.full(points.shape[0], belief.mean))).all()


def assert_warned(belief, record, *fragments):
    """The warning is a sentence, and the belief keeps it."""
    told = [str(w.message) for w in record if issubclass(w.category, rw.RidgewayWarning)]
    assert told == list(belief.diagnostics.warnings)
    for fragment in fragments:
        assert any(fragment in sentence for sentence in told), f"{fragment!r} is not in {told!r}"


def assert_same_predictions(a, b, points_a=X_TEST, points_b=None, scale=1.0, tol=1e-4):
    p, q = a.predict(points_a), b.predict(points_a if points_b is None else points_b)
    spread = scale * a.y.std()
    np.testing.assert_allclose(q.mean, scale * p.mean, rtol=0, atol=tol * spread)
    np.testing.assert_allclose(q.std, scale * p.std, rtol=0, atol=tol * spread)


@pytest.fixture(scope="module")
def belief():
    return fit()


# -- X and y that are refused ----------------------------------------------------------------


BAD_X = {
    "NaN": (at(X, (3, 2), NAN), ValueError, ["X must be finite", "NaN", "row 3, column 2 is nan"]),
    "infinity": (at(X, (0, 1), INF), ValueError, ["X must be finite", "infinity", "row 0, column 1 is inf"]),
    "minus infinity": (at(X, (19, 3), -INF), ValueError, ["X must be finite", "row 19, column 3 is -inf"]),
    "both infinities": (at(at(X, (2, 0), -INF), (1, 0), INF), ValueError, ["X must be finite", "row 1, column 0"]),
    "sparse NaN": (sparse.csr_matrix(at(X, (3, 2), NAN)), ValueError, ["X must be finite", "NaN"]),
    "None inside": ([[1.0, None]] * 20, ValueError, ["X must be finite", "row 0, column 1 is nan"]),
    "pandas.NA": (
        pd.DataFrame({"a": pd.array([1, None] * 10, dtype="Int64"), "b": Y}),
        (TypeError, ValueError),
        ["X must"],
    ),
    "NaT": (np.full((20, 2), np.datetime64("NaT", "D")), (TypeError, ValueError), ["X must"]),
    "hidden by a mask": (np.ma.masked_array(X, mask=X > 0.5), (TypeError, ValueError), ["X must", "mask"]),
    "zero rows": (X[:0], ValueError, ["X must have at least one row", "(0, 4)"]),
    "zero columns": (X[:, :0], ValueError, ["X must have at least one column", "(20, 0)"]),
    "sparse zero rows": (sparse.csr_matrix(X[:0]), ValueError, ["X must have at least one row", "(0, 4)"]),
    "a number": (3.0, ValueError, ["X must have shape (n, D)", "got ()"]),
    "None": (None, (TypeError, ValueError), ["X must", "got"]),
    "one dimension": (X[:, 0], ValueError, ["X must have shape (n, D)", "got (20,)"]),
    "three dimensions": (X[None], ValueError, ["X must have shape (n, D)", "got (1, 20, 4)"]),
    "complex": (X + 0j, ValueError, ["X must be real", "complex128"]),
    "sparse complex": (sparse.csr_matrix(X + 0j), (TypeError, ValueError), ["X must hold real numbers", "complex128"]),
    "ragged": ([[1.0, 2.0], [3.0]], ValueError, ["X must be a rectangular array of numbers"]),
    "words": (np.full((20, 2), "high"), ValueError, ["X must hold numbers", "<U4", "'high'"]),
    "bytes": (np.full((20, 2), b"high"), ValueError, ["X must hold numbers", "|S4", "high"]),
    "words among numbers": ([[1.0, "low"]] * 20, ValueError, ["X must hold numbers", "'low'"]),
    "frame with words": (pd.DataFrame({"a": Y, "b": ["red"] * 20}), ValueError, ["X must hold numbers", "red"]),
    "dictionary": ({"a": [1.0], "b": [1.0, 2.0]}, ValueError, ["X must have columns of one length", "(1,), (2,)"]),
    "dictionary of words": ({"a": ["x"]}, ValueError, ["X must hold numbers", "'x'"]),
    "empty dictionary": ({}, ValueError, ["X must have at least one row"]),
    "number beyond floats": ([[10**400, 1.0]] * 20, (TypeError, ValueError), ["X must"]),
}


@pytest.mark.parametrize("name", BAD_X)
def test_bad_x(name):
    value, kind, fragments = BAD_X[name]
    with pytest.raises(kind) as error:
        fit(value)
    assert_says(error, *fragments)


BAD_Y = {
    "NaN": (at(Y, 3, NAN), ValueError, ["y must be finite", "y[3] is nan"]),
    "infinity": (at(Y, 1, -INF), ValueError, ["y must be finite", "y[1] is -inf"]),
    "zero rows": (Y[:0], ValueError, ["y must have one value for each of the 20 rows of X", "got 0"]),
    "too few": (Y[:-1], ValueError, ["y must have one value for each of the 20 rows of X", "got 19"]),
    "too many": (np.append(Y, 0.0), ValueError, ["y must have one value for each of the 20 rows of X", "got 21"]),
    "two columns": (np.c_[Y, Y], ValueError, ["y must have shape (n,)", "got (20, 2)"]),
    "a row": (Y[None], ValueError, ["y must have shape (n,)", "got (1, 20)"]),
    "a number": (1.0, ValueError, ["y must have shape (n,)", "got ()"]),
    "None": (None, (TypeError, ValueError), ["y must", "got"]),
    "complex": (Y + 0j, ValueError, ["y must be real", "complex128"]),
    "words": (["good"] * 20, ValueError, ["y must hold numbers", "<U4", "'good'"]),
    "ragged": ([[1.0], [2.0, 3.0]], ValueError, ["y must be a rectangular array of numbers"]),
    "sparse": (sparse.csr_matrix(Y[:, None]), (TypeError, ValueError), ["y must hold numbers"]),
    "hidden by a mask": (np.ma.masked_array(Y, mask=Y > 0.5), (TypeError, ValueError), ["y must", "mask"]),
    "None inside": ([None, *Y[1:]], ValueError, ["y must be finite", "y[0] is nan"]),
    "number beyond floats": ([10**400] * 20, (TypeError, ValueError), ["y must"]),
}


@pytest.mark.parametrize("name", BAD_Y)
def test_bad_y(name):
    value, kind, fragments = BAD_Y[name]
    with pytest.raises(kind) as error:
        fit(X, value)
    assert_says(error, *fragments)


# -- arguments that are refused --------------------------------------------------------------


BAD_ARGUMENTS = [
    # bounds
    ({"bounds": (1.0, -1.0)}, ValueError, ["lower bound must be below upper", "input 0 has 1.0 and -1.0"]),
    ({"bounds": (0.0, 0.0)}, ValueError, ["lower bound must be below upper", "input 0 has 0.0 and 0.0"]),
    ({"bounds": (-1.0, [1.0, 1.0, 1.0, -1.0])}, ValueError, ["lower bound must be below upper", "input 3 has -1.0"]),
    ({"bounds": ([-1.0] * 3, 1.0)}, ValueError, ["lower bound must be a number or have shape (4,)", "got (3,)"]),
    ({"bounds": (-1.0, [1.0] * 5)}, ValueError, ["upper bound must be a number or have shape (4,)", "got (5,)"]),
    ({"bounds": ([[-1.0]], 1.0)}, ValueError, ["lower bound must be a number or have shape (4,)", "got (1, 1)"]),
    ({"bounds": 3.0}, ValueError, ["bounds must be a pair (lower, upper) or None", "got 3.0"]),
    ({"bounds": (0.0, 1.0, 2.0)}, ValueError, ["bounds must be a pair (lower, upper) or None", "got (0.0, 1.0, 2.0)"]),
    ({"bounds": [(-1.0, 1.0)] * 4}, ValueError, ["bounds must be a pair (lower, upper) or None", "(-1.0, 1.0)"]),
    ({"bounds": (0.0, NAN)}, ValueError, ["upper bound must be finite", "nan"]),
    ({"bounds": (-INF, 1.0)}, ValueError, ["lower bound must be finite", "-inf"]),
    ({"bounds": ("low", "high")}, ValueError, ["lower bound must hold numbers", "'low'"]),
    ({"bounds": (None, 1.0)}, (TypeError, ValueError), ["lower bound must"]),
    # noise_variance
    ({"noise_variance": -1.5}, ValueError, ["noise_variance must be finite and not negative", "-1.5"]),
    ({"noise_variance": NAN}, ValueError, ["noise_variance must be finite and not negative", "nan"]),
    ({"noise_variance": [0.1] * 19 + [INF]}, ValueError, ["noise_variance must be finite", "inf"]),
    ({"noise_variance": [0.1] * 19 + [-0.2]}, ValueError, ["noise_variance must be finite", "-0.2"]),
    ({"noise_variance": [0.1] * 3}, ValueError, ["noise_variance must be a number or have shape (20,)", "got (3,)"]),
    ({"noise_variance": np.ones((20, 2))}, ValueError, ["noise_variance must be a number or", "got (20, 2)"]),
    ({"noise_variance": "small"}, ValueError, ["noise_variance must hold numbers", "'small'"]),
    ({"noise_variance": 1j}, ValueError, ["noise_variance must be real", "complex128"]),
    # priors
    ({"priors": 3.0}, TypeError, ["priors must be a Priors or None", "got 3.0"]),
    ({"priors": {"log_noise": (0.0, 1.0)}}, TypeError, ["priors must be a Priors or None", "'log_noise'"]),
    ({"priors": rw.Priors}, TypeError, ["priors must be a Priors or None", "class"]),
    # embedding
    ({"embedding": 2}, TypeError, ["embedding must be Linear(d), Diagonal() or Isotropic()", "got 2"]),
    ({"embedding": "linear"}, TypeError, ["embedding must be Linear(d), Diagonal() or Isotropic()", "'linear'"]),
    ({"embedding": rw.Linear}, TypeError, ["embedding must be Linear(d), Diagonal() or Isotropic()", "class"]),
    ({"embedding": rw.Linear(5)}, ValueError, ["d of Linear must be at most the number of inputs, 4", "got 5"]),
    # kernel
    ({"kernel": "gaussian"}, ValueError, ["kernel must be one of", "'se'", "got 'gaussian'"]),
    ({"kernel": 3}, TypeError, ["kernel must be a name or have `name`, `value` and `derivatives`", "got 3"]),
    ({"kernel": None}, TypeError, ["kernel must be a name or have", "got None"]),
    ({"kernel": kernels.Matern32}, TypeError, ["kernel must be", "got", "Matern32"]),
    # inference and marginal
    ({"inference": "mcmc"}, ValueError, ["inference must be one of 'nested', 'map'", "got 'mcmc'"]),
    ({"inference": None}, ValueError, ["inference must be one of 'nested', 'map'", "got None"]),
    ({"marginal": "exact"}, ValueError, ["marginal must be one of 'map', 'bbq', 'mgp', 'samples'", "got 'exact'"]),
    ({"marginal": 3}, ValueError, ["marginal must be one of", "got 3"]),
    # n_starts
    ({"n_starts": 0}, ValueError, ["n_starts must be a whole number of at least 1 or None", "got 0"]),
    ({"n_starts": -2}, ValueError, ["n_starts must be a whole number of at least 1 or None", "got -2"]),
    ({"n_starts": 1.5}, ValueError, ["n_starts must be a whole number of at least 1 or None", "got 1.5"]),
    ({"n_starts": "5"}, ValueError, ["n_starts must be a whole number of at least 1 or None", "got '5'"]),
    ({"n_starts": True}, ValueError, ["n_starts must be a whole number of at least 1 or None", "got True"]),
    # random_state
    ({"random_state": "0"}, TypeError, ["random_state must be a whole number, a numpy Generator or None", "got '0'"]),
    ({"random_state": 1.5}, TypeError, ["random_state must be a whole number", "got 1.5"]),
    ({"random_state": [1, 2]}, TypeError, ["random_state must be a whole number", "got [1, 2]"]),
    ({"random_state": -1}, ValueError, ["random_state must", "-1"]),
    # initial
    ({"initial": 3}, TypeError, ["initial must be a Belief or None", "got 3"]),
    ({"initial": rw.Belief}, TypeError, ["initial must be a Belief or None", "class"]),
]


@pytest.mark.parametrize(
    ("arguments", "kind", "fragments"),
    BAD_ARGUMENTS,
    ids=[f"{name}={value!r}"[:50] for arguments, _, _ in BAD_ARGUMENTS for name, value in arguments.items()],
)
def test_bad_argument(arguments, kind, fragments):
    with pytest.raises(kind) as error:
        fit(**arguments)
    assert_says(error, *fragments)


def test_initial_about_other_inputs(belief):
    with pytest.raises(ValueError, match="initial must be a belief about 3 inputs, got one about 4"):
        fit(X[:, :3], Y, initial=belief)


@pytest.mark.parametrize("d", [0, -1, 1.5, "two", True, None, (2,)])
def test_bad_dimension(d):
    with pytest.raises(ValueError, match='d of Linear must be a whole number of at least 1 or "auto"') as error:
        rw.Linear(d)
    assert_says(error, f"got {d!r}")


def test_auto_has_no_dimension_before_it_is_fitted():
    with pytest.raises(ValueError, match="no number of dimensions before it is fitted"):
        _ = rw.Linear("auto").rows


# -- points and questions that are refused ---------------------------------------------------


@pytest.mark.parametrize("method", ["predict", "bald", "embed"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_points_of_other_inputs(belief, method, kind):
    for columns in (3, 5):
        points = np.zeros((2, columns))
        with pytest.raises(ValueError, match=f"X must have 4 columns as the data had, got {columns}"):
            getattr(belief, method)(sparse.csr_matrix(points) if kind == "sparse" else points)


@pytest.mark.parametrize("method", ["predict", "bald", "embed"])
def test_bad_points(belief, method):
    ask = getattr(belief, method)
    for points, fragments in (
        (at(X_TEST, (2, 1), NAN), ["X must be finite", "row 2, column 1 is nan"]),
        (X_TEST[:0], ["X must have at least one row", "(0, 4)"]),
        (X_TEST[0], ["X must have shape (n, D)", "got (4,)"]),
        (X_TEST + 0j, ["X must be real", "complex128"]),
        ([["a"] * 4], ["X must hold numbers", "'a'"]),
    ):
        with pytest.raises(ValueError, match="X must") as error:
            ask(points)
        assert_says(error, *fragments)


def test_bad_questions(belief):
    with pytest.raises(ValueError, match="marginal must be one of 'map', 'bbq', 'mgp', 'samples', got 'exact'"):
        belief.predict(X_TEST, marginal="exact")
    with pytest.raises(ValueError, match="marginal must be one of 'map', 'bbq', 'mgp', 'samples', got ''"):
        belief.predict(X_TEST, marginal="")
    with pytest.raises(ValueError, match="y must have one value for each of the 8 rows of X, got 3"):
        belief.log_predictive_density(X_TEST, Y[:3])
    with pytest.raises(ValueError, match=r"noise_variance must be a number or have shape \(8,\), got \(3,\)"):
        belief.log_predictive_density(X_TEST, Y[:8], noise_variance=[0.1] * 3)
    with pytest.raises(ValueError, match="names must have one entry for each of the 4 inputs, got 1"):
        belief.summary(names=["speed"])


@pytest.mark.parametrize("n", [-1, 1.5, "3", None])
def test_bad_number_of_draws(belief, n):
    with pytest.raises((TypeError, ValueError), match=rf"n must be .*got {n!r}"):
        belief.sample_embeddings(n)
    assert belief.sample_embeddings(0).shape == (0, 2, 4)


@pytest.mark.parametrize("top", [0, -1, 1.5])
def test_bad_number_of_inputs_to_name(belief, top):
    with pytest.raises((TypeError, ValueError), match=rf"top must be .*got {top!r}"):
        belief.summary(top=top)


# -- few rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("embedding", [*EMBEDDINGS, rw.Linear("auto")], ids=str)
@pytest.mark.parametrize("inference", ["map", "nested"])
@pytest.mark.parametrize("bounds", [None, (-1.0, 1.0)])
def test_one_row(embedding, inference, bounds):
    with pytest.warns(rw.RidgewayWarning) as record:
        belief = fit(X[:1], [3.0], embedding, inference=inference, bounds=bounds)
    assert_warned(belief, record, "y has a single observation: the belief is little more than the prior")
    assert_sensible(belief)
    np.testing.assert_allclose(belief.predict(X[:1]).mean, 3.0, atol=1e-3)
    if isinstance(embedding, rw.Linear):
        # Nothing was learned about R: it is as wide as its prior.
        np.testing.assert_allclose(belief.embedding_std[0], 1.25 / np.sqrt(4.0), rtol=0.25)
    assert belief.summary(top=2)


@pytest.mark.parametrize("y", [0.0, -2.0])
def test_one_row_of_one_input(y):
    with pytest.warns(rw.RidgewayWarning, match="single observation"):
        belief = fit([[5.0]], [y], rw.Linear(1))
    assert_sensible(belief, np.array([[4.0], [5.0], [60.0]]))
    np.testing.assert_allclose(belief.predict([[5.0]]).mean, y, atol=1e-6)


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
@pytest.mark.parametrize("n", [2, 3])
def test_few_rows(embedding, n):
    belief = fit(X[:n], Y[:n], embedding)
    assert_sensible(belief)
    assert belief.diagnostics.warnings == ()
    error = belief.predict(X[:n]).mean - Y[:n]
    assert np.abs(error).max() < 0.5 * np.ptp(Y[:n])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 6, 10, 13])
def test_few_rows_of_many_inputs(seed):
    """Where ``R = 0`` is a saddle, its gradient is zero all the same: a search must not rest there."""
    rng = np.random.default_rng(seed)
    n, D = int(rng.integers(5, 20)), int(rng.integers(5, 30))
    wide = rng.uniform(-1.0, 1.0, (n, D))
    y = np.sin(wide[:, 0] + wide[:, 1]) + 0.1 * rng.normal(size=n)
    belief = fit(wide, y, rw.Linear(1), n_starts=10, bounds=(-1.0, 1.0))
    assert belief.diagnostics.converged
    assert belief.diagnostics.smallest_curvature > -DEFAULT.newton.saddle
    assert_sensible(belief, rng.uniform(-1.0, 1.0, (8, D)))


@pytest.mark.parametrize(("n", "D", "d"), [(2, 4, 4), (3, 4, 4), (2, 10, 6)])
@pytest.mark.parametrize("inference", ["map", "nested"])
def test_more_dimensions_than_rows(n, D, d, inference):
    """``d > N``: the superfluous rows of ``R`` do no harm."""
    wide = np.random.default_rng(1).uniform(-1.0, 1.0, (n + 5, D))
    belief = fit(wide[:n], Y[:n], rw.Linear(d), inference=inference)
    assert belief.embedding.shape == (d, D)
    assert_sensible(belief, wide)


def test_auto_takes_no_more_dimensions_than_there_are():
    belief = fit(X[:, :2], Y, rw.Linear("auto"))
    assert list(belief.diagnostics.dimension_evidence) == [1, 2]
    assert_sensible(belief, X_TEST[:, :2])


# -- y that does not vary, or in strange units -----------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, -1e12, 1e-12])
def test_constant_y(embedding, value):
    with pytest.warns(rw.RidgewayWarning) as record:
        belief = fit(X, np.full(20, value), embedding)
    assert_warned(belief, record, f"y is constant ({value:g}): there is nothing to learn about the embedding")
    assert_sensible(belief)
    size = abs(value) or 1.0
    np.testing.assert_allclose(belief.predict(X_TEST).mean, value, atol=1e-6 * size)
    assert belief.predict(X_TEST).std.max() < 0.2 * size


def test_y_that_is_constant_but_for_rounding():
    y = 0.3 + np.where(np.arange(20) % 2, 0.0, (0.1 + 0.2) - 0.3)  # two neighbouring floats
    assert np.ptp(y) > 0.0
    with pytest.warns(rw.RidgewayWarning) as record:
        belief = fit(X, y)
    assert_warned(belief, record, "y is constant")
    np.testing.assert_allclose(belief.predict(X_TEST).mean, 0.3, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
@pytest.mark.parametrize("unit", [1e12, 1e-12, 1e100, 1e-100])
def test_units_of_y(embedding, unit):
    plain, strange = fit(X, Y, embedding, inference="map"), fit(X, unit * Y, embedding, inference="map")
    assert_sensible(strange)
    assert_same_predictions(plain, strange, scale=unit)
    np.testing.assert_allclose(strange.bald(X_TEST), plain.bald(X_TEST), atol=1e-3)
    assert strange.noise_variance == pytest.approx(unit**2 * plain.noise_variance, rel=1e-2)
    assert strange.log_evidence == pytest.approx(plain.log_evidence - 20 * np.log(unit), abs=1e-2)


@pytest.mark.parametrize("unit", [1e12, 1e-12])
def test_units_of_y_by_default_inference(belief, unit):
    strange = fit(X, unit * Y)
    assert_sensible(strange)
    assert_same_predictions(belief, strange, scale=unit, tol=0.01)


@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12, 1e13])
def test_offset_of_y(belief, offset):
    """At 1e13 the outputs are 0.002 apart: still a function with a spread of 0.7, nothing like a constant."""
    moved = fit(X, Y + offset)
    assert_sensible(moved)
    np.testing.assert_allclose(moved.predict(X_TEST).mean - offset, belief.predict(X_TEST).mean, atol=0.1)
    assert moved.predict(X_TEST).std.max() < 1.0


def test_known_noise_beyond_all_measure():
    """Observations that say nothing leave the mean of them and the prior's spread."""
    belief = fit(noise_variance=1e12)
    assert_sensible(belief)
    np.testing.assert_allclose(belief.predict(X_TEST).mean, Y.mean(), atol=1e-3)
    assert belief.predict(X_TEST).std.min() > 0.5 * Y.std()
    exact = fit(noise_variance=0.0)
    assert_same_predictions(exact, fit(), tol=1e-6)


def test_repeated_y_is_warned_about():
    clipped = np.maximum(Y, np.median(Y))
    with pytest.warns(rw.RidgewayWarning) as record:
        belief = fit(X, clipped)
    assert_warned(belief, record, "10 of 20 values of y", "tie_noise and kink_noise of Priors")
    assert_sensible(belief)


# -- X that does not vary, repeats itself, or comes in strange units -------------------------


@pytest.mark.slow
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
def test_constant_column(embedding):
    """A column that does not vary says nothing, whatever its value."""
    arguments = {"priors": rw.Priors(embedding_scale=0.6), "inference": "map"}
    plain = fit(X, Y, embedding, **arguments)
    for value in (0.0, 7.0, 1e12, -1e-12):
        column, more = np.full((20, 1), value), np.full((8, 1), value)
        belief = fit(np.hstack([X, column]), Y, embedding, **arguments)
        assert_sensible(belief, np.hstack([X_TEST, more]))
        if not isinstance(embedding, rw.Diagonal):  # whose evidence has one more length scale
            assert_same_predictions(plain, belief, X_TEST, np.hstack([X_TEST, more]))
        p, q = plain.predict(X_TEST).mean, belief.predict(np.hstack([X_TEST, more])).mean
        np.testing.assert_allclose(q, p, atol=1e-3)


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
@pytest.mark.parametrize("n", [3, 20])
@pytest.mark.parametrize("inference", ["map", "nested"])
def test_all_columns_constant(embedding, n, inference):
    """One point measured many times: its mean, and how well that is known."""
    belief = fit(np.full((n, 4), 0.5), Y[:n], embedding, inference=inference)
    assert_sensible(belief)
    here = belief.predict(np.full((1, 4), 0.5))
    np.testing.assert_allclose(here.mean, Y[:n].mean(), atol=0.05)
    assert 0.1 * Y[:n].std() / np.sqrt(n) < here.std[0] < 3.0 * Y[:n].std() / np.sqrt(n)


def test_duplicated_columns():
    """Each column twice is the same model: half the prior variance for each of twice as many entries."""
    plain, twice = fit(inference="map"), fit(np.hstack([X, X]), Y, inference="map")
    assert_sensible(twice, np.hstack([X_TEST, X_TEST]))
    assert_same_predictions(plain, twice, X_TEST, np.hstack([X_TEST, X_TEST]))
    np.testing.assert_allclose(twice.embedding[:, :4], twice.embedding[:, 4:], atol=1e-3)
    assert twice.log_evidence == pytest.approx(plain.log_evidence, abs=1e-2)
    np.testing.assert_allclose(twice.importances(), np.tile(plain.importances() / 2.0, 2), atol=1e-2)


@pytest.mark.parametrize("embedding", [rw.Diagonal(), rw.Isotropic()], ids=str)
def test_duplicated_columns_of_other_embeddings(embedding):
    twice = fit(np.hstack([X, X]), Y, embedding)
    assert_sensible(twice, np.hstack([X_TEST, X_TEST]))
    np.testing.assert_allclose(twice.predict(np.hstack([X, X])).mean, Y, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
@pytest.mark.parametrize("inference", ["map", "nested"])
def test_duplicated_rows(embedding, inference):
    once = fit(X, Y, embedding, inference=inference)
    belief = fit(np.vstack([X, X]), np.append(Y, Y), embedding, inference=inference)
    assert_sensible(belief)
    assert belief.diagnostics.jitter == 0.0
    np.testing.assert_allclose(belief.predict(X).mean, Y, atol=0.1)
    assert np.median(belief.predict(X).variance / once.predict(X).variance) < 1.0


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
def test_duplicated_rows_that_contradict_each_other(embedding):
    """Two answers at one place: their mean, and noise of the size of their difference."""
    belief = fit(np.vstack([X, X]), np.append(Y + 0.3, Y - 0.3), embedding)
    assert_sensible(belief)
    np.testing.assert_allclose(belief.predict(X).mean, Y, atol=0.35)
    assert 0.2 < np.sqrt(belief.noise_variance) < 0.45


@pytest.mark.slow
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
@pytest.mark.parametrize("nearly", [0.0, 1e-12, 1e-7, 1e-4])
def test_duplicated_rows_of_many_inputs(embedding, nearly):
    """Fewer independent rows than rows, or almost: as many coordinates as can be told apart."""
    rng = np.random.default_rng(2)
    wide, points = rng.uniform(-1, 1, (8, 25)), rng.uniform(-1, 1, (5, 25))
    y = np.sin(wide[:, 0] + wide[:, 1])
    wide = np.vstack([wide, wide[3] + nearly * rng.normal(size=25)])
    belief = fit(wide, np.append(y, y[3]), embedding, bounds=(-2.0, 2.0))
    assert_sensible(belief, np.vstack([points, wide]))
    if isinstance(embedding, rw.Linear) and nearly != 1e-12:  # which is a matter of taste
        assert belief.diagnostics.reduced_dimension == (8 if nearly == 0.0 else 9)
    fitted = belief.predict(wide).mean
    assert fitted[8] == pytest.approx(fitted[3], abs=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
@pytest.mark.parametrize(
    "units",
    [[1e12] * 4, [1e-12] * 4, [1e12, 1e-12, 1.0, 1e6], [1e200, 1e-200, 1.0, 1.0]],
    ids=["large", "small", "mixed", "extreme"],
)
def test_units_of_x(embedding, units):
    plain, strange = fit(X, Y, embedding, inference="map"), fit(X * units, Y, embedding, inference="map")
    assert_sensible(strange, X_TEST * units)
    assert_same_predictions(plain, strange, X_TEST, X_TEST * units)
    np.testing.assert_allclose(strange.embedding, plain.embedding, atol=1e-3)


@pytest.mark.parametrize("unit", [1e12, 1e-12])
@pytest.mark.parametrize("rows", [3, 20])
def test_units_of_sparse_x(unit, rows):
    plain = fit(X[:rows], Y[:rows], inference="map")
    strange = fit(sparse.csr_matrix(unit * X[:rows]), Y[:rows], inference="map")
    assert_sensible(strange, unit * X_TEST)
    assert_same_predictions(plain, strange, X_TEST, sparse.csr_matrix(unit * X_TEST))


def test_offset_of_x():
    plain, moved = fit(inference="map"), fit(X + 1e9, Y, inference="map")
    assert_same_predictions(plain, moved, X_TEST, X_TEST + 1e9, tol=1e-3)


def test_bounds_of_enormous_range():
    """The widest box that floats can hold has a centre and a half width like any other."""
    wide = fit(X * 1e308, Y, bounds=(-1e308, 1e308), inference="map")
    assert_sensible(wide, X_TEST * 1e308)
    assert_same_predictions(fit(bounds=(-1.0, 1.0), inference="map"), wide, X_TEST, X_TEST * 1e308)


@pytest.mark.slow
@pytest.mark.parametrize(
    "convert",
    [
        lambda a: a.astype(str).astype(object),
        lambda a: a.astype(str),
        lambda a: a.tolist(),
        lambda a: np.asfortranarray(a),
        lambda a: a.astype(object),
        lambda a: np.vectorize(Fraction, otypes=[object])(a),
        lambda a: np.vectorize(Decimal, otypes=[object])(a),
        lambda a: pd.DataFrame(a) if a.ndim == 2 else pd.Series(a),
        lambda a: a[:, None][:, 0],
    ],
    ids=["strings as objects", "strings", "lists", "Fortran", "objects", "fractions", "decimals", "pandas", "views"],
)
def test_other_forms_of_the_same_numbers(belief, convert):
    other = fit(convert(X), convert(Y))
    assert other.log_evidence == belief.log_evidence
    # The order in memory may change the last bits of a matrix product.
    np.testing.assert_allclose(other.predict(convert(X_TEST)).mean, belief.predict(X_TEST).mean, rtol=1e-9)
    np.testing.assert_allclose(other.bald(convert(X_TEST)), belief.bald(X_TEST), rtol=1e-9)


def test_column_of_outputs(belief):
    np.testing.assert_array_equal(fit(X, Y[:, None]).predict(X_TEST).mean, belief.predict(X_TEST).mean)


def test_other_types_of_numbers():
    single = fit(X.astype(np.float32), Y.astype(np.float32), inference="map")
    assert single.y.dtype == single.X.dtype == np.float64
    assert_same_predictions(fit(inference="map"), single, tol=1e-3)
    whole = np.round(20.0 * X).astype(np.int8)  # whose sums and differences would not fit
    a = fit(whole, Y, inference="map")
    b = fit(whole.astype(float), Y, inference="map")
    np.testing.assert_array_equal(a.predict(whole).mean, b.predict(whole.astype(float)).mean)
    with pytest.warns(rw.RidgewayWarning, match="20 of 20 values of y"):
        flags = fit(X > 0.0, Y > 0.0)
    assert_sensible(flags, X_TEST > 0.0)


# -- points outside the box ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [np.array, sparse.csr_matrix, sparse.csr_array], ids=["dense", "sparse", "sparse array"]
)
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
def test_observations_outside_the_box(make, embedding):
    outside = int(np.sum(np.any(np.abs(X) > 0.5, axis=1)))
    assert 0 < outside < 20
    with pytest.warns(rw.RidgewayWarning) as record:
        belief = fit(make(X), Y, embedding, bounds=(-0.5, 0.5))
    assert_warned(belief, record, f"{outside} of 20 rows of X are outside the bounds; they are used as they are")
    assert_sensible(belief)
    np.testing.assert_allclose(belief.predict(X).mean, Y, atol=0.15)


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
@pytest.mark.parametrize("rows", [4, 20])
def test_points_outside_the_box(embedding, rows):
    """Far from all data the mean and the spread are the prior's, without a word."""
    belief = fit(X[:rows], Y[:rows], embedding, bounds=(-1.0, 1.0))
    for factor in (2.0, 100.0, 1e10):
        assert_sensible(belief, factor * X_TEST)
    far = belief.predict(1e10 * X_TEST, marginal="map")
    np.testing.assert_allclose(far.mean, belief.mean, atol=1e-6)
    np.testing.assert_allclose(far.std, belief.output_scale, rtol=1e-6)


# -- searches that go astray -----------------------------------------------------------------


@pytest.mark.parametrize("index", [LOG_OUTPUT_SCALE, LOG_NOISE])
@pytest.mark.parametrize("value", [400.0, 1e4])
def test_hyperparameters_beyond_floats(index, value):
    """A line search may try anything; what it gets is an error that it knows, not a warning or NaN."""
    theta = at(np.array([1.0, 0.5, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0]), index, value)
    data = Data(X, Y, np.full(20, 1e-4))
    with pytest.raises(rw.NumericalError):
        condition(rw.Linear(1), kernels.SquaredExponential(), data, theta)


# -- random states and starts that are fine --------------------------------------------------


@pytest.mark.slow
def test_random_states_of_every_kind(belief):
    for state in (0, np.int64(0)):
        np.testing.assert_array_equal(fit(random_state=state).predict(X_TEST).mean, belief.predict(X_TEST).mean)
    for state in (None, np.random.default_rng(0), np.random.RandomState(0)):
        assert_sensible(fit(random_state=state, n_starts=np.int64(1)))


def test_initial_of_another_sort_is_of_no_use_and_no_harm(belief):
    for other in (rw.Linear(1), rw.Diagonal(), rw.Isotropic()):
        a, b = fit(X, Y, other, initial=belief, n_starts=2), fit(X, Y, other, n_starts=2)
        np.testing.assert_allclose(a.predict(X_TEST).mean, b.predict(X_TEST).mean, atol=1e-6)


# -- outputs whose squares are no floats -------------------------------------------------------


@pytest.mark.parametrize("unit", [1e139, 1e-138])
def test_outputs_at_the_end_of_the_range(unit, belief):
    other = fit(y=unit * Y)
    assert_sensible(other)
    np.testing.assert_allclose(other.predict(X_TEST).mean / unit, belief.predict(X_TEST).mean, rtol=1e-6)
    assert np.isfinite(other.log_predictive_density(X_TEST, np.zeros(8))).all()


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (1e200, ("y must be in units in which it is at most 1e+140", "y[0] is")),
        (1e-200, ("y must be in units in which its size and its variation are at least 1e-140", "e-200")),
        (5e-320, ("y must be in units", "at least 1e-140")),
    ],
)
def test_outputs_beyond_the_range(unit, words, standardize):
    with pytest.raises(ValueError, match="y must be in units in which") as error:
        fit(y=unit * Y, standardize=standardize)
    assert_says(error, *words)


def test_outputs_beyond_the_range_elsewhere(belief):
    with pytest.raises(ValueError, match=r"y must be in units in which it is at most 1e\+140"):
        belief.log_predictive_density(X_TEST, np.full(8, 1e200))
    with pytest.raises(ValueError, match="at least 1e-140"):
        fit(y=np.full(20, 1e-200))
    learner = rw.ActiveLearner(rw.Box(-np.ones(4), 1.0), rw.Linear(1))
    with pytest.raises(ValueError, match=r"y must be in units in which it is at most 1e\+140"):
        learner.tell(X_TEST[0], 1e200)
    learner.tell(X_TEST[:2], [NAN, 1e139])
    assert (len(learner.y), len(learner.failed)) == (1, 1)


def test_noise_that_floats_cannot_compare_with_the_outputs():
    with pytest.raises(ValueError, match=r"noise_variance must be in the squared units of y, got 1e\+100"):
        fit(y=1e-130 * Y, noise_variance=1e100)
