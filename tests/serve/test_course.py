"""Pictures of a campaign that need no fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ridgeway as rw
from ridgeway import Campaign
from ridgeway.serve.course import course


def test_before_and_after_the_first_outcomes(campaign: Campaign) -> None:
    outcomes, expected = course(campaign.setup.outputs.one(), campaign.all_trials()).pictures
    assert outcomes.figure is None
    assert outcomes.missing == "there are no outcomes yet"
    assert "fill the space" in expected.missing
    campaign.tell(2, 5.0)
    campaign.tell(1, 3.0)
    trials = [replace(trial, expected=0.1 * trial.id) for trial in campaign.all_trials()]
    outcomes, expected = course(campaign.setup.outputs.one(), trials).pictures
    assert outcomes.figure is not None
    assert expected.figure is not None
    assert list(outcomes.figure.data[0].y) == [5.0, 3.0]  # in the order in which they came
    assert list(expected.figure.data[0].x) == [1, 2, 3, 4]


def test_a_search_shows_the_best_so_far(tmp_path: Path) -> None:
    made = Campaign.create(tmp_path / "c.sqlite", "c", [rw.Input("a", 0, 1)], goal="maximize", output="y", unit="K")
    for trial, value in zip(made.ask(3), (1.0, 3.0, 2.0), strict=True):
        made.tell(trial, value)
    (only,) = course(made.setup.outputs.one(), made.all_trials()).pictures  # nothing was chosen to teach
    drawn = only.figure
    assert drawn is not None
    assert list(drawn.data[1].y) == [1.0, 3.0, 3.0]
    assert drawn.layout.yaxis.title.text == "y [K]"
