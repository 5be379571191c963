"""Every test can fail: each asserts something itself, or calls a function of the tests that does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers import ROOT

TESTS = ROOT / "tests"
#: Calls that fail a test: functions of pytest, and what is named as NumPy's ``np.testing.assert_allclose``.
CHECKS = {"raises", "warns", "fail"}
#: A decorator that hands over functions which raise where a check fails.
CHECKED_BY = "parametrize_with_checks"
#: Files about several modules of a package, or about one that its code is still being moved to.
ABOUT_SEVERAL = {
    "belief/test_column_names.py",
    "campaign/test_postgres.py",
    "cli/test_cli.py",
    "report/test_browser.py",
    "report/test_report.py",
    "serve/test_browser.py",
}


@dataclass(frozen=True)
class Function:
    """A function of the tests: where it stands, and whether anything in it can fail a test."""

    module: str
    name: str
    is_test: bool
    checks: bool
    calls: frozenset[tuple[str, str]]  # functions of the tests that it calls, as module and name


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_check(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = _last_name(node.func.value)
    return (owner == "pytest" and node.func.attr in CHECKS) or (owner == "testing" and "assert" in node.func.attr)


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def functions(source: str, module: str) -> Iterator[Function]:
    """Functions and methods of one file."""
    tree = ast.parse(source)
    known = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests")
        for alias in node.names
    }
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    defined = [node for owner in (tree, *classes) for node in owner.body if isinstance(node, ast.FunctionDef)]
    known |= {node.name: (module, node.name) for node in defined}
    for node in defined:
        inside = list(ast.walk(node))
        called = {_last_name(call.func) for call in inside if isinstance(call, ast.Call)}
        checked = any(CHECKED_BY in ast.unparse(decorator) for decorator in node.decorator_list)
        yield Function(
            module,
            node.name,
            node.name.startswith("test_"),
            checked or any(map(_is_check, inside)),
            frozenset(known[name] for name in called & set(known)),
        )


def without_assertion(every: list[Function]) -> list[str]:
    """Tests that no assertion is reached from."""
    failing = {(f.module, f.name) for f in every if f.checks}
    while more := {(f.module, f.name) for f in every if f.calls & failing} - failing:
        failing |= more
    return [f"{f.module}::{f.name}" for f in every if f.is_test and (f.module, f.name) not in failing]


def test_every_test_asserts_something() -> None:
    every = [f for path in sorted(TESTS.rglob("*.py")) for f in functions(path.read_text("utf-8"), _module(path))]
    assert sum(f.is_test for f in every) > 500
    assert without_assertion(every) == []


@pytest.mark.parametrize(
    ("body", "asserts"),
    [
        ("x = 1", False),
        ("assert x", True),
        ("with pytest.raises(ValueError): f()", True),
        ("np.testing.assert_allclose(a, b)", True),
        ("helper()", True),
        ("through()", True),
        ("idle()", False),
        ("result.raises()", False),
    ],
)
def test_a_test_without_an_assertion_is_found(body: str, asserts: bool) -> None:
    helpers = "def helper():\n    assert True\ndef through():\n    helper()\ndef idle():\n    pass\n"
    found = without_assertion(list(functions(f"{helpers}def test_it():\n    {body}\n", "m")))
    assert found == ([] if asserts else ["m::test_it"])


def test_files_are_named_after_modules() -> None:
    """``tests/<package>/test_<module>.py`` tests ``ridgeway.<package>.<module>``."""
    source = ROOT / "src" / "ridgeway"
    modules = {f"{path.parent.name}/test_{path.stem}.py" for path in source.glob("*/*.py")}
    files = {f"{path.parent.name}/{path.name}" for path in TESTS.glob("*/test_*.py")}
    assert {file.split("/")[0] for file in files} == {path.parent.name for path in source.glob("*/__init__.py")}
    assert files - modules <= ABOUT_SEVERAL
