"""Progress for people: one line of a terminal that is written over and over."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:  # a line of a terminal must not wait for SciPy
    from ridgeway.inference import Progress


class Line:
    """The last line of a terminal; says nothing where there is no terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()

    def __call__(self, message: str) -> None:
        """Show ``message`` in place of the last one, cut to the width of the window."""
        if self._shown:
            width = max(shutil.get_terminal_size().columns - 3, 10)
            cut = message if len(message) <= width else message[: width - 1] + "…"
            print(f"\r\033[K  {cut}", end="", file=self._stream, flush=True)

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._shown:
            print("\r\033[K", end="", file=self._stream, flush=True)


def resolve(progress: Any) -> Progress:
    """What to call with a sentence: a line of the terminal for ``True`` and ``None``, nothing for ``False``."""
    if progress is None or progress is True:
        return Line()
    if progress is False:
        return _silent
    if not callable(progress):
        raise TypeError(f"progress must be True, False, None or a function of a sentence, got {progress!r}")
    given: Progress = progress
    return given


def clear(progress: Progress) -> None:
    """Clear what a :class:`Line` shows; others keep what they were told."""
    if isinstance(progress, Line):
        progress.clear()


def _silent(message: str) -> None:
    return None
