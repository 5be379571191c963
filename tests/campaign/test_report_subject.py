"""The report of a campaign speaks the campaign's language: its names, units, values and trial numbers."""

from __future__ import annotations

import base64
import csv
import gzip
import html
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ridgeway as rw
from ridgeway import Campaign, Fixed, Input
from ridgeway.cli import main
from ridgeway.errors import CampaignError

INPUTS = [
    Input("temperature", 20, 80, "°C"), Fixed("load", 3, "kg"), Input("rate", 0.01, 10, "1/s", log=True),
    Input("stages", 1, 9, integer=True),
]  # fmt: skip


def strength(x: dict[str, float]) -> float:
    return 30.0 + 10.0 * float(np.sin(x["temperature"] / 30 + np.log10(x["rate"]) + 0.02 * x["stages"]))


def made(path: Path, n: int = 12, **options: Any) -> Campaign:
    """A campaign with ``n`` results and two pending trials."""
    learning = {"embedding": rw.Linear(1), "n_initial": 6, "inference": "map", **options}
    campaign = Campaign.create(path, "coating", INPUTS, output="strength", unit="MPa", **learning)
    for trial in campaign.ask(6):
        campaign.tell(trial, strength(trial.inputs))
    for trial in campaign.ask(n - 6):
        campaign.tell(trial, strength(trial.inputs))
    campaign.ask(2)
    return campaign


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    return made(tmp_path_factory.mktemp("campaign") / "oven.sqlite")


@pytest.fixture(scope="module")
def page(campaign: Campaign) -> str:
    return campaign.report(Path(campaign.where).parent / "report.html", suggestions=3).read_text("utf-8")


def figures(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match.group(1))


def rows_of(page: str, name: str) -> list[list[str]]:
    """The rows of a file inside the page."""
    packed = re.search(rf'download="{name}" href="data:application/gzip;base64,([^"]*)"', page)
    assert packed is not None
    content = gzip.decompress(base64.b64decode(html.unescape(packed.group(1)))).decode()
    return list(csv.reader(io.StringIO(content)))


@pytest.mark.slow
def test_directions_are_made_of_logarithms_and_tables_are_not(page: str) -> None:
    weights = figures(page)["weights0"]["layout"]["annotations"]
    assert {note["text"] for note in weights} == {"temperature [°C]", "log10 of rate [1/s]", "stages"}
    assert "as the logarithm to base 10 of their values" in page
    heads = re.findall(r'<th scope="col">([^<]*)', page.replace("<wbr>", ""))
    assert {"trial", "strength [MPa]", "temperature [°C]", "rate [1/s]", "stages"} <= set(heads)
    assert not any("log10" in head for head in heads)
    assert figures(page)["response"]["layout"]["yaxis"]["title"]["text"] == "strength [MPa]"
    assert "Held fixed: load [kg] at 3." in page
    assert "<td>0.01 to 10, log scale</td>" in page
    assert "<td>1 to 9, whole numbers</td>" in page
    assert "<title>Ridgeway report: coating</title>" in page


@pytest.mark.slow
def test_data_are_the_users_own_to_the_last_digit(campaign: Campaign, page: str) -> None:
    head, *rows = rows_of(page, "observations.csv.gz")
    assert head == ["trial", "temperature [°C]", "load [kg]", "rate [1/s]", "stages", "strength [MPa]"]
    told = [trial for trial in campaign.all_trials() if trial.state == "told"]
    assert [[float(cell) for cell in row] for row in rows] == [
        [trial.id, *trial.x.tolist(), trial.value] for trial in told
    ]
    assert figures(page)["left_out"]["data"][1]["text"] == [f"trial {trial.id}" for trial in told]
    assert [row[0] for row in rows_of(page, "pending.csv.gz")[1:]] == ["13", "14"]


@pytest.mark.slow
def test_suggestions_are_what_would_be_asked_and_nothing_is_taken_out(campaign: Campaign, page: str) -> None:
    before = [vars(trial) | {"x": trial.x.tolist()} for trial in campaign.all_trials()]
    again = campaign.report(Path(campaign.where).parent / "again.html", suggestions=3).read_text("utf-8")
    assert [vars(trial) | {"x": trial.x.tolist()} for trial in campaign.all_trials()] == before
    head, *rows = rows_of(page, "suggestions.csv.gz")
    assert rows_of(again, "suggestions.csv.gz")[1:] == rows
    assert head == list(campaign.setup.labels)
    copy = Path(campaign.where).with_name("copy.sqlite")
    copy.write_bytes(Path(campaign.where).read_bytes())
    asked = Campaign.open(copy).ask(3)
    assert [[float(cell) for cell in row] for row in rows] == [trial.x.tolist() for trial in asked]
    expected = [trial.expected for trial in asked if trial.expected is not None]
    assert expected
    for nats in expected:
        assert f"<td>{nats:.3f}</td>" in page
    assert "2 experiments are pending and taken into account" in page
    assert "The best next experiment would teach" in page


@pytest.mark.slow
def test_the_course_of_the_subspace_is_kept(campaign: Campaign, page: str) -> None:
    fit = campaign._store.snapshot().fits_of(0)["asked"]
    assert [step[0] for step in fit.summary["course"]] == [6, 12]
    drawn = figures(page)["subspace"]["data"][1]
    assert drawn["x"] == [6, 12]
    median = fit.summary["course"][-1][1]
    assert drawn["y"][-1] == pytest.approx(median)
    assert 0.0 <= fit.summary["course"][-1][2] <= median <= fit.summary["course"][-1][3] <= 90.0


@pytest.mark.slow
def test_the_error_of_predictions_is_drawn_in_the_outputs_unit(campaign: Campaign, page: str, tmp_path: Path) -> None:
    advice = campaign.should_stop()
    drawn = {trace["name"]: trace for trace in figures(page)["errors"]["data"]}
    assert drawn["so far"]["x"] == [6, 12]
    assert drawn["so far"]["y"][-1] == pytest.approx(advice.error)
    assert drawn["with more experiments"]["x"][0] == 12
    assert drawn["with more experiments"]["y"][0] == pytest.approx(advice.error)
    assert "wanted" not in drawn
    assert figures(page)["errors"]["layout"]["yaxis"]["title"]["text"] == "typical error, MPa"
    with_target = campaign.report(tmp_path / "r.html", target_error=0.125).read_text("utf-8")
    drawn = {trace["name"]: trace for trace in figures(with_target)["errors"]["data"]}
    assert drawn["wanted"]["y"] == [0.125, 0.125]
    assert "the error that is wanted, 0.125 MPa." in with_target
    with pytest.raises(CampaignError, match="target_error must be above 0"):
        campaign.report(tmp_path / "r.html", target_error=0.0)


@pytest.mark.slow
def test_fits_that_did_not_keep_their_error_are_not_drawn(tmp_path: Path) -> None:
    campaign = made(tmp_path / "c.sqlite", 7)
    campaign.belief  # noqa: B018 - fits
    kept = campaign._store.snapshot().fits
    with campaign._store.database.writing() as connection:
        for fit in campaign._store.snapshot_in(connection).fits:
            fit.summary.pop("errors")
            campaign._store.keep(connection, fit)
    (subject,) = campaign.report_subjects(suggestions=0)
    assert subject.errors is not None
    assert [step.n for step in subject.errors.past] == [7]  # what the last fit expects now
    assert len(campaign._store.snapshot().fits) == len(kept)  # nothing was fitted for it


def test_a_search_for_the_best_point_has_no_target_error(tmp_path: Path) -> None:
    campaign = made(tmp_path / "c.sqlite", 7, goal="minimize")
    assert campaign.report_subjects(suggestions=0)[0].errors is None
    with pytest.raises(CampaignError, match="the goal of this one is to minimize"):
        campaign.report(tmp_path / "r.html", target_error=0.5)


@pytest.mark.slow
def test_how_to_reproduce_it_tells_no_folder(campaign: Campaign, page: str) -> None:
    commands = [html.unescape(code) for code in re.findall(r"<code>(.*?)</code>", page, re.DOTALL)]
    assert commands[-1] == "ridgeway report --campaign oven.sqlite --name coating -o report.html"
    assert str(Path(campaign.where).parent) not in page


@pytest.mark.slow
def test_a_fit_of_an_earlier_version_has_no_course(tmp_path: Path) -> None:
    campaign = made(tmp_path / "c.sqlite", 7)
    campaign.belief  # noqa: B018 - fits
    with campaign._store.database.writing() as connection:
        for fit in campaign._store.snapshot_in(connection).fits:
            fit.summary.pop("course")
            campaign._store.keep(connection, fit)
    page = campaign.report(tmp_path / "r.html", suggestions=0).read_text("utf-8")
    assert "a course needs at least two beliefs with directions, got 1" in page
    assert "Not available, because none were asked for." in page


@pytest.mark.slow
def test_a_pool_shows_its_labels_and_what_is_left(tmp_path: Path) -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (11, 3))
    ids = [f"A{i}" for i in range(11)]
    pool = rw.Pool(X, ["a", "b", "c"])
    campaign = Campaign.create(
        tmp_path / "c.sqlite", "pool", pool, labels={"id": ids}, embedding=rw.Linear(1), inference="map"
    )
    for trial in campaign.ask(9):
        campaign.tell(trial, float(np.sin(2 * trial.x[0])))
    page = campaign.report(tmp_path / "r.html", suggestions=5).read_text("utf-8")
    head, *rows = rows_of(page, "suggestions.csv.gz")
    assert head == ["id", "a", "b", "c"]
    told = {trial.notes["id"] for trial in campaign.all_trials()}  # type: ignore[index]
    assert {row[0] for row in rows} == set(ids) - told
    assert [row[1] for row in rows_of(page, "observations.csv.gz")[1:]] == [
        trial.notes["id"] for trial in campaign.all_trials()  # type: ignore[index]
    ]  # fmt: skip
    for trial in campaign.ask(2):
        campaign.tell(trial, 0.0)
    page = campaign.report(tmp_path / "r.html").read_text("utf-8")
    assert "Not available, because the pool is exhausted." in page


@pytest.mark.slow
def test_whole_numbers_that_are_used_up(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c.sqlite", "few", [Input("a", 0, 1, integer=True)], inference="map")
    for a in (0, 1, 0, 1):
        campaign.attach(pd.DataFrame({"a": [a], "value": [a + 0.1]}), repeated=True)
    page = campaign.report(tmp_path / "r.html").read_text("utf-8")
    assert "because hardly any combination of these inputs is left" in page


def test_before_the_first_result(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c.sqlite", "new", INPUTS)
    campaign.ask(2)
    with pytest.raises(CampaignError, match="nothing to report before the first result"):
        campaign.report(tmp_path / "r.html")
    campaign.tell(1, 3.0)
    page = campaign.report(tmp_path / "r.html").read_text("utf-8")
    assert "Only 1 observation: everything here is provisional." in page
    assert "1 observation is too few to check predictions (5 are needed)" in page


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = 0
    try:
        main(list(words))
    except SystemExit as end:
        code = int(end.code or 0)
    return code, *capsys.readouterr()


@pytest.mark.slow
def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], campaign: Campaign
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("campaign.sqlite").write_bytes(Path(campaign.where).read_bytes())
    done = "Report written to report.html: open it in a browser.\n"
    assert said(capsys, "report", "--next", "5", "--title", "Kiln 3") == (0, "", done)
    page = Path("report.html").read_text("utf-8")
    assert "<title>Kiln 3</title>" in page
    assert len(rows_of(page, "suggestions.csv.gz")) == 6
    assert Path("report.html").stat().st_size < 6e6
    assert said(capsys, "report") == (0, "", done)  # an earlier report is replaced
    Path("notes.html").write_text("mine")
    code, out, err = said(capsys, "report", "-o", "notes.html")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "notes.html is there already" in err
    assert said(capsys, "report", "-o", "notes.html", "--force")[0] == 0
    for name, words in {
        "next.csv": "let the name end in .html",
        "nowhere/r.html": "there is no folder nowhere",
    }.items():
        code, out, err = said(capsys, "report", "-o", name)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert words in err
    assert sorted(os.listdir()) == ["campaign.sqlite", "notes.html", "report.html"]
    assert said(capsys, "report", "--next", "-1")[0] == 2
    Campaign.create("new.sqlite", "new", INPUTS)
    code, out, err = said(capsys, "report", "-c", "new.sqlite", "-o", "new.html")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "nothing to report before the first result" in err
    assert not Path("new.html").exists()


@pytest.mark.slow
def test_corrections_and_notes_stand_in_the_report(tmp_path: Path) -> None:
    campaign = made(tmp_path / "c.sqlite", 7)
    campaign.correct(2, 31.0, "decimal point")
    campaign.correct(3, reason="misread", inputs={"temperature": 25.5})
    page = campaign.report(tmp_path / "r.html", suggestions=0).read_text("utf-8").replace("<wbr>", "")
    assert "2 corrections; the table above has the values that are right." in page
    assert re.search(r"<td>value [\d.]+ to 31</td>\s*<td>decimal point</td>", page)
    assert re.search(r"<td>temperature [\d.]+ to 25\.5</td>\s*<td>misread</td>", page)
    assert campaign.corrections[0]["by"] in html.unescape(page)


@pytest.mark.slow
def test_a_report_without_corrections_has_no_table_of_them(page: str) -> None:
    assert "correction" not in page


@pytest.mark.slow
def test_labels_named_like_columns_are_set_apart_in_a_report(tmp_path: Path) -> None:
    points = np.random.default_rng(0).uniform(size=(8, 2))
    pool = rw.Pool(points, names=["a", "b"])
    labels = {"trial": [f"s{i}" for i in range(8)]}
    campaign = Campaign.create(
        tmp_path / "c.sqlite", "c", pool, labels=labels, embedding=rw.Linear(1), n_initial=5, inference="map"
    )
    for trial in campaign.ask(5):
        campaign.tell(trial, float(trial.x.sum()))
    page = campaign.report(tmp_path / "r.html", suggestions=1).read_text("utf-8")
    assert rows_of(page, "observations.csv.gz")[0] == ["trial", "trial (note)", "a", "b", "value"]


@pytest.mark.slow
def test_failed_corrected_and_suspected_trials_are_listed(tmp_path: Path) -> None:
    campaign = made(tmp_path / "c.sqlite", 16)
    broken, wrong = campaign.pending
    campaign.fail(broken, "the sample <broke>")
    campaign.tell(wrong, strength(wrong.inputs) + 400.0)
    campaign.correct(3, strength(campaign.all_trials()[2].inputs), "read again", sigma=0.5)
    page = campaign.report(tmp_path / "report.html", suggestions=0).read_text("utf-8")
    own = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "1 trial failed." in own
    assert "the sample &lt;broke&gt;" in own
    assert "1 correction; the table above" in own
    assert [s.row for s in campaign.belief.suspects] == [16]
    listed = own.split('aria-label="1 suspected outlier: they have hardly any influence."')[-1].split("</table>")[0]
    assert f">{wrong.id}<" in listed
    assert "standard deviations" in listed
    assert "typically off by" in own
    assert "\N{NO-BREAK SPACE}MPa, noise included" in own
