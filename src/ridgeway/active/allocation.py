"""Memory that stays with the process between two steps of the same work.

Dask tells its workers to give back to the system every 64 KB that are free (``MALLOC_TRIM_THRESHOLD_``). Work in blocks
that fit the cache frees a megabyte a thousand times a second and fetches it again, page by page: that takes longer than
the work itself.
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

_TRIM, _MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
_KEPT, _LARGE = 2**28, 2**25  # bytes that may stay free, and those of an array that is fetched by itself
_USUAL_MAP = 2**17  # what the C library begins with


@lru_cache(maxsize=1)
def _mallopt() -> Callable[[int, int], int] | None:
    """The call that sets limits of the C library; ``None`` where it is not GNU's."""
    if platform.libc_ver()[0] != "glibc":
        return None
    found: Callable[[int, int], int] = ctypes.CDLL(None).mallopt
    return found


@contextmanager
def kept_memory() -> Iterator[None]:
    """Keep what is freed inside, where the environment says to give it back at once; afterwards all is as before."""
    given, mallopt = os.environ.get("MALLOC_TRIM_THRESHOLD_", ""), _mallopt()
    if mallopt is None or not given.isdigit():
        yield
        return
    mallopt(_TRIM, _KEPT)
    mallopt(_MAP, _LARGE)
    try:
        yield
    finally:
        mallopt(_TRIM, int(given))
        mallopt(_MAP, int(os.environ.get("MALLOC_MMAP_THRESHOLD_", _USUAL_MAP)))
