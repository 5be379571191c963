"""The report says what the numbers say, appears whole, and survives odd beliefs."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import report
from tests.report.subjects import NASTY, learner_of


def figures(page: str) -> dict[str, object]:
    match = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match.group(1))


@pytest.mark.slow
def test_the_page_is_one_file_without_addresses(belief: rw.Belief, tmp_path: Path) -> None:
    path = belief.report(tmp_path / "report.html", names=["a", "b", "c", "d"], title="Kiln & co")
    page = path.read_text()
    assert path.stat().st_size < 6e6
    assert "<title>Kiln &amp; co</title>" in page
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", own)
    assert set(figures(page)) == {
        "response", "importance", "weights0", "sobol", "effect0", "effect1", "effect2", "distribution", "information",
        "left_out", "coverage", "optima",
    }  # fmt: skip
    assert page.count("Not available, because") == 3  # the next experiments, the course, evidence of dimensions
    assert "One combination of the 4 inputs carries" in page
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.slow
def test_an_earlier_report_survives_a_failure(
    belief: rw.Belief, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("earlier")

    def full(self: Path, *args: object, **kwargs: object) -> int:
        with self.open("wb") as stream:
            stream.write(b"half")
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="no space"):
            belief.report(path)
    assert path.read_text() == "earlier"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.slow
def test_a_report_is_written_through_no_link(belief: rw.Belief, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in ("report.html", "report.html.part"):
        (tmp_path / name).symlink_to(precious)
    path = belief.report(tmp_path / "report.html")
    assert precious.read_text() == "mine"
    assert "</html>" in path.read_text("utf-8")


@pytest.mark.slow
def test_names_cannot_break_the_page() -> None:
    learner = learner_of(14)
    page = report.render(learner, title=NASTY, suggestions=2)
    assert "<script>alert" not in page
    shown = [note["text"] for note in figures(page)["importance"]["layout"]["annotations"]]
    assert any("&lt;/script&gt;" in text for text in shown)


@pytest.mark.slow
def test_the_data_travel_to_the_last_digit(belief: rw.Belief) -> None:
    page = report.render(belief)
    packed = re.search(r'download="observations.csv.gz" href="data:application/gzip;base64,([^"]*)"', page)
    assert packed is not None
    text = gzip.decompress(base64.b64decode(packed.group(1).replace("&#43;", "+"))).decode()
    rows = np.array([[float(v) for v in line.split(",")] for line in text.splitlines()[1:]])
    assert np.array_equal(rows, np.column_stack([belief.X, belief.y]))


@pytest.mark.slow
def test_suggestions_are_what_would_be_asked_and_nothing_is_taken_out() -> None:
    learner = learner_of(14)
    learner.n_asked = 1  # past the points that fill the space
    learner.belief  # noqa: B018 - fits
    before = learner.to_dict()
    page = report.render(learner, suggestions=3)
    assert learner.to_dict() == before
    preview = learner.preview(3)
    assert f"{preview.scores[0]:.3f}" in page
    assert np.array_equal(learner.ask(3), preview.X)
    assert learner.expected == pytest.approx(preview.scores, nan_ok=True)


@pytest.mark.slow
def test_a_pool_suggests_what_is_left() -> None:
    rng = np.random.default_rng(0)
    pool = rw.Pool(rng.uniform(-1, 1, (12, 2)))
    learner = rw.ActiveLearner(pool, rw.Linear(1))
    learner.tell(pool.rows(range(10)), np.sin(pool.rows(range(10))[:, 0]))
    assert learner.preview(4).X.shape == (2, 2)
    learner.tell(pool.rows([10, 11]), [0.1, 0.2])
    assert "because the pool is exhausted" in report.render(learner)


def test_before_the_first_observation() -> None:
    page = report.render(learner_of(0))
    assert page.count("Not available, because there are no observations.") == 4
    assert "Nothing is known yet" in page
    assert figures(page) == {}
    assert len(page) < 100_000  # no pictures, no plotly


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 3, 4])
def test_too_few_observations_are_said_to_be_so(n: int) -> None:
    page = report.render(learner_of(n))
    assert "too few to check predictions (5 are needed)" in page
    assert "everything here is provisional" in page


def test_a_constant_response() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (12, 3))
    with pytest.warns(rw.RidgewayWarning, match="constant"):
        belief = rw.fit(X, np.ones(12), rw.Linear(1), n_starts=2)
    page = report.render(belief)
    assert "No combination of inputs stands out yet." in page
    assert "because the fit found no direction along which the response varies" in page
    assert "y is constant" in page


@pytest.mark.slow
@pytest.mark.parametrize(("model", "drawn"), [(rw.Diagonal(), True), (rw.Isotropic(), False)], ids=str)
def test_models_without_directions(model: rw.Diagonal | rw.Isotropic, drawn: bool) -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (25, 3))
    page = report.render(rw.fit(X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1], model, n_starts=3))
    assert ("importance" in figures(page)) is drawn
    assert "has no shared combinations of inputs" in page


def test_the_source_and_names_are_checked(belief: rw.Belief, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="source must be a Belief or an ActiveLearner, got str"):
        report.write("belief", tmp_path / "r.html")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="names must have one entry for each of the 4 inputs, got 1"):
        belief.report(tmp_path / "r.html", names=["a"])
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e12, 1e-12])
def test_huge_and_tiny_units(unit: float) -> None:
    rng = np.random.default_rng(0)
    X = unit * rng.uniform(0, 1, (20, 3))
    belief = rw.fit(X, unit * np.sin(3 * X[:, 0] / unit), rw.Linear(1), n_starts=3, inference="map")
    shown = report.content(belief)
    text = " ".join([shown.headline, *shown.sentences, *shown.warnings])
    cells = [cell for section in shown.sections for table in section.tables for row in table.rows for cell in row]
    assert not re.search(r"\bnan\b|\binf\b|-0 %", text + " ".join(cells))
    assert not any(re.search(r"\d{12}|\.\d{9}", cell) for cell in cells)  # numbers are short
    assert "matters most is x0 (" in text


@pytest.mark.slow
def test_one_input() -> None:
    X = np.linspace(0, 1, 12)[:, None]
    shown = report.content(rw.fit(X, np.sin(3 * X[:, 0]), rw.Linear(1), n_starts=2), names=["a"])
    assert shown.headline.startswith("The only input carries")
    assert "12 observations of 1 input ·" in shown.subtitle
    assert not any("share" in sentence or "°" in sentence for sentence in shown.sentences)
