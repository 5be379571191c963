"""Running the user's function: one experiment at a time, or several at once."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from ridgeway import checks
from ridgeway.active import outcome
from ridgeway.active.outcome import Outcome
from ridgeway.types import Array

Function = Callable[[Array], Any]


@dataclass(eq=False)
class _Flight:
    """An experiment that was submitted and not yet reported."""

    x: Array
    future: Future[Any]
    submitted: float
    done: float | None = None

    def landed(self, _: Future[Any]) -> None:
        self.done = time.monotonic()

    def end(self, timeout: float | None) -> float:
        """When it was finished or ran out of time; infinite while it may go on."""
        done = math.inf
        if self.future.done():
            # A future wakes those who wait for it before it runs its callbacks, so the time may not be set yet.
            done = time.monotonic() if self.done is None else self.done
        deadline = math.inf if timeout is None else self.submitted + timeout
        return min(done, deadline) if done < math.inf or time.monotonic() >= deadline else math.inf


class Evaluations:
    """Experiments in flight: submit points while there is room, and take outcomes as they arrive.

    Without ``executor``, with one worker and no ``timeout``, ``f`` runs in the caller's thread when
    its outcome is asked for. With more workers or a ``timeout`` it runs in daemon threads, which do not keep
    Python from ending. An ``executor`` of :mod:`concurrent.futures`, dask or loky is used as it is
    and never shut down; ``workers=None`` takes as many as it has.

    An experiment that takes longer than ``timeout`` seconds is reported as failed. It cannot be
    stopped: an executor's worker stays occupied until it ends (a daemon thread is abandoned),
    and what it returns then is ignored.

    >>> with Evaluations(lambda x: x.sum(), workers=2) as running:
    ...     while running.room:
    ...         running.submit(np.array([1.0, 2.0]))
    ...     [running.next().value for _ in range(running.in_flight)]
    [3.0, 3.0]
    """

    def __init__(
        self, f: Function, executor: Executor | None = None, workers: int | None = 1, timeout: float | None = None
    ):
        if not callable(f):
            raise TypeError(f"f must be a function of one point, got {f!r}")
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise TypeError(f"executor must be one of concurrent.futures or have its submit, got {executor!r}")
        if isinstance(executor, ProcessPoolExecutor):
            _check_portable(f)
        self.timeout = _checked_timeout(timeout)
        self.workers = _checked_workers(workers, executor, self.timeout)
        self._f = f
        self._executor = executor
        self._lazy = executor is None and self.workers == 1 and timeout is None
        self._waiting: deque[Array] = deque()  # to run in the caller's thread, not begun
        self._flights: list[_Flight] = []  # in the order of submission
        self._hung: list[Future[Any]] = []  # reported as failed, and perhaps still running
        self._closed = False

    @property
    def in_flight(self) -> int:
        """How many experiments were submitted whose outcome was not taken yet."""
        return len(self._waiting) + len(self._flights)

    @property
    def room(self) -> int:
        """How many more may be submitted now."""
        self._hung = [future for future in self._hung if not future.done()]
        return max(0, self.workers - self.in_flight - len(self._hung))

    def submit(self, x: npt.ArrayLike) -> None:
        """Begin an experiment at ``x``, ``(D,)``; ``f`` gets a copy of it."""
        if self._closed:
            raise RuntimeError("these evaluations are closed: make new ones to submit more")
        point = np.array(x, dtype=np.float64)
        if point.ndim != 1:
            raise ValueError(f"x must have shape (D,), got {point.shape}")
        if not self.room:
            self._refuse_if_all_hang()
            raise RuntimeError(f"there is no room: {self.in_flight} experiments are in flight; take one with next()")
        if self._lazy:
            self._waiting.append(point)
            return
        submitted = time.monotonic()
        flight = _Flight(point, self._start(point.copy()), submitted)
        self._flights.append(flight)
        flight.future.add_done_callback(flight.landed)

    def next(self) -> Outcome:
        """The outcome of the experiment that is finished first; waits for it."""
        if self._waiting:
            return self._run(self._waiting.popleft())
        if not self._flights:
            self._refuse_if_all_hang()
            raise RuntimeError("there is nothing to wait for: no experiment is in flight")
        flight = self._first()
        self._flights.remove(flight)
        end = flight.end(self.timeout)
        if self.timeout is not None and end >= flight.submitted + self.timeout:
            # One that had not begun frees its worker at once; a daemon thread can be replaced by another.
            if not flight.future.cancel() and self._executor is not None:
                self._hung.append(flight.future)
            reason = f"took longer than the time limit of {self.timeout:g} s"
            return Outcome(flight.x, None, reason, time.monotonic() - flight.submitted)
        return outcome.read(flight.x, flight.future, end - flight.submitted)

    def close(self) -> None:
        """Drop all experiments in flight, and cancel those that have not begun; the executor stays open."""
        self._closed = True
        for flight in self._flights:
            flight.future.cancel()
        self._flights.clear()
        self._waiting.clear()

    def __enter__(self) -> Evaluations:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, x: Array) -> Outcome:
        """The experiment in this thread, where Ctrl-C stops it."""
        future: Future[Any] = Future()
        began = time.monotonic()
        try:
            future.set_result(self._f(x.copy()))
        except Exception as error:
            future.set_exception(error)
        return outcome.read(x, future, time.monotonic() - began)

    def _start(self, x: Array) -> Future[Any]:
        if self._executor is None:
            return _in_daemon_thread(self._f, x)
        if isinstance(self._executor, ThreadPoolExecutor):
            return self._executor.submit(self._f, x)
        # dask runs calls with equal arguments only once: a repeated experiment needs an argument of its own.
        return self._executor.submit(_call_elsewhere, self._f, x, uuid4().hex)

    def _first(self) -> _Flight:
        """The experiment that ends first, by result or by time limit; waits until there is one."""
        while True:
            ends = [flight.end(self.timeout) for flight in self._flights]
            if min(ends) < math.inf:
                return self._flights[ends.index(min(ends))]
            left = None
            if self.timeout is not None:
                left = max(0.0, min(f.submitted for f in self._flights) + self.timeout - time.monotonic())
            wait([flight.future for flight in self._flights], timeout=left, return_when=FIRST_COMPLETED)

    def _refuse_if_all_hang(self) -> None:
        if self.in_flight or self.room:
            return
        busy = "the one worker is" if self.workers == 1 else f"all {self.workers} workers are"
        raise TimeoutError(
            f"{busy} still busy with experiments beyond the time limit of {self.timeout:g} s: "
            "end them, allow a longer timeout, or let f stop itself"
        )


def _in_daemon_thread(f: Function, x: Array) -> Future[Any]:
    """A thread for this experiment alone; unlike an executor's, Python does not wait for it at exit."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(f(x))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="ridgeway-experiment", daemon=True).start()
    return future


def _call_elsewhere(f: Function, x: Array, _: str) -> Any:
    """``f(x)`` in another process, where an exception that cannot be pickled would break the whole executor."""
    try:
        return f(x)
    except Exception as error:
        try:
            ForkingPickler.loads(ForkingPickler.dumps(error))
        except Exception:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        raise


def _checked_timeout(timeout: Any) -> float | None:
    if timeout is None:
        return None
    number = isinstance(timeout, int | float | np.integer | np.floating) and not isinstance(timeout, bool)
    if not number or not 0.0 < timeout < math.inf:
        raise ValueError(f"timeout must be a positive, finite number of seconds or None, got {timeout!r}")
    return float(timeout)


def _checked_workers(workers: int | None, executor: Any, timeout: float | None) -> int:
    offered = getattr(executor, "_max_workers", None)
    if workers is None:
        return offered if isinstance(offered, int) else 1
    workers = checks.count(workers, "workers", 1)
    if timeout is not None and isinstance(offered, int) and workers > offered:
        # The others would wait in a queue while their time limit runs.
        raise ValueError(f"workers must be at most the executor's {offered} where there is a timeout, got {workers}")
    return workers


def _check_portable(f: Function) -> None:
    try:
        ForkingPickler.dumps(f)
    except Exception as error:
        raise TypeError(
            f"f must be a function at the top of a module to run in other processes, got {f!r} ({error})"
        ) from None


__all__ = ["Evaluations", "Outcome"]
