"""Eigenvalues of symmetric matrices, where the fastest way gives up as well."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import linalg

from ridgeway.errors import NumericalError
from ridgeway.gp.eigen import eigh

HARD = Path(__file__).parents[1] / "golden" / "correlations_71.npy"


def hard() -> np.ndarray:
    """Correlations of 71 points of an optimisation, on which LAPACK's divide and conquer does not converge."""
    K = np.zeros((71, 71))
    K[np.tril_indices(71)] = np.load(HARD)
    return K + np.tril(K, -1).T


def decomposes(A: np.ndarray) -> None:
    values, vectors = eigh(A)
    n, size = A.shape[0], np.abs(A).max(initial=1.0)
    assert np.all(np.diff(values) >= 0.0)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-13 * n)
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, atol=1e-13 * n * size)


@pytest.mark.parametrize("n", [1, 2, 9, 80])
def test_a_matrix_is_its_eigenvectors_times_its_eigenvalues(n: int) -> None:
    B = np.random.default_rng(n).standard_normal((n, n))
    decomposes(B + B.T)


def test_a_matrix_on_which_divide_and_conquer_fails() -> None:
    decomposes(hard())


def test_where_divide_and_conquer_fails_the_qr_algorithm_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the matrix above is hard depends on LAPACK; here the failure is certain."""
    plain, drivers = linalg.eigh, []

    def failing(A: np.ndarray, driver: str, **options: bool) -> tuple[np.ndarray, np.ndarray]:
        drivers.append(driver)
        if driver == "evd":
            raise linalg.LinAlgError("did not converge")
        return plain(A, driver=driver, **options)

    monkeypatch.setattr(linalg, "eigh", failing)
    decomposes(hard())
    assert drivers == ["evd", "ev"]
    with pytest.raises(NumericalError, match="not finite"):
        eigh(np.full((3, 3), np.nan))
