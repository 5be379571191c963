"""Table 2 as a page."""

from __future__ import annotations

import re

from ridgeway.experiments import curves, table2_report
from ridgeway.experiments.protocol import ROWS
from tests.experiments.made_up_results import _results


def test_the_table_has_the_papers_numbers_beside_ours() -> None:
    text, rows = table2_report.tables(_results({"rand": 0.3, "bald": 0.1}, {}))
    assert "| synthetic | 10 | 2 | paper | 0.412 | 0.371 | 0.146 | 0.138 | – | 0.842 |" in text
    assert "| | | | nested | 0.310 ± 0.010 | – | – | 0.110 ± 0.010 | – |" in text
    assert "RMSE: better than the paper's; better than rand (-0.200 ± 0.000)" in text
    assert len(rows) == 4


def test_a_quick_table_is_not_judged_by_the_papers_numbers() -> None:
    text, _ = table2_report.tables(_results({"rand": 0.3, "bald": 0.5}, {}), quick=True)
    assert "than the paper's" not in text
    assert "RMSE: **worse than** rand" in text


def test_the_table_says_where_bald_is_not_better() -> None:
    text, _ = table2_report.tables(_results({"rand": 0.3, "bald": 0.5}, {}))
    assert "RMSE: **not better** than the paper's; **worse than** rand (+0.200 ± 0.000)" in text


def test_observations_needed_are_those_that_reach_rand_at_the_end() -> None:
    marks = {"rand": [0.9, 0.8, 0.5], "unc": [0.9, 0.49, 0.6], "bald": [0.9, 0.8, 0.7]}
    results = _results(dict.fromkeys(marks, 0.5), marks)
    group = table2_report.Group(results, "root")
    row = ROWS["synthetic-10-2"]
    assert table2_report.needed(group, row, "nested", "unc") == 30
    assert table2_report.needed(group, row, "nested", "bald") is None
    text, _ = table2_report.tables(results)
    assert re.search(r"unc \| 0.91 \| 0.5 \| 0.610 ± 0.010 \| 30 \|", text)
    assert "more than 40 |" in text
    assert len(curves.rows(results)) == 9
