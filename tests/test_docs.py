"""Every example a user can read runs: README, docs and docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import ridgeway
from tests.helpers import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
#: What pages and modules need beyond the package: their examples are skipped without.
_NEEDS = {"cluster": ("dask",), "botorch": ("botorch", "ax"), "gpytorch": ("gpytorch",)}
_LINK = re.compile(r"\]\(([^)#]+)\)")


def _modules_with_examples() -> list[str]:
    """Modules whose text has a prompt of Python: only these have examples to run."""
    package = Path(ridgeway.__path__[0])
    files = sorted(path for path in package.rglob("*.py") if ">>> " in path.read_text("utf-8"))
    dotted = (".".join(path.relative_to(package.parent).with_suffix("").parts) for path in files)
    return [name.removesuffix(".__init__") for name in dotted]


def _called(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _pages_with(pattern: re.Pattern[str], pages: list[Path]) -> list[Path]:
    return [page for page in pages if pattern.search(page.read_text("utf-8"))]


def _need(names: tuple[str, ...]) -> None:
    """Skip where a library is missing; threads of torch would be in each other's way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say of themselves where they are imported
        for name in names:
            pytest.importorskip(name, reason=f"{name} is not installed: pip install 'ridgeway[ax]'")
    if names and names != ("dask",):
        importlib.import_module("torch").set_num_threads(1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A not p.d., added jitter")
@pytest.mark.parametrize("page", _pages_with(_BLOCK, PAGES), ids=_called)
def test_code_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _need(_NEEDS.get(page.stem, ()))
    monkeypatch.chdir(tmp_path)  # some write files
    blocks = _BLOCK.findall(page.read_text("utf-8"))
    namespace: dict[str, object] = {}
    with warnings.catch_warnings():
        if page.stem in _NEEDS:
            warnings.simplefilter("ignore", DeprecationWarning)  # Ax warns of what it calls itself
        for block in blocks:
            exec(compile(block, str(page), "exec"), namespace)
    assert len(blocks) > 0
    assert len(namespace) > 1  # beside the builtins that exec itself puts there
    if page.name == "README.md":
        assert "inputs by share of the variation" in capsys.readouterr().out


@pytest.mark.parametrize("page", _pages_with(_LINK, [*PAGES, ROOT / "CONTRIBUTING.md"]), ids=_called)
def test_links_lead_somewhere(page: Path) -> None:
    targets = _LINK.findall(page.read_text("utf-8"))
    assert len(targets) > 0
    for target in targets:
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_equation_leads_to_a_function() -> None:
    text = (ROOT / "docs" / "equations.md").read_text()
    named = set(re.findall(r"`(ridgeway\.[\w.]+)`", text))
    assert len(named) > 15
    for name in named:
        assert pkgutil.resolve_name(name) is not None
    numbered = re.findall(r"^\| (\d+)(?:(-|, )(\d+))? \|", text, flags=re.MULTILINE)
    covered = {n for first, _, last in numbered for n in range(int(first), int(last or first) + 1)}
    assert covered == set(range(1, 22))


@pytest.mark.slow
def test_the_documentation_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install 'ridgeway[docs]'")
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed: pip install 'ridgeway[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "api" / "index.html").stat().st_size > 50_000


@pytest.mark.slow
@pytest.mark.parametrize("name", _modules_with_examples())
def test_docstring_examples_run(name: str) -> None:
    _need(_NEEDS.get(name.split(".")[1], ())[:1])
    with np.printoptions(legacy=False):
        results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0


def test_public_objects_say_what_they_are() -> None:
    for name in ridgeway.__all__:
        assert getattr(ridgeway, name).__doc__, f"{name} has no docstring"
