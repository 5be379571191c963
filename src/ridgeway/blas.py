"""How many threads BLAS uses: on matrices of 100 × 100 a second thread costs more than it saves.

Searches are made of such matrices. Predictions at many points gain from several threads.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

from threadpoolctl import ThreadpoolController

#: With more observations than this, several BLAS threads predict faster than one.
SMALL = 500


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """One thread, which a search wants of any number of rows: with two, 3,000 rows take half as long again."""
    limited: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limited


def blas_threads(n: int) -> AbstractContextManager[object]:
    """One thread for problems of few observations, as many as there are for larger ones."""
    return one_blas_thread() if n <= SMALL else nullcontext()
