import numpy as np
import pytest

from ridgeway.gp import feature_sums, fourier_basis
from ridgeway.gp.kernels import resolve


def built(kernel="se", d=2, neglected=1e-6, width=3.0):
    upper = width * np.linspace(0.6, 1.0, d)
    return fourier_basis.build(resolve(kernel), np.eye(d), -upper, upper, neglected)


def points(basis, n=40):
    return np.random.default_rng(1).uniform(-1, 1, (n, basis.d)) * basis.reach


@pytest.mark.parametrize(("kernel", "d"), [("se", 1), ("se", 2), ("se", 3), ("matern52", 1), ("rq", 1)])
def test_products_of_the_functions_are_the_kernel_up_to_what_is_neglected(kernel, d):
    basis = built(kernel, d, 1e-4)
    V = points(basis)
    phi = basis.functions(V) * np.sqrt(basis.function_variances)
    exact = resolve(kernel).value(np.sum((V[:, None] - V[None]) ** 2, axis=2))
    assert np.abs(phi @ phi.T - exact).max() < 2.0 * basis.neglected


def test_more_waves_neglect_less():
    coarse, fine = built(neglected=1e-3), built(neglected=1e-8)
    assert fine.m > coarse.m
    assert fine.neglected < 1e-3 * coarse.neglected


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_gram_matrix_comes_from_sums_of_waves(d):
    basis = built(d=d, neglected=1e-3)
    V, w = points(basis, 60), np.random.default_rng(2).uniform(0.5, 2, 60)
    phi = basis.functions(V)
    powers = basis.powers(V, 2)
    letters = "abc"[:d]
    sums = np.einsum(",".join(f"n{x}" for x in letters) + f",n->{letters}", *powers, w)
    np.testing.assert_allclose(basis.gram(sums), phi.T @ (w[:, None] * phi), atol=1e-10)
    np.testing.assert_allclose(basis.from_sums(basis.narrow(sums)), w @ phi, atol=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_quadratic_form_is_a_series_of_waves(d):
    basis = built(d=d, neglected=1e-3)
    V, rng = points(basis, 7), np.random.default_rng(3)
    phi, M, v = basis.functions(V), rng.standard_normal((basis.m, basis.m)), rng.standard_normal(basis.m)
    M = M + M.T
    letters = "abc"[:d]
    at = ",".join(f"n{x}" for x in letters) + f",{letters}->n"
    wide, narrow = basis.powers(V, 2), basis.powers(V, 1)
    quadratic = np.einsum(at, *wide, basis.product_sums(M)).real
    np.testing.assert_allclose(quadratic, np.einsum("ni,ij,nj->n", phi, M, phi), atol=1e-9)
    np.testing.assert_allclose(np.einsum(at, *narrow, basis.series(v)).real, phi @ v, atol=1e-10)


def test_slopes_of_the_functions():
    basis, step = built(), 1e-6
    V = points(basis, 5)
    for axis in range(2):
        there = basis.functions(V + step * np.eye(2)[axis]) - basis.functions(V - step * np.eye(2)[axis])
        np.testing.assert_allclose(basis.function_slopes(basis.functions(V), axis), there / (2 * step), atol=1e-7)


def test_a_box_that_is_too_large_has_no_basis():
    wide = 200.0 * np.ones(3)
    assert fourier_basis.smallest(resolve("se"), np.eye(3), -wide, wide, 0.1) is None


def test_a_kernel_without_a_density_is_refused():
    class Cauchy:
        name = "cauchy"

        def value(self, s):
            return 1 / (1 + s)

        def derivatives(self, s):
            g = 1 / (1 + s)
            return g, -(g**2), 2 * g**3

    with pytest.raises(TypeError, match="spectral_density"):
        fourier_basis.smallest(Cauchy(), np.eye(1), -np.ones(1), np.ones(1), 0.1)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_grid_stands_for_the_rows(d):
    rng = np.random.default_rng(d)
    V = rng.uniform(-1, 1, (40, d))
    basis = fourier_basis.build(resolve("se"), np.eye(d), V.min(axis=0), V.max(axis=0), 1e-2)
    V, w = V - basis.center, rng.uniform(1, 2, 40)
    waves = np.meshgrid(*feature_sums.frequencies(basis, 2), indexing="ij")
    phases = sum(np.multiply.outer(v, k) for v, k in zip(V.T, waves, strict=True))
    sums = np.tensordot(w, np.exp(1j * phases), 1)
    gram = (basis.functions(V) * w[:, None]).T @ basis.functions(V)
    on_grid = basis.on_grid(np.eye(basis.m))
    weights = basis.grid_weights(sums)
    np.testing.assert_allclose(basis.off_grid(weights * on_grid), gram, atol=1e-9 * np.abs(gram).max())
    flat = on_grid.reshape(basis.m, -1)
    np.testing.assert_allclose((flat * weights.ravel()) @ flat.T, gram, atol=1e-9 * np.abs(gram).max())


def test_copies_at_the_ends_of_the_box_take_fewer_waves_and_little_accuracy():
    """Rows of three directions, most of them far from the ends: the spectrum matters, the copies hardly."""
    kernel, rng = resolve("se"), np.random.default_rng(0)
    V = 1.2 * rng.standard_normal((300, 3))
    lower, upper = V.min(axis=0), V.max(axis=0)
    exact = kernel.value(np.sum((V[:, None] - V[None]) ** 2, axis=2))
    errors = {}
    for name, neglected, copies in (("strict", 1e-3, 1e-3), ("loose", 1e-3, 0.1), ("coarse", 1e-2, 1e-2)):
        basis = fourier_basis.build(kernel, np.eye(3), lower, upper, neglected, copies)
        phi = basis.functions(V - basis.center) * np.sqrt(basis.function_variances)
        errors[name] = basis.m, float(np.mean(np.abs(phi @ phi.T - exact)))
    assert errors["loose"][0] < 0.7 * errors["strict"][0]
    assert errors["loose"][1] < 1.5 * errors["strict"][1]
    assert errors["loose"][1] < 0.5 * errors["coarse"][1]


def test_the_smallest_basis_has_as_fast_waves_as_fit():
    wide = 5.0 * np.ones(3)
    basis = fourier_basis.smallest(resolve("se"), np.eye(3), -wide, wide, 0.1)
    assert basis.m <= fourier_basis.MOST_FUNCTIONS
    missing = 1.0 - basis.variances.sum()  # of the spectrum, and all of it where the sum is exact
    assert abs(missing) < 2e-3
    assert basis.fastest == pytest.approx(np.linalg.norm(basis.waves * basis.steps, axis=1).max())
