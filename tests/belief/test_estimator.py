"""``EmbeddingRegressor`` among scikit-learn's own tools."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import ridgeway as rw

NAMES = ["speed", "angle", "load", "wear"]


# Reason to ignore: the checks fit single rows, constant outputs and rounded ones, and a fit says so.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
@parametrize_with_checks([rw.EmbeddingRegressor(n_starts=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X, X_test = rng.uniform(0.0, 10.0, (30, 4)), rng.uniform(0.0, 10.0, (20, 4))

    def f(X):
        return 50.0 + 8.0 * np.sin(0.4 * X[:, 0] - 0.3 * X[:, 2])

    return X, f(X) + 0.1 * rng.normal(size=30), X_test, f(X_test)


@pytest.fixture(scope="module")
def model(data):
    return rw.EmbeddingRegressor(rw.Linear(1), n_starts=3).fit(*data[:2])


def test_agrees_with_fit(data):
    X, y, X_test, _ = data
    noise = np.full(len(y), 0.01)
    arguments = {
        "kernel": "matern52",
        "inference": "map",
        "marginal": "bbq",
        "bounds": (0.0, 10.0),
        "standardize": True,
        "priors": rw.Priors(log_noise=(-3.0, 0.5)),
        "n_starts": 3,
        "random_state": 5,
    }
    model = rw.EmbeddingRegressor(rw.Linear(2), **arguments).fit(X, y, noise_variance=noise)
    belief = rw.fit(X, y, rw.Linear(2), noise_variance=noise, **arguments)
    np.testing.assert_array_equal(model.predict(X_test), belief.predict(X_test).mean)
    np.testing.assert_array_equal(model.transform(X_test), belief.embed(X_test).mean)
    assert model.belief_.log_evidence == belief.log_evidence
    assert model.belief_.diagnostics == belief.diagnostics
    assert model.belief_.posterior.priors == arguments["priors"]
    assert model.belief_.kernel == belief.kernel


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:a fit to a part of the data misled")  # priors that do not fit unscaled outputs
def test_every_argument_reaches_fit(data):
    """Each changes the answer, so none is dropped on the way."""
    X, y, X_test, _ = data
    plain = rw.EmbeddingRegressor(rw.Linear(1), n_starts=2).fit(X, y).predict(X_test, return_std=True)[1]
    for change in (
        {"embedding": rw.Isotropic()},
        {"kernel": "matern32"},
        {"inference": "map"},
        {"marginal": "map"},
        {"bounds": (-10.0, 20.0)},
        {"standardize": False},
        {"priors": rw.Priors(log_noise=(0.0, 0.0))},
    ):
        model = rw.EmbeddingRegressor(**{"embedding": rw.Linear(1), "n_starts": 2, **change}).fit(X, y)
        std = model.predict(X_test, return_std=True)[1]
        assert np.abs(std - plain).max() > 1e-3 * plain.max(), change
    assert rw.EmbeddingRegressor(n_starts=5).fit(X, y).belief_.diagnostics.n_starts == 5
    seeds = [rw.EmbeddingRegressor(n_starts=1, random_state=s).fit(X, y).belief_.seed for s in (1, 2)]
    assert seeds[0] != seeds[1]


def test_learns(model, data):
    _, _, X_test, truth = data
    assert model.score(X_test, truth) > 0.99
    R = model.belief_.embedding[0]
    np.testing.assert_allclose(R / np.linalg.norm(R), [0.8, 0.0, -0.6, 0.0], atol=0.05)


def test_return_std(model, data):
    X_test = data[2]
    mean, std = model.predict(X_test, return_std=True)
    prediction = model.belief_.predict(X_test)
    np.testing.assert_array_equal(mean, model.predict(X_test))
    np.testing.assert_array_equal(std, np.sqrt(prediction.variance))
    assert np.all(std > 0.0)


def test_transform_is_the_mean_of_embed(model, data):
    X, y, X_test, _ = data
    np.testing.assert_array_equal(model.transform(X_test), model.belief_.embed(X_test).mean)
    scaled = 2.0 * (X_test - X.min(axis=0)) / np.ptp(X, axis=0) - 1.0
    np.testing.assert_allclose(model.transform(X_test), scaled @ model.belief_.embedding.T, atol=1e-12)
    np.testing.assert_array_equal(clone(model).fit_transform(X, y), model.transform(X))


def test_default_embedding_has_two_directions_or_as_many_as_there_are(data):
    X, y = data[:2]
    assert rw.EmbeddingRegressor(n_starts=2).fit(X, y).belief_.model == rw.Linear(2)
    assert rw.EmbeddingRegressor(n_starts=2).fit(X[:, :1], y).belief_.model == rw.Linear(1)


def test_clone(model):
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.embedding == rw.Linear(1)
    assert not hasattr(copy, "belief_")
    assert hasattr(model, "belief_")
    assert model.get_params()["n_starts"] == 3
    assert copy.set_params(kernel="rq").kernel == "rq"
    assert model.kernel == "se"


def test_not_fitted(data):
    model = rw.EmbeddingRegressor()
    for method in (model.predict, model.transform):
        with pytest.raises(NotFittedError, match="EmbeddingRegressor instance is not fitted yet"):
            method(data[2])
    with pytest.raises(NotFittedError, match="EmbeddingRegressor instance is not fitted yet"):
        model.get_feature_names_out()


def test_wrong_parameters_are_refused_when_fitting(data):
    X, y = data[:2]
    with pytest.raises(ValueError, match=r"inference must be one of 'nested', 'map'.*got 'mcmc'"):
        rw.EmbeddingRegressor(inference="mcmc").fit(X, y)
    with pytest.raises(ValueError, match="d of Linear must be at most the number of inputs, 4, got 5"):
        rw.EmbeddingRegressor(rw.Linear(5)).fit(X, y)
    with pytest.raises(TypeError, match="embedding must be Linear"):
        rw.EmbeddingRegressor(2).fit(X, y)


# -- among other tools -----------------------------------------------------------------------


def test_pipeline_as_regressor(model, data):
    """The range of the data sets the units, so a scaler before it changes nothing."""
    X, y, X_test, truth = data
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    mean, std = pipeline.predict(X_test, return_std=True)
    np.testing.assert_allclose(mean, model.predict(X_test), atol=0.02)
    np.testing.assert_allclose(std, model.predict(X_test, return_std=True)[1], rtol=0.05)
    assert pipeline.score(X_test, truth) > 0.99


def test_pipeline_as_transformer(model, data):
    X, y, X_test, truth = data
    pipeline = make_pipeline(clone(model), LinearRegression()).fit(X, y)
    u = model.transform(X)
    line = LinearRegression().fit(u, y)
    np.testing.assert_allclose(pipeline.predict(X_test), line.predict(model.transform(X_test)), rtol=1e-10)
    assert pipeline[:-1].get_feature_names_out().tolist() == ["direction0"]
    assert pipeline.score(X_test, truth) > PCALine(X, y).score(X_test, truth)


def PCALine(X, y):
    return make_pipeline(PCA(1), LinearRegression()).fit(X, y)


@pytest.mark.slow
def test_grid_search_over_embeddings(data):
    X, y, X_test, truth = data
    grid = {"embedding": [rw.Isotropic(), rw.Linear(1), rw.Diagonal()], "kernel": ["se", "matern32"]}
    search = GridSearchCV(rw.EmbeddingRegressor(n_starts=2), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["embedding"] == rw.Linear(1)
    scores = dict(zip(map(str, search.cv_results_["params"]), search.cv_results_["mean_test_score"], strict=True))
    isotropic = max(score for name, score in scores.items() if "Isotropic" in name)
    assert search.best_score_ > isotropic
    assert search.best_estimator_.belief_.model == rw.Linear(1)
    assert search.score(X_test, truth) > 0.98
    assert search.predict(X_test).shape == (20,)


def test_cross_validation_within_a_pipeline(data):
    X, y = data[:2]
    pipeline = make_pipeline(StandardScaler(), rw.EmbeddingRegressor(rw.Linear(1), n_starts=2))
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.9


# -- names -----------------------------------------------------------------------------------


def test_feature_names(data):
    X, y, X_test, _ = data
    frame = pd.DataFrame(X, columns=NAMES)
    model = rw.EmbeddingRegressor(rw.Linear(2), n_starts=2).fit(frame, y)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == 4
    assert model.get_feature_names_out().tolist() == ["direction0", "direction1"]
    assert model.get_feature_names_out(NAMES).tolist() == ["direction0", "direction1"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(X_test, columns=NAMES[::-1]))
    by_array = rw.EmbeddingRegressor(rw.Linear(2), n_starts=2).fit(X, y)
    np.testing.assert_allclose(model.predict(pd.DataFrame(X_test, columns=NAMES)), by_array.predict(X_test), rtol=1e-9)


@pytest.mark.parametrize(
    ("embedding", "names"),
    [
        (rw.Linear(2), ["direction0", "direction1"]),
        (rw.Diagonal(), [f"direction{k}" for k in range(4)]),
        (rw.Isotropic(), [f"direction{k}" for k in range(4)]),
    ],
)
def test_pandas_output(data, embedding, names):
    X, y = data[:2]
    frame = pd.DataFrame(X, columns=NAMES, index=[f"run {i}" for i in range(len(y))])
    model = rw.EmbeddingRegressor(embedding, n_starts=2).set_output(transform="pandas").fit(frame, y)
    result = model.transform(frame)
    assert isinstance(result, pd.DataFrame)
    assert result.columns.tolist() == names
    assert result.index.tolist() == frame.index.tolist()
    np.testing.assert_allclose(result.to_numpy(), model.belief_.embed(X).mean, rtol=1e-9, atol=1e-12)


def test_series_as_outputs(model, data):
    X, y, X_test, _ = data
    for form in (pd.Series(y), list(y)):
        np.testing.assert_array_equal(clone(model).fit(X, form).predict(X_test), model.predict(X_test))


# -- sparse ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("format_", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("columns", [4, 60])
def test_sparse_inputs(format_, columns):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (30, columns)) * (rng.uniform(size=(30, columns)) < 0.6)
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.01 * rng.normal(size=30)
    make = rw.EmbeddingRegressor(rw.Linear(1), inference="map", n_starts=4)
    dense, thin = clone(make).fit(X, y), clone(make).fit(format_(X), y)
    np.testing.assert_allclose(thin.predict(format_(X)), dense.predict(X), atol=0.02)
    np.testing.assert_allclose(np.abs(thin.transform(format_(X))), np.abs(dense.transform(X)), atol=0.02)
    np.testing.assert_allclose(thin.predict(X), thin.predict(format_(X)), atol=1e-9)
    assert sparse.issparse(thin.belief_.X)


def test_indices_of_the_estimator_are_those_of_its_belief() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    model = rw.EmbeddingRegressor(rw.Linear(1), n_starts=2, inference="map").fit(X, X[:, 0])
    found = model.sensitivity(rivals=False, n_draws=4)
    assert found.ranking == [0, 1]
    assert found.total.mean[0] > 0.9
