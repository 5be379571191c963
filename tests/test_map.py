"""The map in CONTRIBUTING.md is the tree, and its walks are the files that calls visit."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from typer.testing import CliRunner

import ridgeway as rw
from ridgeway.cli import app

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ridgeway"
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
#: From above to below, as in pyproject.toml.
LAYERS = [
    "cli",
    "serve",
    "campaign",
    "experiments",
    "report",
    "plots",
    "active",
    "spaces",
    "belief",
    "inference",
    "gp",
    ".",
    "text",
]


def _section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_map_is_the_tree() -> None:
    shown, folder = set(), ""
    for line in _section("Where things live").splitlines():
        if found := re.match(r"    (\w*)/ ", line):
            folder = found[1]
        elif found := re.match(r"      (\w+\.py) +\S", line):
            shown.add(f"{folder}/{found[1]}".lstrip("/"))
    tree = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if not path.stem.startswith("__")}
    assert shown == tree


def visited(call: Callable[[], object]) -> list[str]:
    """The files of the package that a call runs code of, upper layers first, in the order of the first visit."""
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(SOURCE)):
            seen.setdefault(Path(code.co_filename).relative_to(SOURCE).as_posix())

    call()  # once before, so that imports and caches are not part of the walk
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(seen, key=lambda file: LAYERS.index(file.split("/")[0] if "/" in file else "."))


def walk(title: str) -> list[str]:
    text = re.search(rf"^`{re.escape(title)}`: (.*?)\.\n\n", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert text is not None, f"CONTRIBUTING.md has no walk of {title}"
    files, folder = [], ""
    for part in re.split(r",\s+|;\s+", " ".join(text[1].split())):
        if found := re.fullmatch(r"(\w+)/ (\w+)", part):
            folder = found[1]
            files.append(f"{folder}/{found[2]}.py")
        else:
            files.append(f"{folder}/{part}.py")
    return files


def written(files: list[str]) -> str:
    """As CONTRIBUTING.md has it; root modules, which serve all, are left out."""
    parts: dict[str, list[str]] = {}
    for file in files:
        if "/" in file:
            folder, name = file.split("/")
            parts.setdefault(folder, []).append(name.removesuffix(".py"))
    return "; ".join(f"{folder}/ {', '.join(names)}" for folder, names in parts.items()) + "."


def compare(title: str, call: Callable[[], object]) -> None:
    files = [file for file in visited(call) if "/" in file and "__init__" not in file]
    assert sorted(walk(title)) == sorted(files), f"`{title}`: {written(files)}"
    folders = [LAYERS.index(file.split("/")[0]) for file in walk(title)]
    assert folders == sorted(folders)


@pytest.fixture(scope="module")
def noisy() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (30, 4))
    return X, np.sin(2 * X[:, 0] - X[:, 1]) + 0.5 * rng.standard_normal(30)


@pytest.mark.slow
def test_walk_of_fit(noisy: tuple[np.ndarray, np.ndarray]) -> None:
    compare("rw.fit(X, y)", lambda: rw.fit(*noisy, rw.Linear(1), n_starts=4))


def test_walk_of_bald(noisy: tuple[np.ndarray, np.ndarray]) -> None:
    belief = rw.fit(*noisy, rw.Linear(1), n_starts=4)
    compare("belief.bald(X)", lambda: belief.bald(noisy[0]))


@pytest.mark.slow
def test_walk_of_learn() -> None:
    def f(x: np.ndarray) -> float:
        return float(np.sin(3.0 * x[0] - x[1]))

    compare("rw.learn(f, space, budget)", lambda: rw.learn(f, rw.Box([-1] * 3, [1] * 3), 9, embedding=rw.Linear(1)))


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The command line, in a folder with a campaign that has a few results."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> None:
        done = CliRunner().invoke(app, list(arguments))
        assert done.exit_code == 0, done.output

    run("init", "--input", "a 0 1", "--input", "b 0 1", "--input", "c 0 1", "--directions", "1")
    run("ask", "-n", "9")
    campaign = rw.Campaign.open(tmp_path / "campaign.sqlite")
    for trial in campaign.pending:
        campaign.tell(trial, float(np.sin(3.0 * trial.x[0] - trial.x[1])))
    return run


@pytest.mark.slow
def test_walk_of_ask(command: Callable[..., None]) -> None:
    numbers = iter("12")
    compare("ridgeway ask", lambda: command("ask", "-n", "2", "-o", f"next{next(numbers)}.csv"))


@pytest.mark.slow
def test_walk_of_report(command: Callable[..., None]) -> None:
    compare("ridgeway report", lambda: command("report", "-o", "report.html"))
