"""Pictures in files: every format, and a browser that hangs, fails or is not there."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from ridgeway import plots

pytest.importorskip("kaleido", reason="static pictures need kaleido")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
posix = pytest.mark.skipif(os.name != "posix", reason="the browser's place is taken by a shell script")


@pytest.fixture
def figure() -> go.Figure:
    values = np.add.outer(np.arange(8.0), np.arange(8.0) ** 2)
    return go.Figure([go.Contour(z=values), go.Scatter(x=[1, 2], y=[3, 4], mode="markers")])


def _script(folder: Path, text: str) -> Path:
    path = folder / "browser.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")  # one that nobody waited for


@pytest.mark.slow
@posix
def test_a_browser_that_never_answers_is_ended_within_the_limit(
    figure: go.Figure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The browser and a process of its own, both of which only sleep.
    sleeps = f"sleep 300 &\necho $! > {tmp_path}/child\necho $$ > {tmp_path}/parent\nsleep 300"
    monkeypatch.setenv("BROWSER_PATH", str(_script(tmp_path, sleeps)))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    started = time.monotonic()
    with pytest.raises(TimeoutError, match=r"a\.png was not drawn: .* within 10 s .*fig\.write_html"):
        plots.save(figure, tmp_path / "a.png", timeout=10.0)
    assert time.monotonic() - started < 25.0
    pids = [int((tmp_path / name).read_text()) for name in ("parent", "child")]
    assert not any(map(_alive, pids))
    assert not (tmp_path / "a.png").exists()
    assert not list(temporary.iterdir())


@pytest.mark.slow
@posix
def test_a_browser_that_fails_says_so(figure: go.Figure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", str(_script(tmp_path, "exit 3")))
    with pytest.raises(RuntimeError, match=r"a\.png was not drawn: the browser that kaleido starts failed"):
        plots.save(figure, tmp_path / "a.png")


@pytest.mark.slow
def test_without_a_browser_the_message_says_what_to_install(
    figure: go.Figure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeError, match=r"No browser found .*nowhere.*Install Chromium or Chrome"):
        plots.save(figure, tmp_path / "a.png")


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf")])
def test_the_limit_must_be_one(figure: go.Figure, tmp_path: Path, timeout: float) -> None:
    with pytest.raises(ValueError, match=f"timeout must be a positive number of seconds, got {timeout}"):
        plots.save(figure, tmp_path / "a.png", timeout=timeout)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="static pictures need Chromium or Chrome, and there is none")
@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<svg"), (".pdf", b"%PDF-")])
def test_every_format(figure: go.Figure, tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"picture{suffix}"
    path.write_text("an earlier one")
    assert plots.save(figure, path, dark=True) == path
    assert path.read_bytes().startswith(start)
    assert path.stat().st_size > 5_000


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="static pictures need Chromium or Chrome, and there is none")
def test_the_size_is_the_one_asked_for(figure: go.Figure, tmp_path: Path) -> None:
    content = plots.save(figure, tmp_path / "a.png", width=300, height=200).read_bytes()
    width, height = (int.from_bytes(content[i : i + 4], "big") for i in (16, 20))
    assert (width, height) == (600, 400)


def test_pictures_have_a_known_format(figure: go.Figure, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must end in .png, .svg, .pdf, got 'a.bmp'"):
        plots.save(figure, tmp_path / "a.bmp")
