"""The paper's second table: its protocol, its numbers, and the command that computes it."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import ridgeway as rw
from ridgeway.cli import main, reproduce
from ridgeway.experiments import curves, paper, protocol, scores, table2, table2_report
from ridgeway.experiments.cells import Cell, run
from ridgeway.experiments.protocol import ROWS
from ridgeway.experiments.scores import Test

# -- the protocol -------------------------------------------------------------------------------------


@pytest.mark.parametrize("D", [10, 20])
def test_the_pool_is_half_in_the_box_and_half_in_the_ball(D: int) -> None:
    points = protocol.pool(D)
    assert points.shape == (20_000, D)
    norms = np.linalg.norm(points, axis=1)
    assert np.abs(points).max() <= 1.0
    assert norms[10_000:].max() <= 1.0
    assert np.mean(norms[:10_000] < 1.0) < 0.01  # the box has next to nothing in the ball
    assert np.mean(norms[10_000:] ** D < 0.5) == pytest.approx(0.5, abs=0.02)  # uniform in volume
    assert np.array_equal(points, protocol.pool(D))


def test_the_rows_are_the_papers_and_the_stand_in() -> None:
    assert set(ROWS) - set(paper.TABLE2) == {"uji"}
    assert set(paper.TABLE2) <= set(ROWS)


def test_the_test_points_are_common_and_fresh() -> None:
    problem = protocol.problem("branin-10", 0)
    first, again, other = problem.test(0), protocol.problem("branin-10", 0).test(0), problem.test(1)
    assert first.X.shape == (100, 10)
    assert first.X_test.shape == (1000, 10)
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y_test, again.y_test)
    assert not np.array_equal(first.X, other.X)
    assert problem.candidates.index_of(np.vstack([first.X, first.X_test])).min() >= 0
    assert len(np.unique(np.vstack([first.X, first.X_test]), axis=0)) == 1100
    assert np.array_equal(first.y_test, first.f_test)  # the Branin function is observed as it is
    assert not np.array_equal(first.X, protocol.problem("branin-10", 1).test(0).X)


def test_synthetic_functions_are_observed_with_noise_and_drawn_at_the_readings_scale() -> None:
    root, literal = protocol.problem("synthetic-10-2", 3), protocol.problem("synthetic-10-2", 3, "literal")
    test = root.test(0)
    assert np.std(test.y_test - test.f_test) == pytest.approx(0.1, rel=0.1)
    assert np.array_equal(test.f_test, root.f(test.X_test))
    assert root.embedding is not None
    assert literal.embedding is not None
    np.testing.assert_allclose(literal.embedding, root.embedding / np.sqrt(10), rtol=1e-12)
    assert literal.priors.scale(10) == pytest.approx(0.125)
    assert root.priors.scale(10) == pytest.approx(1.25 / np.sqrt(10))


def test_branin_is_the_usual_function_of_the_prior_s_box() -> None:
    problem = protocol.problem("branin-20", 2)
    assert problem.embedding is not None
    x = problem.points[5]
    u = problem.embedding @ x
    a, b = 2.5 + 3.0 * u[0], 7.5 + 3.0 * u[1]
    expected = (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10
    assert problem.f(x[None])[0] == pytest.approx(expected)


def test_records_of_a_data_set_are_observed_as_they_are() -> None:
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [-1.0, 0.5]])  # the first two share their inputs
    row = protocol.Row("small", "small", 2, 1, "data")
    problem = protocol.Problem(row, 0, points, np.arange(4.0), None, None, 0.0, rw.Priors())
    learner = protocol.learner(problem, "rand", "map", 3)
    assert list(protocol.select(problem, learner, 3)) == [1, 2, 3]
    assert sorted(learner.y) == [0.0, 2.0, 3.0]
    test = problem.test(0, n=2, n_test=2)
    assert sorted(np.append(test.y, test.y_test)) == [0.0, 1.0, 2.0, 3.0]
    assert np.array_equal(points[test.y.astype(int)], test.X)


def test_a_latin_hypercube_is_of_the_box_and_others_are_of_the_pool() -> None:
    problem = protocol.problem("branin-10", 0)
    design, random = (protocol.learner(problem, method, "map", 20) for method in ("lh", "rand"))
    for learner in (design, random):
        assert max(protocol.select(problem, learner, 20)) == 20
    assert protocol.selected_rows(problem, design) == []
    assert len(set(protocol.selected_rows(problem, random))) == 20
    ranks = np.sort((design.X + 1) / 2 * 20, axis=0)  # one point in each twentieth of each input
    assert np.array_equal(np.floor(ranks), np.tile(np.arange(20.0)[:, None], 10))


# -- scores -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learned() -> tuple[rw.Belief, Test]:
    problem = protocol.problem("synthetic-10-2", 0)
    X, rng = problem.points[:60], np.random.default_rng(0)
    y = problem.f(X) + 0.1 * rng.standard_normal(60)
    belief = scores.quiet_fit(X, y, rw.Linear(2), bounds=(-1, 1), n_starts=5)
    return belief, problem.test(0)


def test_plugged_in_scores_are_those_of_a_plain_gp(learned: tuple[rw.Belief, Test]) -> None:
    belief, test = learned
    belief = replace(belief, components=(replace(belief.components[0], weight=1.0),))
    U, T = test.X @ belief.embedding.T, test.X_test @ belief.embedding.T
    scale, noise, mean = belief.output_scale**2, belief.noise_variance, belief.mean
    K = scale * np.exp(-0.5 * ((U[:, None] - U) ** 2).sum(-1)) + noise * np.eye(100)
    k = scale * np.exp(-0.5 * ((T[:, None] - U) ** 2).sum(-1))
    m = mean + k @ np.linalg.solve(K, test.y - mean)
    v = scale - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T)) + noise
    found = scores.carried_scores(belief, test)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((m - test.f_test) ** 2)), rel=1e-3)
    assert found["rmse_y"] == pytest.approx(np.sqrt(np.mean((m - test.y_test) ** 2)), rel=1e-3)
    density = np.mean(0.5 * np.log(2 * np.pi * v) + 0.5 * (test.y_test - m) ** 2 / v)
    assert found["nlpd"] == pytest.approx(density, abs=5e-3)


def test_keeping_only_the_embedding_finds_the_mode_of_the_rest(learned: tuple[rw.Belief, Test]) -> None:
    belief, test = learned
    refitted = scores.with_embedding_of(belief, test.X, test.y)
    np.testing.assert_allclose(refitted.embedding, belief.embedding, atol=1e-10)
    theta = refitted.components[0].gp.theta
    best = refitted.posterior.log_density(theta)
    for i in (-4, -3, -2):
        for step in (-0.05, 0.05):
            moved = theta.copy()
            moved[i] += step
            assert refitted.posterior.log_density(moved) < best


def test_a_subspace_that_lacks_directions_is_at_a_right_angle(learned: tuple[rw.Belief, Test]) -> None:
    belief, _ = learned
    R = belief.embedding
    assert scores.largest_angle(belief, np.array([[1.0, 2.0], [0.0, 1.0]]) @ R) == pytest.approx(0.0, abs=1e-5)
    assert scores.largest_angle(belief, np.vstack([R, np.ones(10)])) == 90.0


# -- cells --------------------------------------------------------------------------------------------

TINY: dict[str, Any] = {
    "row": "synthetic-10-2",
    "reading": "root",
    "inference": "map",
    "method": "bald",
    "experiment": 1,
    "budget": 12,
    "marks": [10, 12],
}


@pytest.fixture(scope="module")
def tiny() -> dict[str, Any]:
    with threadpool_limits(1):  # as a cell has it
        return table2.selection(**TINY)


def test_a_cell_rerun_alone_gives_the_same_numbers(tiny: dict[str, Any], tmp_path: Path) -> None:
    name = "table2/tiny"
    beside = Cell("table2/beside", table2.lasso, {"row": "branin-10", "reading": "root", "experiment": 0})
    again = run([beside, Cell(name, table2.selection, TINY)], tmp_path, jobs=2)[name]
    seconds = {"selection_seconds"}
    assert {k: v for k, v in again.items() if k not in seconds} == {k: v for k, v in tiny.items() if k not in seconds}


def test_a_cell_has_scores_at_the_end_and_at_each_mark(tiny: dict[str, Any]) -> None:
    assert set(tiny["marks"]) == {"10", "12"}
    assert len(set(tiny["selected"])) == 12
    expected = {"rmse", "rmse_y", "nlpd", "carried_nlpd", "refit_nlpd", "belief_nlpd", "angle", "rank"}
    for found in (tiny["final"], *tiny["marks"].values()):
        assert expected <= set(found)
        assert found["rmse_y"] > found["rmse"]


def test_the_last_mark_of_a_design_is_the_fit_at_the_end() -> None:
    result = table2.selection(**{**TINY, "method": "lh"})
    assert result["marks"]["12"] == result["final"]
    assert isinstance(result["selected"], str)


def test_the_lasso_takes_the_penalty_of_least_training_loss() -> None:
    test = protocol.problem("branin-10", 0).test(0)
    found = scores.rmse(table2._least_lasso(test, test.X.mean(axis=0), float(test.y.mean())), test.f_test)
    A = np.column_stack([np.ones(100), test.X])  # next to least squares, ten inputs and 100 points
    least = np.linalg.lstsq(A, test.y, rcond=None)[0]
    assert found == pytest.approx(scores.rmse(least[0] + test.X_test @ least[1:], test.f_test), rel=0.01)


def test_the_whole_table_has_every_cell_once() -> None:
    rows = [name for name, row in ROWS.items() if row.kind != "data"]
    made = table2.cells(rows=rows)
    assert len(made) == len({cell.name for cell in made})
    root = 6 * 5 * (4 * 2 + 1 + 1)  # rows, experiments, the paper's methods with two inferences, info, lasso
    assert len(made) == root + 2 * 5 * (4 * 2 + 1)  # and D = 10 with the literal scale
    assert {cell.arguments["row"] for cell in made if cell.arguments["reading"] == "literal"} == {
        "synthetic-10-2",
        "synthetic-10-3",
    }
    marked = {cell.name.split("/")[2] for cell in made if cell.arguments.get("marks")}
    assert marked == {f"root-nested-{method}" for method in ("rand", "lh", "unc", "bald", "info")}
    assert {cell.arguments["method"] for cell in table2.cells(rows=rows, methods=["rand"])} == {"rand"}
    assert table2.cells(rows=rows, curves=["map"])[-1].arguments["marks"] == []  # literal


# -- the table ----------------------------------------------------------------------------------------


def _results(levels: dict[str, float], marks: dict[str, list[float]]) -> dict[str, dict[str, Any]]:
    """Two experiments of each method that differ by 0.02, with other scores that do not matter."""
    found = {}
    for method, level in levels.items():
        for i in range(2):
            one = dict.fromkeys(("rmse_y", "carried_rmse", "carried_nlpd", "belief_rmse", "belief_nlpd"), 1.0)
            one |= {"refit_rmse": 1.0, "refit_nlpd": 1.0, "angle": 9.0}
            at = {
                str(20 + 10 * k): one | {"rmse": value + 0.02 * i, "nlpd": value}
                for k, value in enumerate(marks.get(method, []))
            }
            found[f"{method}/{i}"] = {
                "row": "synthetic-10-2", "reading": "root", "inference": "nested", "method": method, "experiment": i,
                "budget": 100, "final": one | {"rmse": level + 0.02 * i, "nlpd": level}, "marks": at,
                "selection_seconds": 3.0,
            }  # fmt: skip
    return found


def test_the_table_has_the_papers_numbers_beside_ours() -> None:
    text, rows = table2_report.tables(_results({"rand": 0.3, "bald": 0.1}, {}))
    assert "| synthetic | 10 | 2 | paper | 0.412 | 0.371 | 0.146 | 0.138 | – | 0.842 |" in text
    assert "| | | | nested | 0.310 ± 0.010 | – | – | 0.110 ± 0.010 | – |" in text
    assert "RMSE: better than the paper's; better than rand (-0.200 ± 0.000)" in text
    assert len(rows) == 4


def test_a_quick_table_is_not_judged_by_the_papers_numbers() -> None:
    text, _ = table2_report.tables(_results({"rand": 0.3, "bald": 0.5}, {}), quick=True)
    assert "than the paper's" not in text
    assert "RMSE: **worse than** rand" in text


def test_the_table_says_where_bald_is_not_better() -> None:
    text, _ = table2_report.tables(_results({"rand": 0.3, "bald": 0.5}, {}))
    assert "RMSE: **not better** than the paper's; **worse than** rand (+0.200 ± 0.000)" in text


def test_observations_needed_are_those_that_reach_rand_at_the_end() -> None:
    marks = {"rand": [0.9, 0.8, 0.5], "unc": [0.9, 0.49, 0.6], "bald": [0.9, 0.8, 0.7]}
    results = _results(dict.fromkeys(marks, 0.5), marks)
    group = table2_report.Group(results, "root")
    row = ROWS["synthetic-10-2"]
    assert table2_report.needed(group, row, "nested", "unc") == 30
    assert table2_report.needed(group, row, "nested", "bald") is None
    text, _ = table2_report.tables(results)
    assert re.search(r"unc \| 0.91 \| 0.5 \| 0.610 ± 0.010 \| 30 \|", text)
    assert "more than 40 |" in text
    assert len(curves.rows(results)) == 9


def test_learning_curves_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'ridgeway[experiments]'")
    marks = {"rand": [0.9, 0.8, 0.5], "bald": [0.9, 0.6, 0.4]}
    written = curves.draw(tmp_path, _results(dict.fromkeys(marks, 0.5), marks))
    assert [path.name for path in written] == ["table2_curves_nested.png", "table2_curves_nested.svg"]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    assert "bald" in written[1].read_text() or "<path" in written[1].read_text()


def test_the_papers_numbers_are_copied_right(shared: Path) -> None:
    text = (shared / "paper" / "garnett2013.tex").read_text()
    text = re.sub(r"\{\\bf\s*(-?\s*[\d]+)\}", r"\1", text)  # bold numbers are set in two halves
    text = re.sub(r"\{\\mathbf\{([^}]*)\}\}", r"\1", text).replace(r"\cdot10^", "e")
    second = {
        "synthetic & 10 & 2": "synthetic-10-2", "synthetic & 10 & 3": "synthetic-10-3",
        "synthetic & 20 & 2": "synthetic-20-2", "synthetic & 20 & 3": "synthetic-20-3",
        "Branin & 10 & 2": "branin-10", "Branin & 20 & 2": "branin-20", r"\& crime & 96 & 2": "communities",
        "temperature & 106 & 2": "temperature", "slices & 318 & 2": "ct",
    }  # fmt: skip
    for label, row in second.items():
        printed = paper.TABLE2[row]
        assert _numbers(text, label) == [*printed["nlpd"].values(), *printed["rmse"].values()], row
    first = {"synthetic & 5": "synthetic-5", "synthetic & 10\n": "synthetic-10", "synthetic & 20\n": "synthetic-20"}
    for label, row in {**first, "yacht & 6": "yacht", "concrete & 8": "concrete"}.items():
        printed = paper.TABLE1[row]
        assert _numbers(text, label) == [*printed["nll"].values(), *printed["skld"].values()], row


def _numbers(text: str, label: str) -> list[float]:
    """The numbers of the table row that begins with ``label``."""
    after = text.split(label, 1)[1].split(r"\\", 1)[0].replace(r"\multicolumn{1}{c}{---}", "")
    return [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e\d+)?", after)]


# -- the command --------------------------------------------------------------------------------------


def test_the_command_from_beginning_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n<!-- table2-quick -->\n<!-- /table2-quick -->\n")
    words = ["reproduce", "table2", "--quick", "--rows", "synthetic-10-2", "--methods", "rand,lasso"]
    words += ["--inference", "map", "--experiments", "1"]
    words += ["--jobs", "1", "-o", str(tmp_path / "out"), "--write-docs", str(page)]
    with pytest.raises(SystemExit) as end:
        main(words)
    assert not end.value.code
    said = capsys.readouterr()
    assert "A quick version: synthetic-10-2 only, 1 experiment instead of 5, 60 observations instead of 100" in said.out
    assert "| synthetic | 10 | 2 | paper | 0.412 |" in said.out
    assert "2 of 2 · table2-quick/synthetic-10-2/" in said.err
    assert (tmp_path / "out" / "table2-quick.md").read_text() == said.out
    assert said.out.strip() in page.read_text()
    with (tmp_path / "out" / "table2-quick.csv").open() as stream:
        assert {row["method"] for row in csv.DictReader(stream)} == {"rand", "lasso"}
    with pytest.raises(SystemExit):
        main(words)
    again = capsys.readouterr()
    assert again.out == said.out
    assert "2 of 2 were finished before" in again.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rows", "ct"], "slice_localization_data.csv"),
        (["--rows", "moon"], "row must be"),
        (["--methods", "guess"], "method must be"),
        (["--inference", "nuts"], "inference must be"),
        (["--prior", "literal", "--rows", "branin-10"], "nothing to compute"),
    ],
)
def test_the_command_says_what_is_wrong(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RIDGEWAY_DATA", raising=False)
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "table2", "-o", str(tmp_path), *words])
    assert end.value.code == 1
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1


def _stop(x: int) -> dict[str, int]:
    raise KeyboardInterrupt


def _fail(x: int) -> dict[str, int]:
    raise ZeroDivisionError("no number")


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [(_stop, "stopped after 1 of 2 cells"), (_fail, r"1 of 2 cells failed: b \(ZeroDivisionError: no number\)")],
)
def test_what_is_finished_is_shown_and_what_is_missing_is_said(trouble: Any, sentence: str, tmp_path: Path) -> None:
    results, failure = reproduce.compute([Cell("a", dict, {"x": 1}), Cell("b", trouble, {"x": 2})], tmp_path, jobs=1)
    assert results == {"a": {"x": 1}}
    assert re.match(sentence, failure)
    with pytest.raises(rw.CampaignError, match="not all"):
        reproduce.finish("table", [], None, "table", failure)
    with pytest.raises(rw.CampaignError, match=r"0 of 1 cells|1 of 1 cells"):
        reproduce.compute([Cell("b", trouble, {"x": 2})], tmp_path, jobs=1)


COMMANDS = ("table1", "table2", "comparison", "figure1", "figure2", "figure3", "figure4", "all")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["reproduce", name, "--help"])
    assert end.value.code == 0
    assert f"\n    ridgeway reproduce {name}" in capsys.readouterr().out


def test_all_is_everything_and_names_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called = []

    def part(name: str, **options: Any) -> None:
        called.append(name)
        if name == "table1":
            raise rw.CampaignError("no sampler")

    for name in ("table1", "table2", "comparison"):
        monkeypatch.setattr(reproduce, name, partial(part, name))
    monkeypatch.setattr(reproduce, "paint", lambda number, folder: called.append(f"figure{number}"))
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "all", "--quick", "-o", str(tmp_path)])
    assert end.value.code == 1
    assert sorted([*called, "all"]) == sorted(COMMANDS)
    said = capsys.readouterr().err
    assert "table1: no sampler" in said
    assert said.strip().splitlines()[-1] == "ridgeway: not complete, for the reasons above: table1"


def test_looking_at_a_campaign_does_not_wait_for_the_experiments() -> None:
    code = (
        "import sys, ridgeway.cli; print([m for m in sys.modules if m.startswith(('ridgeway.exp', 'joblib', 'scipy'))])"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"
