"""``ridgeway serve`` where it cannot begin; tests/serve has what it does otherwise."""

from __future__ import annotations

import sys

import pytest

from tests.cli.commands import INIT, Ridgeway


def test_what_is_missing_is_named(ridgeway: Ridgeway, monkeypatch: pytest.MonkeyPatch) -> None:
    ridgeway(*INIT)
    for name in [name for name in sys.modules if name.startswith("ridgeway.serve.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = ridgeway("serve")
    assert said.code == 1
    assert "pip install 'ridgeway[serve]'" in said.err


def test_ports_and_places(ridgeway: Ridgeway) -> None:
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    assert "there is no campaign" in ridgeway("serve").err
    ridgeway(*INIT)
    assert "at most 65535, got 70000" in ridgeway("serve", "--port", "70000").err
    assert "no address of this machine" in ridgeway("serve", "--host", "no.such.host.invalid").err
