"""Draw one figure with kaleido and a browser: the program that :func:`ridgeway.plots.save` runs and may end.

It is run by its path, so that it imports kaleido but not Ridgeway.

Usage: ``python _render.py FOLDER SECONDS``. ``FOLDER/figure.json`` holds the figure and the options for kaleido;
the picture becomes ``FOLDER/picture``. After ``SECONDS`` the program ends itself and the browser, in case the
caller that should have done so is no longer there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def main(folder: Path, seconds: float) -> int:
    """Draw the figure of ``folder``; returns the exit code, and prints one line about what went wrong."""
    import kaleido
    from choreographer.browsers.chromium import Chromium

    class SameSession(Chromium):  # type: ignore[misc, unused-ignore]  # depends on whether kaleido is installed
        """A browser that stays in this program's process group, so that ending the group ends it too."""

        def get_popen_args(self) -> Mapping[str, Any]:
            return {**super().get_popen_args(), "start_new_session": False}

    _limit(seconds)
    task = json.loads((folder / "figure.json").read_text(encoding="utf-8"))
    # Without mathjax: kaleido would load it from the internet, and a network that does not answer delays every picture.
    options = {"browser_cls": SameSession, "mathjax": False, "timeout": seconds}
    try:
        picture = kaleido.calc_fig_sync(task["figure"], opts=task["options"], kopts=options)
    except Exception as error:
        words = " ".join(str(error).split())
        print(f"{type(error).__name__}: {words}" if words else type(error).__name__, file=sys.stderr)
        return 1
    (folder / "picture").write_bytes(picture)
    return 0


def _limit(seconds: float) -> None:
    """End this program and its browser after so many seconds, whatever either of them is doing."""

    def end() -> None:
        if os.name == "posix":
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2])))
