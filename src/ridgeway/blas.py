"""How many threads BLAS uses: on matrices of 100 × 100 a second thread costs more than it saves."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

from threadpoolctl import ThreadpoolController

#: With more observations than this, several BLAS threads are faster than one.
SMALL = 500


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads(n: int) -> AbstractContextManager[object]:
    """One thread for problems of few observations, as many as there are for larger ones."""
    if n > SMALL:
        return nullcontext()
    limited: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limited
