"""Tables of points: arrays, data frames and files."""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ridgeway import checks, columns
from ridgeway.names import called
from ridgeway.text import numbers as written_numbers

SUFFIXES = (".csv", ".parquet", ".npy")
Names = tuple[str, ...] | None


def read(points: Any) -> tuple[Any, Names]:
    """``points`` as a real ``(n, D)`` array or memory map of any number type, and its column names."""
    if isinstance(points, str | Path):
        array, names = _from_file(Path(points))
    elif hasattr(points, "to_pandas"):  # polars, pyarrow
        array, names = _from_frame(points.to_pandas())
    elif hasattr(points, "iloc") and hasattr(points, "columns"):
        array, names = _from_frame(points)
    else:
        array, names = _from_array(points), None
    if array.ndim != 2:
        raise ValueError(f"points must have shape (n, D), one row a point, got {array.shape}")
    if 0 in array.shape:
        raise ValueError(f"points must have at least one row and one column, got shape {array.shape}")
    if array.dtype.kind not in "fiub":
        array = np.stack([_numbers(array[:, j], called(None, j)) for j in range(array.shape[1])], axis=1)
    return array, names


def _from_array(points: Any) -> Any:
    if isinstance(points, np.memmap):
        return points
    if sparse.issparse(points):
        raise TypeError("points must be dense, got a sparse matrix: use its toarray()")
    if np.ma.is_masked(points):
        raise ValueError("points must be complete, got a masked array with hidden values")
    try:
        array = np.asarray(points)
    except ValueError as error:
        raise ValueError(f"points must be a rectangular array of numbers: {error}") from None
    if array.dtype.kind == "c":
        raise TypeError(f"points must hold real numbers, got {array.dtype}")
    if array.dtype.kind in "US" and not isinstance(points, np.ndarray):
        array = np.array(points, dtype=object)  # otherwise one string turns all numbers of the array into strings
    return array if array.dtype.kind not in "fiub" else checks.owned(array)


def _from_frame(frame: Any) -> tuple[Any, Names]:
    names = columns.names_of(frame, "points")
    array = np.empty(frame.shape)
    for j in range(array.shape[1]):
        column = frame.iloc[:, j]
        plain = column.dtype.kind in "fiub"
        array[:, j] = (
            column.to_numpy(dtype=np.float64, na_value=np.nan)
            if plain
            else _numbers(column.to_numpy(dtype=object), called(names, j))
        )
    return array, names


def _numbers(cells: Any, name: str) -> Any:
    """A column of objects as floats; an error names the row of a cell that is not a number."""
    gaps = [cell is None or type(cell).__name__ == "NAType" for cell in cells]  # pandas.NA, without pandas
    texts = [i for i, cell in enumerate(cells) if not (gaps[i] or isinstance(cell, Real | Decimal | np.bool_))]
    if texts:
        # One cell of text makes a CSV reader read the whole column as text: name that cell.
        i = next((i for i in texts if not _reads_as_number(cells[i])), texts[0])
        raise TypeError(f"points must hold numbers, but row {i}, column {name} is {cells[i]!r}")
    return np.array([np.nan if gap else float(cell) for cell, gap in zip(cells, gaps, strict=True)])


def _reads_as_number(cell: Any) -> bool:
    try:
        written_numbers.decimal(cell) if isinstance(cell, str) else float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _from_file(path: Path) -> tuple[Any, Names]:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"points must be a file that ends in {', '.join(SUFFIXES)}, got {str(path)!r}")
    if not path.is_file():
        raise FileNotFoundError(f"points must be a file that exists, got {str(path)!r}")
    if suffix == ".npy":
        try:
            return np.load(path, mmap_mode="r", allow_pickle=False), None
        except (ValueError, EOFError) as error:
            raise ValueError(f"{path} is not an array of numbers in NumPy's format: {error}") from None
    pandas = _package("pandas", path)
    if suffix == ".csv":
        return _from_csv(path, pandas)
    _package("pyarrow", path)
    return _from_frame(pandas.read_parquet(path))


def _from_csv(path: Path, pandas: Any) -> tuple[Any, Names]:
    # The header is read by itself: pandas would rename columns that share a name, and use a
    # column without a name as row labels.
    # All digits are needed, because points are looked up by value; from 3.1 on pandas reads them all by default.
    old = tuple(int(part) for part in pandas.__version__.split(".")[:2]) < (3, 1)
    exact = {"float_precision": "round_trip"} if old else {}
    try:
        header = pandas.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0]
        if all(_reads_as_number(name) for name in header):
            raise ValueError(f"{path} must begin with a line of column names, got {', '.join(header)}")
        frame = pandas.read_csv(path, header=None, skiprows=1, low_memory=False, **exact)
    except pandas.errors.EmptyDataError:
        raise ValueError(f"{path} must have a line of column names and at least one row below it") from None
    except UnicodeDecodeError:
        raise ValueError(
            f"{path} is not UTF-8 text: save it as 'CSV UTF-8', or read it with pandas.read_csv(..., encoding=...) and "
            "hand over the data frame"
        ) from None
    except pandas.errors.ParserError as error:
        raise ValueError(f"{path} must have the same number of columns in each line: {error}") from None
    if frame.shape[1] != len(header):
        raise ValueError(f"{path} must have one name for each column, got {len(header)} and {frame.shape[1]} columns")
    frame.columns = [name.strip() for name in header]
    return _from_frame(frame)


def _package(name: str, path: Path) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"reading {path} needs {name}, which is missing: pip install 'ridgeway[pool]'") from None
