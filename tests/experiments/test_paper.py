"""The paper's numbers."""

from __future__ import annotations

import re
from pathlib import Path

from ridgeway.experiments import paper


def test_the_papers_numbers_are_copied_right(shared: Path) -> None:
    text = (shared / "paper" / "garnett2013.tex").read_text()
    text = re.sub(r"\{\\bf\s*(-?\s*[\d]+)\}", r"\1", text)  # bold numbers are set in two halves
    text = re.sub(r"\{\\mathbf\{([^}]*)\}\}", r"\1", text).replace(r"\cdot10^", "e")
    second = {
        "synthetic & 10 & 2": "synthetic-10-2", "synthetic & 10 & 3": "synthetic-10-3",
        "synthetic & 20 & 2": "synthetic-20-2", "synthetic & 20 & 3": "synthetic-20-3",
        "Branin & 10 & 2": "branin-10", "Branin & 20 & 2": "branin-20", r"\& crime & 96 & 2": "communities",
        "temperature & 106 & 2": "temperature", "slices & 318 & 2": "ct",
    }  # fmt: skip
    for label, row in second.items():
        printed = paper.TABLE2[row]
        assert _numbers(text, label) == [*printed["nlpd"].values(), *printed["rmse"].values()], row
    first = {"synthetic & 5": "synthetic-5", "synthetic & 10\n": "synthetic-10", "synthetic & 20\n": "synthetic-20"}
    for label, row in {**first, "yacht & 6": "yacht", "concrete & 8": "concrete"}.items():
        printed = paper.TABLE1[row]
        assert _numbers(text, label) == [*printed["nll"].values(), *printed["skld"].values()], row


def _numbers(text: str, label: str) -> list[float]:
    """The numbers of the table row that begins with ``label``."""
    after = text.split(label, 1)[1].split(r"\\", 1)[0].replace(r"\multicolumn{1}{c}{---}", "")
    return [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e\d+)?", after)]
