"""Points in files and in Dask's chunks: their order, and what is wrong with them."""

from __future__ import annotations

import os
import threading

import numpy as np
import pandas as pd
import pytest

import ridgeway as rw
from ridgeway.spaces import point_chunks
from ridgeway.spaces.point_chunks import in_threads, opened
from tests.spaces.pools_on_disk import NAMES, array_of, points, written


def whole(chunk):
    return chunk.number, chunk.X.copy()


def gathered(chunks):
    numbers, parts = zip(*chunks.ask(whole), strict=True)
    assert list(numbers) == list(range(len(parts)))
    return np.concatenate(parts)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("rows", [7, 30, 1000])
def test_files_are_read_in_order_whatever_their_groups(tmp_path, monkeypatch, rows, n_jobs):
    monkeypatch.setattr(point_chunks, "CHUNK_ROWS", rows)
    X = points()
    pattern = written(tmp_path, X)
    for given in (pattern, str(tmp_path), tmp_path, [tmp_path / f"part{i}.parquet" for i in range(3)]):
        chunks = opened(given, None, n_jobs)
        np.testing.assert_array_equal(gathered(chunks), X)
        assert chunks.names == NAMES
        assert sum(chunks.sizes) == len(X)
        assert [len(found) for _, found in chunks.ask(whole)] == list(chunks.sizes)


def test_some_chunks_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(point_chunks, "CHUNK_ROWS", 7)
    for chunks in (opened(written(tmp_path, points()), None, 2), opened(array_of(points(), 17), None)):
        every = dict(chunks.ask(whole))
        some = dict(chunks.ask(whole, only=(5, 2)))
        assert sorted(some) == [2, 5]
        for number, X in some.items():
            np.testing.assert_array_equal(X, every[number])


def test_names_choose_columns(tmp_path):
    pattern = written(tmp_path, points(), word="x")
    np.testing.assert_array_equal(gathered(opened(pattern, ["d", "b"])), points()[:, [3, 1]])
    with pytest.raises(
        TypeError, match=r"must hold numbers, but column 'word' of .*part0.parquet holds .*string: name"
    ):
        opened(pattern, None)
    with pytest.raises(
        ValueError, match=r"part0.parquet must have a column for each of names, but it has no 'e', only"
    ):
        opened(pattern, ["a", "e"])


def test_dask_collections(tmp_path):
    import dask.dataframe as dd

    X = points()
    np.testing.assert_array_equal(gathered(opened(array_of(X.astype(np.float32), 50), None)), X.astype(np.float32))
    table = dd.from_pandas(pd.DataFrame(X, columns=list(NAMES)).assign(word="x"), npartitions=3)
    np.testing.assert_array_equal(gathered(opened(table, ["c", "a"])), X[:, [2, 0]])
    with pytest.raises(TypeError, match="points must hold numbers, but column 'word' holds"):
        opened(table, None)
    with pytest.raises(ValueError, match="but there is no 'e'"):
        opened(table, ["e"])
    with pytest.raises(ValueError, match=r"names must have one entry for each of the 4 inputs, got 2"):
        opened(array_of(X, 50), ["a", "b"])
    with pytest.raises(ValueError, match=r"a Dask array of shape \(n, D\)"):
        opened(array_of(X, 50)[:, 0], None)
    with pytest.raises(TypeError, match="points must hold numbers, got a Dask array of complex128"):
        opened(array_of(X, 50) + 1j, None)


def test_what_is_in_memory_is_not_read_in_chunks(tmp_path, monkeypatch):
    written(tmp_path, points())
    one = tmp_path / "part2.parquet"
    assert opened(points(), None) is None
    assert opened(one, None) is None
    assert opened("nowhere.csv", None) is None
    assert rw.Pool(one).in_memory
    monkeypatch.setattr(point_chunks, "SMALL_BYTES", 1000)  # a single file of more numbers than that
    assert not rw.Pool(one).in_memory
    assert point_chunks.columns_of(one) == NAMES


def test_bad_files(tmp_path):
    X = points()
    pattern = written(tmp_path, X)
    with pytest.raises(
        FileNotFoundError, match=r"points must be Parquet files, got 'none/\*.parquet', where there are"
    ):
        rw.Pool("none/*.parquet")
    with pytest.raises(FileNotFoundError, match="where there are none"):
        rw.Pool([tmp_path / "part0.parquet", tmp_path / "gone.parquet"])
    (tmp_path / "part9.parquet").write_text("words")
    with pytest.raises(ValueError, match=r"part9.parquet is not a Parquet file"):
        rw.Pool(pattern)
    frame = pd.DataFrame(X[:5], columns=list(NAMES))
    frame.drop(columns="c").to_parquet(tmp_path / "part9.parquet")
    with pytest.raises(ValueError, match=r"part9.parquet must have the columns of .*part0.parquet, but it has no 'c'"):
        rw.Pool(pattern)
    frame.assign(b="low").to_parquet(tmp_path / "part9.parquet")
    with pytest.raises(TypeError, match=r"column 'b' of .*part9.parquet holds"):
        rw.Pool(pattern)
    frame.assign(b=[1.0, 2.0, np.nan, 4.0, 5.0]).to_parquet(tmp_path / "part9.parquet")  # which pandas writes as empty
    with pytest.raises(
        ValueError, match=r"points must be complete, but column 'b' of .*part9.parquet, row group 0 has 1"
    ):
        rw.Pool(pattern)
    frame[:0].to_parquet(tmp_path / "part9.parquet")  # a file without rows does no harm
    assert len(rw.Pool(pattern)) == len(X)
    with pytest.raises(ValueError, match=r"points must have at least one row, but .*part9.parquet has none"):
        rw.Pool([tmp_path / "part9.parquet"])


def test_files_that_vanish_or_change(tmp_path):
    pool = rw.Pool(written(tmp_path, points()))
    last = tmp_path / "part2.parquet"
    content = last.read_bytes()
    last.unlink()
    with pytest.raises(FileNotFoundError, match=r"part2.parquet is not there any more: No such file"):
        pool.rows([200])
    assert pool.rows([3]).shape == (1, 4)  # of another file
    last.write_bytes(content)
    os.utime(last, ns=(1, 1))
    with pytest.raises(ValueError, match=r"part2.parquet has changed since this pool was opened: make the pool anew"):
        pool.rows([200])


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5])
def test_bad_numbers_of_threads(tmp_path, n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be a whole number of at least 1"):
        rw.Pool(written(tmp_path, points()), n_jobs=n_jobs)


def test_threads_keep_the_order_and_stop_at_an_error():
    begun = []
    lock = threading.Lock()

    def work(i):
        with lock:
            begun.append(i)
        if i == 3:
            raise ValueError("three")
        return i * i

    assert list(in_threads(lambda i: i * i, range(50), 3)) == [i * i for i in range(50)]
    answers = in_threads(work, range(1000), 2)
    assert [next(answers) for _ in range(3)] == [0, 1, 4]
    with pytest.raises(ValueError, match="three"):
        next(answers)
    assert len(begun) < 20


def test_text_beside_a_point(tmp_path):
    X = points()
    pool = rw.Pool(written(tmp_path, X, word=[f"w{i}" for i in range(len(X))]), NAMES)
    for row in (0, 69, 70, 71, 239):
        assert pool.texts(row, ["word"]) == {"word": f"w{row}"}
    with pytest.raises(ValueError, match="from Parquet files alone"):
        rw.Pool(X).texts(0, ["word"])
