"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the paper's data and other libraries' scores, where there is one."""
    folder = os.environ.get("RIDGEWAY_SHARED")
    if not folder:
        pytest.skip("set RIDGEWAY_SHARED to the folder that holds peers/ to run this test")
    return Path(folder)
