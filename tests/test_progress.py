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


def test_what_may_be_given(monkeypatch):
    said = []
    assert progress.given(None) is None
    assert progress.given(said.append) == said.append
    assert isinstance(progress.given(True), progress.Line)
    assert isinstance(progress.resolve(None), progress.Line)
    assert progress.given(False)("nobody hears it") is None
    for wrong in ("yes", 1, []):
        with pytest.raises(TypeError, match="progress must be True, False, None or a function of a sentence, got"):
            progress.given(wrong)
