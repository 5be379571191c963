"""Displays in a notebook that change after they were shown: a line of progress, a table that follows its subject."""

from __future__ import annotations

import html
import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

Display = Callable[..., Any]


def display() -> Display | None:
    """IPython's function that shows things, where this runs in a notebook; a terminal is none."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    found: Display = importlib.import_module("IPython.display").display
    return found


class Place:
    """A place under a notebook's cell: what is put there takes the place of the last."""

    def __init__(self, show: Display) -> None:
        self._show, self._handle = show, None

    def put(self, content: str, text: str) -> None:
        """Show HTML, or ``text`` where a notebook is read without it."""
        data = {"text/html": content, "text/plain": text}
        if self._handle is None:
            self._handle = self._show(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def put_line(self, text: str) -> None:
        """Show one line of text."""
        self.put(f"<small>{html.escape(text)}</small>", text)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was put there."""
        return self._handle is None


class Shown(Protocol):
    """What has a display in a notebook."""

    def _repr_html_(self) -> str: ...


class Live:
    """A display that follows what it shows; :meth:`stop` leaves it as it is."""

    def __init__(self, subject: Shown, state: Callable[[], Any], seconds: float, show: Display | None = None) -> None:
        show = display() if show is None else show
        if show is None:
            raise RuntimeError("a live display needs a notebook; in a terminal print() or rich.print() shows it once")
        if not seconds > 0.0:
            raise ValueError(f"seconds must be greater than 0, got {seconds!r}")
        self._subject, self._state, self._seconds = subject, state, seconds
        self._place, self._over, self._seen = Place(show), threading.Event(), None
        self._look()
        self._thread = threading.Thread(target=self._follow, daemon=True, name="ridgeway-live")
        self._thread.start()

    def stop(self) -> None:
        """Follow no longer."""
        self._over.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._over.wait(self._seconds):
            try:
                self._look()
            except Exception as error:  # a database that is away comes back; whatever it is, it is said
                self._place.put_line(f"{error} (trying again)")
                self._seen = None

    def _look(self) -> None:
        state = self._state()
        if self._seen is None or state != self._seen:
            self._place.put(self._subject._repr_html_(), repr(self._subject))
            self._seen = state

    def __repr__(self) -> str:
        return f"Live({self._subject!r}{', stopped' if self._over.is_set() else ''})"
