"""The report says what the numbers say, appears whole, and survives odd beliefs."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import calibration, report
from ridgeway.calibration import Calibration
from ridgeway.directions import Directions
from ridgeway.draws import Interval
from ridgeway.plots import theme
from ridgeway.report import advice, sentences
from ridgeway.report.tables import number
from ridgeway.subspace import SubspaceUncertainty

NASTY = "</script><script>alert(1)</script> & <b>"


@pytest.fixture(scope="module")
def belief() -> rw.Belief:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (40, 4))
    return rw.fit(X, np.sin(0.4 * X[:, 0] - 0.2 * X[:, 2]) + 0.02 * rng.standard_normal(40), rw.Linear(1), n_starts=4)


def learner_of(n: int, **options: object) -> rw.ActiveLearner:
    rng = np.random.default_rng(0)
    learner = rw.ActiveLearner(rw.Box([0] * 3, [1] * 3, names=["a", "b", NASTY]), rw.Linear(1), n_initial=1, **options)
    X = rng.uniform(0, 1, (n, 3))
    if n:
        learner.tell(X, np.sin(3 * X[:, 0]) + 0.01 * rng.standard_normal(n))
    return learner


def figures(page: str) -> dict[str, object]:
    match = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match.group(1))


def test_the_page_is_one_file_without_addresses(belief: rw.Belief, tmp_path: Path) -> None:
    path = belief.report(tmp_path / "report.html", names=["a", "b", "c", "d"], title="Kiln & co")
    page = path.read_text()
    assert path.stat().st_size < 6e6
    assert "<title>Kiln &amp; co</title>" in page
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", own)
    assert set(figures(page)) == {
        "response", "importance", "weights0", "information", "left_out", "coverage", "optima"
    }  # fmt: skip
    assert page.count("Not available yet, because") == 3  # the next experiments, the course, evidence of dimensions
    assert "One combination of the 4 inputs carries" in page
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_an_earlier_report_survives_a_failure(
    belief: rw.Belief, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("earlier")

    def full(self: Path, *args: object, **kwargs: object) -> int:
        self.write_bytes(b"half")
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="no space"):
            belief.report(path)
    assert path.read_text() == "earlier"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_names_cannot_break_the_page() -> None:
    learner = learner_of(14)
    page = report.render(learner, title=NASTY, suggestions=2)
    assert "<script>alert" not in page
    shown = [note["text"] for note in figures(page)["importance"]["layout"]["annotations"]]
    assert any("&lt;/script&gt;" in text for text in shown)


def test_the_data_travel_to_the_last_digit(belief: rw.Belief) -> None:
    page = report.render(belief)
    packed = re.search(r'download="observations.csv.gz" href="data:application/gzip;base64,([^"]*)"', page)
    assert packed is not None
    text = gzip.decompress(base64.b64decode(packed.group(1).replace("&#43;", "+"))).decode()
    rows = np.array([[float(v) for v in line.split(",")] for line in text.splitlines()[1:]])
    assert np.array_equal(rows, np.column_stack([belief.X, belief.y]))


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
    assert page.count("Not available yet, because there are no observations.") == 4
    assert "Nothing is known yet" in page
    assert figures(page) == {}
    assert len(page) < 100_000  # no pictures, no plotly


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


def test_sentences_follow_the_numbers() -> None:
    two = Directions(np.eye(20)[:2], np.array([0.8, 0.2]), np.eye(2))
    assert sentences.headline(two, 0.971, 20) == (
        "Two combinations of the 20 inputs carry 97 % of the variation; the rest passes for noise."
    )
    assert "only 10 % of the variation" in sentences.headline(two, 0.1, 20)
    assert "too few observations" in sentences.headline(two, None, 20)
    assert sentences.shares(two) == (
        "Of what they explain, direction 1 accounts for 80 % and direction 2 accounts for 20 %."
    )
    share = Interval(np.array([0.1, 0.6, 0.3]), np.array([0.05, 0.5, 0.2]), np.array([0.2, 0.7, 0.4]))
    assert sentences.inputs(["a", "b", "c"], share, 2) == (
        "The inputs that matter most are b (60 %, between 50 % and 70 %) and c (30 %, between 20 % and 40 %)."
    )
    even = Interval(*(np.full(100, 0.01),) * 3)
    assert sentences.inputs([f"x{j}" for j in range(100)], even).startswith("No single input stands out")
    assert "pinned down" in sentences.certainty(SubspaceUncertainty(9, 4.0, 2.0, 8.0))
    assert "not known well yet" in sentences.certainty(SubspaceUncertainty(9, 60.0, 20.0, 89.0))
    assert [sentences.percent(s) for s in (0.0, 0.001, 0.5, 0.998, 1.0)] == [
        "0 %", "less than 1 %", "50 %", "more than 99 %", "100 %"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("best", "low", "high", "text"),
    [
        (0.002, 0.0001, 0.004, "less than 1 %"),
        (0.0, 0.0, 0.0, "0 %"),
        (1.0, 1.0, 1.0, "100 %"),
        (0.999, 0.996, 0.9999, "more than 99 %"),
        (0.5, 0.5, 0.5, "50 %"),
        (0.6, 0.5, 0.7, "60 %, between 50 % and 70 %"),
        (0.03, 0.001, 0.07, "3 %, up to 7 %"),
        (0.07, 0.0, 0.07, "7 %"),
        (0.97, 0.93, 0.998, "97 %, at least 93 %"),
        (0.93, 0.93, 1.0, "93 %"),
        (0.4, 0.0, 1.0, "40 %, but it may be anything"),
        (0.05, 0.0001, 0.0002, "5 % on average, less than 1 % in most cases"),
        (-1e-17, -1e-17, 1e-3, "less than 1 %"),
        (1.0, 0.999, 1.0, "more than 99 %"),
    ],
)
def test_a_share_and_its_interval_never_say_the_same_twice(best: float, low: float, high: float, text: str) -> None:
    assert sentences.span(best, low, high) == text


def test_sentences_at_the_extremes() -> None:
    one = Directions(np.eye(1), np.ones(1), np.eye(1))
    two = Directions(np.eye(2), np.array([1.0, 0.0]), np.eye(2))
    assert sentences.headline(one, 1.0, 1) == "The only input carries 100 % of the variation."
    assert sentences.headline(two, 0.9, 2).startswith("The two inputs together carry 90 % of the variation; the rest")
    for explained in (0.0, -3.0):
        assert sentences.headline(one, explained, 8).startswith("Nothing was found yet that would predict")
    assert "carries less than 1 % of the variation so far" in sentences.headline(one, 1e-12, 8)
    assert "too few observations" in sentences.headline(one, float("nan"), 8)
    assert sentences.shares(one) == ""
    assert sentences.shares(two).endswith("direction 1 accounts for 100 % and direction 2 accounts for 0 %.")
    assert sentences.inputs(["a"], Interval(np.ones(1), np.ones(1), np.ones(1))) == ""
    sure = Interval(*(np.array([1.0 - 2e-12, 1e-12, 1e-12]),) * 3)
    assert sentences.inputs(["a", "b", "c"], sure) == "The input that matters most is a (more than 99 %)."
    unknown = Interval(*(np.full(3, np.nan),) * 3)
    assert sentences.inputs(["a", "b", "c"], unknown) == ""
    assert sentences.certainty(SubspaceUncertainty(9, 0.0, 0.0, 0.0), 2, 2) == ""
    assert sentences.certainty(SubspaceUncertainty(9, float("nan"), 0.0, 0.0), 1, 4) == ""
    assert sentences.certainty(SubspaceUncertainty(9, 0.1, 0.05, 0.2), 1, 4) == (
        "The direction is pinned down: what else the data allow is less than 1° away (0° is certainty, 90° ignorance)."
    )
    assert "(90 % between 0° and 90°;" in sentences.certainty(SubspaceUncertainty(9, 45.0, 0.0, 90.0), 2, 4)
    assert [sentences.amount(v) for v in (0.0, 1e-12, 0.25, 1234.5)] == [
        "next to nothing", "next to nothing", "0.25 nats", "1,234.50 nats"
    ]  # fmt: skip


@pytest.mark.parametrize(("inside", "n", "words"), [(6, 6, "hold all 6 observations"), (0, 6, "hold 0 % of 6")])
def test_a_few_observations_inside_their_intervals_are_no_caution(inside: int, n: int, words: str) -> None:
    observed = np.where(np.arange(n) < inside, 0.0, 100.0)
    low, high = calibration._by_chance(np.array([0.95]), n)
    found = Calibration(observed, np.zeros(n), np.ones(n), np.array([0.95]), np.array([inside / n]), low, high)
    said = sentences.calibrated(found)
    assert words in said
    assert said.endswith(", as they should." if inside == n else ": the intervals are too narrow.")


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


def test_one_input() -> None:
    X = np.linspace(0, 1, 12)[:, None]
    shown = report.content(rw.fit(X, np.sin(3 * X[:, 0]), rw.Linear(1), n_starts=2), names=["a"])
    assert shown.headline.startswith("The only input carries")
    assert "12 observations of 1 input ·" in shown.subtitle
    assert not any("share" in sentence or "°" in sentence for sentence in shown.sentences)


def test_bad_diagnostics_are_warned_about(belief: rw.Belief) -> None:
    assert advice.warnings(belief) == ()
    narrow = Calibration(
        belief.y, belief.y, np.ones(40), np.array([0.95]), np.array([0.6]), np.array([0.88]), np.array([0.99])
    )
    assert "too sure of itself" in advice.warnings(belief, narrow)[0]
    assert "uncertain by 70°" in advice.warnings(belief, None, SubspaceUncertainty(40, 70.0, 50.0, 89.0))[0]
    rng = np.random.default_rng(1)
    noise = rw.fit(rng.uniform(-1, 1, (30, 5)), rng.standard_normal(30), rw.Linear(1), n_starts=4)
    assert "passes for noise" in " ".join(advice.warnings(noise))


def _contrast(one: str, other: str) -> float:
    """The ratio of two colours by WCAG 2.2."""

    def luminance(color: str) -> float:
        parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_stand_out_in_both_themes() -> None:
    style = (Path(report.__file__).parent / "page.css").read_text()
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in style.split("@media", 2)[:2])
    assert set(light) == set(dark) >= {"paper", "ink", "soft", "link", "warn", "warn-line", "tint"}
    for page, is_dark in ((light, False), (dark, True)):
        words = [("ink", "paper"), ("ink", "tint"), ("ink", "warn"), ("soft", "paper"), ("soft", "tint")]
        for front, back in [*words, ("link", "paper")]:
            assert _contrast(page[front], page[back]) >= 4.5, (front, back)
        for back in ("paper", "tint", "warn"):  # the outline of what has the focus, the edge of a warning
            assert _contrast(page["warn-line"], page[back]) >= 3.0
        look = theme.template(is_dark).layout
        assert look.paper_bgcolor == page["paper"]
        assert _contrast(look.font.color, page["paper"]) >= 4.5
        for color in (theme.BLUE, theme.VERMILLION, theme.GREEN, theme.PURPLE, theme.GREY):
            assert _contrast(color, page["paper"]) >= 3.0, color
    assert _contrast("#000000", theme.ORANGE) >= 4.5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (99999.7, "100,000"),
        (1e12, "1e+12"),
        (3.14159265, "3.1416"),
        (115600.0, "115,600"),
        (1.5e-7, "1.5e-07"),
        (float("nan"), "–"),
    ],
)
def test_numbers_for_people(value: float, text: str) -> None:
    assert number(value) == text


def test_notebook_and_terminal(belief: rw.Belief) -> None:
    from rich.console import Console

    learner = learner_of(6)
    assert "none yet" in learner._repr_html_()
    learner.belief  # noqa: B018 - fits
    for shown in (belief._repr_html_(), learner._repr_html_()):
        assert "Inputs by share of the variation" in shown
        assert "<script>" not in shown
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(belief)
    console.print(learner)
    text = console.export_text()
    assert "40 observations of 4 inputs" in text
    assert NASTY in text
    assert "6 told, 0 out, 0 failed" in text


def test_importing_ridgeway_imports_no_plotting() -> None:
    code = "import sys, ridgeway; print([m for m in ('plotly', 'jinja2', 'rich', 'kaleido') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
