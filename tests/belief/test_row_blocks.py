import os
import signal
from functools import cache

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.belief import row_blocks, streamed
from tests.belief.many import QUICK, rows

pandas = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")
NEW = np.random.default_rng(9).uniform(0, 1, (50, 4))


def fit(X, y=None, **more):
    return rw.fit(X, y, rw.Linear(1), settings=QUICK, **more)


@cache
def in_memory():
    return fit(*rows(), approximation="features").predict(NEW)


def same(belief):
    """The same to one in a million as with all rows in memory."""
    found = belief.predict(NEW)
    np.testing.assert_allclose(found.mean, in_memory().mean, atol=1e-6)
    np.testing.assert_allclose(found.std, in_memory().std, atol=1e-6)


def table():
    X, y = rows()
    return pandas.DataFrame(X, columns=list("abcd")).assign(out=y)


def written(folder, size=150):
    for i, part in enumerate([table()[:500], table()[500:900], table()[900:]]):
        part.to_parquet(folder / f"part{i}.parquet", row_group_size=size)
    return str(folder / "*.parquet")


@pytest.mark.parametrize("size", [97, 600])
def test_batches_of_any_size_give_the_same(size):
    X, y = rows()
    same(fit([(X[i : i + size], y[i : i + size]) for i in range(0, 1200, size)]))


def test_a_function_may_return_the_batches():
    X, y = rows()
    same(fit(lambda: ((X[i : i + 400], y[i : i + 400]) for i in range(0, 1200, 400))))


def test_parquet_files(tmp_path):
    belief = fit(written(tmp_path), "out")
    same(belief)
    assert belief.names == ("a", "b", "c", "d")
    same(fit([tmp_path / f"part{i}.parquet" for i in range(3)], "out"))


@pytest.mark.slow
def test_dask_arrays_and_tables():
    X, y = rows()
    same(fit(da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=300)))
    frame = pytest.importorskip("dask.dataframe").from_pandas(table(), npartitions=3)
    belief = fit(frame, "out")
    same(belief)
    assert belief.names == ("a", "b", "c", "d")


@pytest.mark.slow
def test_a_worker_that_dies_is_survived():
    distributed = pytest.importorskip("distributed")
    X, y = rows()
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None, processes=True) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        heard = []

        def kill_once(sentence):  # in the middle of the fit
            if len(heard) == 2:
                os.kill(victim, signal.SIGKILL)
            heard.append(sentence)

        same(fit(da.from_array(X, chunks=(300, 4)), da.from_array(y, chunks=300), progress=kill_once))
        assert len(heard) > 3


def test_a_sample_does_not_depend_on_the_blocks():
    X, y = rows(100)

    def sampled(size):
        blocks = row_blocks.Batches([(X[i : i + size], y[i : i + size]) for i in range(0, 100, size)])
        return streamed.sample(blocks, 100, 30, np.random.default_rng(3))

    for mine, theirs in zip(sampled(7), sampled(100), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_mean_and_spread_come_from_blocks():
    X, y = rows(100)
    parts = [streamed.survey(row_blocks.Rows(X[i : i + 9], y[i : i + 9], "")) for i in range(0, 100, 9)]
    found = row_blocks.tree(parts, streamed.together)
    assert found.n == 100
    assert found.mean == pytest.approx(y.mean())
    assert found.scaling(True).scale == pytest.approx(y.std())
    np.testing.assert_array_equal(found.upper, X.max(axis=0))


def spoiled(what):
    X, y = rows(60)
    batches = [(X[:30].copy(), y[:30].copy()), (X[30:].copy(), y[30:].copy())]
    if what == "input":
        batches[1][0][3, 2] = np.nan
    elif what == "output":
        batches[1][1][4] = np.inf
    elif what == "columns":
        batches[1] = (X[30:, :3], y[30:])
    elif what == "lengths":
        batches[1] = (X[30:], y[31:])
    elif what == "text":
        batches[1] = (np.full((30, 4), "a"), y[30:])
    return batches


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("input", "X must be finite, but batch 1 has nan in row 3, column 2"),
        ("output", "y must be finite, but batch 1 has inf in row 4"),
        ("columns", "same columns in every block, got 4 and 3"),
        ("lengths", "batch 1 must have rows, and one output for each, got 30 rows and 29 outputs"),
        ("text", "X of batch 1"),
    ],
)
def test_a_block_that_is_wrong_is_named(what, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(spoiled(what))


def test_what_can_be_read_once_is_refused():
    X, y = rows(60)
    with pytest.raises(TypeError, match="which can be read once"):
        fit((X, y) for _ in range(2))
    with pytest.raises(ValueError, match="at least one batch"):
        fit([])


def test_files_that_are_wrong_are_named(tmp_path):
    path = written(tmp_path)
    with pytest.raises(FileNotFoundError, match="where there are none"):
        fit(str(tmp_path / "*.pq"), "out")
    with pytest.raises(ValueError, match="has no 'output', only a, b, c, d, out"):
        fit(path, "output")
    with pytest.raises(TypeError, match="name of a column"):
        fit(path, rows()[1])
    table().drop(columns="c").to_parquet(tmp_path / "part9.parquet")
    with pytest.raises(ValueError, match=r"part9.parquet must have the columns of .*part0.parquet, but it has no 'c'"):
        fit(path, "out")


def test_an_empty_cell_and_a_vanished_file_are_named(tmp_path):
    frame = table()
    frame.loc[7, "b"] = None
    frame.to_parquet(tmp_path / "one.parquet")
    with pytest.raises(ValueError, match=r"column 'b' must be complete, but .*one.parquet, row group 0 has 1 empty"):
        fit(tmp_path / "one.parquet", "out")
    blocks = row_blocks.opened(tmp_path / "one.parquet", "out")
    (tmp_path / "one.parquet").unlink()
    with pytest.raises(FileNotFoundError, match="could not be read any more"):
        blocks.total(streamed.survey, streamed.together)


def test_dask_needs_outputs_that_fit():
    X, y = rows(60)
    with pytest.raises(ValueError, match="y must be a Dask array of one value for each of the 60 rows"):
        fit(da.from_array(X), y)


def test_a_table_of_dask_names_the_column_that_is_wrong():
    dd = pytest.importorskip("dask.dataframe")
    frame = table()[:300].copy()
    frame.loc[250, "c"] = np.inf
    with pytest.raises(ValueError, match="partition 1 has inf in row 100, column 'c'"):
        fit(dd.from_pandas(frame, npartitions=2), "out")
    words = dd.from_pandas(table()[:300], npartitions=2).assign(b="two")
    with pytest.raises(ValueError, match=r"column 'b' of partition \d must hold numbers"):
        fit(words, "out")


def test_rows_that_change_while_they_are_read_are_noticed():
    X, y = rows(400)
    passes = []

    def shrinking(after):
        def batches():
            passes.append(1)
            yield X[:200], y[:200]
            if len(passes) <= after:
                yield X[200:], y[200:]

        return batches

    with pytest.raises(ValueError, match="the same each time it is read, but it had 400 rows at first and has 200 now"):
        fit(shrinking(1))


def test_noise_of_single_rows_is_refused_where_rows_come_in_blocks():
    X, y = rows(60)
    with pytest.raises(ValueError, match=r"one number for all rows where these come in blocks, got .* shape \(60,\)"):
        fit([(X, y)], noise_variance=np.ones(60))
