"""A campaign with a few pending trials, as a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ridgeway import Campaign
from tests import campaign_workers as workers

if TYPE_CHECKING:
    from ridgeway.serve.server import Server
    from tests.serve.pages import Visitor


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    made = workers.create(tmp_path / "c.sqlite", n_initial=50)
    made.ask(4)
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests of a file: its campaign only ever gets more trials."""
    from tests.serve.pages import served  # the library it needs is an extra

    made = workers.create(tmp_path_factory.mktemp("serve") / "c.sqlite", n_initial=500)
    made.ask(30)
    with served(made) as running:
        yield running


@pytest.fixture
def visitor(server: Server) -> Visitor:
    from tests.serve.pages import Visitor

    found = Visitor(server)
    found.enter()
    return found
