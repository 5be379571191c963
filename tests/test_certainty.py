"""Status, advice and report say the same of one campaign: how well directions are known, and which inputs matter."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import Campaign, Input
from ridgeway.belief import embedding_draws, subspace
from ridgeway.belief.subspace import SubspaceUncertainty, uncertainty
from ridgeway.campaign import fit_summary
from ridgeway.campaign.stopping import about_directions, advise
from ridgeway.cli import main
from ridgeway.report import sentences, warnings

KNOWN = re.compile(r"The directions? (?:is|are) (well known|roughly known|not known yet)\b.*?off by ([^(); ]*°)")


def _campaign(path: Path, d: int, n: int) -> Campaign:
    inputs = [Input(name, -1, 1) for name in ("a", "b", "c", "d", "e")]
    campaign = Campaign.create(path, "two", inputs, embedding=rw.Linear(d), n_initial=n, inference="map")
    rng = np.random.default_rng(0)
    for trial in campaign.ask(n):
        x = trial.inputs
        value = np.sin(2 * x["a"] - x["c"]) + (d - 1) * x["b"] ** 2 + 0.05 * rng.standard_normal()
        campaign.tell(trial, float(value))
    return campaign


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(list(words))
    assert not end.value.code
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(("d", "n"), [(1, 24), (2, 12)])
def test_status_advice_and_report_agree(
    d: int, n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    path = tmp_path / "c.sqlite"
    campaign = _campaign(path, d, n)
    belief = campaign.belief  # fitted and kept: status alone fits nothing
    expected = uncertainty(belief)
    status = _said(capsys, "status", "-c", str(path))
    advice = _said(capsys, "status", "--advice", "-c", str(path))
    record = json.loads(_said(capsys, "status", "--advice", "-f", "json", "-c", str(path)))
    page = campaign.report(tmp_path / "report.html", suggestions=1).read_text("utf-8")
    page = html.unescape(re.sub("<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL))

    told = {"status": status, "advice": advice, "json": record["advice"], "report": page}
    found = {where: KNOWN.findall(" ".join(text.split())) for where, text in told.items()}
    same = (expected.level, subspace.degrees(expected.median))
    assert {where: set(said) for where, said in found.items()} == {where: {same} for where in told}
    assert len(found["report"]) == 2  # once among the first sentences, once in the advice
    assert record["degrees"] == record["belief"]["degrees"] == pytest.approx(expected.median, abs=1e-6)

    shares = embedding_draws.Interval.of(embedding_draws.shares(belief, embedding_draws.embeddings(belief)))
    for (name, share), (low, high) in zip(record["belief"]["inputs"], record["belief"]["intervals"], strict=True):
        j = "abcde".index(name)
        assert [share, low, high] == pytest.approx([shares.mean[j], shares.low[j], shares.high[j]], abs=1e-9)
        assert f"<td>{share:.2%}</td><td>{low:.2%}</td><td>{high:.2%}</td>" in re.sub(r">\s+<", "><", page)
        assert re.search(rf"^  {name} +{100 * share:.1f} %  \( *{100 * low:.0f} to +{100 * high:.0f} %\)", status, re.M)


def test_the_rule_is_one() -> None:
    """Wherever a median of the angles is put into words, the words are those of the rule."""
    for median in (0.0, 9.0, 12.0, 14.9, 15.0, 34.9, 35.0, 40.0, 90.0):
        angle = SubspaceUncertainty(20, median, median / 2, min(90.0, 2 * median))
        assert angle.level == subspace.level(median)
        assert f"are {angle.level}: " in sentences.certainty(angle, 2, 5)
        assert f"are {angle.level} (" in about_directions(median)[0]
        assert bool(advise(0.001, median)) == (angle.level == "well known")
        assert bool(warnings._angle(angle)) == (angle.level == "not known yet")


def test_directions_that_span_all_inputs_leave_nothing_to_find(tmp_path: Path) -> None:
    campaign = Campaign.create(
        tmp_path / "c.sqlite", "c", [Input("a", 0, 1)], embedding=rw.Linear(1), n_initial=6, inference="map"
    )
    for trial in campaign.ask(6):
        campaign.tell(trial, trial.inputs["a"] ** 2)
    advice = campaign.should_stop()
    assert advice.degrees is None
    assert "direction" not in advice.text


def test_a_flat_response_has_unknown_directions(tmp_path: Path) -> None:
    inputs = [Input(name, 0, 1) for name in "abc"]
    campaign = Campaign.create(tmp_path / "c.sqlite", "c", inputs, embedding=rw.Linear(1), n_initial=6, inference="map")
    for trial in campaign.ask(6):
        campaign.tell(trial, 1.0)
    advice = campaign.should_stop()
    assert advice.degrees == 90.0
    assert "not known yet (typically off by 90°)" in advice.text


def test_summaries_of_earlier_versions_can_be_read() -> None:
    old = {"inputs": [["a", 1.0]], "rank": 1, "degrees": 5.0, "status": "a mode", "warnings": []}
    assert (fit_summary.angle(old, 9), fit_summary.n_directions(old)) == (5.0, 1)
    course = old | {"course": [[6, 50.0, 40.0, 60.0], [9, 20.0, 10.0, 30.0]]}
    assert fit_summary.angle(course, 9) == 20.0
    assert fit_summary.angle(course | {"degrees": None}, 9) is None


def test_the_campaign_of_the_first_version_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = shutil.copy(Path(__file__).parent / "assets" / "campaign_v1.sqlite", tmp_path)
    assert "outcomes, share of the variation:" in _said(capsys, "status", "-c", path)


def test_the_rule_does_without_scipy() -> None:
    code = "import sys, ridgeway.campaign.fit_summary, ridgeway.campaign.stopping; print('scipy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout == "False\n"
