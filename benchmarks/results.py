"""Results of a long benchmark: each is kept as a line of a file as soon as it is measured, and not measured again.

Those behind the pages of the documentation are in ``benchmarks/kept``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

KEPT = Path(__file__).with_name("kept")
Job = tuple[Any, ...]  # the arguments of a measurement: texts and numbers
Result = Any  # what JSON can hold


def measure(function: Callable[..., Result], jobs: Sequence[Job], n_jobs: int, path: Path | None) -> list[Result]:
    """``function(*job)`` for each job, several at a time; from ``path`` where it is there already."""
    known = kept(function, path)
    new = [job for job in jobs if job not in known]
    found = Parallel(n_jobs=n_jobs)(delayed(_measured)(function, job, path) for job in new)
    known |= zip(new, found, strict=True)
    return [known[job] for job in jobs]


def kept(function: Callable[..., Result], path: Path | None) -> dict[Job, Result]:
    """What is known of a measurement, by its arguments."""
    if path is None or not path.exists():
        return {}
    lines = map(json.loads, path.read_text().splitlines())
    return {tuple(line["job"]): line["result"] for line in lines if line["what"] == function.__name__}


def _measured(function: Callable[..., Result], job: Job, path: Path | None) -> Result:
    result = function(*job)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:  # a line is written at once, so several processes may do so
            file.write(json.dumps({"what": function.__name__, "job": job, "result": result}) + "\n")
    return result
