"""Progress of a run of cells: a bar with the time left in a terminal, a line for each cell elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self, TextIO

from ridgeway.cli.common import say
from ridgeway.experiments.cells import Status


class CellProgress:
    """Called with a :class:`Status` after each cell."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = TextColumn("{task.completed} of {task.total}"), BarColumn(), TextColumn("{task.description}")
            self._bar = Progress(*columns, console=Console(file=self._stream), transient=True)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, status: Status) -> None:
        """Show ``status``."""
        if self._bar is not None:
            if self._task is None:
                self._task = self._bar.add_task("", total=status.total)
            self._bar.update(self._task, completed=status.done, description=_left(status))
        elif status.name:
            failed = f" failed: {status.error.strip().splitlines()[-1]}" if status.error else ""
            say(f"{status.done} of {status.total} · {status.name}{failed} · {_left(status)}")
        elif status.done:
            say(f"{status.done} of {status.total} were finished before")


def _left(status: Status) -> str:
    return "time left unknown yet" if status.seconds_left is None else f"about {duration(status.seconds_left)} left"


def duration(seconds: float) -> str:
    """A duration in words.

    >>> duration(50), duration(400), duration(9000)
    ('50 s', '7 min', '2 h 30 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
