import numpy as np

from ridgeway.inference import many_rows_starts
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT
from tests.inference.problems import of_many_rows


def test_a_direction_that_does_not_matter_is_given_up_for_a_start():
    fixed, theta = of_many_rows(300, 3, 2)
    theta[3:6] = 1e-3 * theta[:3]  # a second row that does nothing
    run = SearchRun(np.random.default_rng(0), DEFAULT)
    ((model, start),) = many_rows_starts.of_lower_rank(fixed, theta, run)
    assert model.embedding.rows == 1
    assert abs(start[:3] @ theta[:3]) > 0.999 * np.linalg.norm(start[:3]) * np.linalg.norm(theta[:3])
