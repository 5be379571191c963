"""Tasks in several processes."""

from __future__ import annotations

import os
from functools import partial

import pytest

from ridgeway.belief.processes import in_processes


@pytest.mark.slow
def test_results_come_in_order_and_from_other_processes() -> None:
    tasks = [partial(pow, base, 2) for base in range(7)]
    assert in_processes(tasks, n_jobs=2, n=10) == [base**2 for base in range(7)]
    assert os.getpid() not in in_processes([os.getpid] * 4, n_jobs=2, n=10)
