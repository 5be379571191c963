"""Memory that is kept while work is done in blocks, and given back afterwards."""

from __future__ import annotations

import pytest

from ridgeway.active import allocation
from ridgeway.active.allocation import kept_memory


@pytest.fixture
def limits(monkeypatch):
    """Limits as the C library would get them."""
    found = []
    monkeypatch.setattr(allocation, "_mallopt", lambda: lambda which, value: found.append((which, value)) or 1)
    return found


def test_limits_are_raised_and_put_back(limits, monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with kept_memory():
        assert limits == [(-1, 2**28), (-3, 2**25)]
    assert limits[2:] == [(-1, 65536), (-3, 2**17)]


@pytest.mark.parametrize("value", [None, "", "much"])
def test_nothing_is_touched_where_nobody_asked_to_give_memory_back(limits, monkeypatch, value):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if value is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", value)
    with kept_memory():
        pass
    assert limits == []
