"""What a belief says, against what the test works out itself from the belief's components.

``Naive`` knows nothing of row spaces, closed-form derivatives or blocks: it has every entry of
``R`` as a parameter, inverts dense matrices and takes differences.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm, ortho_group

import ridgeway as rw
from ridgeway.gp.linear import Linear
from ridgeway.gp.process import condition
from tests.belief.cases import ABSOLUTE, CASES, LOWER, UNIT, UPPER, alone, fit, fitted, outputs, points, scaled
from tests.helpers import SEVERAL, variance_rounding

#: Of finite differences to the fourth order: their own error, ``STEP**4``, is below that of rounding.
STEP = 5e-4


class Naive:
    """One component in all ``D`` inputs, on data of the test's choice."""

    def __init__(self, belief, component, X=None, y=None, known=0.0):
        self.model, self.kernel = belief.model, belief.kernel.name
        self.shift, self.scale = belief.output.shift, belief.output.scale
        self.X = scaled(belief.X if X is None else X)
        self.y = ((belief.y if y is None else y) - self.shift) / self.scale
        self.known = 0.005**2 + np.broadcast_to(known, self.y.shape) / self.scale**2
        self.D = self.X.shape[1]
        theta = component.gp.theta[:-1]  # the last, the prior's scale, moves no moment
        covariance = (component.factor @ component.factor.T)[:-1, :-1]
        self.k = theta.shape[0] - 3
        if isinstance(self.model, Linear):  # every entry of R, with the prior where the data of the fit say nothing
            Q = belief.space.lift(np.eye(belief.space.r))
            np.testing.assert_allclose(scaled(belief.X) @ Q.T @ Q, scaled(belief.X), atol=1e-10)
            rows = self.k // Q.shape[0]
            up = np.zeros((rows * self.D + 3, theta.shape[0]))
            up[:-3, :-3], up[-3:, -3:] = np.kron(np.eye(rows), Q.T), np.eye(3)
            prior = (1.25 * np.exp(component.gp.theta[-1])) ** 2 / self.D
            theta, covariance = up @ theta, up @ covariance @ up.T
            covariance[:-3, :-3] += prior * np.kron(np.eye(rows), np.eye(self.D) - Q.T @ Q)
            self.k = rows * self.D
        self.theta, self.covariance = theta, covariance

    def embedded(self, theta, X):
        if isinstance(self.model, Linear):
            return X @ theta[: self.k].reshape(-1, self.D).T
        return X * np.exp(-theta[: self.k])

    def correlation(self, U, V):
        s = ((U[:, None] - V[None]) ** 2).sum(axis=-1)
        if self.kernel == "se":
            return np.exp(-s / 2)
        assert self.kernel == "matern52"
        return (1 + np.sqrt(5 * s) + 5 * s / 3) * np.exp(-np.sqrt(5 * s))

    def noise(self, theta):
        return self.known + np.exp(2 * theta[-2])

    def process(self, theta, X_new, rows=slice(None)):
        """Mean and variance of ``f`` given ``theta`` and some rows of the data, standardised."""
        gamma2, mean = np.exp(2 * theta[-3]), theta[-1]
        U, V = self.embedded(theta, self.X[rows]), self.embedded(theta, X_new)
        inverse = np.linalg.inv(gamma2 * self.correlation(U, U) + np.diag(self.noise(theta)[rows]))
        k = gamma2 * self.correlation(V, U)
        return mean + k @ inverse @ (self.y[rows] - mean), gamma2 - np.sum(k @ inverse * k, axis=1)

    def marginal(self, X_new, kind, h=STEP):
        """Mean, variance and variance at the mode (paper eq. 19), user's units."""
        X_new = scaled(X_new)
        m, V = self.process(self.theta, X_new)
        dm, dV = np.empty((len(m), len(self.theta))), np.empty((len(m), len(self.theta)))
        for j, step in enumerate(h * np.eye(len(self.theta))):
            at = {q: self.process(self.theta + q * step, X_new) for q in (-2, -1, 1, 2)}  # to the fourth order
            dm[:, j], dV[:, j] = ((8 * (at[1][i] - at[-1][i]) - (at[2][i] - at[-2][i])) / (12 * h) for i in (0, 1))
        of_mean, of_variance = (np.einsum("ni,ij,nj->n", g, self.covariance, g) for g in (dm, dV))
        variance = {"map": V, "bbq": V + of_mean, "mgp": 4 / 3 * V + of_mean + of_variance / (3 * V)}[kind]
        return self.shift + self.scale * m, self.scale**2 * variance, self.scale**2 * V


def naive_prediction(belief, X_new, kind, **data):
    """Moments of the mixture of all components; ``"map"`` is the first alone."""
    components = belief.components[:1] if kind == "map" else belief.components
    parts = [Naive(belief, c, **data).marginal(X_new, kind) for c in components]
    weights = np.array([c.weight for c in components]) if kind != "map" else np.ones(1)
    assert weights.sum() == pytest.approx(1.0)
    mean = sum(w * p[0] for w, p in zip(weights, parts, strict=True))
    second = sum(w * (p[1] + p[0] ** 2) for w, p in zip(weights, parts, strict=True))
    return mean, second - mean**2, sum(w * p[2] for w, p in zip(weights, parts, strict=True))


def assert_same_moments(prediction, naive, belief):
    """As close as the conditioning of the belief lets two ways of computing them be."""
    mean, variance, map_variance = naive
    rounding = variance_rounding(belief)
    np.testing.assert_allclose(prediction.mean, mean, rtol=1e-7)
    np.testing.assert_allclose(prediction.map_variance, map_variance, rtol=1e-9, atol=SEVERAL * rounding)
    # The naive derivatives divide differences of variances, and with them their rounding, by the step.
    np.testing.assert_allclose(prediction.variance, variance, rtol=2e-6, atol=SEVERAL * rounding / STEP)


def known_of(case):
    return CASES[case][3].get("noise_variance", 0.0)


every_case = pytest.mark.parametrize("case", CASES)


# -- predictions -----------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("kind", ["map", "bbq", "mgp"])
def test_predictions_are_the_naive_ones(case, kind):
    belief = fitted(case)
    X_new = points(6, belief.X.shape[1])
    prediction = belief.predict(X_new, kind)
    assert_same_moments(prediction, naive_prediction(belief, X_new, kind, known=known_of(case)), belief)
    np.testing.assert_allclose(prediction.std**2, prediction.variance)


def test_some_beliefs_have_components_of_different_rank():
    """Otherwise the tests above have not seen a mixture."""
    ranks = [c.gp.U.shape[1] for c in fitted("two directions").components]
    assert set(ranks) == {1, 2}


def test_marginal_of_the_fit_is_the_default():
    n, D, embedding, _ = CASES["one direction"]
    X, X_new = points(n, D, seed=1), points(5, D)
    for kind in ("map", "bbq", "mgp", "samples"):
        belief = fit(X, outputs(X), embedding, marginal=kind, inference="map")
        np.testing.assert_array_equal(belief.predict(X_new).variance, belief.predict(X_new, kind).variance)


@pytest.mark.parametrize("case", ["two directions", "wide, two directions", "diagonal"])
def test_blocks_of_points_do_not_matter(case):
    belief = fitted(case)
    X_new = points(5000, belief.X.shape[1])
    for kind in ("map", "mgp"):
        together = belief.predict(X_new, kind)
        for i in (0, 1, 255, 256, 2047, 4095, 4096, 4999):
            single = belief.predict(X_new[i : i + 1], kind)
            for a, b in zip(single, together, strict=True):
                assert a[0] == pytest.approx(b[i], rel=1e-8)
    together = belief.bald(X_new)
    assert together.shape == (5000,)
    for i in (0, 256, 4095, 4999):
        assert belief.bald(X_new[i : i + 1])[0] == pytest.approx(together[i], rel=1e-8)


# -- bald ------------------------------------------------------------------------------------


@every_case
def test_bald_is_half_the_log_ratio_of_variances(case):
    belief = fitted(case)
    X_new = points(200, belief.X.shape[1])
    p = belief.predict(X_new, "mgp")
    np.testing.assert_allclose(belief.bald(X_new), 0.5 * np.log(p.variance / p.map_variance), rtol=1e-9)
    assert belief.bald(X_new).min() >= 0.5 * np.log(4 / 3) - 1e-12
    other = replace(belief, marginal="bbq")
    p = belief.predict(X_new, "bbq")
    np.testing.assert_allclose(other.bald(X_new), 0.5 * np.log(p.variance / p.map_variance), rtol=1e-9)
    assert other.bald(X_new).min() >= -1e-12


def test_bald_is_large_where_components_disagree():
    """Two inputs that were always equal: is it the first that matters, or the second? Nobody can know."""
    x = points(15, 1, seed=2)
    X = np.hstack([x, x])
    belief = fit(X, outputs(X), rw.Linear(1), n_starts=2, inference="map")
    best = belief.components[0]
    length = np.abs(best.gp.parameters.sum())
    assert length > 0.5
    components = []
    for parameters in ([length, 0.0], [0.0, length]):
        theta = np.concatenate([parameters, best.gp.theta[-4:]])
        gp = condition(Linear(1), belief.kernel, belief.posterior.data, theta)
        components.append(replace(best, gp=gp, factor=np.zeros_like(best.factor), weight=0.5))
    belief = replace(belief, components=tuple(components))
    inside = np.linspace(LOWER, UPPER, 9)[:, None]
    same = belief.bald(np.hstack([inside, inside]))
    np.testing.assert_allclose(same, 0.5 * np.log(4 / 3), atol=1e-6)
    other = belief.bald(np.hstack([inside, LOWER + UPPER - inside]))
    means = np.stack([alone(belief, i).predict(np.hstack([inside, LOWER + UPPER - inside])).mean for i in (0, 1)])
    gap = np.abs(means[0] - means[1])
    assert gap.max() > UNIT
    order = np.argsort(gap)
    assert np.all(other >= 0.5 * np.log(4 / 3) - 1e-6)
    assert np.all(other[order[-4:]] > 1.0)
    assert other[order[0]] < 0.2  # in the middle the two inputs are equal again


# -- samples ---------------------------------------------------------------------------------


def brute_force(belief, X_new, n, seed=3):
    """Moments at ``X_new`` by importance sampling from a wide Gaussian, squared exponential, ``Linear(1)``."""
    component = belief.components[0]
    z = np.random.default_rng(seed).standard_normal((n, component.factor.shape[1]))
    theta = component.gp.theta + 1.25 * z @ component.factor.T
    R, log_gamma, log_sigma, mean, log_scale = theta[:, :-4], *theta[:, -4:].T
    X, X_new = scaled(belief.X), scaled(X_new)
    shift, scale = belief.y.mean(), belief.y.std()
    U, V = R @ X.T, R @ X_new.T
    gamma2 = np.exp(2 * log_gamma)[:, None, None]
    G = gamma2 * np.exp(-0.5 * (U[:, :, None] - U[:, None, :]) ** 2)
    G += (np.exp(2 * log_sigma)[:, None, None] + 0.005**2) * np.eye(X.shape[0])
    residual = (belief.y - shift) / scale - mean[:, None]
    k = gamma2 * np.exp(-0.5 * (V[:, :, None] - U[:, None, :]) ** 2)
    inverse = np.linalg.inv(G)
    alpha = np.einsum("tij,tj->ti", inverse, residual)
    log_p = -0.5 * np.sum(residual * alpha, axis=1) - 0.5 * np.linalg.slogdet(G)[1]
    log_p += norm.logpdf(R, 0.0, 1.25 / np.sqrt(X.shape[1]) * np.exp(log_scale)[:, None]).sum(axis=1)
    log_p += norm.logpdf(log_gamma) + norm.logpdf(log_sigma, -1.5, 0.7)
    log_p += norm.logpdf(mean, 0.0, 0.5) + norm.logpdf(log_scale)
    log_w = log_p + 0.5 * np.sum(z**2, axis=1)
    w = np.exp(log_w - logsumexp(log_w))
    assert 1.0 / np.sum(w**2) > 200
    m = mean[:, None] + np.einsum("tmi,ti->tm", k, alpha)
    v = gamma2[:, :, 0] - np.einsum("tmi,tij,tmj->tm", k, inverse, k, optimize=True)
    first = w @ m
    return shift + scale * first, scale**2 * (w @ (v + m**2) - first**2), scale**2 * (w @ v)


@pytest.fixture(scope="module")
def ridge():
    """Few enough data that the hyperparameters are uncertain, and one mode of a curve; a straight line is left out."""
    X = points(24, 2, seed=4)
    y = ABSOLUTE + UNIT * (
        np.sin(2.0 * scaled(X)[:, 0] + scaled(X)[:, 1]) + 0.3 * np.random.default_rng(4).normal(size=24)
    )
    belief = fit(X, y, rw.Linear(1))
    assert [c.is_line for c in belief.components] == [False, True]
    return alone(belief)


def test_samples_are_the_brute_force_average(ridge):
    X_new = points(12, 2)
    mean, variance, conditional = brute_force(ridge, X_new, 4000)
    p = ridge.predict(X_new, "samples")
    np.testing.assert_allclose(p.mean, mean, atol=0.25 * np.sqrt(variance).min())
    # Which draws there are may differ between processors: three standard errors of a standard deviation.
    spread = 3.0 / np.sqrt(2.0 * ridge.effective_sample_size)
    assert spread < 0.25
    np.testing.assert_allclose(p.std, np.sqrt(variance), rtol=spread)
    np.testing.assert_allclose(np.sqrt(p.map_variance), np.sqrt(conditional), rtol=spread)


def test_samples_say_what_they_are_worth(ridge):
    for belief in (ridge, fitted("two directions"), fitted("wide"), fitted("diagonal")):
        assert 1.0 <= belief.effective_sample_size <= 512.0
        assert np.isfinite(belief.pareto_k)
    assert ridge.effective_sample_size > 50
    assert ridge.pareto_k < 1.0


def test_samples_are_reproducible(ridge):
    X_new = points(5, 2)
    first, again = ridge.predict(X_new, "samples"), replace(ridge).predict(X_new, "samples")
    np.testing.assert_array_equal(first.variance, again.variance)


def test_samples_agree_with_mgp_where_all_is_easy():
    X = points(60, 2, seed=6)
    y = np.sin(2.0 * scaled(X)[:, 0] + scaled(X)[:, 1]) + 0.1 * np.random.default_rng(6).normal(size=60)
    belief = fit(X, y, rw.Linear(1))
    X_new = points(40, 2)
    samples, mgp = belief.predict(X_new, "samples"), belief.predict(X_new, "mgp")
    assert np.abs(samples.mean - mgp.mean).max() < 0.05
    # eq. 19 counts 4/3 of the variance at the mode, the draws about all of it
    ratio = mgp.std / samples.std
    assert ratio.min() > 0.9
    assert ratio.max() < 1.35


# -- observations ----------------------------------------------------------------------------


@every_case
def test_leaving_one_out_is_conditioning_on_all_others(case):
    belief = fitted(case)
    n = len(belief.y)
    parts = []
    for c in belief.components:
        naive = Naive(belief, c, known=known_of(case))
        noise = naive.noise(naive.theta)
        pairs = []
        for i in range(n):
            mean, variance = naive.process(naive.theta, naive.X[[i]], np.delete(np.arange(n), i))
            pairs.append((naive.shift + naive.scale * mean[0], naive.scale**2 * (variance[0] + noise[i])))
        parts.append(np.array(pairs))
    weights = np.array([c.weight for c in belief.components])
    mean = sum(w * p[:, 0] for w, p in zip(weights, parts, strict=True))
    second = sum(w * (p[:, 1] + p[:, 0] ** 2) for w, p in zip(weights, parts, strict=True))
    left_out = belief.leave_one_out()
    np.testing.assert_allclose(left_out.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(left_out.variance, second - mean**2, rtol=1e-9, atol=SEVERAL * variance_rounding(belief))


@pytest.mark.parametrize("kind", [None, "map", "bbq", "samples"])
def test_log_predictive_density_is_the_gaussian_one(kind):
    belief = fitted("two directions")
    X_new = points(7, 4)
    y_new = outputs(X_new, seed=8)
    p = belief.predict(X_new, kind)
    for known in (None, 4.0, np.linspace(0.0, 300.0, 7)):
        variance = p.variance + belief.noise_variance + (0.0 if known is None else known)
        expected = norm.logpdf(y_new, p.mean, np.sqrt(variance))
        got = belief.log_predictive_density(X_new, y_new, kind, noise_variance=known)
        np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_log_predictive_density_in_other_units():
    """A density of outputs a thousand times larger is a thousand times smaller."""
    X = points(20, 3, seed=1)
    y, X_new = outputs(X), points(7, 3)
    y_new = outputs(X_new, seed=8)
    a, b = fit(X, y, rw.Linear(1)), fit(X, 1000.0 * y, rw.Linear(1))
    expected = a.log_predictive_density(X_new, y_new) - np.log(1000.0)
    np.testing.assert_allclose(b.log_predictive_density(X_new, 1000.0 * y_new), expected, atol=1e-3)


# -- the same hyperparameters on other data --------------------------------------------------


def other_data(D, n=9):
    X = points(n, D, seed=11)
    return X, outputs(X, seed=11)


@every_case
@pytest.mark.parametrize("kind", ["map", "bbq", "mgp"])
def test_conditioning_on_other_data_by_hand(case, kind):
    """Where there are more inputs than rows, the other data leave the span of the first, too."""
    belief = fitted(case)
    X, y = other_data(belief.X.shape[1])
    known = np.linspace(0.0, 30.0, len(y))
    other = belief.condition_on(X, y, noise_variance=known)
    X_new = np.vstack([points(5, belief.X.shape[1]), X[:2]])
    naive = naive_prediction(belief, X_new, kind, X=X, y=y, known=known)
    assert_same_moments(other.predict(X_new, kind), naive, other)


@every_case
def test_conditioning_keeps_the_hyperparameters_and_the_first_belief(case):
    belief = fitted(case)
    X_new = points(5, belief.X.shape[1])
    before = belief.predict(X_new)
    X, y = other_data(belief.X.shape[1])
    other = belief.condition_on(X, y)
    np.testing.assert_array_equal(belief.predict(X_new).variance, before.variance)
    assert belief.y is not other.y
    assert other.X.shape == X.shape
    np.testing.assert_array_equal(other.y, y)
    assert other.noise_variance == belief.noise_variance
    assert other.output_scale == belief.output_scale
    assert other.mean == belief.mean
    np.testing.assert_allclose(other.embedding, belief.embedding, atol=1e-12)
    again = other.condition_on(belief.X, belief.y, noise_variance=CASES[case][3].get("noise_variance"))
    np.testing.assert_allclose(again.predict(X_new).mean, before.mean, rtol=1e-8)
    rounding = SEVERAL * variance_rounding(belief)
    np.testing.assert_allclose(again.predict(X_new).variance, before.variance, rtol=1e-9, atol=rounding)


def test_conditioning_carries_the_draws_over(ridge):
    """The weights of ``"samples"`` are what was learned: nine other points do not replace it."""
    X, y = other_data(2)
    other = ridge.condition_on(X, y)
    assert other.effective_sample_size == pytest.approx(ridge.effective_sample_size)
    assert other.pareto_k == pytest.approx(ridge.pareto_k)


def test_conditioned_belief_does_not_change_with_its_arrays():
    belief = fitted("wide")
    X, y = other_data(30)
    kept = X.copy(), y.copy()
    other = belief.condition_on(X, y)
    X[:], y[:] = 0.0, 0.0
    np.testing.assert_array_equal(other.X, kept[0])
    np.testing.assert_array_equal(other.y, kept[1])


@pytest.mark.parametrize("case", ["one direction", "wide"])
def test_fit_goes_on_from_a_conditioned_belief(case):
    """One more observation: every row of the new data must lie in the new row space."""
    belief = fitted(case)
    X, y = other_data(belief.X.shape[1], n=12)
    other = belief.condition_on(X[:-1], y[:-1])
    grown = fit(X, y, rw.Linear(1), initial=other, n_starts=1)
    np.testing.assert_allclose(grown.space.Z @ grown.space.Z.T, scaled(X) @ scaled(X).T, atol=1e-8)


# -- importances -----------------------------------------------------------------------------


@every_case
def test_importances_are_mean_squares_of_the_means_derivatives(case):
    belief = fitted(case)
    D, h = belief.X.shape[1], 1e-5
    total = np.zeros(D)
    for c in belief.components:
        naive = Naive(belief, c, known=known_of(case))
        for j, step in enumerate(h * np.eye(D)):
            up, down = (naive.process(naive.theta, naive.X + sign * step)[0] for sign in (1, -1))
            total[j] += c.weight * np.mean(((up - down) / (2 * h)) ** 2)
    share = belief.importances()
    assert share.sum() == pytest.approx(1.0)
    assert share.min() >= 0
    np.testing.assert_allclose(share, total / total.sum(), atol=1e-6)


@pytest.mark.parametrize("embedding", [rw.Linear(1), rw.Linear(2), rw.Diagonal()])
def test_inert_inputs_have_next_to_no_importance(embedding):
    X = points(50, 6, seed=12)
    belief = fit(X, outputs(X, noise=0.05), embedding)
    share = belief.importances()
    assert share[2:].max() < 0.01
    assert share[0] > share[1] > 0.1


def test_importances_of_one_length_scale_are_those_of_the_function():
    """One length scale for all inputs: they differ all the same, because the function does."""
    X = points(50, 3, seed=12)
    share = fit(X, outputs(X, noise=0.05), rw.Isotropic()).importances()
    assert share[0] > share[1] > share[2]
    assert share[2] < 0.1


def test_importances_and_predictions_do_not_depend_on_the_rotation():
    belief = alone(fitted("joint mode"))
    assert belief.rank == 2
    c = belief.components[0]
    turn = np.eye(len(c.gp.theta))
    turn[:8, :8] = np.kron(ortho_group.rvs(2, random_state=0), np.eye(4))
    gp = condition(c.gp.embedding, belief.kernel, c.gp.data, turn @ c.gp.theta)
    turned = replace(belief, components=(replace(c, gp=gp, factor=turn @ c.factor),))
    np.testing.assert_allclose(turned.importances(), belief.importances(), atol=1e-10)
    np.testing.assert_allclose(turned.embedding, belief.embedding, atol=1e-8)
    np.testing.assert_allclose(turned.embedding_std, belief.embedding_std, atol=1e-8)
    X_new = points(3, 4)
    for a, b in zip(turned.embed(X_new), belief.embed(X_new), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8)


# -- scales and words ------------------------------------------------------------------------


def test_scales_are_in_the_users_units():
    X = points(60, 2, seed=13)
    y = outputs(X, noise=0.1)
    belief = fit(X, y, rw.Linear(2))
    assert np.sqrt(belief.noise_variance) == pytest.approx(0.1 * UNIT, rel=0.3)
    theta = belief.components[0].gp.theta
    assert belief.output_scale == pytest.approx(y.std() * np.exp(theta[-4]))
    assert belief.mean == pytest.approx(y.mean() + y.std() * theta[-2])
    weighted = sum(c.weight * np.exp(2 * c.gp.theta[-3]) for c in belief.components)
    assert belief.noise_variance == pytest.approx(y.var() * (weighted + 0.005**2))
    assert y.min() < belief.mean < y.max()
    plain = fit(X, (y - ABSOLUTE) / UNIT, rw.Linear(2), standardize=False)
    assert plain.mean == pytest.approx(plain.components[0].gp.theta[-2])
    assert plain.output_scale == pytest.approx(np.exp(plain.components[0].gp.theta[-4]))
    assert np.sqrt(plain.noise_variance) == pytest.approx(0.1, rel=0.3)


def test_repr_says_what_it_is():
    belief = fitted("wide")
    text = repr(belief)
    assert text.startswith("Belief(Linear(d=1), n=15, D=30, log_evidence=")
    assert f"{belief.log_evidence:.1f}" in text
    assert belief.diagnostics.status in text


def test_frozen():
    belief = fitted("one direction")
    parts = (belief, belief.diagnostics, belief.components[0], belief.components[0].gp, belief.space, belief.posterior)
    for part in parts:
        for field in fields(part):
            with pytest.raises(FrozenInstanceError):
                setattr(part, field.name, None)
    with pytest.raises(FrozenInstanceError):
        belief.anything = 1
    with pytest.raises(AttributeError):
        belief.noise_variance = 1.0
    with pytest.raises(AttributeError):
        belief.predict(points(1, 4)).mean = 0.0
