"""Files as people make them: marks, semicolons, commas, empty cells, and mistakes with an address."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from ridgeway import CampaignError
from ridgeway.campaign import sheets


def _file(tmp_path: Path, content: bytes, name: str = "results.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"trial,value\n1,0.5\n2,\n",
        b"\xef\xbb\xbftrial,value\r\n1,0.5\r\n2,\r\n",
        b"trial;value\n1;0,5\n2;\n",
        b"trial\tvalue\n1\t0,5\n2\t\n",
        "trial;value\n1;0,5\n2;\n".encode("utf-16"),
        b'trial,value\n1,"0,5"\n2,\n',
        b"\n\ntrial,value\n\n1, 0.5 \n,\n2,\n",
        b"trial,value,,\n1,0.5,,\n2,,,\n",
        b"trial,value\n1,5e-1\n2\n",
    ],
)
def test_all_of_these_are_the_same(tmp_path: Path, content: bytes) -> None:
    sheet = sheets.read(_file(tmp_path, content))
    assert sheet.columns == ("trial", "value")
    assert [[sheet.number(i, j) for j in range(2)] for i in range(2)] == [[1.0, 0.5], [2.0, None]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"trial,trial\n1,2\n", "two columns are called 'trial'"),
        (b"trial,,value\n1,2,3\n", "column 2 has no name"),
        (b"trial,value\n1,0,5\n", "row 2 has more cells .* decimal comma"),
        ("trial,value [°C]\n1,2\n".encode("cp1252"), "row 1: this is not UTF-8 text: .*--encoding cp1252"),
        (b"trial,value\n\x001,2\n", "not a text file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(CampaignError, match=message) as caught:
        sheets.read(_file(tmp_path, content))
    assert "results.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("abc", "row 2, column 'value': a number is expected, got 'abc'"),
        ("inf", "a finite number is expected"),
        ("1_5", "row 2, column 'value': a number is expected, got '1_5'"),
        ('"1,234"', "may be a thousand or a decimal comma"),
        ('"1.234,5"', "a number is expected"),
    ],
)
def test_cells_that_are_no_numbers(tmp_path: Path, cell: str, message: str) -> None:
    sheet = sheets.read(_file(tmp_path, f"trial,value\n1,{cell}\n".encode()))
    with pytest.raises(CampaignError, match=message):
        sheet.number(0, 1)


def test_wrong_files_by_name(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="there is no file"):
        sheets.read(tmp_path / "none.csv")
    with pytest.raises(CampaignError, match=r"must end in \.csv"):
        sheets.read(tmp_path / "results.doc")
    with pytest.raises(CampaignError, match="cannot be read as an Excel file"):
        sheets.read(_file(tmp_path, b"no workbook", "results.xlsx"))
    assert sheets.read(_file(tmp_path, "a\n°\n".encode("cp1252")), "cp1252").rows == (("°",),)
    with pytest.raises(CampaignError, match="encoding 'klingon' is not known"):
        sheets.read(_file(tmp_path, b"a\n1\n"), "klingon")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.xlsx", "t.parquet"])
def test_what_is_written_comes_back(tmp_path: Path, name: str) -> None:
    columns, rows = ["trial", "temperature [°C]", "value"], [[1, 61.37215, None], [2, 1e-7, 0.3]]
    sheets.write(tmp_path / name, columns, rows)
    sheet = sheets.read(tmp_path / name)
    assert sheet.columns == tuple(columns)
    assert [[sheet.number(i, j) for j in range(3)] for i in range(2)] == rows
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_decimal_commas_are_written_for_those_who_need_them(tmp_path: Path) -> None:
    sheets.write(tmp_path / "t.csv", ["a", "b"], [[1.5, 2.0]], decimal_comma=True)
    assert (tmp_path / "t.csv").read_text() == "a;b\n1,5;2\n"
    assert pd.read_csv(tmp_path / "t.csv", sep=";", decimal=",").values.tolist() == [[1.5, 2.0]]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")

    def write_half() -> None:
        with sheets.writing(path) as temporary:
            temporary.write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(CampaignError, match=r"t\.csv cannot be written: No space left on device; nothing was kept"):
        write_half()
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [
        ([f"x{j}" for j in range(16_385)], [], "at most 16,384 columns, and 16,385 are needed: write .csv instead"),
        (["a"], [[1]] * 1_048_576, "at most 1,048,576 rows, and 1,048,577 are needed: write .csv instead"),
    ],
)
def test_more_than_a_sheet_of_excel_can_hold(tmp_path: Path, columns: list[str], rows: Any, message: str) -> None:
    with pytest.raises(CampaignError, match=message):
        sheets.write(tmp_path / "t.xlsx", columns, rows)
    assert list(tmp_path.iterdir()) == []
    sheets.write(tmp_path / "t.csv", columns, rows[:1])
    assert sheets.read(tmp_path / "t.csv").columns == tuple(columns)


TEXTS = ["=1+1", "+1+1", "-low", "@SUM(A1)", "\t=tab", "\r=return", "'=quoted", "-3.5", "_x0041_", "a\x1b[31m\rb"]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.xlsx", "t.parquet"])
def test_text_never_becomes_a_formula_and_comes_back(tmp_path: Path, name: str) -> None:
    columns = ["trial", "=cmd|'/c calc'!A1", "+plus [=unit]"]
    sheets.write(tmp_path / name, columns, [[-1.5, text, text] for text in TEXTS])
    sheet = sheets.read(tmp_path / name)
    assert sheet.columns == tuple(columns)
    # White space around text is not kept, except where the text begins with it and it is kept from being a formula.
    expected = TEXTS if name in ("t.csv", "t.tsv") else [text.strip() for text in TEXTS]
    assert [sheet.text(i, 1) for i in range(len(TEXTS))] == expected
    assert {sheet.number(i, 0) for i in range(len(TEXTS))} == {-1.5}


def test_no_cell_of_a_file_begins_like_a_formula(tmp_path: Path) -> None:
    sheets.write(tmp_path / "t.csv", ["=a", "b"], [[text, -1.5] for text in TEXTS])
    with (tmp_path / "t.csv").open(newline="") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    begun = [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]
    assert sorted(begun) == ["-1.5"] * len(TEXTS) + ["-3.5"]
    sheets.write(tmp_path / "t.xlsx", ["=a", "b"], [[text, -1.5] for text in TEXTS])
    book = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    kinds = {cell.data_type for row in book.iter_rows() for cell in row}
    assert kinds == {"s", "n"}
    assert book["A2"].quotePrefix
    assert not book["A9"].quotePrefix
