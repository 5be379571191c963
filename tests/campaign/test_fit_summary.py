"""Status, advice, report and the summary of a belief speak of the same numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import Campaign, Input
from ridgeway.belief import subspace
from ridgeway.cli import main
from ridgeway.report import sentences
from ridgeway.report.facts import facts


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Few and noisy results: the directions are not well known, so that modes and draws differ."""
    path = tmp_path_factory.mktemp("agreement") / "c.sqlite"
    names = ("alpha", "beta", "gamma")
    made = Campaign.create(
        path, "c", [Input(name, -1, 1) for name in names], embedding=rw.Linear(1), inference="map", n_initial=14
    )
    rng = np.random.default_rng(3)
    for trial in made.ask(14):
        x = trial.x
        made.tell(trial, float(np.sin(2.0 * x[0] - x[1]) + 0.4 * rng.standard_normal()))
    made.should_stop()
    return made


@pytest.mark.slow
def test_modes_and_draws_differ_here(campaign: Campaign) -> None:
    """Otherwise the next test would compare nothing."""
    at_modes, drawn = campaign.belief.importances(), facts(campaign.belief, list("abc")).shares.mean
    assert np.abs(at_modes - drawn).max() > 0.01


@pytest.mark.slow
def test_one_campaign_has_one_set_of_numbers(
    campaign: Campaign, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    belief, names = campaign.belief, campaign.setup.names
    found = facts(belief, names)  # what the report is made from
    shares = dict(zip(names, found.shares.mean.tolist(), strict=True))
    assert found.angle is not None

    status = json.loads(_said(capsys, "status", "--advice", "--format", "json", "-c", campaign.where))
    assert dict(status["belief"]["inputs"]) == pytest.approx(shares)
    assert status["degrees"] == pytest.approx(found.angle.median)
    advice = campaign.should_stop()
    assert advice.degrees == pytest.approx(found.angle.median)
    off = f"typically off by {subspace.degrees(found.angle.median)}"
    assert off in advice.text

    text = " ".join(_said(capsys, "status", "-c", campaign.where).split())
    assert off in text
    summary, shown = belief.summary(names), dict(rw.belief.display.inputs(belief, names))
    page = campaign.report(Path(campaign.where).with_name("report.html")).read_text("utf-8")
    assert off in page
    for name, share in shares.items():
        assert f"{name} {100 * share:.1f} %" in re.sub(r" +", " ", text)
        assert re.search(rf"{name} +{100 * share:.1f} %", summary)
        assert shown[name] == pytest.approx(share)
        assert f"<td>{share:.2%}</td>" in page
    assert sentences.certainty(found.angle, 1, 3) in page.replace("\N{NO-BREAK SPACE}", " ")


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(list(words))
    assert not end.value.code
    return capsys.readouterr().out
