"""How a campaign shows itself."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

import ridgeway as rw
from ridgeway import Campaign
from tests import campaign_workers as workers


def test_without_a_fit(tmp_path: Path) -> None:
    campaign = Campaign.create(
        tmp_path / "c.sqlite", "<kiln>", [rw.Input("a", 0, 1)], output="y", unit="°C", n_initial=99
    )
    for trial in campaign.ask(12)[:2]:
        campaign.tell(trial, 1.0)
    shown = campaign._repr_html_()
    assert "Campaign &#x27;&lt;kiln&gt;&#x27;: 1 input, output y [°C]" in shown
    assert "2 observed, 10 pending" in shown
    assert "3, 4, 5, 6, 7, 8, 9, 10, ..." in shown
    assert "none yet" in shown
    assert campaign.summary() is None  # looking fits nothing


@pytest.mark.slow
def test_with_a_fit(tmp_path: Path) -> None:
    campaign = workers.create(tmp_path / "c.sqlite")
    for trial in campaign.ask(8):
        campaign.tell(trial, workers.experiment(trial.inputs))
    assert campaign.belief.y.shape == (8,)
    shown = campaign._repr_html_()
    assert "of 8 outcomes" in shown
    assert "Inputs by share of the variation" in shown
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(campaign)
    assert "of 8 outcomes" in console.export_text()
