"""What a user says about a trial, in the form in which it is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from ridgeway import CampaignError
from ridgeway.campaign import telling
from tests.campaign import several


def test_targets_by_output(tmp_path: Path) -> None:
    outputs = several.create(tmp_path / "two.sqlite").setup.outputs
    assert telling.targets(outputs, {"cost [EUR]": 5}) == {"cost": 5.0}
    assert telling.targets(outputs, 5.0, "cost") == {"cost": 5.0}
    assert telling.targets(outputs, None) == {}
    with pytest.raises(CampaignError, match="target_error must be a number, got 'small'"):
        telling.targets(outputs, {"cost": "small"})  # type: ignore[dict-item]


def test_a_single_value_and_several_by_name(tmp_path: Path) -> None:
    setup = several.create(tmp_path / "two.sqlite").setup
    row = telling.told(setup, "tell", 3, {"yield": "1.5", "cost": None}, {"yield": 0.1}, {"a": 0.25}, {"by": "Åsa"})
    assert (row.trial, row.notes, row.ends) == (3, {"by": "Åsa"}, False)
    assert {name: (m.value, m.sigma) for name, m in row.results.items()} == {"yield": (1.5, 0.1)}
    assert row.x is not None
    assert row.x[0] == 0.25
    right = telling.right(setup, {"cost": None, "yield": 2.0}, None, None)
    assert right.values == {"cost": None, "yield": 2.0}
    assert telling.right(setup, None, None, None).values is None
    with pytest.raises(CampaignError, match="there is nothing to correct"):
        telling.right(setup, ..., None, None)
