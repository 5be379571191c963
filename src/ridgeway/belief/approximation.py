"""How a fit computes: exactly, or with a finite basis; chosen before it begins, with what it will cost."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ridgeway import checks
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import DensityKernel, Kernel
from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior

APPROXIMATIONS = ("auto", "exact", "features")
#: Rows up to which ``"auto"`` is exact: beyond, the cost of N³ is minutes.
MOST_EXACT = 3000
#: Directions at most: the waves of a finite basis fill a box.
MOST_DIRECTIONS = 3
#: Rows that are fitted exactly where there are too many rows for all of them, and too many directions for waves.
PART_OF_MANY = 1000
_COSTLY = 1000  # rows from which an exact fit is
_MATRICES = 9  # of N × N numbers that an exact fit holds at a time
_SECONDS = {1: 15.0, 2: 25.0, 3: 60.0}  # that a search takes, whatever the rows, by directions
_MOST_PARAMETERS = 4000  # entries of the embedding, between all of which curvatures are computed


@dataclass(frozen=True)
class Plan:
    """What a fit will do, in one sentence; ``features`` says how."""

    features: bool
    sentence: str
    is_automatic: bool
    is_costly: bool = True  # so that its cost is worth a sentence
    part: int | None = None  # rows to draw and fit exactly, where that is all that can be done


def planned(
    approximation: Any, n: int, D: int, embedding: Embedding, kernel: Kernel, inference: Any, streamed: bool = False
) -> Plan:
    """The plan for ``n`` rows of ``D`` inputs, or an error that says what is in its way.

    Rows that are ``streamed`` never come together, so that nothing can be exact.
    """
    checks.choice(approximation, APPROXIMATIONS, "approximation")
    in_the_way = _obstacle(n, D, embedding, kernel, inference)
    wanted = approximation == "features" or streamed or (approximation == "auto" and n > MOST_EXACT and not in_the_way)
    if streamed and approximation == "exact":
        raise ValueError("approximation='exact' needs all rows in memory: pass arrays, or approximation='features'")
    if approximation == "auto" and not streamed and n > MOST_EXACT and _has_many_directions(embedding):
        return Plan(False, _part_sentence(n, embedding), True, part=PART_OF_MANY)
    if not wanted:
        return Plan(False, _exact_sentence(n, in_the_way), approximation == "auto", n > _COSTLY)
    if in_the_way:
        raise ValueError(f"approximation='features' {in_the_way}")
    return Plan(True, _features_sentence(n, D, embedding), approximation == "auto" and not streamed)


def _has_many_directions(embedding: Embedding) -> bool:
    return isinstance(embedding, Linear) and embedding.d != "auto" and embedding.rows > MOST_DIRECTIONS


def _part_sentence(n: int, embedding: Embedding) -> str:
    return (
        f"{PART_OF_MANY:,} of the {n:,} rows, drawn at random, are fitted exactly: a finite basis for all takes at "
        f"most {MOST_DIRECTIONS} directions, got {embedding}, and an exact fit of all would need about "
        f"{_size(_exact_gigabytes(n))}; this takes some minutes"
    )


def obstacle(posterior: Posterior) -> str:
    """Why a finite basis cannot be used for this posterior, as the end of a sentence; empty where it can."""
    return _obstacle(posterior.data.n, posterior.D, posterior.embedding, posterior.kernel, "nested")


def _obstacle(n: int, D: int, embedding: Embedding, kernel: Kernel, inference: Any) -> str:
    """Why a finite basis cannot be used, as the end of a sentence; empty where it can."""
    if not isinstance(embedding, Linear):
        return f"needs a linear embedding, rw.Linear(d), got {embedding}"
    if _has_many_directions(embedding):
        return (
            f"needs at most {MOST_DIRECTIONS} directions, because waves fill a box, got {embedding}: take fewer, or "
            f"approximation='exact' on a part of the rows"
        )
    if not isinstance(kernel, DensityKernel):
        return f"needs a kernel with a spectral_density(), got {kernel!r}"
    if inference != "nested":
        return f"needs inference='nested', got {inference!r}"
    rows = 1 if embedding.d == "auto" else embedding.rows
    if n < 2 * D or rows * D > _MOST_PARAMETERS:
        return f"needs more rows than twice the inputs and at most {_MOST_PARAMETERS // rows} inputs, got {n:,} × {D:,}"
    return ""


def _exact_sentence(n: int, in_the_way: str) -> str:
    gigabytes = _exact_gigabytes(n)
    free = free_memory()
    if gigabytes * 1e9 > free:
        way_on = f"fit a part of the rows (approximation='features' {in_the_way})"
        if not in_the_way:
            way_on = "use approximation='features'"
        raise MemoryError(
            f"an exact fit of {n:,} rows needs about {_size(gigabytes)}, and {_size(free / 1e9)} are free; {way_on}"
        )
    return f"exact: {n:,} rows need about {_size(gigabytes)}"


def _exact_gigabytes(n: int) -> float:
    return _MATRICES * 8.0 * n**2 / 1e9


def _features_sentence(n: int, D: int, embedding: Embedding) -> str:
    d = 3 if embedding == Linear("auto") else embedding.n_rows(D)
    seconds = _SECONDS[d] + n * (1e-5 * 5.0 ** (d - 2) + 1.5e-6 * D)
    return (
        f"{n:,} rows by a finite basis of waves, because an exact fit would need about {_size(_exact_gigabytes(n))}; "
        f"this takes about {_duration(seconds)} and less than 1 GB beside the rows"
    )


def free_memory() -> float:
    """Bytes of memory that are free; unlimited where the system does not say."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # pragma: no cover - other systems
        return float("inf")


def _size(gigabytes: float) -> str:
    return f"{1000.0 * gigabytes:.0f} MB" if gigabytes < 1.0 else f"{gigabytes:,.0f} GB"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
