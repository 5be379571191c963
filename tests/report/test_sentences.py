"""Sentences of the report follow the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.belief.calibration import Calibration
from ridgeway.belief.directions import Directions
from ridgeway.belief.embedding_draws import Interval
from ridgeway.belief.subspace import SubspaceUncertainty
from ridgeway.report import sentences


def test_sentences_follow_the_numbers() -> None:
    two = Directions(np.eye(20)[:2], np.array([0.8, 0.2]), np.eye(2))
    assert sentences.headline(two, 0.971, 20) == (
        "Two combinations of the 20 inputs carry 97 % of the variation; the rest is taken for noise."
    )
    assert "only 10 % of the variation" in sentences.headline(two, 0.1, 20)
    assert sentences.headline(two, 0.971, 20, 3).startswith("Two combinations of the 3 inputs carry")  # one a category
    assert "too few observations" in sentences.headline(two, None, 20)
    assert sentences.shares(two) == (
        "Of what they explain, direction 1 accounts for 80 % and direction 2 accounts for 20 %."
    )
    share = Interval(np.array([0.1, 0.6, 0.3]), np.array([0.05, 0.5, 0.2]), np.array([0.2, 0.7, 0.4]))
    assert sentences.inputs(["a", "b", "c"], share, 2) == (
        "The inputs that matter most are b (60 %, between 50 % and 70 %) and c (30 %, between 20 % and 40 %)."
    )
    even = Interval(*(np.full(100, 0.01),) * 3)
    assert sentences.inputs([f"x{j}" for j in range(100)], even).startswith("No single input stands out")
    assert "well known" in sentences.certainty(SubspaceUncertainty(9, 4.0, 2.0, 8.0))
    assert "not known yet" in sentences.certainty(SubspaceUncertainty(9, 60.0, 20.0, 89.0))
    assert [sentences.percent(s) for s in (0.0, 0.001, 0.5, 0.998, 1.0)] == [
        "0 %", "less than 1 %", "50 %", "more than 99 %", "100 %"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("best", "low", "high", "text"),
    [
        (0.002, 0.0001, 0.004, "less than 1 %"),
        (0.0, 0.0, 0.0, "0 %"),
        (1.0, 1.0, 1.0, "100 %"),
        (0.999, 0.996, 0.9999, "more than 99 %"),
        (0.5, 0.5, 0.5, "50 %"),
        (0.6, 0.5, 0.7, "60 %, between 50 % and 70 %"),
        (0.03, 0.001, 0.07, "3 %, up to 7 %"),
        (0.07, 0.0, 0.07, "7 %"),
        (0.97, 0.93, 0.998, "97 %, at least 93 %"),
        (0.93, 0.93, 1.0, "93 %"),
        (0.4, 0.0, 1.0, "40 %, but it may be anything"),
        (0.05, 0.0001, 0.0002, "5 % on average, less than 1 % in most cases"),
        (-1e-17, -1e-17, 1e-3, "less than 1 %"),
        (1.0, 0.999, 1.0, "more than 99 %"),
    ],
)
def test_a_share_and_its_interval_never_say_the_same_twice(best: float, low: float, high: float, text: str) -> None:
    assert sentences.span(best, low, high) == text


def test_sentences_at_the_extremes() -> None:
    one = Directions(np.eye(1), np.ones(1), np.eye(1))
    two = Directions(np.eye(2), np.array([1.0, 0.0]), np.eye(2))
    assert sentences.headline(one, 1.0, 1) == "The only input carries 100 % of the variation."
    assert sentences.headline(two, 0.9, 2).startswith("The two inputs together carry 90 % of the variation; the rest")
    for explained in (0.0, -3.0):
        assert sentences.headline(one, explained, 8).startswith("Nothing was found yet that predicts")
    assert "carries less than 1 % of the variation so far" in sentences.headline(one, 1e-12, 8)
    assert "too few observations" in sentences.headline(one, float("nan"), 8)
    assert sentences.shares(one) == ""
    assert sentences.shares(two).endswith("direction 1 accounts for 100 % and direction 2 accounts for 0 %.")
    assert sentences.inputs(["a"], Interval(np.ones(1), np.ones(1), np.ones(1))) == ""
    sure = Interval(*(np.array([1.0 - 2e-12, 1e-12, 1e-12]),) * 3)
    assert sentences.inputs(["a", "b", "c"], sure) == "The input that matters most is a (more than 99 %)."
    unknown = Interval(*(np.full(3, np.nan),) * 3)
    assert sentences.inputs(["a", "b", "c"], unknown) == ""
    assert sentences.certainty(SubspaceUncertainty(9, 0.0, 0.0, 0.0), 2, 2) == ""
    assert sentences.certainty(SubspaceUncertainty(9, float("nan"), 0.0, 0.0), 1, 4) == ""
    assert sentences.certainty(SubspaceUncertainty(9, 0.1, 0.05, 0.2), 1, 4) == (
        "The direction is well known: other directions that the data allow are typically off by less than 1° "
        "(0° is certainty, 90° ignorance)."
    )
    assert "(90 % of them between 0° and 90°;" in sentences.certainty(SubspaceUncertainty(9, 45.0, 0.0, 90.0), 2, 4)
    assert [sentences.amount(v) for v in (0.0, 1e-12, 0.25, 1234.5)] == [
        "next to nothing", "next to nothing", "0.25 nats", "1,234.50 nats"
    ]  # fmt: skip


def test_the_typical_error_is_in_the_outputs_unit() -> None:
    observed, mean = np.array([1.0, 3.0, 5.0, 900.0]), np.array([1.3, 2.6, 5.0, 4.0])
    none = np.zeros(1)
    found = Calibration(observed, mean, np.ones(4), none, none, none, none, np.array([True, True, True, False]))
    assert found.typical_error == pytest.approx(np.sqrt((0.09 + 0.16) / 3))  # without the suspect
    text = sentences.typical_error(found, "MPa")
    assert "off by 0.29\N{NO-BREAK SPACE}MPa" in text
    assert "vary by 1.6\N{NO-BREAK SPACE}MPa" in text
    assert "off by 0.29, noise" in sentences.typical_error(found)
