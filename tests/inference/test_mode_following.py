import numpy as np
import pytest

from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import mode_following, newton
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT
from tests.inference.problems import of_many_rows


def test_climbing_all_together_leads_to_the_mode_of_the_evidence():
    fixed, theta = of_many_rows()
    run = SearchRun(np.random.default_rng(0), DEFAULT)
    together = mode_following.jointly(fixed, mode_following.drafted(fixed, theta, run))
    nested = mode_following.nested(fixed, theta, None, run)
    assert together.log_evidence == pytest.approx(nested.log_evidence, abs=0.3)
    assert together.theta[LOG_NOISE] == pytest.approx(nested.theta[LOG_NOISE], abs=0.01)
    np.testing.assert_allclose(together.gp.fitted(), nested.gp.fitted(), atol=0.01)
    assert together.decrement < 1e-2


def test_gradients_correct_a_curvature_that_is_only_roughly_right():
    """A climb with a curvature that is wrong by factors of three ends where Newton's method does."""
    fixed, theta = of_many_rows()
    run = SearchRun(np.random.default_rng(0), DEFAULT)
    mode = mode_following.drafted(fixed, theta, run)
    both = mode.inner
    there, _ = newton.find_mode(fixed, mode.theta, both)
    wrong = mode.factor * np.exp(np.random.default_rng(1).uniform(-1.1, 1.1, mode.factor.shape[1]))
    found = fixed.evaluate(newton.climb_with(fixed, mode.theta, both, wrong, 60, 1e-4))
    assert found.log_density == pytest.approx(there.log_density, abs=1e-2)
