"""A pool with the words that go with its points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ridgeway import Campaign, CampaignError, Pool
from ridgeway.campaign.results import Result
from ridgeway.campaign.stored_pool import StoredPool


def test_points_have_their_labels(tmp_path: Path) -> None:
    points = np.array([[0.0, 1.0], [1.0, 2.0]])
    made = Campaign.create(tmp_path / "c.sqlite", "c", Pool(points), labels={"id": ["x", "y"]})
    pool = StoredPool.of(made._store, made.setup)
    assert [pool.labels_of(x) for x in points] == [{"id": "x"}, {"id": "y"}]
    pool.check([Result("row 1", None, {}, points[0], {})])
    with pytest.raises(CampaignError, match="row 2 is no point of the pool"):
        pool.check([Result("row 2", None, {}, np.array([5.0, 5.0]), {})])
    assert StoredPool().labels_of(points[0]) == {}
    with pytest.raises(CampaignError, match="labels 'id' must have one entry a point, got 1 of 2"):
        Campaign.create(tmp_path / "d.sqlite", "c", Pool(points), labels={"id": ["x"]})
