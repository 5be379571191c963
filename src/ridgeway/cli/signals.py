"""Signals that end a program early, turned into one exception that leaves time to tidy up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, TypeVar

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is not known to every system

T = TypeVar("T")


class Signals:
    """Within the block a signal calls ``warned``, and ends what :meth:`during` calls with :class:`SystemExit`.

    Elsewhere it is only noted in ``heard``: an exception in the middle of a library's code may leave its locks taken.
    After the first, no other is obeyed: what tidies up must not be interrupted.
    """

    def __init__(self, warned: Callable[[], None]) -> None:
        self.heard: signal.Signals | None = None
        self._warned = warned
        self._before: dict[signal.Signals, Any] = {}
        self._open, self._raises = True, False

    def during(self, call: Callable[[], T]) -> T:
        """What ``call`` gives, unless a signal ends it."""
        self._raises = True
        try:
            self.check()
            return call()
        finally:
            self._raises = False

    def check(self) -> None:
        """Raise if a signal has come."""
        if self.heard is not None:
            raise SystemExit(128 + self.heard)

    def close(self) -> None:
        """Obey no more signals."""
        self._open = False

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
                if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup and a shell's background jobs want it
                    self._before[number] = signal.signal(number, self._come)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _come(self, number: int, frame: FrameType | None) -> None:
        if self._open and self.heard is None:
            self.heard = signal.Signals(number)
            self._warned()
            if self._raises:
                self.check()
