"""Pictures in files: PNG, SVG or PDF.

plotly draws in a browser, which kaleido starts. A browser that never answers would keep kaleido waiting for ever:
its own limit covers drawing only, not starting the browser or closing it. So the drawing is done by a program of
its own (``_render.py``), which is ended together with the browser when the time is over.

A renderer without a browser, such as matplotlib, would not draw the same pictures: contours, surfaces, themes and
labels are plotly's, and each figure would have to be written a second time.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import plotly.graph_objects as go

from ridgeway import files
from ridgeway.plots import _render
from ridgeway.plots.theme import themed

FORMATS = (".png", ".svg", ".pdf")
_SCALE = 2.0  # pixels of a PNG for each pixel of the layout
_GRACE = 5.0  # seconds that ended processes may take to disappear
_INSTEAD = (
    "Install Chromium or Chrome (`kaleido_get_chrome` downloads one; the environment variable BROWSER_PATH names "
    "another), allow more time with timeout=..., or write the figure as a web page with fig.write_html(...)."
)


def save(
    fig: go.Figure,
    path: str | Path,
    width: int = 800,
    height: int | None = None,
    dark: bool = False,
    timeout: float = 60.0,
) -> Path:
    """Write a figure to a ``.png``, ``.svg`` or ``.pdf`` file; needs the extra ``static`` and Chromium or Chrome.

    ``timeout`` limits the whole of it in seconds: starting the browser, drawing and closing. After that the browser
    is ended and :class:`TimeoutError` raised. A browser that fails raises :class:`RuntimeError`. Either way ``path``
    is left as it was.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"path must end in {', '.join(FORMATS)}, got {path.name!r}")
    if not 0.0 < timeout < float("inf"):
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}")
    if importlib.util.find_spec("kaleido") is None:
        raise ImportError("static pictures need kaleido: pip install 'ridgeway[static]'")
    fig = themed(fig, dark)
    options = {
        "format": path.suffix.lower()[1:], "width": width, "height": height or fig.layout.height or 420,
        "scale": _SCALE,
    }  # fmt: skip
    text = f'{{"figure": {fig.to_json()}, "options": {json.dumps(options)}}}'
    return files.write_bytes(path, _drawn(text, path, timeout))


def _drawn(task: str, path: Path, timeout: float) -> bytes:
    """The picture of a task for ``_render.py``; nothing that was started for it is left running."""
    with tempfile.TemporaryDirectory(prefix="ridgeway-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "figure.json").write_text(task, encoding="utf-8")
        with (folder / "messages").open("wb") as messages:
            # Output goes to a file: a browser that holds a pipe open could not make us wait.
            # -P: modules beside the program must not be taken for others of the same name.
            process = subprocess.Popen(
                [sys.executable, "-P", _render.__file__, name, str(timeout + _GRACE)],
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                start_new_session=os.name == "posix",  # a process group of its own, which the browser stays in
                env={**os.environ, "TMPDIR": name},  # the browser's files go with the folder
            )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(
                f"{path.name} was not drawn: the browser that kaleido starts did not finish within {timeout:g} s "
                f"and was ended. {_INSTEAD}"
            ) from None
        finally:  # also after an interruption from the keyboard
            _end(process)
        if code:
            said = (folder / "messages").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            why = said[-1][:300] if said else f"exit code {code}"
            raise RuntimeError(f"{path.name} was not drawn: the browser that kaleido starts failed ({why}). {_INSTEAD}")
        return (folder / "picture").read_bytes()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with everything that it started, and wait until it is gone, for a few seconds at most."""
    if os.name != "posix":
        command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_GRACE, check=False)
        process.wait(_GRACE)
        return
    latest = time.monotonic() + _GRACE
    try:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_GRACE)
        while time.monotonic() < latest:
            os.killpg(process.pid, 0)  # asks whether anyone is left
            time.sleep(0.01)
    except ProcessLookupError:
        process.wait(_GRACE)
