"""Points in tables and files."""

from __future__ import annotations

import builtins
import importlib

import numpy as np
import pytest

from ridgeway.spaces import point_tables
from ridgeway.spaces.space import Pool
from tests.spaces.points import NO_NUMBER, NOT_FINITE, POINTS

BAD_CSV = {
    "word": ("a,speed\n1,2\n3,fast\n", TypeError, NO_NUMBER.format(1, "'speed'", "'fast'")),
    "gap": ("a,b\n1,2\n3,\n", ValueError, NOT_FINITE.format(1, "'b'", "nan")),
    "short line": ("a,b\n1,2\n3\n", ValueError, NOT_FINITE.format(1, "'b'", "nan")),
    "long line": ("a,b\n1,2\n3,4,5\n", ValueError, "must have the same number of columns in each line: .*line 3"),
    "too few names": ("a,b\n1,2,3\n3,4,5\n", ValueError, "must have one name for each column, got 2 and 3 columns"),
    "same names": ("a,a\n1,2\n", ValueError, "columns of different names, got 'a' more than once"),
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

    monkeypatch.setattr(point_tables, "import_module", import_module)
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
    monkeypatch.setattr(point_tables, "import_module", guarded)
    assert len(Pool(POINTS)) == 40


def test_a_csv_file_in_another_encoding(tmp_path):
    (tmp_path / "p.csv").write_bytes("größe,b\n1,2\n".encode("cp1252"))
    with pytest.raises(ValueError, match=r"p\.csv is not UTF-8 text: save it as 'CSV UTF-8', or read it with pandas"):
        Pool(tmp_path / "p.csv")


def test_names_that_only_look_like_numbers(tmp_path):
    (tmp_path / "p.csv").write_text("1_5,2_5\n1,2\n")
    assert Pool(tmp_path / "p.csv").names == ("1_5", "2_5")


def test_numbers_above_the_columns_of_a_frame_are_no_names():
    pandas = importlib.import_module("pandas")
    assert point_tables.read(pandas.DataFrame(POINTS))[1] is None
    assert point_tables.read(pandas.DataFrame(POINTS, columns=["a", "b", "c"]))[1] == ("a", "b", "c")
