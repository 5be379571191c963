from dataclasses import replace

import numpy as np
import pytest

from ridgeway.errors import NumericalError
from ridgeway.gp import feature_sums
from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.process import Data
from ridgeway.gp.row_source import ArrayRows, DataRows
from ridgeway.gp.scaling import InputScaling, OutputScaling
from tests.gp.many import problem


def test_fits_slopes_and_predictions_left_out_are_those_of_the_exact_process():
    data, _, embedding, kernel, theta = problem()
    rows = FeatureData(data, data.n, DataRows(data))
    exact, there = data.condition(embedding, kernel, theta), rows.condition(embedding, kernel, theta)
    np.testing.assert_allclose(there.fitted(), exact.fitted(), atol=2e-3)
    np.testing.assert_allclose(there.mean_slopes(), exact.mean_slopes(), atol=3e-2)
    for mine, theirs in zip(there.leave_one_out(), exact.leave_one_out(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=5e-3)


def test_blocks_of_any_size_give_the_same():
    data, rows, embedding, kernel, theta = problem(d=3)
    rows = rows.around(embedding, kernel, theta)
    whole = rows.condition(embedding, kernel, theta)
    source = ArrayRows(data.Z, data.y, data.noise, InputScaling(np.zeros(4), np.ones(4)), OutputScaling(0.0, 1.0), 37)
    parts = replace(rows, source=source).condition(embedding, kernel, theta)
    np.testing.assert_allclose(parts.v, whole.v, atol=1e-9)
    assert parts.log_likelihood() == pytest.approx(whole.log_likelihood(), rel=1e-10)


def test_a_basis_covers_the_embedding_that_it_was_chosen_for_and_no_larger_one():
    _, rows, embedding, kernel, theta = problem()
    chosen = rows.around(embedding, kernel, theta)
    larger = theta.copy()
    larger[:-4] *= 1.5
    assert chosen.covers(theta)
    assert not chosen.covers(larger)


def test_an_embedding_that_is_too_long_is_an_error_that_says_so():
    _, rows, embedding, kernel, theta = problem()
    theta[:-4] *= 80.0
    with pytest.raises(NumericalError, match="length scales needs more than"):
        rows.condition(embedding, kernel, theta)


def test_what_needs_rows_that_are_gone_says_so():
    _, rows, embedding, kernel, theta = problem()
    with pytest.raises(ValueError, match="does not keep them"):
        replace(rows, source=None).condition(embedding, kernel, theta)


def test_extents_are_the_larger_of_two():
    first, second = (Data(Z, np.zeros(1), np.zeros(1)) for Z in (np.array([[1.0, -2.0]]), np.array([[-3.0, 4.0]])))
    question = feature_sums.Extent(np.eye(2))
    below, above = feature_sums.larger(question(first), question(second))
    np.testing.assert_array_equal([-below, above], [[-3.0, -2.0], [1.0, 4.0]])
