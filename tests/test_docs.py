"""Every example a user can read runs: README, docs and docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ridgeway

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = [module.name for module in pkgutil.walk_packages(ridgeway.__path__, "ridgeway.")]


def _called(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_called)
def test_code_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), namespace)
    if page.name == "README.md":
        assert len(blocks) == 3
        assert "inputs by share of the variation" in capsys.readouterr().out


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=_called)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_equation_leads_to_a_function() -> None:
    text = (ROOT / "docs" / "equations.md").read_text()
    named = set(re.findall(r"`(ridgeway\.[\w.]+)`", text))
    assert len(named) > 15
    for name in named:
        module, *rest = _split(name)
        found = importlib.import_module(module)
        for part in rest:
            found = getattr(found, part)
    numbered = re.findall(r"^\| (\d+)(?:(-|, )(\d+))? \|", text, flags=re.MULTILINE)
    covered = {n for first, _, last in numbered for n in range(int(first), int(last or first) + 1)}
    assert covered == set(range(1, 22))


def _split(name: str) -> list[str]:
    """``a.b.C.d`` as the module ``a.b`` and the names in it."""
    parts = name.split(".")
    return [".".join(parts[:2]), *parts[2:]]


def test_the_documentation_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install 'ridgeway[docs]'")
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed: pip install 'ridgeway[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "api" / "index.html").stat().st_size > 50_000


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name: str) -> None:
    with np.printoptions(legacy=False):
        results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_public_objects_say_what_they_are() -> None:
    for name in ridgeway.__all__:
        assert getattr(ridgeway, name).__doc__, f"{name} has no docstring"
