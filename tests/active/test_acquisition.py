"""Scores of experiments and their gradients, against differences and against a dense re-derivation.

``Naive`` has every entry of ``R`` as a parameter, takes differences for every derivative in the
hyperparameters, and conditions on points that are out by inverting matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from typing import ClassVar

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import acquisition
from ridgeway.acquisition import Bald, bald, information, outlook_of, score, score_with_gradient, uncertainty
from ridgeway.embeddings import Isotropic, Linear
from ridgeway.gp import condition
from ridgeway.outlook import Outlook

SCORES = {"bald": bald, "information": information, "uncertainty": uncertainty}
EMBEDDINGS = {
    "one direction": rw.Linear(1),
    "two directions": rw.Linear(2),
    "three directions": rw.Linear(3),
    "diagonal": rw.Diagonal(),
    "isotropic": rw.Isotropic(),
}
SHAPES = {"wide": (9, 12), "tall": (16, 4)}  # reduced and not
every_embedding = pytest.mark.parametrize("embedding", EMBEDDINGS)
every_kernel = pytest.mark.parametrize("kernel", ["se", "matern52", "rq"])
every_shape = pytest.mark.parametrize("shape", SHAPES)
either_marginal = pytest.mark.parametrize("marginal", ["mgp", "bbq"])


def box(D):
    """Ranges of very different places and widths: nothing may depend on [-1, 1]."""
    lower = np.linspace(-30.0, 20.0, D)
    return lower, lower + np.geomspace(0.1, 50.0, D)


def scaled(X):
    lower, upper = box(X.shape[1])
    return 2.0 * (X - lower) / (upper - lower) - 1.0


def points(n, D, seed=99):
    return np.random.default_rng(seed).uniform(*box(D), (n, D))


def outputs(X, seed=0, noise=0.25):
    Z = scaled(X)
    f = np.sin(1.5 * Z[:, 0] + Z[:, 1] - 0.5 * Z[:, 2]) + 0.3 * Z[:, 1] * Z[:, 3]
    return 50.0 + 10.0 * (f + noise * np.random.default_rng(seed).normal(size=len(X)))


#: A noise that leaves variances enough digits to take differences of.
PRIORS = rw.Priors(log_noise=(-1.2, 0.1), log_output_scale=(0.0, 0.3))
QUICK = {"inference": "map", "n_starts": 2, "priors": PRIORS}
_fitted: dict[tuple, rw.Belief] = {}


def fitted(embedding, kernel="se", shape="tall", modes=1):
    """A belief with one mode, or with two of which the second is no mode, made once."""
    key = (embedding, kernel, shape)
    if key not in _fitted:
        n, D = SHAPES[shape]
        X = points(n, D, seed=1)
        _fitted[key] = rw.fit(X, outputs(X), EMBEDDINGS[embedding], kernel, bounds=box(D), **QUICK)
    return _fitted[key] if modes == 1 else two_modes(_fitted[key])


def two_modes(belief):
    """Beside the mode a component elsewhere, of lower rank where there is one, with a spread of its own."""
    first = belief.components[0]
    r, d = belief.posterior.data.Z.shape[1], first.gp.U.shape[1]
    rng = np.random.default_rng(3)
    model, parameters, own = first.gp.embedding, first.gp.parameters, first.factor[:-4]
    if isinstance(model, Linear) and d > 1:
        model, parameters, own = Linear(d - 1), parameters[:-r], own[:-r]
    theta = np.concatenate([parameters, first.gp.theta[-4:]])
    theta = theta + 0.3 * rng.standard_normal(theta.shape[0])
    factor = np.vstack([own, first.factor[-4:]])
    factor = factor + 0.1 * rng.standard_normal(factor.shape)
    gp = condition(model, belief.kernel, belief.posterior.data, theta)
    components = (replace(first, weight=0.6), replace(first, gp=gp, factor=factor, weight=0.4))
    return replace(belief, components=components)


class Naive:
    """One component in all ``D`` inputs, in standardised outputs."""

    def __init__(self, belief, component):
        self.kernel, self.model = belief.kernel.name, belief.model
        self.X = scaled(belief.X)
        self.y = (belief.y - belief.y.mean()) / belief.y.std()
        self.D = self.X.shape[1]
        theta = component.gp.theta[:-1]  # the last, the prior's scale, moves no moment
        covariance = (component.factor @ component.factor.T)[:-1, :-1]
        if isinstance(self.model, Linear):
            # R = A Qᵀ, with the prior's variance across what the data span
            Q = belief.space.lift(np.eye(belief.space.r)) if len(self.X) < self.D else np.eye(self.D)
            rows = (theta.shape[0] - 3) // Q.shape[0]
            up = np.zeros((rows * self.D + 3, theta.shape[0]))
            up[:-3, :-3], up[-3:, -3:] = np.kron(np.eye(rows), Q.T), np.eye(3)
            prior = (1.25 * np.exp(component.gp.theta[-1])) ** 2 / self.D
            theta, covariance = up @ theta, up @ covariance @ up.T
            covariance[:-3, :-3] += prior * np.kron(np.eye(rows), np.eye(self.D) - Q.T @ Q)
        self.theta, self.covariance = theta, covariance
        self.noise = np.exp(2 * theta[-2]) + 0.005**2

    def embedded(self, theta, X):
        if isinstance(self.model, Linear):
            return X @ theta[:-3].reshape(-1, self.D).T
        return X * np.exp(-theta[:-3])

    def correlation(self, U, V):
        s = ((U[:, None] - V[None]) ** 2).sum(axis=-1)
        if self.kernel == "se":
            return np.exp(-s / 2)
        if self.kernel == "rq":
            return (1 + s / 4) ** -2
        return (1 + np.sqrt(5 * s) + 5 * s / 3) * np.exp(-np.sqrt(5 * s))

    def process(self, theta, X):
        """Mean and covariance of ``f`` at the points given ``theta``."""
        gamma2, mean = np.exp(2 * theta[-3]), theta[-1]
        U, V = self.embedded(theta, self.X), self.embedded(theta, X)
        noise = np.exp(2 * theta[-2]) + 0.005**2
        inverse = np.linalg.inv(gamma2 * self.correlation(U, U) + noise * np.eye(len(U)))
        k = gamma2 * self.correlation(V, U)
        return mean + k @ inverse @ (self.y - mean), gamma2 * self.correlation(V, V) - k @ inverse @ k.T

    def joint(self, X, kind, h=1e-3):
        """Mean, covariance at the mode and marginal covariance of ``f`` at all points."""
        X = scaled(X)
        mean, C = self.process(self.theta, X)
        V = np.diagonal(C)
        dm, dV = np.zeros((len(X), len(self.theta))), np.zeros((len(X), len(self.theta)))
        for j, step in enumerate(h * np.eye(len(self.theta))):
            for steps, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
                m, moved = self.process(self.theta + steps * step, X)
                dm[:, j] += weight * m / (12 * h)
                dV[:, j] += weight * np.diagonal(moved) / (12 * h)
        if kind == "bbq":
            return mean, C, C + dm @ self.covariance @ dm.T
        spread = dV @ self.covariance @ dV.T / np.sqrt(np.outer(V, V))
        return mean, C, 4 / 3 * C + dm @ self.covariance @ dm.T + spread / 3


def naive_conditional(belief, X, out, kind):
    """Mixture's marginal and plain variance at ``X`` given that ``out`` will be observed, standardised."""
    parts = [Naive(belief, c) for c in belief.components]
    w = [c.weight for c in belief.components]
    joints = [part.joint(np.vstack([X, out]), kind) for part in parts]
    center = sum(weight * mean for weight, (mean, _, _) in zip(w, joints, strict=True))
    plain = sum(weight * C for weight, (_, C, _) in zip(w, joints, strict=True))
    full = sum(
        weight * (C + np.outer(mean - center, mean - center)) for weight, (mean, _, C) in zip(w, joints, strict=True)
    )
    noise = sum(weight * part.noise for weight, part in zip(w, parts, strict=True))
    n = len(X)
    result = []
    for C in (full, plain):
        observed = C[n:, n:] + noise * np.eye(len(out))
        result.append(np.diagonal(C[:n, :n] - C[:n, n:] @ np.linalg.solve(observed, C[n:, :n])))
    gain = 0.5 * (
        np.linalg.slogdet(full[n:, n:] + noise * np.eye(len(out)))[1]
        - np.linalg.slogdet(plain[n:, n:] + noise * np.eye(len(out)))[1]
    )
    return result[0], result[1], gain


# -- gradients -------------------------------------------------------------------------------


def differences(function, X, step=1e-3):
    """Gradient of ``function`` of points by differences of the fourth order, ``(n, D)``."""
    n, D = X.shape
    h = step * np.subtract(*box(D)[::-1])
    weights = np.array([8, -8, -1, 1]) / 12
    moved = X + np.array([1, -1, 2, -2])[:, None, None, None] * np.diag(h)[:, None]  # (4, D, n, D)
    values = function(moved.reshape(-1, D)).reshape(4, D, n)
    return np.einsum("s,sjn->nj", weights, values) / h


@every_embedding
@every_kernel
@every_shape
@pytest.mark.parametrize("modes", [1, 2])
def test_gradients_are_those_of_differences(embedding, kernel, shape, modes):
    belief = fitted(embedding, kernel, shape, modes)
    D = belief.X.shape[1]
    X, width = points(3, D), np.subtract(*box(D)[::-1])
    for kind in ("mgp", "bbq"):
        for out in (np.zeros((0, D)), points(3, D, seed=5)):
            outlook = Outlook(belief, kind).given(out)
            for name, acquired in SCORES.items():
                values, gradient = score_with_gradient(acquired, outlook, X)
                np.testing.assert_allclose(values, score(acquired, outlook, X), rtol=1e-9, err_msg=name)
                expected = differences(lambda points, a=acquired, o=outlook: score(a, o, points), X)
                # In units of the box, so that an input of large range counts as any other.
                size = np.abs(expected * width).max()
                assert size > 1e-3
                np.testing.assert_allclose(gradient * width, expected * width, rtol=1e-6, atol=1e-6 * size)


@pytest.mark.parametrize("name", SCORES)
@either_marginal
def test_with_gradient_uses_the_marginal_of_the_fit(name, marginal):
    belief = replace(fitted("two directions"), marginal=marginal)
    X = points(4, 4)
    values, gradient = SCORES[name].with_gradient(belief, X)
    np.testing.assert_allclose(values, SCORES[name](belief, X), rtol=1e-10)
    np.testing.assert_array_equal(gradient, score_with_gradient(SCORES[name], Outlook(belief, marginal), X)[1])
    other = "bbq" if marginal == "mgp" else "mgp"
    assert np.abs(values - score(SCORES[name], Outlook(belief, other), X)).min() > 1e-3


@every_embedding
@every_kernel
@every_shape
def test_gradients_are_finite_where_points_coincide(embedding, kernel, shape):
    """At an observation and at a point that is out distances are zero, and so is the one to the span."""
    belief = fitted(embedding, kernel, shape)
    out = points(2, belief.X.shape[1], seed=5)
    X = np.vstack([belief.X[:2], out])
    for acquired in SCORES.values():
        values, gradient = score_with_gradient(acquired, outlook_of(belief).given(out), X)
        assert np.isfinite(values).all()
        assert np.isfinite(gradient).all()


# -- the joint covariance ---------------------------------------------------------------------


@every_embedding
@pytest.mark.parametrize("kernel", ["se", "matern52"])
@every_shape
@pytest.mark.parametrize("modes", [1, 2])
@either_marginal
def test_moments_given_points_that_are_out_are_the_naive_ones(embedding, kernel, shape, modes, marginal):
    belief = fitted(embedding, kernel, shape, modes)
    D = belief.X.shape[1]
    X, out = points(5, D), points(4, D, seed=5)
    variance, plain, gain = naive_conditional(belief, X, out, marginal)
    outlook = Outlook(belief, marginal).given(out)
    moments = outlook.moments(outlook.points(X))
    np.testing.assert_allclose(moments.map_variance, plain, rtol=1e-6)
    np.testing.assert_allclose(moments.variance, variance, rtol=1e-6)
    assert outlook.information == pytest.approx(gain, rel=1e-6)
    assert outlook.n_out == 4


@every_embedding
@every_shape
@pytest.mark.parametrize("modes", [1, 2])
@either_marginal
def test_nothing_out_is_the_prediction(embedding, shape, modes, marginal):
    belief = fitted(embedding, "se", shape, modes)
    X = points(20, belief.X.shape[1])
    outlook = Outlook(belief, marginal)
    expected = belief.predict(X, marginal)
    for moments in (
        outlook.moments(outlook.points(X)),
        outlook.pull_back(outlook.points(X), lambda m: (m.variance, m.variance))[0],
    ):
        np.testing.assert_allclose(belief.output.mean(moments.mean), expected.mean, rtol=1e-9)
        np.testing.assert_allclose(belief.output.variance(moments.variance), expected.variance, rtol=1e-9)
        np.testing.assert_allclose(belief.output.variance(moments.map_variance), expected.map_variance, rtol=1e-9)
    assert outlook.information == 0.0
    assert outlook.given(X[:0]) is outlook


@every_embedding
@every_shape
@pytest.mark.parametrize("modes", [1, 2])
@either_marginal
def test_information_of_one_point_is_its_score(embedding, shape, modes, marginal):
    belief = fitted(embedding, "se", shape, modes)
    for x in points(3, belief.X.shape[1])[:, None]:
        p = belief.predict(x, marginal)
        expected = 0.5 * np.log((p.variance + belief.noise_variance) / (p.map_variance + belief.noise_variance))
        outlook = Outlook(belief, marginal)
        assert outlook.given(x).information == pytest.approx(expected[0], rel=1e-9)
        assert score(information, outlook, x)[0] == pytest.approx(expected[0], rel=1e-9)


@every_embedding
@every_shape
@pytest.mark.parametrize("modes", [1, 2])
def test_information_of_a_batch_is_the_sum_of_what_each_point_adds(embedding, shape, modes):
    belief = fitted(embedding, "se", shape, modes)
    batch = points(3, belief.X.shape[1], seed=7)
    together = outlook_of(belief).given(batch).information
    for order in permutations(range(3)):
        outlook, total = outlook_of(belief), 0.0
        for i in order:
            total += score(information, outlook, batch[i : i + 1])[0]
            outlook = outlook.given(batch[i : i + 1])
        assert total == pytest.approx(together, rel=1e-9)
        assert outlook.information == pytest.approx(together, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_information_grows_with_every_point(seed):
    belief = fitted("two directions", shape="wide", modes=2)
    outlook, last = outlook_of(belief), 0.0
    for x in points(6, belief.X.shape[1], seed=seed)[:, None]:
        outlook = outlook.given(x)
        assert outlook.information > last - 1e-9
        last = outlook.information


def test_a_point_that_is_out_has_little_left_to_tell():
    belief = fitted("two directions", shape="wide")
    x = points(1, belief.X.shape[1])
    for acquired in (information, uncertainty):
        before = score(acquired, outlook_of(belief), x)[0]
        once = outlook_of(belief).given(x)
        twice = once.given(x)
        assert score(acquired, once, x)[0] < before
        assert score(acquired, twice, x)[0] < score(acquired, once, x)[0]


def test_blocks_of_points_do_not_matter_while_some_are_out():
    belief = fitted("two directions", shape="wide", modes=2)
    D = belief.X.shape[1]
    X, outlook = points(3000, D), outlook_of(belief).given(points(3, D, seed=5))
    together = score(information, outlook, X)
    for i in (0, 1, 682, 683, 1023, 1024, 2999):
        assert score(information, outlook, X[i : i + 1])[0] == pytest.approx(together[i], rel=1e-9)


# -- what the scores are ------------------------------------------------------------------------


@every_embedding
@every_shape
@either_marginal
def test_scores_from_the_belief(embedding, shape, marginal):
    belief = replace(fitted(embedding, "se", shape, 2), marginal=marginal)
    X = points(50, belief.X.shape[1])
    p, s2 = belief.predict(X, marginal), belief.noise_variance
    np.testing.assert_allclose(bald(belief, X), belief.bald(X), rtol=1e-12)
    np.testing.assert_allclose(bald(belief, X), 0.5 * np.log(p.variance / p.map_variance), rtol=1e-9)
    expected = 0.5 * np.log((p.variance + s2) / (p.map_variance + s2))
    np.testing.assert_allclose(information(belief, X), expected, rtol=1e-9)
    entropy = 0.5 * np.log(2 * np.pi * np.e * p.variance / np.var(belief.y))
    np.testing.assert_allclose(uncertainty(belief, X), entropy, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("marginal", ["map", "samples"])
def test_other_marginals_are_scored_by_mgp(marginal):
    belief = replace(fitted("two directions"), marginal=marginal)
    X = points(5, 4)
    np.testing.assert_array_equal(bald(belief, X), bald(fitted("two directions"), X))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("embedding", ["two directions", "isotropic"])
def test_order_of_the_data_does_not_matter(embedding, shape):
    """The same hyperparameters on the same data in another order."""
    belief = fitted(embedding, "se", shape, 2)
    n, D = belief.X.shape
    X, out, order = points(20, D), points(3, D, seed=5), np.random.default_rng(0).permutation(n)
    same, mixed = belief.condition_on(belief.X, belief.y), belief.condition_on(belief.X[order], belief.y[order])
    for acquired in SCORES.values():
        expected, gradient = score_with_gradient(acquired, outlook_of(same).given(out), X)
        values, other = score_with_gradient(acquired, outlook_of(mixed).given(out), X)
        np.testing.assert_allclose(values, expected, rtol=1e-7)
        np.testing.assert_allclose(other, gradient, rtol=1e-5, atol=1e-7 * np.abs(gradient).max())
        np.testing.assert_allclose(values, score(acquired, outlook_of(belief).given(out), X), rtol=1e-7)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize(("zoom", "shift", "unit", "level"), [(1e-3, 5.0, 1e4, -3.0), (250.0, -9.0, 0.01, 1.0)])
def test_units_do_not_matter(embedding, zoom, shift, unit, level):
    belief = fitted(embedding, shape="wide")
    X, out = points(10, 12), points(2, 12, seed=5)
    lower, upper = box(12)
    other = rw.fit(
        shift + zoom * belief.X,
        level + unit * belief.y,
        EMBEDDINGS[embedding],
        bounds=(shift + zoom * lower, shift + zoom * upper),
        **QUICK,
    )
    for acquired in SCORES.values():
        values, gradient = score_with_gradient(acquired, outlook_of(belief).given(out), X)
        same, changed = score_with_gradient(acquired, outlook_of(other).given(shift + zoom * out), shift + zoom * X)
        np.testing.assert_allclose(same, values, rtol=1e-4, atol=1e-6)
        size = np.abs(gradient).max(axis=0)
        np.testing.assert_allclose(zoom * changed / size, gradient / size, atol=1e-3)


# -- names ------------------------------------------------------------------------------------


def test_names_stand_for_acquisitions():
    assert acquisition.resolve("bald") is bald
    assert acquisition.resolve("information") is information
    assert acquisition.resolve("uncertainty") is uncertainty
    assert acquisition.resolve(bald) is bald
    assert Bald(noisy=True) == information
    assert Bald() != information


@dataclass(frozen=True)
class Plain:
    """An acquisition as a user would write it."""

    name: ClassVar[str] = "plain"

    def value(self, moments, noise):
        return moments.variance

    def slopes(self, moments, noise):
        return np.ones_like(moments.variance), np.zeros_like(moments.variance)

    @property
    def jointly(self):
        return self


def test_batches_are_chosen_by_what_adds_up():
    assert bald.jointly is information
    assert information.jointly is information
    assert uncertainty.jointly is uncertainty


def test_an_acquisition_of_the_users_own():
    belief, X = fitted("two directions"), points(4, 4)
    mine = acquisition.resolve(Plain())
    values, gradient = score_with_gradient(mine, outlook_of(belief), X)
    np.testing.assert_allclose(belief.output.variance(values), belief.predict(X).variance, rtol=1e-9)
    expected = differences(lambda points: score(mine, outlook_of(belief), points), X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ("entropy", ValueError, "acquisition must be one of 'bald', 'information', 'uncertainty', got 'entropy'"),
        (3, TypeError, r"acquisition must be a name or have value\(\), slopes\(\) and jointly, got 3"),
        (None, TypeError, "acquisition must be a name"),
        (np.sin, TypeError, "acquisition must be a name"),
    ],
)
def test_what_is_no_acquisition(wrong, error, says):
    with pytest.raises(error, match=says):
        acquisition.resolve(wrong)


@pytest.mark.parametrize("call", [bald, information, uncertainty, bald.with_gradient])
def test_points_are_checked(call):
    belief = fitted("two directions")
    with pytest.raises(ValueError, match="X must have 4 columns as the data had, got 3"):
        call(belief, np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"X must have shape \(n, D\)"):
        call(belief, np.zeros(4))
    with pytest.raises(ValueError, match="finite"):
        call(belief, np.full((1, 4), np.nan))


def test_isotropic_reduction_is_by_distance():
    """Otherwise the tests above have not seen it."""
    assert Isotropic.reduction == "distance"
    assert fitted("isotropic", shape="wide").space.rows is not None
    assert fitted("one direction", shape="wide").space.rows is not None
    assert fitted("one direction", shape="tall").space.rows is None
