"""Moments given pending points, against a naive joint covariance."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active.acquisition import information, outlook_of, score, uncertainty
from ridgeway.active.component_view import ComponentView
from ridgeway.active.pending import PendingBelief
from ridgeway.gp.length_scales import Isotropic
from ridgeway.gp.linear import Linear
from tests.active.cases import either_marginal, every_embedding, every_shape, fitted, points, scaled
from tests.belief.many import QUICK, rows


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


def naive_conditional(belief, X, pending, kind):
    """Mixture's marginal and plain variance at ``X`` given that ``pending`` will be observed, standardised."""
    parts = [Naive(belief, c) for c in belief.components]
    w = [c.weight for c in belief.components]
    joints = [part.joint(np.vstack([X, pending]), kind) for part in parts]
    center = sum(weight * mean for weight, (mean, _, _) in zip(w, joints, strict=True))
    plain = sum(weight * C for weight, (_, C, _) in zip(w, joints, strict=True))
    full = sum(
        weight * (C + np.outer(mean - center, mean - center)) for weight, (mean, _, C) in zip(w, joints, strict=True)
    )
    noise = sum(weight * part.noise for weight, part in zip(w, parts, strict=True))
    n = len(X)
    result = []
    for C in (full, plain):
        observed = C[n:, n:] + noise * np.eye(len(pending))
        result.append(np.diagonal(C[:n, :n] - C[:n, n:] @ np.linalg.solve(observed, C[n:, :n])))
    gain = 0.5 * (
        np.linalg.slogdet(full[n:, n:] + noise * np.eye(len(pending)))[1]
        - np.linalg.slogdet(plain[n:, n:] + noise * np.eye(len(pending)))[1]
    )
    return result[0], result[1], gain


@every_embedding
@pytest.mark.parametrize("kernel", ["se", "matern52"])
@every_shape
@pytest.mark.parametrize("modes", [1, 2])
@either_marginal
def test_moments_given_pending_points_are_the_naive_ones(embedding, kernel, shape, modes, marginal):
    belief = fitted(embedding, kernel, shape, modes)
    D = belief.X.shape[1]
    X, pending = points(5, D), points(4, D, seed=5)
    variance, plain, gain = naive_conditional(belief, X, pending, marginal)
    outlook = PendingBelief(belief, marginal).given(pending)
    moments = outlook.moments(outlook.reduced(X))
    np.testing.assert_allclose(moments.map_variance, plain, rtol=1e-6)
    np.testing.assert_allclose(moments.variance, variance, rtol=1e-6)
    assert outlook.information == pytest.approx(gain, rel=1e-6)
    assert outlook.n_pending == 4


@every_embedding
@every_shape
@pytest.mark.parametrize("modes", [1, 2])
@either_marginal
def test_nothing_pending_is_the_prediction(embedding, shape, modes, marginal):
    belief = fitted(embedding, "se", shape, modes)
    X = points(20, belief.X.shape[1])
    outlook = PendingBelief(belief, marginal)
    expected = belief.predict(X, marginal)
    for moments in (
        outlook.moments(outlook.reduced(X)),
        outlook.pull_back(outlook.reduced(X), lambda m: (m.variance, m.variance))[0],
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
        outlook = PendingBelief(belief, marginal)
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


def test_a_pending_point_has_little_information_left():
    belief = fitted("two directions", shape="wide")
    x = points(1, belief.X.shape[1])
    for acquired in (information, uncertainty):
        before = score(acquired, outlook_of(belief), x)[0]
        once = outlook_of(belief).given(x)
        twice = once.given(x)
        assert score(acquired, once, x)[0] < before
        assert score(acquired, twice, x)[0] < score(acquired, once, x)[0]


def test_blocks_of_points_do_not_matter_while_some_are_pending():
    belief = fitted("two directions", shape="wide", modes=2)
    D = belief.X.shape[1]
    X, outlook = points(3000, D), outlook_of(belief).given(points(3, D, seed=5))
    together = score(information, outlook, X)
    for i in (0, 1, 682, 683, 1023, 1024, 2999):
        assert score(information, outlook, X[i : i + 1])[0] == pytest.approx(together[i], rel=1e-9)


def test_isotropic_reduction_is_by_distance():
    """Otherwise the tests above have not seen it."""
    assert Isotropic.reduction == "distance"
    assert fitted("isotropic", shape="wide").space.rows is not None
    assert fitted("one direction", shape="wide").space.rows is not None
    assert fitted("one direction", shape="tall").space.rows is None


# -- a finite basis -----------------------------------------------------------------------------


def by_waves_and_exact():
    X, y = rows(500)
    return [
        rw.fit(X, y, Linear(1), approximation=how, settings=QUICK, robust=False, bounds=(0, 1))
        for how in ("features", "exact")
    ]


@pytest.mark.slow
def test_pending_points_of_a_finite_basis_are_those_of_the_exact_process():
    """At the hyperparameters that each has found, which are nearly the same."""
    waves, exact = by_waves_and_exact()
    rng = np.random.default_rng(2)
    pending, X = rng.uniform(0, 1, (4, 4)), rng.uniform(0, 1, (40, 4))
    found, expected = (outlook_of(belief).given(pending) for belief in (waves, exact))
    assert found.information == pytest.approx(expected.information, rel=0.1)
    for acquired in (information, uncertainty):
        a, b = (score(acquired, outlook, X) for outlook in (found, expected))
        assert np.abs(a - b).mean() < 0.1 * b.std()
    assert (score(information, found, pending) < score(information, outlook_of(waves), pending)).all()


@pytest.mark.slow
def test_covariances_of_a_finite_basis_against_solving_for_them():
    waves, _ = by_waves_and_exact()
    view = ComponentView(waves.components[0], "mgp")
    gp = waves.components[0].gp
    z = np.random.default_rng(3).uniform(-1, 1, (7, 4))
    seen = view.features(z)
    plain, full = view.covariances(seen, seen, np.zeros((7, 7)))
    psi = gp.functions(z)
    np.testing.assert_allclose(plain, psi @ np.linalg.solve(gp.L @ gp.L.T, psi.T), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(full), view.variance(seen, np.zeros(7)), rtol=1e-9)
