"""A campaign with a few pending trials, as a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ridgeway import Campaign
from tests import campaign_workers as workers

pytest.importorskip("starlette", reason="starlette is not installed: pip install 'ridgeway[serve]'")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install 'ridgeway[serve]'")

from ridgeway.serve.server import Server
from tests.serve.pages import Visitor, served


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    made = workers.create(tmp_path / "c.sqlite", n_initial=50)
    made.ask(4)
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests of a file: its campaign only ever gets more trials."""
    made = workers.create(tmp_path_factory.mktemp("serve") / "c.sqlite", n_initial=500)
    made.ask(30)
    with served(made) as running:
        yield running


@pytest.fixture
def visitor(server: Server) -> Visitor:
    found = Visitor(server)
    found.enter()
    return found
