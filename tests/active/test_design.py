"""Points without a model: the first ones, and designs for comparison."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from tests.active.learner_problem import LOWER, UPPER, candidates, make, nearest, run

pytestmark = pytest.mark.usefixtures("little_effort")


def test_batches_of_a_latin_hypercube():
    n = 5
    learner = make(acquisition="latin-hypercube", n_initial=n)
    X = np.array([learner.ask() for _ in range(3 * n)])
    for first in range(0, 3 * n, n):
        cells = np.floor(n * (X[first : first + n] - LOWER) / (UPPER - LOWER)).astype(int)
        for column in cells.T:
            assert sorted(column) == list(range(n))
    assert nearest(X) > 1e-6
    with pytest.raises(ValueError, match='"latin-hypercube" needs a Box'):
        make(rw.Pool(candidates()), acquisition="latin-hypercube")


@pytest.mark.parametrize("acquisition", ["random", "latin-hypercube"])
def test_designs_for_comparison_never_use_the_model(acquisition):
    learner, deaf = make(acquisition=acquisition), make(acquisition=acquisition)
    X = run(learner, 12)
    np.testing.assert_array_equal(X, deaf.ask(12))
    assert learner._belief is None
    assert learner.belief.y.shape == (12,)


def test_random_points_are_uniform():
    X = make(acquisition="random", n_initial=1).ask(400)
    Z = (X - LOWER) / (UPPER - LOWER)
    np.testing.assert_allclose(Z.mean(axis=0), 0.5, atol=0.06)
    np.testing.assert_allclose(Z.std(axis=0), 1 / np.sqrt(12), atol=0.03)
    assert np.abs(np.corrcoef(Z.T) - np.eye(3)).max() < 0.15


def test_the_first_points_fill_the_box():
    Z = (make(n_initial=16).ask(16) - LOWER) / (UPPER - LOWER)
    for column in Z.T:  # a Sobol sequence has one of 16 in each sixteenth of every input
        assert sorted(np.floor(16 * column).astype(int)) == list(range(16))
