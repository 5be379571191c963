"""Displays in a notebook, with a stand-in for the one of IPython."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

import ridgeway as rw
from ridgeway import progress
from ridgeway.text import notebook
from tests import campaign_workers as workers


class Screen:
    """What a notebook would show: one list for each display, its states in order."""

    def __init__(self) -> None:
        self.displays: list[list[str]] = []

    def __call__(self, data: dict[str, str], raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        states = [data["text/html"]]
        self.displays.append(states)

        def update(data: dict[str, str], raw: bool) -> None:
            states.append(data["text/html"])

        return SimpleNamespace(update=update)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    made = Screen()
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", kernel)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=made))  # type: ignore[arg-type]
    return made


def until(condition: Any) -> None:
    end = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    for shell in (None, SimpleNamespace()):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))  # type: ignore[arg-type]
        assert notebook.display() is None
        assert isinstance(progress.line(), progress.Line)
    with pytest.raises(RuntimeError, match="needs a notebook"):
        rw.ActiveLearner(rw.Box([0, 0], [1, 1])).live()


def test_progress_is_one_line_that_updates(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    line = progress.resolve(True)
    progress.clear(line)
    assert screen.displays == []  # nothing was shown, so there is nothing to remove
    for text in ("one", "too soon", "<two>"):
        line(text)
        now[0] += 0.06
    progress.clear(line)
    assert screen.displays == [["<small>one</small>", "<small>&lt;two&gt;</small>", "<small></small>"]]


def test_a_learner_is_followed(screen: Screen) -> None:
    learner = rw.ActiveLearner(rw.Box([0, 0], [1, 1]), n_initial=9)
    live = learner.live(seconds=0.01)
    x = learner.ask()
    until(lambda: "1 pending" in screen.displays[0][-1])
    learner.tell(x, 1.0)
    until(lambda: "1 observed, 0 pending" in screen.displays[0][-1])
    live.stop()
    assert len(screen.displays) == 1
    states = len(screen.displays[0])
    learner.ask()
    time.sleep(0.05)
    assert len(screen.displays[0]) == states <= 4  # each change once, and none after the end
    assert repr(live).endswith(", stopped)")
    with pytest.raises(ValueError, match="seconds must be greater than 0"):
        learner.live(seconds=0.0)


def test_a_campaign_is_followed_also_where_others_change_it(screen: Screen, tmp_path: Any) -> None:
    campaign = workers.create(tmp_path / "c.sqlite", n_initial=9)
    live = campaign.live(seconds=0.01)
    assert "nothing asked yet" in screen.displays[0][-1]
    rw.Campaign.open(campaign.where).ask(2)
    until(lambda: "2 pending" in screen.displays[0][-1])
    away = tmp_path / "away"
    (tmp_path / "c.sqlite").rename(away)
    until(lambda: "trying again" in screen.displays[0][-1])
    away.rename(tmp_path / "c.sqlite")
    until(lambda: "2 pending" in screen.displays[0][-1])
    live.stop()
