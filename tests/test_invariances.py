"""What must not matter: rotation of ``R``, order and units of the data, how the row space was found, the weather.

Two levels. The engine, at given hyperparameters, is compared to rounding. Whole fits, whose
searches stop at a tolerance, are compared on problems with one clear mode.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import ortho_group
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import ridgeway as rw
from ridgeway.checks import column_range
from ridgeway.gp import kernels, likelihood, moments, rowspace
from ridgeway.gp.process import Data, condition
from ridgeway.gp.scaling import InputScaling

settings.register_profile("few", max_examples=12, deadline=None, derandomize=True)
settings.load_profile("few")
fits = settings(max_examples=5)

KERNELS = [
    kernels.SquaredExponential(),
    kernels.Matern32(),
    kernels.Matern52(),
    kernels.RationalQuadratic(),
    kernels.RationalQuadratic(0.6),
]
any_kernel = st.sampled_from(KERNELS)
seeds = st.integers(0, 2**16)
exponents = st.floats(-9.0, 9.0)
SCIKIT = {"se": sk.RBF(1.0), "matern32": sk.Matern(1.0, nu=1.5), "matern52": sk.Matern(1.0, nu=2.5)}


class Problem:
    """Data in the engine's coordinates, hyperparameters and some covariance of theirs, drawn from a seed."""

    def __init__(self, seed, kernel, n=14, r=4, d=2, embedding=None):
        rng = np.random.default_rng(seed)
        self.kernel, self.d, self.r = kernel, d, r
        self.embedding = embedding or rw.Linear(d)
        Z = rng.uniform(-1.0, 1.0, (n, r))
        self.data = Data(Z, np.sin(2.0 * Z[:, 0]) + 0.1 * rng.normal(size=n), rng.uniform(1e-3, 1e-2, n))
        p = self.embedding.n_parameters(r)
        self.theta = np.concatenate([rng.normal(size=p), rng.normal(0.0, 0.3, 4) - [0.0, 1.5, 0.0, 0.0]])
        self.factor = 0.1 * rng.normal(size=(p + 4, 5))
        self.Z_test = rng.uniform(-1.5, 1.5, (9, r))
        self.rho = rng.uniform(0.0, 1.0, 9)
        self.gp = condition(self.embedding, kernel, self.data, self.theta)

    def moments(self, gp=None, factor=None, Z=None, kind="mgp"):
        gp, factor, Z = gp or self.gp, self.factor if factor is None else factor, self.Z_test if Z is None else Z
        return moments.moments(gp, factor, Z, self.rho, 0.3, kind)


def ridge(n=25, D=3, seed=0):
    """A function of one direction with one clear mode, and points to compare at."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=D)
    direction *= 1.6 / np.linalg.norm(direction)
    X, X_test = rng.uniform(-1.0, 1.0, (n, D)), rng.uniform(-1.0, 1.0, (12, D))
    return X, np.sin(X @ direction) + 0.03 * rng.normal(size=n), X_test


def fit(X, y, embedding=None, **arguments):
    return rw.fit(X, y, embedding or rw.Linear(1), **{"n_starts": 3, "inference": "map", **arguments})


def assert_same_belief(a, b, X_a, X_b, shift=0.0, scale=1.0, atol=2e-3):
    """Predictions of ``b`` are those of ``a`` in units that are ``scale`` times as small, and as telling."""
    for kind in ("map", "bbq", "mgp"):
        p, q = a.predict(X_a, marginal=kind), b.predict(X_b, marginal=kind)
        spread = abs(scale) * np.std(a.y)
        np.testing.assert_allclose(q.mean - shift, scale * p.mean, atol=atol * spread, rtol=0)
        np.testing.assert_allclose(q.std, abs(scale) * p.std, atol=atol * spread, rtol=0)
        np.testing.assert_allclose(np.sqrt(q.map_variance), abs(scale) * np.sqrt(p.map_variance), atol=atol * spread)
    np.testing.assert_allclose(b.bald(X_b), a.bald(X_a), atol=10 * atol)


# -- rotation of R ---------------------------------------------------------------------------


@given(seeds, any_kernel, st.integers(1, 3))
def test_rotation_leaves_the_likelihood_and_turns_its_derivatives(seed, kernel, d):
    problem = Problem(seed, kernel, d=d)
    turn, rotated = _rotated(problem, seed)
    assert rotated.log_likelihood() == pytest.approx(problem.gp.log_likelihood(), rel=1e-11, abs=1e-10)
    np.testing.assert_allclose(likelihood.gradient(rotated), turn @ likelihood.gradient(problem.gp), atol=1e-8)
    H = likelihood.hessian(problem.gp)
    np.testing.assert_allclose(likelihood.hessian(rotated), turn @ H @ turn.T, atol=1e-9 * np.abs(H).max())


@given(seeds, any_kernel, st.integers(2, 3))
def test_rotation_leaves_the_predictive_moments(seed, kernel, d):
    problem = Problem(seed, kernel, d=d)
    turn, rotated = _rotated(problem, seed)
    for kind in ("map", "bbq", "mgp"):
        before, after = problem.moments(kind=kind), problem.moments(rotated, turn @ problem.factor, kind=kind)
        np.testing.assert_allclose(after.mean, before.mean, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(after.variance, before.variance, rtol=1e-7)
        np.testing.assert_allclose(after.map_variance, before.map_variance, rtol=1e-8)


@given(seeds, any_kernel)
def test_rotation_costs_nothing_to_first_and_second_order(seed, kernel):
    """Along ``S R`` the gradient vanishes everywhere; this is the gauge."""
    problem = Problem(seed, kernel, d=2)
    A = problem.gp.parameters.reshape(2, -1)
    tangent = np.concatenate([A[1], -A[0]])
    assert abs(likelihood.gradient(problem.gp)[:-4] @ tangent) < 1e-8


@settings(max_examples=3)
@given(seeds)
def test_rotation_of_the_inputs_turns_the_embedding(seed):
    """With a box that is a cube about the origin the prior on ``R`` knows no direction either."""
    X, y, X_test = ridge(seed=1)
    turn = ortho_group(3, seed=seed).rvs()
    a, b = fit(X, y, bounds=(-1, 1)), _quietly_outside(X @ turn.T, y, bounds=(-1, 1))
    assert_same_belief(a, b, X_test, X_test @ turn.T)
    np.testing.assert_allclose(_direction(b.embedding), _direction(a.embedding @ turn.T), atol=1e-3)


def _rotated(problem, seed):
    d, r = problem.d, problem.r
    small = ortho_group(d, seed=seed).rvs() if d > 1 else -np.eye(1)
    turn = np.eye(d * r + 4)
    turn[: d * r, : d * r] = np.kron(small, np.eye(r))
    return turn, condition(problem.embedding, problem.kernel, problem.data, turn @ problem.theta)


def _direction(R):
    u = R[0] / np.linalg.norm(R[0])
    return u * np.sign(u[np.argmax(np.abs(u))])


def _quietly_outside(X, y, **arguments):
    if np.abs(X).max() <= 1.0:
        return fit(X, y, **arguments)
    with pytest.warns(rw.RidgewayWarning, match="outside the bounds"):
        return fit(X, y, **arguments)


# -- order of the data -----------------------------------------------------------------------


@given(seeds, any_kernel, st.sampled_from([rw.Linear(2), rw.Diagonal(), rw.Isotropic()]))
def test_order_of_the_data_leaves_the_engine(seed, kernel, embedding):
    problem = Problem(seed, kernel, embedding=embedding)
    order = np.random.default_rng(seed).permutation(problem.data.n)
    data = Data(problem.data.Z[order], problem.data.y[order], problem.data.noise[order])
    shuffled = condition(embedding, kernel, data, problem.theta)
    assert shuffled.log_likelihood() == pytest.approx(problem.gp.log_likelihood(), rel=1e-11, abs=1e-10)
    np.testing.assert_allclose(likelihood.gradient(shuffled), likelihood.gradient(problem.gp), rtol=1e-8, atol=1e-9)
    H = likelihood.hessian(problem.gp)
    np.testing.assert_allclose(likelihood.hessian(shuffled), H, atol=1e-10 * np.abs(H).max())
    before, after = problem.moments(), problem.moments(shuffled)
    np.testing.assert_allclose(after.mean, before.mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(after.variance, before.variance, rtol=1e-8)


@fits
@given(seeds, st.sampled_from([3, 40]))
def test_order_of_the_data_leaves_the_belief(seed, D):
    X, y, X_test = ridge(D=D, seed=2)
    order = np.random.default_rng(seed).permutation(len(y))
    a, b = fit(X, y), fit(X[order], y[order])
    if D == 3:
        assert_same_belief(a, b, X_test, X_test)
    assert b.log_evidence == pytest.approx(a.log_evidence, abs=0.05 if D == 3 else 2.0)


@pytest.mark.parametrize("inference", ["map", "nested"])
def test_order_of_the_data_leaves_the_order_of_what_is_said_of_them(inference):
    X, y, _ = ridge()
    a, b = fit(X, y, inference=inference), fit(X[::-1], y[::-1], inference=inference)
    np.testing.assert_allclose(b.leave_one_out().mean[::-1], a.leave_one_out().mean, atol=5e-3)


# -- units -----------------------------------------------------------------------------------


@given(seeds, any_kernel, st.floats(-1e3, 1e3))
def test_shifting_the_inputs_leaves_the_likelihood(seed, kernel, shift):
    for embedding in (rw.Linear(2), rw.Diagonal(), rw.Isotropic()):
        problem = Problem(seed, kernel, embedding=embedding)
        data = Data(problem.data.Z + shift, problem.data.y, problem.data.noise)
        moved = condition(embedding, kernel, data, problem.theta)
        assert moved.log_likelihood() == pytest.approx(problem.gp.log_likelihood(), rel=1e-7, abs=1e-6)
        H = likelihood.hessian(problem.gp)
        np.testing.assert_allclose(
            likelihood.gradient(moved), likelihood.gradient(problem.gp), atol=1e-7 * np.abs(H).max()
        )
        np.testing.assert_allclose(likelihood.hessian(moved), H, atol=1e-5 * np.abs(H).max())


@fits
@given(st.lists(st.tuples(exponents, st.floats(-5.0, 5.0)), min_size=3, max_size=3), st.booleans())
def test_units_of_x(units, bounded):
    """Columns in other units, each with its own zero, and the box with them."""
    X, y, X_test = ridge()
    scale = np.array([10.0**exponent for exponent, _ in units])
    shift = scale * np.array([offset for _, offset in units])
    box = {"bounds": (-1.0, 1.0)} if bounded else {}
    moved = {"bounds": (shift - scale, shift + scale)} if bounded else {}
    a = fit(X, y, **box)
    # A hair wider than the data, whose outermost points may round to the other side of the box.
    b = fit(X * scale + shift, y, **moved)
    assert_same_belief(a, b, X_test, X_test * scale + shift)
    np.testing.assert_allclose(b.embedding, a.embedding, atol=1e-3)
    assert b.log_evidence == pytest.approx(a.log_evidence, abs=1e-2)


@fits
@given(exponents, st.floats(-5.0, 5.0), st.booleans())
def test_units_of_y(exponent, offset, negative):
    X, y, X_test = ridge()
    scale = (-1.0 if negative else 1.0) * 10.0**exponent
    shift = offset * abs(scale)
    a, b = fit(X, y), fit(X, scale * y + shift)
    assert_same_belief(a, b, X_test, X_test, shift, scale)
    assert b.log_evidence == pytest.approx(a.log_evidence - len(y) * np.log(abs(scale)), abs=1e-2)
    assert b.noise_variance == pytest.approx(scale**2 * a.noise_variance, rel=1e-2)
    assert b.output_scale == pytest.approx(abs(scale) * a.output_scale, rel=1e-2)
    assert b.mean == pytest.approx(scale * a.mean + shift, abs=1e-2 * abs(scale))
    np.testing.assert_allclose(b.embedding, a.embedding, atol=1e-3)


@pytest.mark.parametrize("inference", ["map", "nested"])
def test_units_of_y_by_a_power_of_two_are_exact(inference):
    """No rounding, no excuse: bald is the same to the last bit but one."""
    X, y, X_test = ridge()
    a, b = fit(X, y, rw.Linear(2), inference=inference), fit(X, 1024.0 * y, rw.Linear(2), inference=inference)
    np.testing.assert_allclose(b.bald(X_test), a.bald(X_test), rtol=1e-12)
    np.testing.assert_allclose(b.predict(X_test).mean, 1024.0 * a.predict(X_test).mean, rtol=1e-12)
    np.testing.assert_allclose(b.predict(X_test).variance, 1024.0**2 * a.predict(X_test).variance, rtol=1e-12)


@pytest.mark.parametrize("embedding", [rw.Linear(1), rw.Diagonal(), rw.Isotropic()])
def test_units_of_known_noise_are_those_of_y_squared(embedding):
    X, y, X_test = ridge()
    noise = np.linspace(0.001, 0.1, len(y))
    a = fit(X, y, embedding, noise_variance=noise)
    b = fit(X, 1024.0 * y, embedding, noise_variance=1024.0**2 * noise)
    assert_same_belief(a, b, X_test, X_test, scale=1024.0, atol=1e-6)


@pytest.mark.parametrize("embedding", [rw.Linear(1), rw.Diagonal(), rw.Isotropic()])
def test_box_sets_units_and_no_walls(embedding):
    """Half the box is the same as twice the prior scale, wherever the points are."""
    X, y, X_test = ridge()
    with pytest.warns(rw.RidgewayWarning, match="outside the bounds"):
        a = fit(X, y, embedding, bounds=(-0.5, 0.5), priors=rw.Priors(embedding_scale=0.4))
    b = fit(X, y, embedding, bounds=(-1, 1), priors=rw.Priors(embedding_scale=0.8))
    assert_same_belief(a, b, 3.0 * X_test, 3.0 * X_test)
    np.testing.assert_allclose(2.0 * a.embedding, b.embedding, atol=2e-3)


# -- special cases ---------------------------------------------------------------------------


@given(seeds, any_kernel)
def test_one_input_is_the_same_for_every_embedding(seed, kernel):
    """``D = 1``: ``R = ±exp(-log length scale)``."""
    log_length = np.random.default_rng(seed).normal()
    values = []
    for embedding, parameter in (
        (rw.Linear(1), np.exp(-log_length)),
        (rw.Linear(1), -np.exp(-log_length)),
        (rw.Diagonal(), log_length),
        (rw.Isotropic(), log_length),
    ):
        problem = Problem(seed, kernel, r=1, embedding=embedding)
        theta = np.concatenate([[parameter], problem.theta[-4:]])
        gp = condition(embedding, kernel, problem.data, theta)
        slope = likelihood.gradient(gp)
        if isinstance(embedding, rw.Linear):
            slope[0] *= -parameter  # dR/dlog length scale
        mean, variance, _ = moments.predictive(gp, problem.Z_test)
        values.append(np.concatenate([[gp.log_likelihood()], slope, mean, variance]))
    for other in values[1:]:
        np.testing.assert_allclose(other, values[0], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("embedding", [rw.Linear(1), rw.Linear("auto"), rw.Diagonal(), rw.Isotropic()])
@pytest.mark.parametrize("inference", ["map", "nested"])
def test_one_input(embedding, inference):
    x = np.linspace(0.0, 10.0, 20)
    belief = fit(x[:, None], np.sin(x), embedding, inference=inference)
    between = 0.5 * (x[1:] + x[:-1])
    prediction = belief.predict(between[:, None])
    np.testing.assert_allclose(prediction.mean, np.sin(between), atol=0.05)
    assert np.all(np.abs(prediction.mean - np.sin(between)) < 4.0 * prediction.std)
    assert belief.embedding.shape == (1, 1)
    assert belief.importances() == pytest.approx([1.0])


@given(seeds, st.sampled_from(["se", "matern32", "matern52"]), st.integers(1, 3))
def test_known_embedding_is_a_plain_process(seed, name, d):
    """scikit-learn's process on ``U = Z Rᵀ``: mean, standard deviation and likelihood."""
    problem = Problem(seed, kernels.resolve(name), d=d)
    gp = problem.gp
    R = gp.parameters.reshape(d, -1)
    theirs = GaussianProcessRegressor(
        sk.ConstantKernel(gp.output_variance) * SCIKIT[name], alpha=gp.noise_diagonal, optimizer=None
    ).fit(problem.data.Z @ R.T, problem.data.y - gp.mean)
    mean, std = theirs.predict(problem.Z_test @ R.T, return_std=True)
    ours = problem.moments(kind="map")
    np.testing.assert_allclose(ours.mean - gp.mean, mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(ours.variance), std, rtol=0, atol=1e-8)
    assert gp.log_likelihood() == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-8)


@pytest.mark.parametrize("D", [4, 40])
@pytest.mark.parametrize("name", ["se", "matern32", "matern52"])
def test_fitted_embedding_is_a_plain_process_in_the_users_units(name, D):
    """What the public attributes say is all there is to it: nothing hides in the scalings or the row space."""
    X, y, X_test = ridge(D=D)
    X, X_test, y = 5.0 + 3.0 * X, 5.0 + 3.0 * X_test, 100.0 + 20.0 * y
    belief = fit(X, y, rw.Linear(2), kernel=name, bounds=(2.0, 8.0))
    U, U_test = ((A - 5.0) / 3.0 @ belief.embedding.T for A in (X, X_test))
    np.testing.assert_allclose(belief.embed(X_test).mean, U_test, atol=1e-10)
    theirs = GaussianProcessRegressor(
        sk.ConstantKernel(belief.output_scale**2) * SCIKIT[name], alpha=belief.noise_variance, optimizer=None
    ).fit(U, y - belief.mean)
    mean, std = theirs.predict(U_test, return_std=True)
    prediction = belief.predict(X_test, marginal="map")
    np.testing.assert_allclose(prediction.mean, belief.mean + mean, rtol=0, atol=2e-7)
    np.testing.assert_allclose(prediction.std, std, rtol=0, atol=2e-7)


# -- derivatives -----------------------------------------------------------------------------


@given(any_kernel, st.floats(1e-4, 80.0))
def test_kernel_derivatives(kernel, s):
    h = 1e-5 * s
    up, here, down = (kernel.derivatives(np.array([s + step])) for step in (h, 0.0, -h))
    assert here[0][0] == kernel.value(np.array([s]))[0]
    assert here[1][0] == pytest.approx((up[0][0] - down[0][0]) / (2.0 * h), rel=1e-5, abs=1e-10)
    assert here[2][0] == pytest.approx((up[1][0] - down[1][0]) / (2.0 * h), rel=1e-5, abs=1e-10)


@settings(max_examples=20)
@given(seeds, any_kernel, st.sampled_from([rw.Linear(1), rw.Linear(2), rw.Diagonal(), rw.Isotropic()]))
def test_likelihood_and_moment_derivatives(seed, kernel, embedding):
    """Every kernel in every embedding, all hyperparameters, by central differences."""
    problem = Problem(seed, kernel, n=9, r=3, embedding=embedding)

    def at(theta):
        return condition(embedding, kernel, problem.data, theta)

    def outputs(theta):
        gp = at(theta)
        mean, variance, _ = moments.predictive(gp, problem.Z_test)
        return np.concatenate([[gp.log_likelihood()], likelihood.gradient(gp), mean, variance])

    h, size = 1e-5, problem.theta.shape[0]
    columns = []
    for step in h * np.eye(size):
        columns.append((outputs(problem.theta + step) - outputs(problem.theta - step)) / (2.0 * h))
    numeric = np.array(columns)
    mean, variance, candidates = moments.predictive(problem.gp, problem.Z_test)
    dm, dV, _, _ = moments.moment_gradients(problem.gp, variance, mean, candidates)
    H = likelihood.hessian(problem.gp)
    np.testing.assert_allclose(likelihood.gradient(problem.gp), numeric[:, 0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(H, numeric[:, 1 : 1 + size], rtol=1e-5, atol=1e-6 * np.abs(H).max())
    np.testing.assert_allclose(dm.T, numeric[:, 1 + size : 1 + size + 9], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dV.T, numeric[:, 1 + size + 9 :], rtol=1e-5, atol=1e-6)


# -- row space -------------------------------------------------------------------------------

KINDS = ["gram", "near repetition", "repetition", "sparse", "sparse near repetition", "sparse repetition", "centred"]


def wide(kind, seed, n=9, D=21):
    """Inputs with more columns than rows, of every sort that the reduction treats in its own way."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, D))
    if kind.startswith("sparse"):
        X *= rng.uniform(size=(n, D)) < 0.4
    if kind.endswith("near repetition"):  # of full rank, but hardly for a Gram matrix in floating point
        X[n - 3] = X[1] * (1.0 + 2e-5 * rng.normal(size=D))
    elif kind.endswith("repetition"):
        X[n - 3] = X[1]
    return sparse.csr_matrix(X) if kind.startswith("sparse") else X


def scaling_of(kind, X):
    return (
        InputScaling.from_range(*column_range(X))
        if kind == "centred"
        else InputScaling.from_bounds(*np.array([[-1.0], [1.0]]) * np.ones(X.shape[1]))
    )


@pytest.mark.parametrize("kind", KINDS)
@fits
@given(seeds, any_kernel)
def test_reduction_gives_the_same_posterior_as_none(kind, seed, kernel):
    X = wide(kind, seed)
    scaling = scaling_of(kind, X)
    space = rowspace.reduce(X, scaling)
    # A Gram matrix has the square of the inputs' condition number: sparse inputs have nothing else.
    tol = 1e-3 if kind == "sparse near repetition" else 1e-6
    full, Q = scaling.scaled(X), space.lift(np.eye(space.r)).T  # (D, r)
    np.testing.assert_allclose(Q.T @ Q, np.eye(space.r), atol=tol)
    np.testing.assert_allclose(space.Z @ Q.T, full, atol=tol)
    assert space.r == np.linalg.matrix_rank(full, tol=1e-8)

    problem = Problem(seed, kernel, n=X.shape[0], r=space.r)
    d, r, D = 2, space.r, X.shape[1]
    A = problem.gp.parameters.reshape(d, r)
    small = condition(rw.Linear(d), kernel, Data(space.Z, problem.data.y, problem.data.noise), problem.theta)
    theta = np.concatenate([space.lift(A).ravel(), problem.theta[-4:]])
    large = condition(rw.Linear(d), kernel, Data(full, problem.data.y, problem.data.noise), theta)
    up = np.zeros((d * D + 4, d * r + 4))
    up[: d * D, : d * r] = np.kron(np.eye(d), Q)
    up[-4:, -4:] = np.eye(4)

    assert small.log_likelihood() == pytest.approx(large.log_likelihood(), rel=1e-8, abs=10 * tol)
    H = likelihood.hessian(large)
    size = np.abs(H).max()
    np.testing.assert_allclose(up @ likelihood.gradient(small), likelihood.gradient(large), atol=tol * size)
    np.testing.assert_allclose(up @ likelihood.hessian(small) @ up.T, H, atol=tol * size)

    # New points: the prior stays across the span, in all of D or as a distance to the span.
    X_test = np.random.default_rng(seed + 1).uniform(-1.0, 1.0, (6, D))
    z, rho = space.project(X_test)
    scaled = scaling.scaled(X_test)
    np.testing.assert_allclose(z, scaled @ Q, atol=10 * tol)
    np.testing.assert_allclose(rho, np.sum((scaled - scaled @ Q @ Q.T) ** 2, axis=1), atol=10 * tol)
    prior_variance = 0.3
    across = np.sqrt(prior_variance) * np.vstack([np.kron(np.eye(d), np.eye(D) - Q @ Q.T), np.zeros((4, d * D))])
    everything = np.hstack([up @ problem.factor, across])
    for kind_of_marginal in ("map", "bbq", "mgp"):
        p = moments.moments(small, problem.factor, z, rho, prior_variance, kind_of_marginal)
        q = moments.moments(large, everything, scaled, np.zeros(6), prior_variance, kind_of_marginal)
        np.testing.assert_allclose(p.mean, q.mean, atol=10 * tol)
        np.testing.assert_allclose(p.variance, q.variance, rtol=100 * tol)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sort", ["new", "repeated", "within the span"])
@settings(max_examples=3)
@given(seeds)
def test_extending_by_one_observation_is_starting_over(kind, sort, seed):
    X = wide(kind, seed)
    tol = 1e-3 if kind == "sparse near repetition" else 1e-5
    dense = X.toarray() if sparse.issparse(X) else X
    scaling = scaling_of(kind, X)
    rng = np.random.default_rng(seed + 2)
    new = {
        "new": rng.uniform(-1.0, 1.0, X.shape[1]),
        "repeated": dense[4],
        "within the span": scaling.center + 0.5 * (dense[0] + dense[2] - 2.0 * scaling.center),
    }[sort]
    more = np.vstack([dense, new])
    if sparse.issparse(X):
        more = sparse.csr_matrix(more)
    grown, fresh = rowspace.extend(rowspace.reduce(X, scaling), more), rowspace.reduce(more, scaling)
    assert grown.r == fresh.r
    np.testing.assert_allclose(grown.Z @ grown.Z.T, fresh.Z @ fresh.Z.T, atol=1e-9)
    X_test = rng.uniform(-1.0, 1.0, (5, X.shape[1]))
    (z, rho), (z_fresh, rho_fresh) = grown.project(X_test), fresh.project(X_test)
    np.testing.assert_allclose(z @ z.T, z_fresh @ z_fresh.T, atol=tol)
    np.testing.assert_allclose(rho, rho_fresh, atol=tol)
    np.testing.assert_allclose(grown.project(more)[0], grown.Z, atol=tol)
    P, P_fresh = (space.lift(np.eye(space.r)) for space in (grown, fresh))
    np.testing.assert_allclose(P.T @ P, P_fresh.T @ P_fresh, atol=tol)
    R = rng.normal(size=(2, X.shape[1]))
    np.testing.assert_allclose(grown.lift(grown.restrict(R)), fresh.lift(fresh.restrict(R)), atol=10 * tol)


@pytest.mark.slow
@pytest.mark.parametrize("D", [3, 24, 40])  # with 25 rows: never, no longer and always more inputs than rows
@pytest.mark.parametrize("embedding", [rw.Linear(1), rw.Isotropic()])
def test_continuing_a_belief_is_starting_over(D, embedding):
    X, y, X_test = ridge(n=25, D=D)
    arguments = {"bounds": (-1, 1), "inference": "map", "priors": rw.Priors(log_noise=(-2.5, 0.2))}
    before = rw.fit(X[:-2], y[:-2], embedding, n_starts=10, **arguments)
    grown = rw.fit(X, y, embedding, initial=before, n_starts=10, **arguments)
    fresh = rw.fit(X, y, embedding, n_starts=10, **arguments)
    assert grown.log_evidence >= fresh.log_evidence - 0.05
    if D == 3:
        assert_same_belief(grown, fresh, X_test, X_test)
    np.testing.assert_allclose(grown.predict(X).mean, y, atol=0.3)


def test_continuing_where_rows_nearly_repeat_is_starting_over():
    """Full rank, but the basis was found by pivoting: its rows are not in the order of the data."""
    X = wide("near repetition", 5)
    more = np.vstack([X, np.random.default_rng(6).uniform(-1, 1, X.shape[1])])
    y = np.sin(more.sum(axis=1))
    arguments = {"bounds": (-1, 1), "inference": "map", "n_starts": 4}
    before = rw.fit(X, y[:-1], rw.Linear(1), **arguments)
    grown = rw.fit(more, y, rw.Linear(1), initial=before, **arguments)
    np.testing.assert_allclose(grown.embed(more).mean, more @ grown.embedding.T, atol=1e-5)
    np.testing.assert_allclose(grown.space.project(more)[0], grown.space.Z, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("D", [4, 30])
@pytest.mark.parametrize("embedding", [rw.Linear(1), rw.Diagonal(), rw.Isotropic()])
@pytest.mark.parametrize("format_", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_is_dense(D, embedding, format_):
    rng = np.random.default_rng(D)
    X = rng.uniform(-1, 1, (24, D)) * (rng.uniform(size=(24, D)) < 0.6)
    X_test = rng.uniform(-1, 1, (7, D)) * (rng.uniform(size=(7, D)) < 0.6)
    y = np.sin(2.0 * X[:, 0] + X[:, 1]) + X[:, 2] + 0.05 * rng.normal(size=24)
    arguments = {"inference": "map", "n_starts": 6, "priors": rw.Priors(log_noise=(-2.0, 0.2))}
    dense, thin = rw.fit(X, y, embedding, **arguments), rw.fit(format_(X), y, embedding, **arguments)
    assert thin.log_evidence == pytest.approx(dense.log_evidence, abs=0.05)
    assert_same_belief(dense, thin, X_test, format_(X_test), atol=0.01)
    np.testing.assert_allclose(thin.predict(X_test).mean, thin.predict(format_(X_test)).mean, atol=1e-9)
    np.testing.assert_allclose(dense.predict(X_test).mean, dense.predict(format_(X_test)).mean, atol=1e-9)


@pytest.mark.parametrize("kind", ["varying", "constant"])
def test_sparse_inner_products_keep_their_digits(kind):
    """A time stamp among indicator columns: far from zero, compared to how much it varies."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (8, 20)) * (rng.uniform(size=(8, 20)) < 0.4)
    X[:, 3] = 1.7e9 + (rng.uniform(0, 3600.0, 8) if kind == "varying" else 0.0)
    scaling = InputScaling.from_range(*column_range(X))
    thin, full = sparse.csr_matrix(X), scaling.scaled(X)
    np.testing.assert_allclose(scaling.inner(thin, thin), full @ full.T, atol=1e-6)
    np.testing.assert_allclose(scaling.squared_norms(thin), np.sum(full**2, axis=1), atol=1e-6)


# -- seeds -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("embedding", [rw.Linear(2), rw.Diagonal(), rw.Isotropic()])
@pytest.mark.parametrize("inference", ["map", "nested"])
def test_same_seed_same_belief(embedding, inference):
    X, y, X_test = ridge()
    np.random.seed(0)  # noqa: NPY002 - to see that nobody touches it
    untouched = np.random.get_state()[1].copy()  # noqa: NPY002
    a, b = (fit(X, y, embedding, inference=inference, random_state=7) for _ in range(2))
    generator = (np.random.default_rng(7) for _ in range(2))
    c, d = (fit(X, y, embedding, inference=inference, random_state=g) for g in generator)
    np.testing.assert_array_equal(np.random.get_state()[1], untouched)  # noqa: NPY002
    for other in (b, c, d):
        assert len(other.components) == len(a.components)
        for ours, theirs in zip(a.components, other.components, strict=True):
            np.testing.assert_array_equal(theirs.gp.theta, ours.gp.theta)
            np.testing.assert_array_equal(theirs.factor, ours.factor)
            assert theirs.weight == ours.weight
        for kind in ("mgp", "samples") if other is b else ("mgp",):
            ours, theirs = a.predict(X_test, kind), other.predict(X_test, kind)
            np.testing.assert_array_equal(theirs.mean, ours.mean)
            np.testing.assert_array_equal(theirs.variance, ours.variance)
        np.testing.assert_array_equal(other.sample_embeddings(3), a.sample_embeddings(3))
        assert other.log_evidence == a.log_evidence
        assert other.diagnostics == a.diagnostics


def test_other_seed_other_draws():
    X, y, _ = ridge()
    belief = fit(X, y)
    assert not np.array_equal(belief.sample_embeddings(3, random_state=0), belief.sample_embeddings(3, random_state=1))
    assert fit(X, y, random_state=1).seed != belief.seed


@pytest.mark.parametrize("make", [np.array, sparse.csr_matrix])
def test_a_belief_does_not_change_with_the_arrays_it_was_made_from(make):
    X, y, X_test = ridge(D=40)
    X, y = make(X), y.copy()
    belief = fit(X, y)
    before = belief.predict(X_test)
    if sparse.issparse(X):
        X.data[:] = 0.0
    else:
        X[:] = 0.0
    y[:] = 0.0
    np.testing.assert_array_equal(belief.predict(X_test).mean, before.mean)
    np.testing.assert_array_equal(belief.predict(X_test).variance, before.variance)
