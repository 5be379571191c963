"""The progress line in a terminal."""

from __future__ import annotations

import io
import os

import pytest

from ridgeway import progress
from tests.helpers import Terminal, shown


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setattr(progress.shutil, "get_terminal_size", lambda: os.terminal_size((30, 24)))


@pytest.mark.usefixtures("narrow")
def test_a_line_is_cut_to_the_window():
    stream = Terminal()
    line = progress.Line(stream)
    line("short")
    line("a sentence that is longer than the window is wide")
    line.clear()
    first, second, last = shown(stream.getvalue())
    assert first == "short"
    assert second == "a sentence that is longer …"
    assert len(second) + 2 < 30
    assert last == ""


def test_a_line_says_nothing_where_there_is_no_terminal():
    stream = io.StringIO()
    line = progress.Line(stream)
    line("hello")
    line.clear()
    assert stream.getvalue() == ""
