from dataclasses import replace

import numpy as np
import pytest

from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.row_source import DataRows
from ridgeway.inference import evidence, many_rows, mode_following
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT
from ridgeway.inference.tilted_density import Frame
from tests.gp.many import problem

D, DIRECTIONS, ROWS, PART = 10, 2, 10_000, 400


@pytest.mark.slow
def test_a_mode_of_a_part_is_brought_to_one_of_all_rows() -> None:
    data, _, embedding, kernel, theta = problem(ROWS, D, DIRECTIONS)
    theta[-1] = 0.0
    sample, drawn = data.rows(slice(0, 400)), data.rows(slice(0, PART))
    part = Posterior(embedding, kernel, FeatureData(sample, PART, DataRows(drawn)), Priors(), D)
    run = SearchRun(np.random.default_rng(0))
    known = mode_following.followed(part, theta, run)
    whole = replace(part, data=FeatureData(sample, ROWS, DataRows(data)))
    found = many_rows._brought(whole, known, run)
    assert found.decrement < DEFAULT.newton.converged_decrement
    assert Frame.at(found, evidence.split(whole)[1]).left < DEFAULT.newton.converged_decrement
