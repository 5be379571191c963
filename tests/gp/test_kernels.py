"""One conformance suite that every kernel inherits, other people's kernels, and a kernel of a user's own."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as sk

import ridgeway as rw
from ridgeway.gp import kernels
from tests.helpers import Cauchy

S = np.concatenate([np.geomspace(1e-3, 60.0, 80), np.linspace(0.05, 12.0, 60)])


class KernelConformance:
    """What the engine relies on; a new kernel inherits all of it by naming itself and its counterpart."""

    kernel: ClassVar[Any]
    counterpart: ClassVar[Any]  # the same correlation as somebody else wrote it

    def test_is_a_kernel(self):
        assert isinstance(self.kernel, kernels.Kernel)
        assert kernels.resolve(self.kernel) is self.kernel
        assert isinstance(self.kernel.name, str)
        assert self.kernel.name

    def test_value_at_zero_is_one(self):
        assert self.kernel.value(np.zeros(3)).tolist() == [1.0, 1.0, 1.0]
        assert self.kernel.derivatives(np.zeros((2, 2)))[0].tolist() == [[1.0, 1.0], [1.0, 1.0]]

    def test_derivatives_repeat_the_value(self):
        np.testing.assert_allclose(self.kernel.derivatives(S)[0], self.kernel.value(S), rtol=1e-14)

    def test_first_derivative_by_finite_differences(self):
        h = 1e-5 * S
        numeric = (self.kernel.value(S + h) - self.kernel.value(S - h)) / (2.0 * h)
        np.testing.assert_allclose(self.kernel.derivatives(S)[1], numeric, rtol=1e-6, atol=1e-10)

    def test_second_derivative_by_finite_differences(self):
        h = 1e-5 * S
        numeric = (self.kernel.derivatives(S + h)[1] - self.kernel.derivatives(S - h)[1]) / (2.0 * h)
        np.testing.assert_allclose(self.kernel.derivatives(S)[2], numeric, rtol=1e-6, atol=1e-10)

    def test_derivatives_at_zero_are_finite_and_the_first_is_the_limit(self):
        g, first, second = self.kernel.derivatives(np.zeros(1))
        assert np.isfinite([g, first, second]).all()
        h = 1e-10
        np.testing.assert_allclose(first[0], self.kernel.derivatives(np.array([h]))[1][0], rtol=1e-4)
        # The second derivative is only ever used times a product of two differences, of size s.
        assert abs(self.kernel.derivatives(np.array([h]))[2][0] * h) < 1e-4

    def test_correlation_falls_and_is_convex(self):
        # Schoenberg: a radial function that is a correlation in every dimension is completely monotone.
        g, first, second = self.kernel.derivatives(S)
        assert (g > 0).all()
        assert (g <= 1).all()
        assert (first < 0).all()
        assert (second > 0).all()

    @pytest.mark.parametrize("dimension", [1, 3, 10])
    def test_gram_matrix_is_positive_definite(self, dimension):
        U = np.random.default_rng(dimension).uniform(-2.0, 2.0, (60, dimension))
        K = self.kernel.value(cdist(U, U, "sqeuclidean"))
        np.testing.assert_array_equal(K, K.T)
        assert np.linalg.eigvalsh(K).min() > -1e-12 * 60

    def test_agrees_with_the_counterpart(self):
        rng = np.random.default_rng(0)
        A, B = rng.normal(size=(20, 3)), rng.normal(size=(15, 3))
        ours = self.kernel.value(cdist(A, B, "sqeuclidean"))
        np.testing.assert_allclose(ours, self.counterpart(A, B), rtol=1e-12, atol=1e-15)

    def test_arguments_are_left_alone_and_any_shape_is_taken(self):
        for shape in [(), (4,), (3, 5), (0, 2)]:
            s = np.full(shape, 0.7)
            parts = self.kernel.derivatives(s)
            assert [np.shape(p) for p in parts] == [shape] * 3
            assert np.all(s == 0.7)

    def test_comes_back_from_its_description(self):
        description = json.loads(json.dumps(kernels.to_dict(self.kernel)))
        handed_over = self.kernel if description["name"] not in ("se", "matern32", "matern52", "rq") else None
        assert kernels.from_dict(description, handed_over) == self.kernel

    def test_a_fit_with_it_learns(self):
        X, y, X_test, truth = _ridge()
        belief = rw.fit(X, y, rw.Linear(1), kernel=self.kernel, bounds=(-1, 1), n_starts=2)
        assert belief.kernel == self.kernel
        error = np.sqrt(np.mean((belief.predict(X_test).mean - truth) ** 2))
        assert error < 0.1 * truth.std()


class TestSquaredExponential(KernelConformance):
    kernel = kernels.SquaredExponential()
    counterpart = sk.RBF(1.0)


class TestMatern32(KernelConformance):
    kernel = kernels.Matern32()
    counterpart = sk.Matern(1.0, nu=1.5)


class TestMatern52(KernelConformance):
    kernel = kernels.Matern52()
    counterpart = sk.Matern(1.0, nu=2.5)


class TestRationalQuadratic(KernelConformance):
    kernel = kernels.RationalQuadratic()
    counterpart = sk.RationalQuadratic(1.0, alpha=2.0)


class TestRationalQuadraticOfAnotherShape(KernelConformance):
    kernel = kernels.RationalQuadratic(shape=0.7)
    counterpart = sk.RationalQuadratic(1.0, alpha=0.7)


class TestUserKernel(KernelConformance):
    """``Cauchy`` above is all that a user writes."""

    kernel = Cauchy()
    counterpart = sk.RationalQuadratic(np.sqrt(0.5), alpha=1.0)


def test_user_kernel_gives_the_same_belief_as_the_built_in_it_equals():
    # 1/(1 + s) at R is the rational quadratic of shape 1 at sqrt(2) R.
    X, y, X_test, _ = _ridge()
    arguments = {"embedding": rw.Linear(1), "bounds": (-1, 1), "n_starts": 2, "inference": "map"}
    own = rw.fit(X, y, kernel=Cauchy(), priors=rw.Priors(embedding_scale=0.5), **arguments)
    built_in = rw.fit(
        X, y, kernel=kernels.RationalQuadratic(1.0), priors=rw.Priors(embedding_scale=0.5 * np.sqrt(2.0)), **arguments
    )
    np.testing.assert_allclose(np.sqrt(2.0) * own.embedding, built_in.embedding, atol=1e-4)
    np.testing.assert_allclose(own.predict(X_test).mean, built_in.predict(X_test).mean, atol=1e-4)
    np.testing.assert_allclose(own.predict(X_test).variance, built_in.predict(X_test).variance, rtol=1e-2)
    assert own.log_evidence == pytest.approx(built_in.log_evidence, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("se", kernels.SquaredExponential()),
        ("matern32", kernels.Matern32()),
        ("matern52", kernels.Matern52()),
        ("rq", kernels.RationalQuadratic(2.0)),
    ],
)
def test_names(name, expected):
    assert kernels.resolve(name) == expected


def test_kernel_that_is_not_built_in_must_be_handed_over():
    with pytest.raises(ValueError, match=r"kernel 'cauchy' is not built in: pass it as `kernel=`"):
        kernels.from_dict({"name": "cauchy"})
    with pytest.raises(ValueError, match=r"must be the one saved, 'cauchy'; got 'se'"):
        kernels.from_dict({"name": "cauchy"}, kernels.SquaredExponential())


@pytest.mark.parametrize("shape", [0.0, -1.0, np.nan])
def test_shape_of_the_rational_quadratic_must_be_positive(shape):
    with pytest.raises(ValueError, match=f"shape of RationalQuadratic must be positive, got {shape}"):
        kernels.RationalQuadratic(shape)


def _ridge():
    rng = np.random.default_rng(3)
    X, X_test = rng.uniform(-1, 1, (30, 3)), rng.uniform(-0.9, 0.9, (50, 3))
    direction = np.array([1.5, -1.0, 0.5])
    return X, np.sin(X @ direction), X_test, np.sin(X_test @ direction)
