"""Progress of a long computation: one line of a terminal that each message overwrites."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any, TextIO

from ridgeway.text.terminal import visible

if TYPE_CHECKING:  # importing it at run time would import NumPy, too
    from ridgeway.types import Progress


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


def resolve(progress: Any) -> Progress:
    """What to call with a sentence: ``True`` and ``None`` are a line of the terminal, ``False`` ignores it."""
    return given(True if progress is None else progress) or _ignore


def given(progress: Any) -> Progress | None:
    """What to call with a sentence, if anything was given: ``True`` is a line of the terminal, ``False`` ignores it."""
    if progress is None:
        return None
    if progress is True:
        return Line()
    if progress is False:
        return _ignore
    if not callable(progress):
        raise TypeError(f"progress must be True, False, None or a function of a sentence, got {progress!r}")
    function: Progress = progress
    return function


def clear(progress: Progress | None) -> None:
    """Remove what a :class:`Line` shows; any other function is left alone."""
    if isinstance(progress, Line):
        progress.clear()


def _ignore(message: str) -> None:
    return None
