"""Fixtures for the tests with GPyTorch."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Matrices are small: a second thread costs more than it saves, most of all beside other tests."""
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'ridgeway[botorch]'")
    torch.set_num_threads(1)
