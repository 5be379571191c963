"""``fit`` from end to end on small problems: what it chooses, what it says of itself, what it takes for granted."""

from __future__ import annotations

import importlib
from dataclasses import replace
from math import cos, log, pi, radians, sqrt

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.stats import ortho_group

import ridgeway as rw
from ridgeway import demo, holdout, rowspace, validation
from ridgeway.inference import infer
from ridgeway.testfunctions import (
    borehole,
    branin,
    from_model,
    hartmann6,
    otl_circuit,
    padded,
    piston,
    robot_arm,
    subspace_angles,
    wing_weight,
)

fit_module = importlib.import_module("ridgeway.fit")  # rw.fit is the function


def inputs(n, D, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (n, D))


def one_direction(X, noise=0.05, seed=0):
    return np.sin(2.0 * X[:, 0] + X[:, 1]) + noise * np.random.default_rng(seed).normal(size=len(X))


def two_directions(X, noise=0.05, seed=0):
    f = np.sin(2.0 * X[:, 0] + X[:, 1]) + 2.0 * np.cos(2.0 * X[:, 2] - X[:, 1])
    return f + noise * np.random.default_rng(seed).normal(size=len(X))


def fit(X, y, embedding=None, **arguments):
    return rw.fit(X, y, embedding or rw.Linear(1), **{"n_starts": 4, "bounds": (-1, 1), **arguments})


def assert_same_predictions(a, b, X_new, tol):
    """Means and standard deviations, in units of the outputs' spread."""
    p, q = a.predict(X_new), b.predict(X_new)
    np.testing.assert_allclose(p.mean, q.mean, atol=tol * np.std(a.y), rtol=0)
    np.testing.assert_allclose(p.std, q.std, atol=tol * np.std(a.y), rtol=0)


# -- the number of dimensions ----------------------------------------------------------------


@pytest.mark.parametrize(("function", "d", "tried"), [(one_direction, 1, 3), (two_directions, 2, 4)])
def test_auto_finds_the_number_of_dimensions(function, d, tried):
    """The smallest that does it; two more that do no better are enough to stop."""
    X = inputs(50, 5)
    belief = fit(X, function(X), rw.Linear("auto"), n_starts=4)
    evidence = belief.diagnostics.dimension_evidence
    assert belief.model == rw.Linear(d)
    assert belief.rank == d
    assert list(evidence) == list(range(1, tried + 1))
    assert max(evidence, key=evidence.get) == d
    assert evidence[d] == pytest.approx(belief.log_evidence)
    summary = belief.summary()
    assert f"dimensions: d={d} has the most evidence" in summary
    for other in evidence:
        if other != d:
            assert f"d={other}: {evidence[other] - evidence[d]:+.1f}" in " ".join(summary.split())
            assert evidence[other] < evidence[d] - 0.1  # a choice that rounding could turn is none


def test_auto_sees_that_one_direction_is_not_enough():
    X = inputs(50, 3)
    evidence = fit(X, two_directions(X), rw.Linear("auto"), n_starts=4).diagnostics.dimension_evidence
    assert evidence[2] > evidence[1] + 10.0


def test_a_number_of_dimensions_has_no_evidence_for_others():
    X = inputs(20, 3)
    belief = fit(X, one_direction(X))
    assert belief.diagnostics.dimension_evidence == {}
    assert "dimensions" not in belief.summary()


# -- known noise -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 10.0, 1000.0])
def test_observations_with_huge_known_noise_are_ignored(size, monkeypatch):
    X, X_new = inputs(40, 3), inputs(50, 3, seed=1)
    y = one_direction(X)
    y[30:] += size * np.random.default_rng(2).normal(size=10)
    noise = np.where(np.arange(40) < 30, 0.0, 1e3 * size**2)
    with_them, without = fit(X, y, noise_variance=noise), fit(X[:30], y[:30])
    p, q = with_them.predict(X_new), without.predict(X_new)
    np.testing.assert_allclose(p.mean, q.mean, atol=0.07)
    np.testing.assert_allclose(p.std, q.std, atol=0.07)
    assert np.sqrt(with_them.noise_variance) == pytest.approx(np.sqrt(without.noise_variance), abs=0.03)
    monkeypatch.setattr(holdout, "doubtful", lambda belief: False)
    naive = fit(X, y).predict(X_new)  # taken at face value they do harm
    assert np.abs(naive.mean - q.mean).max() > 0.1


@pytest.mark.parametrize("inference", ["nested", "map"])
def test_one_known_noise_is_the_same_for_all(inference):
    X, X_new = inputs(25, 3), inputs(10, 3, seed=1)
    y = one_direction(X)
    number = fit(X, y, noise_variance=0.02, inference=inference)
    array = fit(X, y, noise_variance=np.full(25, 0.02), inference=inference)
    np.testing.assert_array_equal(number.predict(X_new).variance, array.predict(X_new).variance)
    assert number.log_evidence == array.log_evidence


def test_known_noise_need_not_be_learned():
    """The learned part is what is left over: next to nothing where all of it is known."""
    X = inputs(60, 2)
    y = one_direction(X, noise=0.3)
    unknown, known = fit(X, y), fit(X, y, noise_variance=0.09)
    assert unknown.noise_variance == pytest.approx(0.09, rel=0.5)
    assert known.noise_variance < 0.3 * unknown.noise_variance


# -- going on from an earlier belief ---------------------------------------------------------


def latent(n, D, seed=0):
    """Many inputs that follow two causes closely: more inputs than rows, and still easy."""
    rng = np.random.default_rng(seed)
    causes, loads = rng.uniform(-1.0, 1.0, (n, 2)), rng.uniform(-0.5, 0.5, (2, D))
    X = causes @ loads + 0.02 * rng.normal(size=(n, D))
    return X, np.sin(2.5 * causes[:, 0] + causes[:, 1]) + 0.05 * rng.normal(size=n)


@pytest.mark.parametrize("bounds", [(-1, 1), None])
@pytest.mark.parametrize("D", [3, 40])
def test_one_more_observation(D, bounds):
    if D == 3:
        X = inputs(26, 3)
        X[-1] *= 1.3 if bounds is None else 1.0
        y = one_direction(X)
    else:
        X, y = latent(26, D)
    before = fit(X[:-1], y[:-1], bounds=bounds)
    if bounds is None:
        X[-1, 0] = 1.4 * np.abs(X[:-1, 0]).max()  # the range grows, and with it the units of the embedding
    warm, cold = fit(X, y, bounds=bounds, initial=before, n_starts=None), fit(X, y, bounds=bounds, n_starts=8)
    # Of the best mode: how many others come with it depends on the starts.
    assert warm.components[0].log_evidence == pytest.approx(cold.components[0].log_evidence, abs=0.2)
    assert warm.diagnostics.n_starts == len(before.components) + fit_module.WARM_STARTS
    X_new = X[:10] + 0.01
    assert_same_predictions(warm, cold, X_new, 0.05)


def test_one_more_observation_extends_the_row_space(monkeypatch):
    X, y = latent(20, 40)
    before = fit(X[:-1], y[:-1])
    anew = fit(X, y, n_starts=2)

    def refuse(*_):
        raise AssertionError("the row space was there to be extended")

    with monkeypatch.context() as patch:
        patch.setattr(rowspace, "reduce", refuse)
        warm = fit(X, y, initial=before, n_starts=1)
    assert warm.space.r == anew.space.r == 20
    np.testing.assert_allclose(warm.space.Z @ warm.space.Z.T, anew.space.Z @ anew.space.Z.T, atol=1e-10)
    P, Q = (belief.space.lift(np.eye(20)) for belief in (warm, anew))
    np.testing.assert_allclose(P.T @ P, Q.T @ Q, atol=1e-6)


def test_modes_of_an_earlier_belief_keep_their_place_when_units_change():
    """The start in the new units fits the old data as the old mode did."""
    X, y = inputs(25, 3), one_direction(inputs(25, 3))
    before = fit(X, y, bounds=None)
    scaling = fit_module.InputScaling.from_bounds(np.array([-2.0, -1.0, -3.0]), np.array([2.0, 4.0, 1.0]))
    space = rowspace.reduce(X, scaling)
    (mode,) = fit_module._modes(before, before.posterior, space)
    U, V = before.components[0].gp.U, space.Z @ mode[:-4].reshape(1, -1).T
    np.testing.assert_allclose(U - U.mean(axis=0), V - V.mean(axis=0), atol=1e-10)


def test_going_on_where_no_direction_was_known():
    """Three runs at the centre of the box span nothing; the fourth is the first to say something."""
    X = np.zeros((4, 6))
    X[3] = 0.5
    y = np.array([1.0, 1.1, 0.9, 3.0])
    before = fit(X[:3], y[:3])
    assert before.space.r == 0
    warm = fit(X, y, initial=before)
    assert warm.space.r == 1
    mean = warm.predict(X).mean
    assert mean[3] > mean[0]


def test_initial_of_lower_rank_is_followed():
    X = inputs(31, 3)
    y = one_direction(X)
    before = fit(X[:-1], y[:-1], rw.Linear(2))
    assert before.rank == 1
    warm = fit(X, y, rw.Linear(2), initial=before, n_starts=1)
    cold = fit(X, y, rw.Linear(2), n_starts=8)
    assert warm.rank == cold.rank == 1
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=0.2)


@pytest.mark.parametrize("embedding", [rw.Diagonal(), rw.Isotropic()])
def test_one_more_observation_of_length_scales(embedding):
    X = inputs(26, 3)
    y = one_direction(X)
    before = fit(X[:-1], y[:-1], embedding)
    warm, cold = fit(X, y, embedding, initial=before, n_starts=1), fit(X, y, embedding)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=0.2)


# -- nested against the joint mode -----------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 4])
def test_the_joint_mode_collapses_and_nested_does_not(seed):
    """The paper's synthetic problem: 20 inputs, 3 directions, 100 points, noise 0.1 (DESIGN, "the mode is not enough").

    Maximising over ``R``, scales and noise together finds an embedding that threads every
    point: no noise is left, and predictions are wrong with confidence. With ``R`` integrated
    out the noise stays, and the predictive density beats the sample's mean and variance.
    """
    f = from_model(20, 3, random_state=seed)
    rng = np.random.default_rng(seed)
    X, X_new = f.sample(100, rng), f.sample(500, rng)
    y, y_new = f(X) + 0.1 * rng.standard_normal(100), f(X_new) + 0.1 * rng.standard_normal(500)
    joint, nested = (fit(X, y, rw.Linear(3), inference=kind, n_starts=4) for kind in ("map", "nested"))

    def loss(belief, marginal):
        return -belief.log_predictive_density(X_new, y_new, marginal).mean()

    trivial = 0.5 * np.mean(np.log(2 * np.pi * y.var()) + (y_new - y.mean()) ** 2 / y.var())
    assert np.sqrt(joint.noise_variance) < 0.02
    assert loss(joint, "map") > trivial + 100.0
    assert loss(joint, "mgp") > trivial + 5.0
    assert 0.05 < np.sqrt(nested.noise_variance) < 0.6
    assert loss(nested, "mgp") < trivial - 0.25
    rmse = [np.sqrt(np.mean((belief.predict(X_new).mean - f(X_new)) ** 2)) for belief in (joint, nested)]
    assert rmse[1] < 0.7 * rmse[0]
    assert rmse[1] < 0.8 * f(X_new).std()


# -- diagnostics -----------------------------------------------------------------------------

GOOD = rw.Diagnostics(
    converged=True, n_starts=8, starts_at_best=3, optima=(-10.0, -12.5), disagreement=0.1, smallest_curvature=1.0,
    decrement=1e-9, outer_slack=0.0, jitter=0.0, reduced_dimension=3, used_qr=False,
)  # fmt: skip


def test_status_is_a_sentence():
    assert GOOD.status == "a mode; 3 of 8 searches ended there, 1 other optimum found, the next 2.5 nats below"
    three = replace(GOOD, optima=(-10.0, -12.5, -13.0)).status
    assert three == "a mode; 3 of 8 searches ended there, 2 other optima found, the next 2.5 nats below"
    assert replace(GOOD, optima=(-10.0,)).status == "a mode; 3 of 8 searches ended there and none elsewhere"
    bad = replace(GOOD, converged=False, decrement=0.5, smallest_curvature=-0.25)
    assert bad.status == (
        "not at a mode: a Newton step promises 0.5 nats and the smallest curvature is -0.25 of the prior's"
    )


@pytest.mark.parametrize("inference", ["nested", "map"])
def test_searches_that_ended_at_the_best_are_counted(inference):
    """One clear mode: half of the searches climb to the end, and all of those end there."""
    X = inputs(40, 3)
    diagnostics = fit(X, one_direction(X), inference=inference, n_starts=8).diagnostics
    assert diagnostics.converged
    assert len(diagnostics.optima) == 1
    assert diagnostics.n_starts == 8
    assert diagnostics.starts_at_best >= 4
    assert diagnostics.starts_at_best <= 8
    assert diagnostics.disagreement == 0.0
    assert diagnostics.decrement < 1e-2
    assert diagnostics.smallest_curvature > 0
    assert diagnostics.outer_slack < 0.1
    assert diagnostics.jitter == 0.0
    assert diagnostics.warnings == ()
    assert diagnostics.reduced_dimension == 3
    assert not diagnostics.used_qr


def rugged(seed):
    X = inputs(20, 5, seed)
    f = np.sin(3.0 * X[:, 0] + 2.0 * X[:, 1]) + X[:, 2] * X[:, 3]
    return X, f + 0.1 * np.random.default_rng(seed).normal(size=20)


@pytest.mark.filterwarnings("ignore:a fit to a part of the data misled")  # twenty points for two directions
@pytest.mark.parametrize("inference", ["nested", "map"])
def test_optima_are_sorted(inference):
    """Best first, whatever made it the best: nothing is "-0.5 nats below"."""
    seen = 0
    for seed in range(10):
        diagnostics = fit(*rugged(seed), rw.Linear(2), inference=inference, n_starts=6).diagnostics
        optima = np.array(diagnostics.optima)
        seen = max(seen, len(optima))
        assert np.all(np.diff(optima) <= 0), seed
        assert "the next -" not in diagnostics.status
        assert 1 <= diagnostics.starts_at_best <= diagnostics.n_starts
    assert seen > 1


def test_optima_that_disagree_say_by_how_much():
    X, y = rugged(9)
    diagnostics = fit(X, y, rw.Linear(2), n_starts=6).diagnostics
    assert len(diagnostics.optima) > 1
    assert 0.0 < diagnostics.disagreement < 2.0


@pytest.mark.parametrize("gap", [{"decrement": 0.5}, {"smallest_curvature": -1.0}])
def test_a_fit_that_is_not_at_a_mode_says_so(monkeypatch, gap):
    monkeypatch.setattr(fit_module, "infer", lambda *a: replace(infer(*a), **gap))
    X = inputs(15, 2)
    with pytest.warns(rw.RidgewayWarning, match="the fit is not at a mode") as record:
        belief = fit(X, one_direction(X))
    assert len(record) == 1
    assert not belief.diagnostics.converged
    assert "not at a mode" in belief.summary()
    assert "not at a mode" in repr(belief)


def test_clipped_response_is_warned_about_and_does_no_harm():
    """27 inputs, 50 points, half of them clipped: zero noise would have more evidence, and be wrong."""
    X, X_new = inputs(50, 27), inputs(200, 27, seed=1)
    y, y_new = np.maximum(one_direction(X), 0.0), np.maximum(one_direction(X_new), 0.0)
    with pytest.warns(rw.RidgewayWarning, match=r"\d+ of 50 values of y are tied") as record:
        belief = fit(X, y, rw.Linear(2))
    assert len(record) == 1
    assert record[0].filename == __file__  # the line that called fit, not one inside it
    assert str(record[0].message) in belief.diagnostics.warnings
    assert f"{int(np.sum(y == 0))} of 50 values" in belief.diagnostics.warnings[0]
    assert "warning: " in belief.summary()
    loss = -belief.log_predictive_density(X_new, y_new).mean()
    trivial = 0.5 * np.mean(np.log(2 * np.pi * y.var()) + (y_new - y.mean()) ** 2 / y.var())
    assert loss < trivial + 0.2


def test_ties_of_a_few_are_no_saturation():
    X = inputs(20, 2)
    y = one_direction(X)
    y[:2] = y[2]
    assert fit(X, y).diagnostics.warnings == ()


def test_constant_response_is_warned_about():
    X = inputs(15, 2)
    with pytest.warns(rw.RidgewayWarning, match=r"y is constant \(3\): there is nothing to learn"):
        belief = fit(X, np.full(15, 3.0))
    assert belief.diagnostics.warnings[0].startswith("y is constant")
    np.testing.assert_allclose(belief.predict(inputs(5, 2, seed=1)).mean, 3.0, atol=0.05)


@pytest.mark.parametrize("embedding", [rw.Linear(2), rw.Linear("auto")])
def test_the_same_fit_twice_is_identical(embedding):
    X, y = rugged(3)
    first = fit(X, y, embedding, n_starts=3)
    np.random.default_rng().normal(size=10)
    second = fit(X, y, embedding, n_starts=3)
    assert first.diagnostics == second.diagnostics
    assert first.log_evidence == second.log_evidence
    for a, b in zip(first.components, second.components, strict=True):
        np.testing.assert_array_equal(a.gp.theta, b.gp.theta)
        np.testing.assert_array_equal(a.factor, b.factor)
    warm = [fit(X, y, embedding, initial=belief, n_starts=1) for belief in (first, second)]
    np.testing.assert_array_equal(warm[0].components[0].gp.theta, warm[1].components[0].gp.theta)


@pytest.mark.parametrize("inference", ["nested", "map"])
def test_progress_is_told_in_sentences(inference):
    said = []
    X = inputs(15, 2)
    quiet = fit(X, one_direction(X), inference=inference, n_starts=3)
    belief = fit(X, one_direction(X), inference=inference, n_starts=3, progress=said.append)
    assert said[:3] == ["start 1 of 3", "start 2 of 3", "start 3 of 3"]
    assert all(isinstance(sentence, str) and sentence for sentence in said)
    if inference == "nested":
        assert said[3].startswith("evidence of mode 1 of ")
    assert belief.log_evidence == quiet.log_evidence  # being told changes nothing


def test_an_error_in_progress_reaches_the_user():
    """Also how a program stops a fit."""

    def stop(_):
        raise KeyboardInterrupt

    X = inputs(15, 2)
    with pytest.raises(KeyboardInterrupt):
        fit(X, one_direction(X), progress=stop)


# -- many observations, large inputs ---------------------------------------------------------


@pytest.mark.parametrize("inference", ["nested", "map"])
def test_modes_from_a_part_of_the_data_are_followed_on_all(monkeypatch, inference):
    X, X_new = inputs(90, 3), inputs(30, 3, seed=1)
    y = one_direction(X, noise=0.1)
    whole = fit(X, y, rw.Linear(2), inference=inference)
    searched = []

    def spy(posterior, method, rng, n_starts, *rest):
        searched.append((posterior.data.n, n_starts))
        return infer(posterior, method, rng, n_starts, *rest)

    monkeypatch.setattr(fit_module, "SUBSET", 60)
    monkeypatch.setattr(fit_module, "infer", spy)
    belief = fit(X, y, rw.Linear(2), inference=inference)
    assert searched == [(60, 4), (90, 0)]
    assert belief.components[0].gp.data.n == len(belief.y) == 90
    assert belief.log_evidence == pytest.approx(whole.log_evidence, abs=0.2)
    assert_same_predictions(belief, whole, X_new, 0.02)


def test_searches_on_a_part_of_the_data_are_counted(monkeypatch):
    """Four searches were made, whichever data they looked at."""
    X = inputs(60, 3)
    monkeypatch.setattr(fit_module, "SUBSET", 40)
    assert fit(X, one_direction(X), n_starts=4).diagnostics.n_starts >= 4


def test_small_problems_and_warm_starts_are_not_cut(monkeypatch):
    monkeypatch.setattr(fit_module, "SUBSET", 30)
    sizes = []

    def spy(posterior, *rest):
        sizes.append(posterior.data.n)
        return infer(posterior, *rest)

    monkeypatch.setattr(fit_module, "infer", spy)
    X = inputs(31, 2)
    y = one_direction(X)
    before = fit(X[:30], y[:30])
    fit(X, y, initial=before, n_starts=None)
    assert sizes == [30, 31]


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_large_inputs_are_kept_by_reference(monkeypatch, make):
    X = make(inputs(15, 30))
    y = one_direction(inputs(15, 30))
    copied = fit(X, y, n_starts=2)

    def values(X):
        return X.data if sparse.issparse(X) else X

    assert not np.shares_memory(values(copied.X), values(X))
    monkeypatch.setattr(validation, "REFERENCE_BYTES", values(X).nbytes - 1)
    kept = fit(X, y, n_starts=2)
    assert np.shares_memory(values(kept.X), values(X))
    assert not np.shares_memory(kept.y, y)
    assert np.array_equal(kept.predict(X).mean, copied.predict(X).mean)
    monkeypatch.setattr(validation, "REFERENCE_BYTES", values(X).nbytes)
    assert not np.shares_memory(values(fit(X, y, n_starts=1).X), values(X))


def test_inputs_are_read_once_for_their_range_and_whether_they_are_finite(monkeypatch):
    """A pass over a million columns takes as long as part of the fit."""
    monkeypatch.setattr(validation, "_all_finite", lambda values: pytest.fail("read once more"))
    passes = []
    column_range = validation.column_range
    monkeypatch.setattr(validation, "column_range", lambda X: passes.append(X.shape) or column_range(X))
    X = inputs(15, 2)
    fit(X, one_direction(X), n_starts=1)
    assert passes == [(15, 2)]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_the_range_gives_away_what_is_not_finite(value, store):
    X = inputs(15, 2)
    X[3, 1] = value
    with pytest.raises(ValueError, match="X must be finite, but it contains NaN or infinity"):
        fit(store(X), np.arange(15.0))


def test_inputs_are_left_as_they_were():
    X = inputs(15, 30)
    y = one_direction(X)
    X_before, y_before = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    fit(X, y, n_starts=2).predict(X)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


# -- functions to try --------------------------------------------------------------------------


def test_branin_has_its_three_minima():
    f = branin()
    minimisers = np.array([[-pi, 12.275], [pi, 2.275], [9.42478, 2.475]])
    mapped = (minimisers - [2.5, 7.5]) / 7.5  # [-5, 10] × [0, 15] to [-1, 1]²
    assert np.all((mapped >= f.lower) & (mapped <= f.upper))
    np.testing.assert_allclose(f(mapped), 0.397887, atol=1e-5)
    assert f(f.sample(5000)).min() > 0.397887
    assert f(np.array([[-1.0, -1.0]]))[0] == pytest.approx(308.129, abs=1e-3)  # the corner (-5, 0)


def test_branin_of_many_inputs_depends_on_two_directions():
    f = branin(12, random_state=3)
    assert f.embedding.shape == (2, 12)
    X = f.sample(50)
    _, _, Vt = np.linalg.svd(f.embedding)
    np.testing.assert_allclose(f(X + np.random.default_rng(0).normal(size=(50, 10)) @ Vt[2:]), f(X), rtol=1e-9)
    np.testing.assert_allclose(branin()(X @ f.embedding.T), f(X), rtol=1e-9)
    assert not np.allclose(branin(12, random_state=4).embedding, f.embedding)


def test_hartmann_has_its_minimum():
    f = hartmann6()
    x = 2.0 * np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]) - 1.0
    assert f(x[None])[0] == pytest.approx(-3.32237, abs=1e-5)
    found = minimize(lambda x: f(x[None])[0], x, bounds=[(-1, 1)] * 6)
    assert found.fun == pytest.approx(-3.32237, abs=1e-5)
    assert f(f.sample(5000)).min() > -3.32237
    more = hartmann6(9)
    assert more.D == 9
    assert more(np.append(x, [0.3, -0.2, 1.0])[None])[0] == pytest.approx(-3.32237, abs=1e-5)


def test_borehole_as_in_the_literature():
    rw_, r, Tu, Hu, Tl, Hl, L, Kw = 0.1, 25050.0, 89335.0, 1050.0, 89.55, 760.0, 1400.0, 10950.0
    ratio = log(r / rw_)
    flow = 2 * pi * Tu * (Hu - Hl) / (ratio * (1 + 2 * L * Tu / (ratio * rw_**2 * Kw) + Tu / Tl))
    f = borehole()
    assert f(np.array([[rw_, r, Tu, Hu, Tl, Hl, L, Kw]]))[0] == pytest.approx(flow, rel=1e-12)
    np.testing.assert_allclose(0.5 * (f.lower + f.upper), [rw_, r, Tu, Hu, Tl, Hl, L, Kw])
    assert 70.0 < flow < 72.0
    assert f(f.sample(3000)).mean() == pytest.approx(77.7, abs=4.0)  # as the literature has it for uniform inputs


def test_piston_as_in_the_literature():
    M, S, V0, k, P0, Ta, T0 = 45.0, 0.0125, 0.006, 3000.0, 100000.0, 293.0, 350.0
    A = P0 * S + 19.62 * M - k * V0 / S
    V = S / (2 * k) * (sqrt(A**2 + 4 * k * (P0 * V0 / T0) * Ta) - A)
    cycle = 2 * pi * sqrt(M / (k + S**2 * (P0 * V0 / T0) * (Ta / V**2)))
    f = piston()
    assert f(np.array([[M, S, V0, k, P0, Ta, T0]]))[0] == pytest.approx(cycle, rel=1e-12)
    np.testing.assert_allclose(0.5 * (f.lower + f.upper), [M, S, V0, k, P0, Ta, T0])
    assert 0.1 < f(f.sample(2000)).min() < f(f.sample(2000)).max() < 1.2  # seconds


def test_circuit_as_in_the_literature():
    Rb1, Rb2, Rf, Rc1, Rc2, beta = 100.0, 47.5, 1.75, 1.85, 0.725, 175.0
    Vb1 = 12 * Rb2 / (Rb1 + Rb2)
    share = beta * (Rc2 + 9) / (beta * (Rc2 + 9) + Rf)
    voltage = (Vb1 + 0.74) * share + 11.35 * Rf / (beta * (Rc2 + 9) + Rf) + 0.74 * Rf * share / Rc1
    f = otl_circuit()
    assert f(np.array([[Rb1, Rb2, Rf, Rc1, Rc2, beta]]))[0] == pytest.approx(voltage, rel=1e-12)
    np.testing.assert_allclose(0.5 * (f.lower + f.upper), [Rb1, Rb2, Rf, Rc1, Rc2, beta])
    assert 2.0 < f(f.sample(2000)).min() < f(f.sample(2000)).max() < 10.0  # volts


def test_wing_as_in_the_literature():
    Sw, Wfw, A, sweep, q, taper, tc, Nz, Wdg, Wp = 174.0, 252.0, 7.52, 5.0, 34.0, 0.672, 0.12, 3.8, 2000.0, 0.064
    c = cos(radians(sweep))
    weight = 0.036 * Sw**0.758 * Wfw**0.0035 * (A / c**2) ** 0.6 * q**0.006 * taper**0.04
    weight = weight * (100 * tc / c) ** -0.3 * (Nz * Wdg) ** 0.49 + Sw * Wp
    f = wing_weight()
    x = np.array([[Sw, Wfw, A, sweep, q, taper, tc, Nz, Wdg, Wp]])
    assert f(x)[0] == pytest.approx(weight, rel=1e-12)
    assert np.all((x >= f.lower) & (x <= f.upper))
    assert 220.0 < weight < 260.0  # pounds; a Cessna's wing weighs about 236
    x[0, 3] = -sweep
    assert f(x)[0] == pytest.approx(weight)


def test_robot_arm_reaches_as_far_as_its_segments():
    f = robot_arm()
    straight = np.array([0.7, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.4])
    folded = np.array([0.7, pi, 0.0, 0.0, 0.4, 0.4, 0.0, 0.0])
    corner = np.array([0.0, pi / 2, 0.0, 0.0, 0.3, 0.4, 0.0, 0.0])
    np.testing.assert_allclose(f(np.array([straight, folded, corner])), [1.0, 0.0, 0.5], atol=1e-12)


def test_padding_adds_inputs_that_do_nothing():
    f = padded(borehole(), 12)
    assert f.D == 12
    assert f.name == "borehole+4"
    X = f.sample(20)
    assert np.all(np.abs(X[:, 8:]) <= 1)
    np.testing.assert_array_equal(f(X), borehole()(X[:, :8]))
    drawn = padded(from_model(4, 2), 6)
    assert drawn.embedding.shape == (2, 6)
    assert np.all(drawn.embedding[:, 4:] == 0)
    with pytest.raises(ValueError, match="at least 8"):
        padded(borehole(), 7)


def test_functions_drawn_from_the_model_have_its_moments():
    """Over many draws: mean 0 and the squared exponential of the embedded distance as covariance."""
    X = inputs(6, 5)
    draws, kernels = [], []
    for seed in range(1500):
        f = from_model(5, 2, random_state=seed, n_features=64)
        draws.append(f(X))
        U = X @ f.embedding.T
        kernels.append(np.exp(-0.5 * np.sum((U[:, None] - U) ** 2, axis=-1)))
    draws = np.array(draws)
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=4.5 / np.sqrt(1500))
    np.testing.assert_allclose(draws.var(axis=0), 1.0, atol=0.2)
    np.testing.assert_allclose(draws.T @ draws / 1500, np.mean(kernels, axis=0), atol=0.2)
    entries = np.array([from_model(5, 2, random_state=seed, n_features=1).embedding for seed in range(1500)])
    assert entries.std() == pytest.approx(1.25 / np.sqrt(5), rel=0.03)
    assert from_model(5, 2, scale=0.01).embedding.std() < 0.05


def test_functions_drawn_from_the_model_know_their_embedding():
    f = from_model(7, 2, random_state=1)
    X = f.sample(30)
    _, _, Vt = np.linalg.svd(f.embedding)
    across = np.random.default_rng(0).normal(size=(30, 5)) @ Vt[2:]
    np.testing.assert_allclose(f(X + across), f(X), atol=1e-10)
    assert np.abs(f(X + np.random.default_rng(0).normal(size=(30, 2)) @ Vt[:2]) - f(X)).max() > 0.3
    np.testing.assert_array_equal(from_model(7, 2, random_state=1)(X), f(X))
    assert X.min() >= -1
    assert X.max() <= 1


def test_angles_do_not_depend_on_rotation_scale_or_sign():
    rng = np.random.default_rng(0)
    R, S = rng.normal(size=(2, 6)), rng.normal(size=(2, 6))
    angles = subspace_angles(R, S)
    assert angles.shape == (2,)
    assert angles[0] >= angles[1]
    for turn in ortho_group.rvs(2, size=3, random_state=1):
        np.testing.assert_allclose(subspace_angles(turn @ R, S), angles, atol=1e-10)
        np.testing.assert_allclose(subspace_angles(S, np.diag([3.0, -0.1]) @ turn @ R), angles, atol=1e-10)
        np.testing.assert_allclose(subspace_angles(R, np.diag([100.0, -1.0]) @ turn @ R), 0.0, atol=1e-7)
    known = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0], [0.0, cos(0.3), np.sin(0.3)]])
    np.testing.assert_allclose(subspace_angles(*known), [0.3, 0.0], atol=1e-7)


# -- the demonstration -----------------------------------------------------------------------


def test_demonstration(monkeypatch, capsys):
    learners = []

    def watched(*positional, **named):
        learners.append(original(*positional, **named))
        return learners[-1]

    original = rw.learn
    monkeypatch.setattr(rw, "learn", watched)
    monkeypatch.setattr("ridgeway.learner.full_search", lambda embedding: 4)
    arguments = ["--inputs", "4", "--dimensions", "1", "--observations", "30", "--noise", "0.05", "--seed", "1"]
    assert demo.main(arguments) == 0
    out, err = capsys.readouterr()
    active, random = learners
    assert active.X.shape == random.X.shape == (30, 4)
    assert (active.acquisition, random.acquisition) == ("information", "random")
    assert active.belief.summary() in out
    assert out.startswith("A function of 4 inputs that varies along 1 directions only")
    assert err == ""  # no progress where nobody watches
    assert max(map(len, out.splitlines())) <= 80
    varies = float(out.split("the function varies by ")[1].split(":")[0])
    error = float(out.split("error of the mean")[1].split()[0])
    assert error < 0.2 * varies
    angle = float(out.split("angles to the true subspace")[1].split()[0][:-1])
    assert angle < 10.0
