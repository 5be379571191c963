"""A pool that is not in memory: its first pass, rows by their numbers, and points looked for."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.spaces import point_chunks
from ridgeway.spaces.chunk_table import ChunkTable
from tests.spaces.pools_on_disk import NAMES, array_of, everywhere, points, written


def with_copies():
    X = points()
    X[[9, 130, 239]] = X[40]
    return X


def test_what_the_first_pass_finds_is_the_same_everywhere(tmp_path):
    X = with_copies()
    memory = rw.Pool(X, NAMES)
    for kind, pool in everywhere(X, tmp_path).items():
        assert (len(pool), pool.D, pool.names, pool.in_memory) == (240, 4, NAMES, False), kind
        np.testing.assert_array_equal(pool.bounds, memory.bounds)
        assert pool.fingerprint == memory.fingerprint
        assert pool.digest == memory.digest
        assert repr(pool) == repr(memory)


def test_rows_and_points_are_those_of_the_pool_in_memory(tmp_path):
    X = with_copies()
    memory = rw.Pool(X, NAMES)
    wanted = [200, 0, 70, 71, 69, 200, 239]
    for pool in everywhere(X, tmp_path).values():
        np.testing.assert_array_equal(pool.rows(wanted), X[wanted])
        assert pool.rows([]).shape == (0, 4)
        assert pool.find(X[40]).tolist() == [9, 40, 130, 239]
        assert pool.index_of([X[239], X[3], X[3] + 1.0]).tolist() == [9, 3, -1]
        assert pool.taken(X[[40, 7]]).tolist() == [7, 9, 40, 130, 239]
        assert pool.taken(X[:0]).tolist() == []
        np.testing.assert_array_equal(np.concatenate([block for _, block in pool.blocks(13)]), X)
        for method in ("uniform", "spread"):
            found = getattr(pool, method)(4, np.random.default_rng(1), [5, 9])
            np.testing.assert_array_equal(found, getattr(memory, method)(4, np.random.default_rng(1), [5, 9]))
        with pytest.raises(IndexError, match="indices must be from 0 to 239, got 240"):
            pool.rows([240])
        with pytest.raises(
            ValueError, match=r"the points of this pool are not in memory: read some with rows\(indices\)"
        ):
            pool.points  # noqa: B018 - it raises


def test_points_that_are_known_are_not_looked_for_again(tmp_path, monkeypatch):
    X = with_copies()
    pool = rw.Pool(written(tmp_path, X))
    pool.index_of(X[:3])
    pool.table.note(np.array([130]), X[[130]])
    monkeypatch.setattr(point_chunks.ParquetPoints, "ask", None)
    assert pool.index_of(X[[2, 0, 130]]).tolist() == [2, 0, 130]
    with pytest.raises(TypeError):  # these are new
        pool.index_of(X[5:6])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_named_with_its_place(tmp_path, bad):
    X = points()
    X[100, 2] = bad
    message = rf"points must be finite, but row 49 of chunk 1, column 'c' is {bad}"
    with pytest.raises(ValueError, match=message):
        rw.Pool(array_of(X, 51), NAMES)
    import pyarrow as pa
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table(dict(zip(NAMES, X.T, strict=True))), tmp_path / "p.parquet", row_group_size=60)
    with pytest.raises(ValueError, match=rf"row 40 of row group 1 of .*p.parquet, column 'c' is {bad}"):
        rw.Pool([tmp_path / "p.parquet"])


def test_no_rows_at_all():
    with pytest.raises(ValueError, match="points must have at least one row, got none"):
        rw.Pool(array_of(points(), 50)[:0])


def test_it_is_opened_again_from_its_description(tmp_path, monkeypatch):
    X = with_copies()
    pool = rw.Pool(written(tmp_path, X), cache=tmp_path / "kept")
    stored = json.loads(json.dumps(pool.to_dict()))
    assert stored["shape"] == [240, 4]
    assert len(json.dumps(stored)) < 2000  # no rows
    with monkeypatch.context() as patch:
        patch.setattr(point_chunks.ParquetPoints, "ask", None)  # files that did not change are not read
        again = rw.Pool.from_dict(stored)
        assert (again.fingerprint, again.names, again.cache) == (pool.fingerprint, NAMES, str(tmp_path / "kept"))
        np.testing.assert_array_equal(again.bounds, pool.bounds)
    for points_again in (X, array_of(X, 31), str(tmp_path)):  # handed over, wherever they are now
        assert len(rw.Pool.from_dict(stored, points_again)) == 240
    with pytest.raises(ValueError, match=r"what the pool was made of: the digest was rows:240:.*, now it is rows:240:"):
        rw.Pool.from_dict(stored, X[::-1])
    written(tmp_path, X)  # the same numbers, in new files
    assert rw.Pool.from_dict(stored).fingerprint == pool.fingerprint
    written(tmp_path, X + 1.0)
    with pytest.raises(ValueError, match="the digest was"):
        rw.Pool.from_dict(stored)
    (tmp_path / "part1.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"points must be files that exist, got .*part1.parquet"):
        rw.Pool.from_dict(stored)
    with pytest.raises(
        ValueError, match="points must be given: the pool was made from a Dask collection, not from a file"
    ):
        rw.Pool.from_dict(rw.Pool(array_of(X, 31)).to_dict())
    assert (
        len(rw.Pool.from_dict(rw.Pool(X, NAMES).to_dict(), array_of(X, 31))) == 240
    )  # stored in memory, now it is not


@pytest.mark.parametrize("option", [{"cache": "kept"}, {"n_jobs": 2}])
def test_options_of_pools_on_disk_are_refused_for_others(option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} must be left out for a pool that is in memory"):
        rw.Pool(points(), **option)


def test_chunks_of_other_widths_are_refused():
    class Odd:
        names, D, files, sizes = None, 3, None, None

        def ask(self, question, only=None):
            return iter([question(point_chunks.Chunk(0, np.zeros((2, 4)), "chunk 0"))])

    with pytest.raises(ValueError, match=r"3 columns in every chunk, but chunk 0 has shape \(2, 4\)"):
        ChunkTable.surveyed(Odd())
