"""Eigenvalues and eigenvectors of symmetric matrices.

Divide and conquer is the fastest way, but now and then it does not converge where nothing is wrong with the matrix: of
the 71 × 71 correlations of one optimisation it failed on every processor, the QR algorithm on none.
"""

from __future__ import annotations

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.types import Array


def eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric ``A``, least first, and orthonormal eigenvectors as columns."""
    from scipy import linalg  # importing it takes long, and commands that only look at a campaign do not need it

    try:
        values, vectors = linalg.eigh(A, driver="evd", check_finite=False)
    except linalg.LinAlgError:
        if not np.all(np.isfinite(A)):
            raise NumericalError("a symmetric matrix has entries that are not finite, and so no eigenvalues") from None
        values, vectors = linalg.eigh(A, driver="ev", check_finite=False)
    return values, vectors
