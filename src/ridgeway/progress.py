"""Progress of a long computation: one line of a terminal or a notebook that each message overwrites."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from ridgeway.text import notebook
from ridgeway.text.terminal import visible

if TYPE_CHECKING:  # importing it at run time would import NumPy, too
    from ridgeway.types import Progress


_OFTEN = 0.1  # seconds between two messages in a notebook, each of which travels to a browser


class Line:
    """The last line of a terminal; shows nothing where there is no terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()

    def __call__(self, message: str) -> None:
        """Show ``message`` in place of the last one, cut to the width of the window."""
        if self._shown:
            width = max(shutil.get_terminal_size().columns - 3, 10)
            message = visible(message)
            cut = message if len(message) <= width else message[: width - 1] + "…"
            print(f"\r\033[K  {cut}", end="", file=self._stream, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            print("\r\033[K", end="", file=self._stream, flush=True)


class Cell:
    """The last line under a notebook's cell; of messages that come in quick succession some are left out."""

    def __init__(self, show: notebook.Display) -> None:
        self._place, self._last = notebook.Place(show), -_OFTEN

    def __call__(self, message: str) -> None:
        """Show ``message`` in place of the last one."""
        now = time.monotonic()
        if now - self._last >= _OFTEN:
            self._place.put_line(message)
            self._last = now

    def clear(self) -> None:
        """Remove the line."""
        if not self._place.is_empty:
            self._place.put_line("")


def line() -> Line | Cell:
    """A line where this runs: of a notebook, or of a terminal if there is one."""
    show = notebook.display()
    return Line() if show is None else Cell(show)


def resolve(progress: Any) -> Progress:
    """What to call with a sentence: ``True`` and ``None`` are a line that is shown, ``False`` ignores it."""
    return given(True if progress is None else progress) or _ignore


def given(progress: Any) -> Progress | None:
    """What to call with a sentence, if anything was given: ``True`` is a line that is shown, ``False`` ignores it."""
    if progress is None:
        return None
    if progress is True:
        return line()
    if progress is False:
        return _ignore
    if not callable(progress):
        raise TypeError(f"progress must be True, False, None or a function of a sentence, got {progress!r}")
    function: Progress = progress
    return function


def clear(progress: Progress | None) -> None:
    """Remove what a :class:`Line` or :class:`Cell` shows; any other function is left alone."""
    if isinstance(progress, Line | Cell):
        progress.clear()


def _ignore(message: str) -> None:
    return None
