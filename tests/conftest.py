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


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Tests are named without the bytes they are given: a zip file holds the time at which it was made.

    Processes that share out the tests would otherwise collect different names, and refuse to run.
    """
    return argname if isinstance(val, bytes) else None
