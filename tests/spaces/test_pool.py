"""``Pool``: where its points come from, asking for them, and opening it again."""

from __future__ import annotations

import json
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from ridgeway.spaces import array_table
from ridgeway.spaces.space import Pool, space_from_dict
from tests.spaces.points import INF, NAMES, NAN, NO_NUMBER, NOT_FINITE, POINTS, rng

# -- Pool: where its points come from --------------------------------------------------------


def test_equal_numbers_are_the_same_pool_wherever_they_are(stored):
    reference = Pool(POINTS)
    for kind, points in stored.items():
        pool = Pool(points)
        assert (len(pool), pool.D) == POINTS.shape
        assert pool.names == (NAMES if kind in ("frame", "nullable", "arrow", "csv", "parquet") else None), kind
        assert pool.digest == reference.digest, kind
        np.testing.assert_array_equal(np.asarray(pool.points, dtype=float), POINTS)
        np.testing.assert_array_equal(pool.bounds, (POINTS.min(axis=0), POINTS.max(axis=0)))
        np.testing.assert_array_equal(pool.index_of(POINTS), np.arange(40))
        assert pool.path == (str(points) if kind in ("csv", "parquet", "npy", "fortran.npy") else None)


def test_digest_tells_pools_apart():
    changed = POINTS.copy()
    changed[20, 1] = np.nextafter(changed[20, 1], INF)
    digests = [Pool(p).digest for p in (POINTS, changed, POINTS[::-1], POINTS.reshape(20, 6), POINTS[:-1])]
    assert len(set(digests)) == 5
    assert Pool([[0.0, 1.0]]).digest == Pool([[-0.0, 1.0]]).digest
    assert Pool([[0, 1]]).digest == Pool(np.array([[False, True]])).digest


def test_files_of_numpy_are_mapped(stored):
    assert isinstance(Pool(stored["npy"]).points, np.memmap)
    assert isinstance(Pool(stored["memmap"]).points, np.memmap)


def test_points_cannot_change(stored):
    given = POINTS.copy()
    pool = Pool(given)
    given[0] = 9.0
    np.testing.assert_array_equal(pool.points, POINTS)
    for kind in ("array", "memmap", "frame", "npy"):
        points = Pool(stored[kind]).points
        with pytest.raises(ValueError, match="read-only"):
            points[0, 0] = 1.0
    stored["memmap"][0, 0] = 1.0  # the user's own map stays as it was
    rows = pool.rows([0])
    rows[0] = 5.0
    np.testing.assert_array_equal(pool.points, POINTS)


def test_single_precision_stays_single():
    pool = Pool(POINTS.astype(np.float32))
    assert pool.points.dtype == np.float32
    assert pool.rows([3]).dtype == np.float64
    np.testing.assert_array_equal(pool.index_of(pool.rows([3, 7])), [3, 7])
    np.testing.assert_array_equal(pool.index_of(POINTS[:2]), [-1, -1])  # rounded, so others


def test_numbers_of_other_kinds():
    frame = pd.DataFrame({"whole": [1, 2], "yes": [True, False], "exact": [Decimal("0.5"), Decimal(2)]})
    np.testing.assert_array_equal(Pool(frame).points, [[1.0, 1.0, 0.5], [2.0, 0.0, 2.0]])


def test_names():
    assert Pool(POINTS, ["x", "y", "z"]).names == ("x", "y", "z")
    frame = pd.DataFrame(POINTS, columns=[1, 2, 3])
    assert Pool(frame).names is None  # numbers, as pandas gives them to columns without names
    assert Pool(frame, ["1", "2", "3"]).names == ("1", "2", "3")
    named = pd.DataFrame(POINTS, columns=["a", "b", "c"])
    pool = Pool(named[["c", "a", "b"]], ["a", "b", "c"])
    np.testing.assert_array_equal(pool.points, POINTS)
    np.testing.assert_array_equal(pool.index_of(named[["b", "c", "a"]].iloc[3:5]), [3, 4])
    np.testing.assert_array_equal(pool.find(named.loc[3, ["b", "c", "a"]]), [3])
    again = Pool.from_dict(pool.to_dict(), named[["b", "c", "a"]])
    assert again.digest == pool.digest
    with pytest.raises(ValueError, match="points must have the columns 'a', 'b', 'd': 'd' missing and 'c' not known"):
        Pool(named, ["a", "b", "d"])
    with pytest.raises(ValueError, match=r"X must have the columns .*'c' missing"):
        pool.index_of(named[["a", "b"]])
    with pytest.raises(ValueError, match="names must have one entry for each of the 3 inputs, got 2"):
        Pool(POINTS, ["a", "b"])
    with pytest.raises(ValueError, match="points must have columns of different names, got 'a' more than once"):
        Pool(pd.DataFrame(POINTS, columns=["a", "b", "a"]))


def at(index, value):
    array = POINTS.astype(object)
    array[index] = value
    return array


BAD_POINTS = {
    "NaN": (at((7, 2), NAN).astype(float), ValueError, NOT_FINITE.format(7, 2, "nan")),
    "infinity": (at((0, 1), -INF).astype(float), ValueError, NOT_FINITE.format(0, 1, "-inf")),
    "float32": (at((9, 1), INF).astype(np.float32), ValueError, NOT_FINITE.format(9, 1, "inf")),
    "beyond floats": (at((9, 1), "1e400").astype(np.longdouble), ValueError, NOT_FINITE.format(9, 1, "inf")),
    "None": (at((3, 0), None), ValueError, NOT_FINITE.format(3, 0, "nan")),
    "frame NaN": (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, NAN]}), ValueError, NOT_FINITE.format(1, "'b'", "nan")),
    "frame NA": (pd.DataFrame({"a": pd.array([1, None])}), ValueError, NOT_FINITE.format(1, "'a'", "nan")),
    "object NA": (pd.DataFrame({"a": [1, pd.NA]}, dtype=object), ValueError, NOT_FINITE.format(1, "'a'", "nan")),
    "word": ([[1.0, 2.0], [3.0, "low"]], TypeError, NO_NUMBER.format(1, 1, "'low'")),
    "frame word": (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, "low"]}), TypeError, NO_NUMBER.format(1, "'b'", "'low'")),
    "frame words": (pd.DataFrame({"b": ["1.5", "2"]}), TypeError, NO_NUMBER.format(0, "'b'", "'1.5'")),
    "dates": (pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), TypeError, NO_NUMBER.format(0, "'t'", "Timestamp")),
    "complex": (POINTS + 0j, TypeError, "points must hold real numbers, got complex128"),
    "sparse": (sparse.csr_matrix(POINTS), TypeError, "points must be dense, got a sparse matrix"),
    "masked": (np.ma.masked_array(POINTS, POINTS > 0), ValueError, "points must be complete, got a masked array"),
    "ragged": ([[1.0], [1.0, 2.0]], ValueError, "points must be a rectangular array of numbers"),
    "1-D": (POINTS[0], ValueError, r"points must have shape \(n, D\), one row a point, got \(3,\)"),
    "3-D": (POINTS[None], ValueError, r"points must have shape \(n, D\), one row a point, got \(1, 40, 3\)"),
    "no rows": (POINTS[:0], ValueError, r"points must have at least one row and one column, got shape \(0, 3\)"),
    "no columns": (POINTS[:, :0], ValueError, r"at least one row and one column, got shape \(40, 0\)"),
    "frame without rows": (pd.DataFrame({"a": []}), ValueError, r"at least one row .* got shape \(0, 1\)"),
    "nothing": (None, ValueError, r"points must have shape \(n, D\), one row a point, got \(\)"),
    "suffix": ("points.xls", ValueError, r"points must be a file that ends in .csv, .parquet, .npy, got 'points.xls'"),
    "no file": ("nowhere.csv", FileNotFoundError, "points must be a file that exists, got 'nowhere.csv'"),
}


@pytest.mark.parametrize("name", BAD_POINTS)
def test_bad_points(name):
    points, kind, message = BAD_POINTS[name]
    with pytest.raises(kind, match=message):
        Pool(points)


# -- Pool: asking for points -----------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 40, 1000, None])
def test_blocks(size):
    blocks = list(Pool(POINTS.astype(np.float32)).blocks(size))
    assert [start for start, _ in blocks] == list(range(0, 40, size or 40))
    assert all(block.dtype == np.float64 for _, block in blocks)
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), POINTS.astype(np.float32))


def test_bad_block_size():
    with pytest.raises(ValueError, match="size must be a whole number of at least 1, got 0"):
        next(Pool(POINTS).blocks(0))


def test_rows():
    pool = Pool(POINTS)
    np.testing.assert_array_equal(pool.rows([5, 5, 0]), POINTS[[5, 5, 0]])
    assert pool.rows([]).shape == (0, 3)


@pytest.mark.parametrize(
    ("indices", "kind", "message"),
    [
        ([0, -1], IndexError, "must be from 0 to 39, got -1"),
        ([40], IndexError, "must be from 0 to 39, got 40"),
        ([0.5], TypeError, r"must be a sequence of whole numbers, got \[0.5\]"),
        ([True, False], TypeError, "must be a sequence of whole numbers"),
        (3, TypeError, "must be a sequence of whole numbers, got 3"),
    ],
)
def test_bad_indices(indices, kind, message):
    pool = Pool(POINTS)
    with pytest.raises(kind, match=f"indices {message}"):
        pool.rows(indices)
    with pytest.raises(kind, match=f"exclude {message}"):
        pool.uniform(1, rng(), indices)
    with pytest.raises(kind, match=f"taken {message}"):
        pool.spread(1, rng(), indices)


def test_bounds_of_columns_that_do_not_vary():
    pool = Pool([[1.0, 0.0, 1e300], [1.0, 3.0, 1e300]])
    lower, upper = pool.bounds
    assert lower[:2].tolist() == [0.5, 0.0]
    assert upper[:2].tolist() == [1.5, 3.0]
    assert (lower < upper).all()


def test_uniform_leaves_out_what_is_excluded():
    pool = Pool(POINTS)
    exclude = [0, 39, 7, 7, 20]
    counts = np.zeros(40)
    for seed in range(400):
        drawn = pool.uniform(5, rng(seed), exclude)
        assert len(set(drawn.tolist())) == 5
        counts[drawn] += 1
    assert counts[exclude].sum() == 0
    free = np.delete(counts, exclude)
    assert free.min() > 30  # 2000 draws over 36 points: 55.6 each, with a spread of 7
    assert free.max() < 85
    assert sorted(pool.uniform(36, rng(), exclude)) == sorted(set(range(40)) - set(exclude))
    np.testing.assert_array_equal(pool.uniform(5, rng(3)), pool.uniform(5, rng(3)))
    assert pool.uniform(0, rng(), range(40)).shape == (0,)


@pytest.mark.parametrize("method", ["uniform", "spread"])
def test_too_few_points_left(method):
    with pytest.raises(ValueError, match="the pool has only 37 points left, 38 asked"):
        getattr(Pool(POINTS), method)(38, rng(), [1, 2, 3, 3])


def test_spread_takes_the_farthest():
    """Against a naive greedy search, in units that differ by a factor of a million."""
    points = POINTS * [1.0, 1e6, 1e-6]
    pool, taken = Pool(points), [3, 8]
    Z = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    expected, chosen = list(taken), pool.spread(6, rng(), taken)
    for _ in range(6):
        gaps = cdist(Z, Z[expected]).min(axis=1)
        expected.append(int(np.argmax(gaps)))
    assert chosen.tolist() == expected[2:]


def test_spread_is_wider_than_chance():
    pool = Pool(rng().uniform(size=(5000, 2)))  # more than it looks at

    def gap(indices):
        distances = cdist(pool.points[indices], pool.points[indices])
        return distances[np.triu_indices(10, 1)].min()

    chosen = pool.spread(10, rng(1))
    assert len(set(chosen.tolist())) == 10
    assert gap(chosen) > 3 * np.mean([gap(pool.uniform(10, rng(seed))) for seed in range(20)])
    np.testing.assert_array_equal(chosen, pool.spread(10, rng(1)))
    assert (chosen != pool.spread(10, rng(2))).any()


def test_spread_looks_at_few_points(monkeypatch):
    seen = []
    rows = Pool.rows
    monkeypatch.setattr(Pool, "rows", lambda self, indices: seen.append(len(indices)) or rows(self, indices))
    pool = Pool(rng().uniform(size=(5000, 2)))
    pool.spread(3, rng())
    assert seen == [2000]
    assert len(set(pool.spread(2500, rng()).tolist())) == 2500


def test_spread_of_copies_is_of_different_indices():
    pool = Pool(np.ones((6, 2)))
    assert sorted(pool.spread(5, rng(), taken=[2]).tolist()) == [0, 1, 3, 4, 5]


@pytest.mark.slow
def test_a_map_larger_than_a_block(tmp_path):
    """Twice as many bytes as may be held, as float64, beside the map."""
    shape = (1_000_000, 16)
    mapped = np.lib.format.open_memmap(tmp_path / "p.npy", mode="w+", dtype=np.float32, shape=shape)
    block = rng().uniform(size=(10_000, 16)).astype(np.float32)
    for start in range(0, shape[0], 10_000):
        mapped[start : start + 10_000] = block + start
    mapped.flush()
    assert shape[0] * shape[1] * 8 > 7 * array_table.BLOCK_BYTES
    tracemalloc.start()
    try:
        pool = Pool(tmp_path / "p.npy")
        assert len(pool.digest) == 64
        wanted = [0, 999_999, 123_456]
        assert pool.index_of(pool.rows(wanted)).tolist() == wanted
        assert pool.spread(3, rng()).shape == (3,)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64e6
    np.testing.assert_array_equal(pool.bounds[0], block.min(axis=0))
    np.testing.assert_array_equal(pool.bounds[1], (block + np.float32(990_000)).max(axis=0))
    mapped[765_432, 3] = NAN
    mapped.flush()
    with pytest.raises(ValueError, match="points must be finite, but row 765432, column 3 is nan"):
        Pool(tmp_path / "p.npy")


# -- Pool: in a file -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_a_pool_is_opened_again(stored, kind):
    pool = Pool(stored[kind])
    again = space_from_dict(json.loads(json.dumps(pool.to_dict())))
    assert (again.digest, again.names, again.path) == (pool.digest, pool.names, pool.path)
    assert pool.to_dict() == {
        "kind": "pool",
        "path": str(stored[kind]),
        "shape": [40, 3],
        "digest": pool.digest,
        "names": None if pool.names is None else list(pool.names),
    }


def test_a_pool_without_a_file_wants_its_points(stored):
    description = Pool(POINTS, NAMES).to_dict()
    assert description["path"] is None
    with pytest.raises(ValueError, match="points must be given: the pool was made from an array, not from a file"):
        Pool.from_dict(description)
    for kind in ("array", "frame", "npy"):
        assert Pool.from_dict(description, stored[kind]).names == NAMES


def test_other_points_are_refused(stored):
    description = Pool(stored["npy"]).to_dict()
    with pytest.raises(ValueError, match=r"what the pool was made of: the shape was \[40, 3\], now it is \[39, 3\]"):
        Pool.from_dict(description, POINTS[:-1])
    with pytest.raises(ValueError, match=r"what the pool was made of: the digest was .*, now it is "):
        space_from_dict(description, POINTS[::-1])
    np.save(stored["npy"], POINTS + 1.0)
    with pytest.raises(ValueError, match=r"what the pool was made of: the digest was .*, now it is "):
        Pool.from_dict(description)
    stored["npy"].unlink()
    with pytest.raises(FileNotFoundError, match="points must be a file that exists"):
        Pool.from_dict(description)
