"""Coordinates kept in a folder: those of the points, grown with the data, and never those of other points."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active import coordinate_cache
from ridgeway.active.coordinate_cache import following
from ridgeway.errors import RidgewayWarning
from ridgeway.gp import rowspace
from ridgeway.gp.scaling import InputScaling
from ridgeway.spaces.row_index import row_hashes
from tests.spaces.pools_on_disk import array_of, points, written

D = 9


def wide(n=200, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, (n, D))


def spaces(*numbers):
    X, scaling = wide(20, 2), InputScaling.from_bounds(-np.ones(D), np.ones(D))
    space = rowspace.reduce(X[: numbers[0]], scaling)
    for n in numbers:
        space = rowspace.extend(space, X[:n])
        yield space


def check(table, folder, space, X):
    cache = following(table, str(folder), space)
    z, rho, hashes = (
        np.concatenate(parts) for parts in zip(*(cache.load(i) for i in range(table.n_chunks)), strict=True)
    )
    expected = space.project(X)
    np.testing.assert_allclose(z, expected[0], atol=1e-9)
    np.testing.assert_allclose(rho, expected[1], atol=1e-9)
    np.testing.assert_array_equal(hashes, row_hashes(X))


@pytest.mark.slow
def test_coordinates_grow_with_the_data(tmp_path):
    X = wide()
    table = rw.Pool(array_of(X, 37, D)).table
    for space in spaces(3, 4, 6, 9, 12):
        check(table, tmp_path / "kept", space, X)
        check(table, tmp_path / "kept", space, X)
    for space in spaces(12, 4):  # every input a coordinate, then fewer data than before
        check(table, tmp_path / "kept", rowspace.reduce(wide(space.Z.shape[0], 2), space.scaling), X)


def test_what_is_there_is_not_computed_again(tmp_path, monkeypatch):
    X = wide()
    table = rw.Pool(array_of(X, 37, D)).table
    first, second = spaces(3, 5)
    check(table, tmp_path, first, X)
    expected = second.project(X)[0]
    monkeypatch.setattr(rowspace.RowSpace, "project", None)  # what is added needs no projection of all
    cache = following(table, str(tmp_path), second)
    np.testing.assert_allclose(cache.load(1)[0], expected[37:74], atol=1e-9)
    monkeypatch.setattr(type(table.chunks), "total", None)  # nor any pass over the points now
    assert following(table, str(tmp_path), second).r == 5


def test_an_interrupted_pass_leaves_nothing_that_is_believed(tmp_path, monkeypatch):
    X = wide()
    table = rw.Pool(array_of(X, 37, D)).table
    first, second = spaces(3, 5)
    check(table, tmp_path, first, X)
    write = coordinate_cache.Written._grow

    def fails_late(self, number, X):
        if number == 4:
            raise KeyboardInterrupt
        write(self, number, X)

    with monkeypatch.context() as patch:
        patch.setattr(coordinate_cache.Written, "_grow", fails_late)
        with pytest.raises(KeyboardInterrupt):
            following(table, str(tmp_path), second)
    check(table, tmp_path, second, X)


def test_other_points_are_said_and_computed_anew(tmp_path):
    X = wide()
    (space,) = spaces(4)
    check(rw.Pool(array_of(X, 37, D)).table, tmp_path, space, X)
    with pytest.warns(
        RidgewayWarning, match=r"the points of the pool are not those whose coordinates are in .*: they are"
    ):
        check(rw.Pool(array_of(X + 1.0, 37, D)).table, tmp_path, space, X + 1.0)
    check(rw.Pool(array_of(X + 1.0, 50, D)).table, tmp_path, space, X + 1.0)  # the same points, cut in other chunks


def test_folders_of_others_are_left_alone(tmp_path, monkeypatch):
    table = rw.Pool(array_of(wide(), 37, D)).table
    (space,) = spaces(4)
    mine = tmp_path / "thesis.txt"
    mine.write_text("words")
    with pytest.raises(
        ValueError, match=r"cache must be an empty folder or one that a pool has written, but .* 'thesis"
    ):
        following(table, str(tmp_path), space)
    with pytest.raises(ValueError, match=r"cache must be a folder, got .*thesis.txt', which is a file"):
        following(table, str(mine), space)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(ValueError, match=r"manifest.json is something else"):
        following(table, str(tmp_path / "other"), space)
    monkeypatch.setattr(coordinate_cache.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10}))
    with pytest.raises(ValueError, match=r"cache needs about 0 GB in .*, where 0 GB are free"):
        following(table, str(tmp_path / "new"), space)


def test_a_file_that_was_cut_short_is_noticed(tmp_path):
    table = rw.Pool(written(tmp_path, points())).table
    scaling = InputScaling.from_bounds(table.lower, table.upper)
    cache = following(table, str(tmp_path / "kept"), rowspace.unreduced(points(), scaling))
    path = Path(cache.path(1, "z"))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match="is shorter than it was written: remove the folder of the cache"):
        cache.load(1)
