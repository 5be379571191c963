"""Cells: units of work that are saved as soon as they are finished, and not done twice.

>>> import tempfile
>>> from pathlib import Path
>>> cell = Cell("simple/one", dict, {"answer": 42})
>>> run([cell], Path(tempfile.mkdtemp()))
{'simple/one': {'answer': 42}}
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ridgeway import files

FORMAT = 1


@dataclass(frozen=True)
class Cell:
    """One unit of work.

    Parameters
    ----------
    name
        Unique; a relative path without suffix, such as ``"table1/synthetic-5/03"``.
    compute
        A function of a module (other processes import it) that returns something JSON can hold.
    arguments
        Its keyword arguments, which JSON can hold: all that the result depends on, the seed included, so
        that a cell run again alone gives the same numbers.
    cost
        How long it takes relative to the others, for the time left.
    """

    name: str
    compute: Callable[..., dict[str, Any]]
    arguments: dict[str, Any] = field(default_factory=dict)
    cost: float = 1.0

    def __post_init__(self) -> None:
        path = PurePosixPath(self.name)
        if not self.name or path.is_absolute() or ".." in path.parts:
            raise ValueError(f"name of a Cell must be a relative path, got {self.name!r}")

    @property
    def identity(self) -> dict[str, Any]:
        """What makes its result its own: a saved result with another identity is not this cell's."""
        function = f"{self.compute.__module__}.{self.compute.__qualname__}"
        return {"compute": function, "arguments": json.loads(_to_json(self.arguments))}


@dataclass(frozen=True)
class Status:
    """How far a run is, after each cell."""

    done: int
    total: int
    name: str  # of the cell finished last; "" before the first
    error: str  # what went wrong with it; "" if nothing
    seconds_left: float | None  # None before anything could be timed


class CellsError(RuntimeError):
    """Some cells failed. The others are saved, and in ``results``; ``errors`` has a traceback per name."""

    def __init__(self, errors: dict[str, str], results: dict[str, dict[str, Any]]) -> None:
        self.errors, self.results = errors, results
        reasons = [f"{name} ({text.strip().splitlines()[-1]})" for name, text in errors.items()]
        super().__init__(f"{len(errors)} of {len(errors) + len(results)} cells failed: " + "; ".join(reasons))


def run(
    cells: Sequence[Cell],
    folder: Path,
    jobs: int | None = 1,
    progress: Callable[[Status], Any] | None = None,
) -> dict[str, dict[str, Any]]:
    """The results of ``cells`` by name; those found in ``folder`` are read, the others computed and saved there.

    Cells run in their order through joblib, ``jobs`` at a time (``None``: as many as the active
    ``joblib.parallel_config`` says, which may be a cluster's), each with one BLAS thread. This process saves each
    as it comes in, so a run that is killed goes on where it was. A cell that raises does not stop the others; at
    the end :class:`CellsError` names those that did.
    """
    if len({cell.name for cell in cells}) < len(cells):
        raise ValueError("names of cells must differ")
    found = {cell.name: saved(cell, folder) for cell in cells}
    missing = [cell for cell in cells if found[cell.name] is None]
    tracker, errors = _Tracker(cells, missing), {}
    if progress is not None:
        progress(tracker.status())
    for cell, outcome in _outcomes(missing, jobs):
        if "error" in outcome:
            errors[cell.name] = outcome["error"]
        else:
            found[cell.name] = _save(cell, folder, outcome)
        tracker.finish(cell)
        if progress is not None:
            progress(tracker.status(cell.name, outcome.get("error", "")))
    results = {name: entry["result"] for name, entry in found.items() if entry is not None}
    if errors:
        raise CellsError(errors, results)
    return results


def saved(cell: Cell, folder: Path) -> dict[str, Any] | None:
    """What was saved of ``cell``: its ``result``, ``cpu_seconds``, ``wall_seconds`` and more; ``None`` if nothing."""
    path = _path(cell, folder)
    try:
        entry: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return entry if entry["format"] == FORMAT and entry["cell"] == cell.identity else None
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is not a result that Ridgeway saved ({error}): remove it to compute it again"
        ) from None


def finished(cells: Iterable[Cell], folder: Path) -> dict[str, dict[str, Any]]:
    """The results of those of ``cells`` that are saved."""
    found = {cell.name: saved(cell, folder) for cell in cells}
    return {name: entry["result"] for name, entry in found.items() if entry is not None}


def cpu_seconds(cells: Iterable[Cell], folder: Path) -> float:
    """CPU seconds that those of ``cells`` took whose results are saved."""
    return sum(entry["cpu_seconds"] for cell in cells if (entry := saved(cell, folder)) is not None)


def _outcomes(cells: Sequence[Cell], jobs: int | None) -> Iterable[tuple[Cell, dict[str, Any]]]:
    from joblib import Parallel, delayed

    if not cells:
        return
    parallel = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")
    for i, outcome in parallel(delayed(_measured)(i, cell.compute, cell.arguments) for i, cell in enumerate(cells)):
        yield cells[i], outcome


def _measured(i: int, compute: Callable[..., dict[str, Any]], arguments: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Run in the worker: the result with its cost, or the traceback."""
    from threadpoolctl import threadpool_limits

    wall, cpu = time.perf_counter(), time.process_time()
    try:
        with threadpool_limits(1):
            result = compute(**arguments)
        text = _to_json(result)
    except Exception:
        return i, {"error": traceback.format_exc()}
    return i, {
        "result": json.loads(text),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "wall_seconds": round(time.perf_counter() - wall, 3),
    }


def _save(cell: Cell, folder: Path, outcome: dict[str, Any]) -> dict[str, Any]:
    """Write what became of ``cell``; the file appears whole or not at all."""
    from ridgeway import __version__

    entry = {"format": FORMAT, "ridgeway": __version__, "cell": cell.identity, **outcome}
    path = _path(cell, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(path, json.dumps(entry, indent=1, ensure_ascii=False) + "\n")
    return entry


def _path(cell: Cell, folder: Path) -> Path:
    return folder / f"{cell.name}.json"


def _to_json(value: Any) -> str:
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a cell's arguments and result must be what JSON can hold, got {type(value).__name__}")


class _Tracker:
    """Counts cells and judges from those finished in this run how long the others will take."""

    def __init__(self, cells: Sequence[Cell], missing: Sequence[Cell]) -> None:
        self._total, self._done = len(cells), len(cells) - len(missing)
        self._left, self._finished = sum(cell.cost for cell in missing), 0.0
        self._started = time.perf_counter()

    def finish(self, cell: Cell) -> None:
        self._done += 1
        self._left -= cell.cost
        self._finished += cell.cost

    def status(self, name: str = "", error: str = "") -> Status:
        pace = (time.perf_counter() - self._started) / self._finished if self._finished else None
        left = 0.0 if self._done == self._total else None if pace is None else pace * self._left
        return Status(self._done, self._total, name, error, left)
