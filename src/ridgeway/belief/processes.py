"""Independent tasks side by side in several processes, with the results that one process would give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ridgeway.blas import blas_threads


def in_processes(tasks: Sequence[Callable[[], Any]], n_jobs: int, n: int) -> list[Any]:
    """Results of ``tasks`` in their order; ``n`` observations say how many threads each may use."""
    from joblib import Parallel, delayed

    result: list[Any] = Parallel(n_jobs=n_jobs)(delayed(_called)(task, n) for task in tasks)
    return result


def _called(task: Callable[[], Any], n: int) -> Any:
    with blas_threads(n):
        return task()
