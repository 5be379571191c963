import numpy as np

from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.inference import exact_refinement
from ridgeway.inference.mixture import KnownMode
from ridgeway.inference.search_run import SearchRun
from tests.gp.many import problem


def test_a_mode_that_varies_too_fast_for_any_basis_is_left_to_the_exact_process():
    data, _, embedding, kernel, theta = problem(150, 4, 2)
    posterior = Posterior(embedding, kernel, data, Priors(), 4)
    fast = theta.copy()
    fast[:-4] *= 1e3
    run = SearchRun(np.random.default_rng(0))
    assert exact_refinement.infer(posterior, [KnownMode(posterior, fast)], 2, run) is None
    assert run.failures == 1
    assert (
        exact_refinement.infer(posterior, [KnownMode(posterior, theta)], 2, SearchRun(np.random.default_rng(0)))
        is not None
    )
