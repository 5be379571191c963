"""The command ``ridgeway``, called in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ridgeway.cli import main
from tests.cli.commands import Ridgeway, Said


@pytest.fixture
def ridgeway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ridgeway:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("RIDGEWAY_CAMPAIGN", raising=False)

    def call(*words: str) -> Said:
        code = 0
        try:
            main(list(words))
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call
