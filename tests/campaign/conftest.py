"""A campaign in a file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from ridgeway import Campaign
from tests import campaign_workers as workers


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return workers.create(tmp_path / "c.sqlite", n_initial=50)
