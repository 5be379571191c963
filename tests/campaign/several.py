"""A campaign with two outputs, and its experiment."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ridgeway import Campaign, Input, Linear
from ridgeway.campaign.trial import Trial

INPUTS = [Input("a", 0.0, 1.0), Input("b", 0.0, 1.0)]


def create(where: str | Path, **options: Any) -> Campaign:
    settings: dict[str, Any] = {
        "outputs": ["yield [%]", "cost [EUR]"], "embedding": Linear(1), "n_initial": 4, "random_state": 5,
        "inference": "map", "effort": "quick",
    }  # fmt: skip
    return Campaign.create(where, "two", INPUTS, **settings | options)


def measured(trial: Trial) -> dict[str, float]:
    a, b = trial.x.tolist()
    return {"yield": math.sin(2.0 * a + b), "cost": math.cos(a - 2.0 * b)}
