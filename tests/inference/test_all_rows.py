from dataclasses import dataclass, replace

import numpy as np
import pytest

from ridgeway.errors import NumericalError
from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LOG_NOISE, LOG_OUTPUT_SCALE, MEAN
from ridgeway.gp.row_source import DataRows
from ridgeway.inference import all_rows, evidence, mode_following
from ridgeway.inference.search_run import SearchRun
from tests.gp.many import problem

D, DIRECTIONS, ROWS, PART = 5, 2, 6000, 1500


@dataclass
class Counted:
    """Rows that count the passes over them."""

    rows: DataRows
    passes: int = 0

    def __getattr__(self, name: str):
        return getattr(self.rows, name)

    def total(self, question, add):
        self.passes += 1
        return self.rows.total(question, add)


@pytest.fixture(scope="module")
def models() -> tuple[Posterior, Posterior, Counted]:
    """The same model of a part of the rows and of all."""
    data, _, embedding, kernel, _ = problem(ROWS, D, DIRECTIONS)
    source, sample, drawn = Counted(DataRows(data)), data.rows(slice(0, 400)), data.rows(slice(0, PART))
    part = Posterior(embedding, kernel, FeatureData(sample, PART, DataRows(drawn)), Priors(), D)
    return part, replace(part, data=FeatureData(sample, ROWS, source)), source


@pytest.fixture(scope="module")
def known(models):
    part, _, _ = models
    theta = problem(ROWS, D, DIRECTIONS)[-1]
    theta[-1] = 0.0
    return mode_following.followed(part, theta, SearchRun(np.random.default_rng(0)))


def test_the_rows_decide_the_space_and_the_noise_and_nothing_else_moves(models, known) -> None:
    _, whole, source = models
    source.passes = 0
    found = all_rows.on_all_rows(whole, known)
    assert source.passes < 40
    R, before = (lap.gp.parameters.reshape(DIRECTIONS, -1) for lap in (found, known))
    np.testing.assert_allclose(R @ before.T, before @ before.T, rtol=1e-9)  # moved across the rows alone
    for same in (LOG_OUTPUT_SCALE, MEAN):
        assert found.theta[same] == known.theta[same]
    assert found.theta[LOG_NOISE] != known.theta[LOG_NOISE]
    assert found.decrement < 1e-3
    # to the mode that a climb in everything finds, as far as predictions show it
    slow = mode_following.followed(whole, known.theta, SearchRun(np.random.default_rng(0)), known)
    assert found.theta[LOG_NOISE] == pytest.approx(slow.theta[LOG_NOISE], abs=0.01)
    np.testing.assert_allclose(found.gp.fitted(), slow.gp.fitted(), atol=0.02)


def test_what_rows_decide_is_known_better_and_the_rest_as_before(models, known) -> None:
    _, whole, _ = models
    found = all_rows.on_all_rows(whole, known)
    split = all_rows._Split.at(whole, found.theta)
    inner, _ = evidence.split(whole)
    across = split.decided[inner][:, :-1]  # without the noise
    precision = [np.linalg.pinv(lap.factor @ lap.factor.T) for lap in (known, found)]
    few, many = (np.trace(across.T @ one @ across) for one in precision)
    assert many / few == pytest.approx(ROWS / PART, rel=0.15)
    along = split.described[inner][:, : DIRECTIONS**2]
    few, many = (np.trace(along.T @ lap.factor @ lap.factor.T @ along) for lap in (known, found))
    assert many == pytest.approx(few, rel=0.2)


def test_directions_fill_the_space_and_are_across_each_other() -> None:
    rows = np.random.default_rng(0).standard_normal((DIRECTIONS, D))
    split = all_rows._Split(rows, (LOG_NOISE,))
    together = np.hstack([split.decided, split.described])
    assert together.shape == (DIRECTIONS * D + 4,) * 2
    assert np.linalg.cond(together) < 100
    np.testing.assert_allclose(split.decided.T @ split.described, 0.0, atol=1e-12)


def test_a_curvature_that_decides_nothing_is_refused(models, known) -> None:
    _, whole, _ = models
    with pytest.raises(NumericalError, match="do not decide the embedding"):
        all_rows.on_all_rows(whole, replace(known, hessian=np.zeros_like(known.hessian)))
