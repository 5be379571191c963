"""Boxes and pools: what they hold is what was given, and what is odd is refused with a reason."""

from __future__ import annotations

import builtins
import importlib
import json
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import qmc

from ridgeway import pool as pool_module
from ridgeway import rowindex, tables
from ridgeway.spaces import Box, Pool, space_from_dict

NAN, INF = float("nan"), float("inf")
POINTS = np.random.default_rng(0).normal(size=(40, 3))
NAMES = ("a", "b", "c")


def rng(seed=0):
    return np.random.default_rng(seed)


# -- Box: what it is -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "upper", "names", "expected"),
    [
        ([0, 1], [2, 3], None, ([0.0, 1.0], [2.0, 3.0])),
        (0, [2, 3], None, ([0.0, 0.0], [2.0, 3.0])),
        ([-1, -2], 0.5, None, ([-1.0, -2.0], [0.5, 0.5])),
        (0, 1, None, ([0.0], [1.0])),
        (0, 1, ["a", "b"], ([0.0, 0.0], [1.0, 1.0])),
        (np.array([1], dtype=np.int8), np.float32(2), ["a"], ([1.0], [2.0])),
    ],
)
def test_box_broadcasts(lower, upper, names, expected):
    box = Box(lower, upper, names)
    assert len(expected[0]) == box.D
    assert box.lower.dtype == box.upper.dtype == np.float64
    np.testing.assert_array_equal(box.bounds, expected)
    assert box.names == (None if names is None else tuple(names))


def test_box_cannot_change():
    given = np.array([0.0, 1.0])
    box = Box(given, 5.0)
    given[0] = 3.0
    assert box.lower[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 1.0
    with pytest.raises(AttributeError):
        box.lower = given


def test_box_equality():
    box = Box([0.0, 1.0], 2.0, ["a", "b"])
    assert box == Box([-0.0, 1.0], [2.0, 2.0], ("a", "b"))
    assert hash(box) == hash(Box([-0.0, 1.0], [2.0, 2.0], ("a", "b")))
    others = [Box([0.0, 1.5], 2.0, ["a", "b"]), Box([0.0, 1.0], 3.0, ["a", "b"]), Box([0.0, 1.0], 2.0), 3]
    assert all(box != other for other in others)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (([0, 5], [1, 4], ["a", "speed"]), ValueError, "lower must be below upper: input 'speed' has 5.0 and 4.0"),
        (([0, 5], [1, 5]), ValueError, "lower must be below upper: input 1 has 5.0 and 5.0"),
        (([0, NAN], 1, ["a", "b"]), ValueError, "lower must be finite, got nan for input 'b'"),
        ((0, [1, INF]), ValueError, "upper must be finite, got inf for input 1"),
        (([0, 0], [1, 1, 1]), ValueError, "lower and upper must have one number for each input, got 2 and 3"),
        (([0], [1, 1]), ValueError, "lower and upper must have one number for each input, got 1 and 2"),
        (([], []), ValueError, r"lower must be a number or have shape \(D,\) with D at least 1, got shape \(0,\)"),
        ((0, [[1.0]]), ValueError, r"upper must be a number or have shape \(D,\).*got shape \(1, 1\)"),
        (("low", 1), TypeError, "lower must be a number or a sequence of numbers, got 'low'"),
        ((0, None), TypeError, "upper must be a number or a sequence of numbers, got None"),
        ((0, [1, [2]]), TypeError, "upper must be a number or a sequence of numbers, got"),
        ((0, 1j), TypeError, "upper must be a number or a sequence of numbers, got 1j"),
        ((0, [1, 2], ["a"]), ValueError, "names must have one entry for each of the 2 inputs, got 1"),
        ((0, [1, 2], ["a", "a"]), ValueError, "names must differ from each other, got 'a' twice"),
        ((0, [1, 2], "ab"), TypeError, "names must be a sequence of strings, got 'ab'"),
        ((0, [1, 2], [1, 2]), TypeError, r"names must be a sequence of strings, got \[1, 2\]"),
        ((0, 1, []), ValueError, "names must have at least one entry"),
    ],
)
def test_bad_box(arguments, kind, message):
    with pytest.raises(kind, match=message):
        Box(*arguments)


def test_contains():
    box = Box([0.0, -100.0], [1.0, 100.0])
    X = [[0.0, 100.0], [1.0 + 1e-6, 0.0], [0.5, 100.0 + 1e-4], [1.0 + 1e-10, 100.0 + 1e-7], [-0.1, 0.0]]
    assert box.contains(X).tolist() == [True, False, False, True, False]
    assert box.contains(X, tolerance=1e-5).tolist() == [True, True, True, True, False]
    assert box.contains(X, tolerance=0).tolist() == [True, False, False, False, False]
    assert box.contains(sparse.csr_matrix(X)).tolist() == box.contains(X).tolist()
    with pytest.raises(ValueError, match="X must have one column for each of the 2 inputs of the box, got 3"):
        box.contains(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="tolerance must be a number of at least 0, got -1"):
        box.contains(X, tolerance=-1)


DESIGNS = ["uniform", "latin_hypercube", "filling"]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("n", [0, 1, 5, 64, 100])
def test_designs_lie_in_the_box(design, n):
    box = Box([0.0, -100.0, 5.0], [1.0, 100.0, 5.5])
    X = getattr(box, design)(n, rng())
    assert X.shape == (n, 3)
    assert n == 0 or box.contains(X, tolerance=0).all()
    if n >= 64:  # and reach all of it
        np.testing.assert_allclose((X.min(axis=0) - box.lower) / (box.upper - box.lower), 0.0, atol=0.1)
        np.testing.assert_allclose((X.max(axis=0) - box.lower) / (box.upper - box.lower), 1.0, atol=0.1)


@pytest.mark.parametrize("design", DESIGNS)
def test_designs_depend_on_the_generator_alone(design):
    """Also on one that was stored and restored: SciPy would spawn a child that its state knows nothing of."""
    draw = getattr(Box(0.0, [1.0, 2.0]), design)
    generator = rng()
    first = draw(6, generator)
    stored = generator.bit_generator.state
    second = draw(6, generator)
    restored = rng(99)
    restored.bit_generator.state = stored
    np.testing.assert_array_equal(draw(6, rng()), first)
    np.testing.assert_array_equal(draw(6, restored), second)
    assert (first != second).all()


def test_latin_hypercube_has_one_point_in_each_part():
    X = Box(0.0, [1.0, 10.0]).latin_hypercube(20, rng())
    for column, width in zip(X.T, (1.0, 10.0), strict=True):
        assert sorted((column / width * 20).astype(int)) == list(range(20))


def test_filling_is_even():
    box = Box(0.0, 1.0, NAMES)
    assert qmc.discrepancy(box.filling(100, rng())) < 0.5 * qmc.discrepancy(box.uniform(100, rng()))


def test_filling_of_many_inputs_is_a_latin_hypercube():
    for D, same in ((64, False), (65, True)):
        box = Box([0.0] * D, [1.0] * D)
        assert np.array_equal(box.filling(7, rng()), box.latin_hypercube(7, rng())) is same


def test_box_as_wide_as_floats():
    box = Box(-1.7e308, 1.7e308)
    for design in DESIGNS:
        X = getattr(box, design)(16, rng())
        assert np.isfinite(X).all()
        assert (X > 0).any()
        assert (X < 0).any()
    assert box.contains([[0.0], [1.75e308]]).tolist() == [True, False]


@pytest.mark.parametrize("n", [-1, 1.5, None])
def test_bad_number_of_points(n):
    for space in (Box(0.0, 1.0), Pool(POINTS)):
        for design in ("uniform", "filling" if isinstance(space, Box) else "spread"):
            with pytest.raises(ValueError, match=f"n must be a whole number of at least 0, got {n}"):
                getattr(space, design)(n, rng())


@pytest.mark.parametrize("names", [None, ["a", "b"]])
def test_box_in_json(names):
    box = Box([0.1, 1 / 3], [1e300, 2.0], names)
    text = json.dumps(box.to_dict())
    assert json.loads(text)["kind"] == "box"
    assert Box.from_dict(json.loads(text)) == box
    assert space_from_dict(json.loads(text)) == box


def test_bad_descriptions():
    with pytest.raises(ValueError, match="description must be of kind 'box', got 'pool'"):
        Box.from_dict(Pool(POINTS).to_dict())
    with pytest.raises(ValueError, match="description must be of kind 'pool', got 'box'"):
        Pool.from_dict(Box(0, 1).to_dict())
    with pytest.raises(ValueError, match="description must be of kind 'box' or 'pool', got None"):
        space_from_dict({})
    with pytest.raises(ValueError, match="points must be left out for a box"):
        space_from_dict(Box(0, 1).to_dict(), POINTS)


def test_reprs():
    assert repr(Box(0, 1)) == "Box(1 input: x0 in [0, 1])"
    wide = Box(0, 1.5, [f"input{j}" for j in range(200)])
    assert repr(wide) == "Box(200 inputs: input0 in [0, 1.5], input1 in [0, 1.5], input2 in [0, 1.5], ...)"
    assert repr(Pool(np.zeros((1, 1)))) == "Pool(1 point of 1 input: x0)"
    assert repr(Pool(np.zeros((1200, 5)))) == "Pool(1,200 points of 5 inputs: x0, x1, x2, ...)"
    assert repr(Pool(POINTS, NAMES)) == "Pool(40 points of 3 inputs: a, b, c)"


# -- Pool: where its points come from --------------------------------------------------------


@pytest.fixture
def stored(tmp_path):
    """The same numbers in every place they may be."""
    frame = pd.DataFrame(POINTS, columns=list(NAMES))
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.to_parquet(tmp_path / "p.parquet")
    np.save(tmp_path / "p.npy", POINTS)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(POINTS))
    mapped = np.memmap(tmp_path / "p.bin", dtype=">f8", mode="w+", shape=POINTS.shape)
    mapped[:] = POINTS
    return {
        "array": POINTS, "list": POINTS.tolist(), "fortran": np.asfortranarray(POINTS), "memmap": mapped,
        "long": POINTS.astype(np.longdouble), "objects": POINTS.astype(object),
        "frame": frame, "nullable": frame.astype("Float64"), "arrow": pa.Table.from_pandas(frame),
        "csv": tmp_path / "p.csv", "parquet": str(tmp_path / "p.parquet"),
        "npy": tmp_path / "p.npy", "fortran.npy": tmp_path / "fortran.npy",
    }  # fmt: skip


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
    assert Pool(frame).names == ("1", "2", "3")
    assert Pool(frame, ["1", "2", "3"]).names == ("1", "2", "3")
    with pytest.raises(ValueError, match=r"names must be those of the table, \('1', '2', '3'\), or be left out"):
        Pool(frame, ["1", "3", "2"])
    with pytest.raises(ValueError, match="names must have one entry for each of the 3 inputs, got 2"):
        Pool(POINTS, ["a", "b"])
    with pytest.raises(ValueError, match="names must differ from each other, got 'a' twice"):
        Pool(pd.DataFrame(POINTS, columns=["a", "b", "a"]))


def at(index, value):
    array = POINTS.astype(object)
    array[index] = value
    return array


NO_NUMBER = "points must hold numbers, but row {}, column {} is {}"
NOT_FINITE = "points must be finite, but row {}, column {} is {}"
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


BAD_CSV = {
    "word": ("a,speed\n1,2\n3,fast\n", TypeError, NO_NUMBER.format(1, "'speed'", "'fast'")),
    "gap": ("a,b\n1,2\n3,\n", ValueError, NOT_FINITE.format(1, "'b'", "nan")),
    "short line": ("a,b\n1,2\n3\n", ValueError, NOT_FINITE.format(1, "'b'", "nan")),
    "long line": ("a,b\n1,2\n3,4,5\n", ValueError, "must have the same number of columns in each line: .*line 3"),
    "too few names": ("a,b\n1,2,3\n3,4,5\n", ValueError, "must have one name for each column, got 2 and 3 columns"),
    "same names": ("a,a\n1,2\n", ValueError, "names must differ from each other, got 'a' twice"),
    "no header": ("1,2\n3,4\n", ValueError, "must begin with a line of column names, got 1, 2"),
    "no rows": ("a,b\n", ValueError, "must have a line of column names and at least one row below it"),
    "empty": ("", ValueError, "must have a line of column names and at least one row below it"),
}


@pytest.mark.parametrize("name", BAD_CSV)
def test_bad_csv(name, tmp_path):
    text, kind, message = BAD_CSV[name]
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(kind, match=message):
        Pool(tmp_path / "p.csv")


def test_bad_npy(tmp_path):
    path = tmp_path / "p.npy"
    path.write_bytes(b"not an array")
    with pytest.raises(ValueError, match=r"p\.npy is not an array of numbers in NumPy's format"):
        Pool(path)
    np.save(path, np.array([["a", 1.0]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"p\.npy is not an array of numbers in NumPy's format"):
        Pool(path)


@pytest.mark.parametrize(("kind", "missing"), [("csv", "pandas"), ("parquet", "pandas"), ("parquet", "pyarrow")])
def test_a_missing_package_is_named(stored, kind, missing, monkeypatch):
    def import_module(name):
        if name == missing:
            raise ImportError(name)
        return importlib.import_module(name)

    monkeypatch.setattr(tables, "import_module", import_module)
    with pytest.raises(
        ImportError, match=rf"p.{kind} needs {missing}, which is missing: pip install 'ridgeway\[pool\]"
    ):
        Pool(stored[kind])


def test_arrays_need_no_pandas(monkeypatch):
    real = builtins.__import__

    def guarded(name, *rest):
        assert not name.startswith("pandas"), "pandas was imported"
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", guarded)
    monkeypatch.setattr(tables, "import_module", guarded)
    assert len(Pool(POINTS)) == 40


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


def test_lookup_finds_copies():
    points = POINTS.copy()
    points[[9, 30]] = points[4]
    pool = Pool(points)
    assert pool.find(points[4]).tolist() == [4, 9, 30]
    assert pool.find(points[5]).tolist() == [5]
    assert pool.find(points[4] + 1e-12).tolist() == []
    assert pool.index_of(points[[30, 9, 5]]).tolist() == [4, 4, 5]
    assert pool.index_of([points[30], points[4] + 1e-12]).tolist() == [4, -1]


def test_lookup_takes_both_zeros_for_one():
    pool = Pool([[0.0, 1.0], [-0.0, 1.0], [0.0, -1.0]])
    assert pool.find([-0.0, 1.0]).tolist() == [0, 1]
    assert pool.index_of([[-0.0, -1.0]]).tolist() == [2]


def test_lookup_survives_collisions(monkeypatch):
    """Equal hashes are not yet equal rows."""
    monkeypatch.setattr(rowindex, "row_hashes", lambda X: np.zeros(X.shape[0], dtype=np.uint64))
    monkeypatch.setattr(pool_module, "BLOCK_BYTES", 5 * 24)
    points = POINTS.copy()
    points[[9, 30]] = points[4]
    pool = Pool(points)
    assert pool.find(points[4]).tolist() == [4, 9, 30]
    assert pool.index_of(points[[30, 5]]).tolist() == [4, 5]
    assert pool.index_of(points[:1] + 1.0).tolist() == [-1]


def test_round_numbers_do_not_collide():
    """Their bits are mostly zero: a plain sum with weights would confuse many of them."""
    grid = np.stack(np.meshgrid(*[np.arange(64.0)] * 3), axis=-1).reshape(-1, 3)
    assert np.unique(rowindex.row_hashes(grid)).shape == (64**3,)


def test_lookup_refuses_other_inputs():
    pool = Pool(POINTS)
    with pytest.raises(ValueError, match="X must have one column for each of the 3 inputs of the pool, got 2"):
        pool.index_of(POINTS[:, :2])
    with pytest.raises(ValueError, match=r"x must have shape \(3,\), got \(2, 3\)"):
        pool.find(POINTS[:2])
    with pytest.raises(ValueError, match="X must be finite"):
        pool.index_of([[NAN, 0.0, 0.0]])


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


def test_a_map_larger_than_a_block(tmp_path):
    """Twice as many bytes as may be held, as float64, beside the map."""
    shape = (1_000_000, 16)
    mapped = np.lib.format.open_memmap(tmp_path / "p.npy", mode="w+", dtype=np.float32, shape=shape)
    block = rng().uniform(size=(10_000, 16)).astype(np.float32)
    for start in range(0, shape[0], 10_000):
        mapped[start : start + 10_000] = block + start
    mapped.flush()
    assert shape[0] * shape[1] * 8 > 7 * pool_module.BLOCK_BYTES
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
