"""What a page shows without a fit."""

from __future__ import annotations

import json
from pathlib import Path

import ridgeway as rw
from ridgeway import Campaign
from ridgeway.serve.state import state


def test_state(campaign: Campaign) -> None:
    campaign.tell(1, 0.123456789, sigma=0.1, notes={"batch": "7"})
    campaign.fail(2, "broke")
    campaign.correct(1, 0.2, "misread")
    seen = state(campaign)
    assert json.loads(json.dumps(seen, allow_nan=False)) == seen
    assert (seen["name"], seen["target"], seen["observed"], seen["settled"]) == ("work", "output value", 1, 2)
    assert [item["trial"] for item in seen["pending"]] == [3, 4]
    assert [name for name, _ in seen["pending"][0]["inputs"]] == ["a", "b"]
    assert float(seen["pending"][0]["inputs"][0][1]) == campaign.pending[0].x[0]
    failed, told = seen["results"]  # the latest first
    assert (failed["state"], failed["reason"], failed["short"]) == ("failed", "broke", ["–"])
    assert (told["value"], told["sigma"], told["notes"]) == ("0.2", "0.1", "batch: 7")
    assert "value 0.123456789 to 0.2 (misread" in told["corrected"]
    assert seen["changes"][0][:3] == ["1", "value 0.123456789 to 0.2", "misread"]


def test_many_inputs_and_results_are_cut(tmp_path: Path) -> None:
    inputs = [rw.Input(f"x{j}", 0, 1) for j in range(30)]
    made = Campaign.create(tmp_path / "c.sqlite", "wide", inputs, n_initial=1000)
    trials = made.ask(230)
    made.tell_table(made.trials[["trial"]].assign(value=1.0))
    made.ask()
    seen = state(made)
    assert len(seen["results"]) == 200 < seen["settled"] == len(trials)
    assert seen["results"][0]["trial"] == 230
    assert len(seen["columns"]) == len(seen["results"][0]["cells"]) == 8
    assert len(seen["pending"][0]["inputs"]) == 30  # who makes it needs all


def test_a_category_is_shown_by_its_word(tmp_path: Path) -> None:
    inputs = [rw.Input("temperature", 20, 80, unit="°C"), rw.Category("solvent", ["water", "acetone"])]
    campaign = Campaign.create(tmp_path / "c.sqlite", "words", inputs)
    for trial in campaign.ask(2):
        campaign.tell(trial, 1.0)
    found = state(campaign)
    assert found["columns"] == ["temperature [°C]", "solvent"]
    assert all(row["cells"][1] in ("water", "acetone") for row in found["results"])
