from dataclasses import replace

import numpy as np
import pytest

from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LOG_NOISE, N_GLOBAL
from ridgeway.inference import many_rows
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT
from tests.gp.many import problem


def of_many_rows(n=600, D=4, d=1):
    _, rows, embedding, kernel, theta = problem(n, D, d)
    theta[-1] = 0.0
    model = Posterior(embedding, kernel, rows, Priors(), D)
    return replace(model, data=rows.around(embedding, kernel, theta)), theta


def test_climbing_all_together_leads_to_the_mode_of_the_evidence():
    fixed, theta = of_many_rows()
    run = SearchRun(np.random.default_rng(0), DEFAULT)
    together = many_rows._jointly(fixed, many_rows._drafted(fixed, theta, run), run)
    nested = many_rows._nested(fixed, theta, None, run)
    assert together.log_evidence == pytest.approx(nested.log_evidence, abs=0.3)
    assert together.theta[LOG_NOISE] == pytest.approx(nested.theta[LOG_NOISE], abs=0.01)
    np.testing.assert_allclose(together.gp.fitted(), nested.gp.fitted(), atol=0.01)
    assert together.decrement < 1e-2


@pytest.mark.parametrize("d", [1, 2])
def test_derivatives_of_the_volume(d):
    fixed, theta = of_many_rows(60, 3, d)
    model = many_rows.WithVolume.of(fixed)

    def volume(at):
        return model.evaluate(at).log_density - fixed.evaluate(at).log_density

    def gradient(at):
        return many_rows.volume_gradient(fixed.condition(at))

    step, P = 1e-5, theta.shape[0] - N_GLOBAL
    unit = step * np.eye(theta.shape[0])
    by_value = np.array([(volume(theta + e) - volume(theta - e)) / (2 * step) for e in unit])
    by_gradient = np.array([(gradient(theta + e) - gradient(theta - e)) / (2 * step) for e in unit])
    np.testing.assert_allclose(gradient(theta), by_value, atol=1e-5 * np.abs(by_value).max())
    turns = np.zeros((theta.shape[0], d * (d - 1) // 2))
    turns[:P] = np.linalg.qr(fixed.embedding.rotations(theta[:P]))[0]
    off = np.eye(theta.shape[0]) - turns @ turns.T
    expected = off @ by_gradient @ off
    hessian = many_rows.volume_hessian(fixed.condition(theta))
    np.testing.assert_allclose(hessian, expected, atol=1e-5 * np.abs(by_gradient).max())


def test_a_direction_that_does_not_matter_is_given_up_for_a_start():
    fixed, theta = of_many_rows(300, 3, 2)
    theta[3:6] = 1e-3 * theta[:3]  # a second row that does nothing
    run = SearchRun(np.random.default_rng(0), DEFAULT)
    ((model, start),) = many_rows._of_lower_rank(fixed, theta, run)
    assert model.embedding.rows == 1
    assert abs(start[:3] @ theta[:3]) > 0.999 * np.linalg.norm(start[:3]) * np.linalg.norm(theta[:3])
