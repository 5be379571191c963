"""Cells: saved as soon as they are finished, not done twice, the same alone or together."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from joblib import parallel_config

from ridgeway.experiments.cells import Cell, CellsError, Status, cpu_seconds, run, saved

SLOW = """
import sys, time
from pathlib import Path
from ridgeway.experiments.cells import Cell, run

def slow(i):
    time.sleep(0.0 if i < 2 else {pause})
    return {{"i": i}}

if __name__ == "__main__":
    from slow_cells import slow
    print(run([Cell(f"slow/{{i}}", slow, {{"i": i}}) for i in range(4)], Path(sys.argv[1])))
"""


def count_calls(log: str, value: int) -> dict[str, int]:
    with Path(log).open("a") as stream:
        stream.write("called\n")
    return {"value": value}


def fail_at(value: int) -> dict[str, int]:
    if value == 1:
        raise ZeroDivisionError("one is not allowed")
    return {"value": value}


def test_a_finished_cell_is_read_not_computed_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    cell = Cell("some/cell", count_calls, {"log": str(log), "value": 3})
    assert run([cell], tmp_path) == run([cell], tmp_path) == {"some/cell": {"value": 3}}
    assert log.read_text() == "called\n"
    entry = json.loads((tmp_path / "some" / "cell.json").read_text())
    assert entry["cell"]["arguments"] == cell.arguments
    assert entry["cell"]["compute"].endswith("count_calls")
    assert entry["ridgeway"]
    assert entry["wall_seconds"] >= 0
    assert cpu_seconds([cell], tmp_path) == entry["cpu_seconds"]
    assert [path.name for path in (tmp_path / "some").iterdir()] == ["cell.json"]


def test_other_arguments_or_another_function_are_another_cell(tmp_path: Path) -> None:
    run([Cell("a", dict, {"x": 1})], tmp_path)
    assert run([Cell("a", dict, {"x": 2})], tmp_path) == {"a": {"x": 2}}
    assert run([Cell("a", fail_at, {"value": 2})], tmp_path) == {"a": {"value": 2}}
    assert saved(Cell("a", dict, {"x": 2}), tmp_path) is None


def test_a_cell_that_fails_is_named_and_does_not_stop_the_others(tmp_path: Path) -> None:
    cells = [Cell(f"part/{i}", fail_at, {"value": i}) for i in range(3)]
    with pytest.raises(CellsError, match=r"1 of 3 cells failed: part/1 \(ZeroDivisionError: one is not") as caught:
        run(cells, tmp_path)
    assert caught.value.results == {"part/0": {"value": 0}, "part/2": {"value": 2}}
    assert "fail_at" in caught.value.errors["part/1"]
    assert not (tmp_path / "part" / "1.json").exists()


def test_a_result_that_json_cannot_hold_fails_its_cell(tmp_path: Path) -> None:
    with pytest.raises(CellsError, match="what JSON can hold, got set"):
        run([Cell("a", _returns_a_set)], tmp_path)


def _returns_a_set() -> dict[str, set[int]]:
    return {"members": {1}}


def test_progress_counts_and_judges_the_time_left(tmp_path: Path) -> None:
    run([Cell("0", dict, {"x": 0})], tmp_path)
    seen: list[Status] = []
    run([Cell(str(i), dict, {"x": i}) for i in range(3)], tmp_path, progress=seen.append)
    assert [(status.done, status.total, bool(status.name)) for status in seen] == [(1, 3, 0), (2, 3, 1), (3, 3, 1)]
    assert seen[0].seconds_left is None
    assert seen[1].seconds_left is not None
    assert seen[2].seconds_left == 0.0


def test_what_is_not_a_saved_result_is_not_overwritten_in_silence(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"format": 1, "ce')
    with pytest.raises(ValueError, match="not a result that Ridgeway saved"):
        run([Cell("a", dict, {"x": 1})], tmp_path)


@pytest.mark.parametrize("name", ["", "/a", "a/../b"])
def test_names_are_relative_paths(name: str) -> None:
    with pytest.raises(ValueError, match="relative path"):
        Cell(name, dict)


def test_names_differ(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must differ"):
        run([Cell("a", dict), Cell("a", dict)], tmp_path)


@pytest.mark.slow
def test_two_at_a_time_give_the_same(tmp_path: Path) -> None:
    cells = [Cell(str(i), dict, {"x": i}) for i in range(4)]
    assert run(cells, tmp_path / "two", jobs=2) == run(cells, tmp_path / "one", jobs=1)


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    script, folder = tmp_path / "slow_cells.py", tmp_path / "results"
    script.write_text(SLOW.format(pause=60))
    process = subprocess.Popen([sys.executable, str(script), str(folder)])
    try:
        deadline = time.monotonic() + 60
        while not (folder / "slow" / "1.json").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    before = {path.name: path.stat().st_mtime_ns for path in (folder / "slow").iterdir()}
    assert set(before) == {"0.json", "1.json"}
    script.write_text(SLOW.format(pause=0))
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True)
    after = {path.name: path.stat().st_mtime_ns for path in (folder / "slow").iterdir()}
    assert set(after) == {"0.json", "1.json", "2.json", "3.json"}
    assert {name: after[name] for name in before} == before


@pytest.mark.slow
def test_cells_run_on_a_dask_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    cells = [Cell(f"dask/{i}", _process, {"i": i}) for i in range(3)]
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        results = run(cells, tmp_path, jobs=None)
    assert [results[f"dask/{i}"]["i"] for i in range(3)] == [0, 1, 2]
    assert all(result["process"] != os.getpid() for result in results.values())
    assert saved(cells[0], tmp_path) is not None


def _process(i: int) -> dict[str, int]:
    return {"i": i, "process": os.getpid()}
