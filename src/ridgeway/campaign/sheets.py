"""Sheets: CSV and Excel files as people make them, read cell by cell and written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ridgeway import files
from ridgeway.errors import CampaignError
from ridgeway.text import numbers as written_numbers
from ridgeway.text.cells import csv_text, guarded, unguarded

READABLE = (".csv", ".txt", ".tsv", ".xlsx", ".parquet", ".json")
_EXCEL_COLUMNS, _EXCEL_ROWS = 16_384, 1_048_576  # that a sheet can have
WRITABLE = (".csv", ".tsv", ".xlsx", ".parquet", ".json")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")
_ESCAPE = re.compile("_x[0-9A-Fa-f]{4}_")  # what a workbook writes in place of a character


@dataclass(frozen=True)
class Sheet:
    """A table of cells with names above its columns; cells are text, numbers or ``None`` where empty."""

    source: str  # what a message calls it
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    lines: tuple[int, ...]  # where each row stands in its file
    semicolons: bool = False  # cells are not separated by commas, so a comma is a decimal one
    guarded: bool = False  # text that a spreadsheet would compute has an apostrophe before it, as in a CSV file

    def at(self, row: int, column: int) -> str:
        """Where a cell is, for a message."""
        return f"{self.source}, row {self.lines[row]}, column {self.columns[column]!r}"

    def number(self, row: int, column: int) -> float | None:
        """The number in a cell, ``None`` where it is empty; decimal commas are understood."""
        cell = self.rows[row][column]
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            return None
        if isinstance(cell, str):
            cell = self._parsed(cell.strip(), row, column)
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            raise CampaignError(f"{self.at(row, column)}: a number is expected, got {cell!r}")
        if not math.isfinite(cell):
            raise CampaignError(f"{self.at(row, column)}: a finite number is expected, got {cell}")
        return float(cell)

    def _parsed(self, text: str, row: int, column: int) -> float:
        plain = text.replace("\u00a0", "").replace("\u202f", "").replace("\u2212", "-")
        if re.fullmatch(r"[+-]?\d+,\d+([eE][+-]?\d+)?", plain):
            if not self.semicolons and re.fullmatch(r"[+-]?\d{1,3},\d{3}", plain):
                raise CampaignError(
                    f"{self.at(row, column)}: {text!r} may be a thousand or a decimal comma: write it with a point"
                )
            plain = plain.replace(",", ".")
        try:
            return written_numbers.decimal(plain)
        except ValueError:
            raise CampaignError(f"{self.at(row, column)}: a number is expected, got {text!r}") from None

    def text(self, row: int, column: int) -> str:
        """What stands in a cell, as text."""
        cell = self.rows[row][column]
        if cell is None:
            return ""
        if isinstance(cell, float) and cell.is_integer():
            return str(int(cell))
        text = str(cell).strip()
        return unguarded(text) if self.guarded else text

    @classmethod
    def of_frame(cls, frame: Any, source: str = "the table") -> Sheet:
        """From a data frame; its rows are numbered from 0."""
        if hasattr(frame, "to_pandas"):  # polars, pyarrow
            frame = frame.to_pandas()
        if not (hasattr(frame, "iloc") and hasattr(frame, "columns")):
            raise TypeError(f"{source} must be a data frame or the path of a file, got {type(frame).__name__}")
        columns = [[_cell(cell) for cell in frame.iloc[:, j]] for j in range(frame.shape[1])]
        rows = tuple(zip(*columns, strict=True))
        return cls(source, _header([str(c) for c in frame.columns], source), rows, tuple(range(len(rows))))


def read(path: str | Path, encoding: str | None = None) -> Sheet:
    """The sheet in a file; ``encoding`` where it is neither UTF-8 nor marked."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in READABLE:
        raise CampaignError(f"{path} must end in {', '.join(READABLE)} to be read")
    if not path.is_file():
        raise CampaignError(f"there is no file {path}")
    if suffix == ".parquet":
        return Sheet.of_frame(_parquet_frame(path), str(path))
    if suffix == ".xlsx":
        return _from_rows(str(path), _excel_rows(path))
    text = _decoded(path, encoding)
    if suffix == ".json":
        return _from_json(str(path), text)
    delimiter = _delimiter(text)
    try:
        cells = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise CampaignError(f"{path} cannot be read as CSV: {error}") from None
    return _from_rows(str(path), cells, delimiter != ",", guarded=True)


def write(path: str | Path, columns: Sequence[str], rows: Sequence[Sequence[Any]], decimal_comma: bool = False) -> None:
    """Write a sheet; the file appears whole or not at all."""
    with writing(path) as temporary:
        write_to(temporary, columns, rows, decimal_comma)


def write_to(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]], decimal_comma: bool = False) -> None:
    """Write a sheet in place."""
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        text = to_csv(columns, rows, decimal_comma, "\t" if suffix == ".tsv" else None)
        # Without a byte order mark, Excel assumes its own code page and garbles a unit such as °C.
        path.write_text(text, encoding="utf-8" if text.isascii() else "utf-8-sig", newline="")
    elif suffix == ".json":
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        path.write_text(json.dumps(records, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    elif suffix == ".xlsx":
        write_book(path, {"trials": (columns, rows)})
    else:
        _pandas_for(path).DataFrame([list(row) for row in rows], columns=list(columns)).to_parquet(path, index=False)


@contextmanager
def writing(path: str | Path) -> Iterator[Path]:
    """A path to write to, beside ``path``, that takes its place at the end if all went well."""
    path = Path(path)
    check_name(path)
    try:
        with files.writing(path) as temporary:
            yield temporary
    except OSError as error:
        raise CampaignError(f"{path} cannot be written: {error.strerror or error}; nothing was kept") from error


def check(path: str | Path) -> None:
    """Raise if a sheet cannot be written to ``path``; nothing is there afterwards that was not there before."""
    check_name(path)
    try:
        files.check(path)
    except OSError as error:
        raise CampaignError(f"{path} cannot be written: {error.strerror or error}") from None


def check_name(path: str | Path) -> None:
    """Raise unless the file's name and folder are such that a sheet can be written."""
    path = Path(path)
    if path.suffix.lower() not in WRITABLE:
        raise CampaignError(f"{path} must end in {', '.join(WRITABLE)} to be written")
    if not path.parent.is_dir():
        raise CampaignError(f"{path} cannot be written: there is no folder {path.parent}")


def to_csv(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], decimal_comma: bool = False, delimiter: str | None = None
) -> str:
    """A sheet as CSV text; with decimal commas its cells are separated by semicolons.

    Text that a spreadsheet would take for a formula has an apostrophe before it, which :func:`read` takes away.
    """
    cells = [[_written(cell, decimal_comma) for cell in row] for row in rows]
    return csv_text([list(columns), *cells], delimiter or (";" if decimal_comma else ","))


def _written(cell: Any, decimal_comma: bool) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        text = repr(cell).removesuffix(".0")
        return text.replace(".", ",") if decimal_comma else text
    return str(cell)


def _from_json(source: str, text: str) -> Sheet:
    """A sheet from a list of records, as an export writes it."""
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CampaignError(f"{source} cannot be read as JSON: {error}") from None
    if not isinstance(records, list) or not records or not all(isinstance(record, dict) for record in records):
        raise CampaignError(f"{source} must hold a list of records, such as an export does")
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    rows = tuple(tuple(_cell(record.get(name)) for name in columns) for record in records)
    return Sheet(source, _header(columns, source), rows, tuple(range(1, len(rows) + 1)))


def _from_rows(source: str, cells: Sequence[Sequence[Any]], semicolons: bool = False, guarded: bool = False) -> Sheet:
    numbered = [(i + 1, row) for i, row in enumerate(cells) if any(not _empty(cell) for cell in row)]
    if not numbered:
        raise CampaignError(f"{source} is empty: a line of column names is expected, and rows below it")
    header = list(numbered[0][1])
    while header and _empty(header[-1]):
        header.pop()
    names = ["" if cell is None else str(cell).strip() for cell in header]
    columns = _header([unguarded(name) if guarded else name for name in names], source)
    rows = []
    for line, row in numbered[1:]:
        if any(not _empty(cell) for cell in row[len(columns) :]):
            raise CampaignError(
                f"{source}, row {line} has more cells than there are column names ({len(columns)}): "
                "is a decimal comma in a file of commas?"
            )
        rows.append(tuple(row[: len(columns)]) + (None,) * (len(columns) - len(row)))
    return Sheet(source, columns, tuple(rows), tuple(line for line, _ in numbered[1:]), semicolons, guarded)


def _header(names: Sequence[str], source: str) -> tuple[str, ...]:
    columns = tuple(name.strip() for name in names)
    seen: set[str] = set()
    for j, name in enumerate(columns):
        if not name:
            raise CampaignError(f"{source}: column {j + 1} has no name: write one above it, or remove the column")
        if name in seen:
            raise CampaignError(f"{source}: two columns are called {name!r}: rename or remove one")
        seen.add(name)
    return columns


def _decoded(path: Path, encoding: str | None) -> str:
    content = path.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    encoding = encoding or "utf-8-sig"
    try:
        text = content.decode(encoding)
    except LookupError:
        raise CampaignError(f"encoding {encoding!r} is not known: try utf-8 or cp1252") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise CampaignError(
            f"{path}, row {line}: this is not {encoding.removesuffix('-sig').upper()} text: save the file as "
            "'CSV UTF-8', or name its encoding, for example --encoding cp1252 (in Python: encoding='cp1252')"
        ) from None
    if "\0" in text:
        raise CampaignError(f"{path} is not a text file: save it as 'CSV UTF-8' or as .xlsx")
    return text


def _delimiter(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = re.sub(r'"[^"]*"', "", first)
    return max(",;\t", key=unquoted.count)


def _excel_rows(path: Path) -> list[tuple[Any, ...]]:
    from zipfile import BadZipFile

    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except (BadZipFile, InvalidFileException, KeyError, OSError) as error:
        raise CampaignError(f"{path} cannot be read as an Excel file: {error}") from None
    try:
        return [
            tuple(_unescaped(_cell(cell)) for cell in row) for row in book.worksheets[0].iter_rows(values_only=True)
        ]
    finally:
        book.close()


def write_book(path: Path, named: Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]]]]) -> None:
    """Write an Excel file with several sheets in place, by their names; programs read the first."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for title, (columns, rows) in named.items():
        _fill_sheet(book.create_sheet(title), columns, rows)
    book.save(path)


def _fill_sheet(sheet: Any, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    for found, most, what in ((len(columns), _EXCEL_COLUMNS, "columns"), (len(rows) + 1, _EXCEL_ROWS, "rows")):
        if found > most:
            raise CampaignError(
                f"an Excel sheet has at most {most:,} {what}, and {found:,} are needed: write .csv instead"
            )
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    for i, row in enumerate([columns, *rows]):
        for j, value in enumerate(row):
            if value is not None:
                _fill(sheet.cell(i + 1, j + 1), value)
    for j, name in enumerate(columns):
        sheet.cell(1, j + 1).font = Font(bold=True)
        sheet.column_dimensions[get_column_letter(j + 1)].width = max(10, min(40, len(name) + 2))
    sheet.freeze_panes = "B2"


def _fill(cell: Any, value: Any) -> None:
    """Put a value into a cell of a workbook; text stays text, whatever it begins with."""
    cell.value = _escaped(value) if isinstance(value, str) else value
    if isinstance(value, str):
        cell.data_type = "s"  # else text that begins with = would be a formula
        cell.quotePrefix = guarded(value) != value  # also after somebody has edited the cell


def _escaped(text: str) -> str:
    """Text as a workbook holds it: XML has no place for control characters, so they are written as their codes."""
    text = _ESCAPE.sub(lambda found: f"_x005F{found[0]}", text)
    return _CONTROL.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def _unescaped(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    return _ESCAPE.sub(lambda found: chr(int(found[0][2:6], 16)), cell)


def _empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _cell(cell: Any) -> Any:
    """A cell of a data frame or workbook as text, a number or ``None``."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(cell, "item"):  # a NumPy scalar
        cell = cell.item()
    if isinstance(cell, float) and math.isnan(cell):
        return None
    return cell if isinstance(cell, str | bool | int | float) else str(cell)


def _parquet_frame(path: Path) -> Any:
    try:
        return _pandas_for(path).read_parquet(path)
    except (OSError, ValueError) as error:  # what pyarrow raises
        raise CampaignError(f"{path} cannot be read as a Parquet file: {error}") from None


def _pandas_for(path: Path) -> Any:
    """pandas, where it can read and write Parquet files."""
    if any(find_spec(needed) is None for needed in ("pandas", "pyarrow")):
        raise CampaignError(f"{path.suffix} files need pandas and pyarrow: pip install 'ridgeway[pool]', or use .csv")
    import pandas

    return pandas
