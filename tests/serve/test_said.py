"""Fields of a request."""

from __future__ import annotations

import pytest

from ridgeway.errors import CampaignError
from ridgeway.serve.said import Said


def test_fields_are_read_by_what_they_must_be() -> None:
    said = Said.of(b'{"trial": 3, "value": " 1.5e2 ", "sigma": "", "sure": true, "person": "  Ann\\n B ", "n": 2}')
    assert (said.trial, said.many, said.sure, said.person) == (3, 2, True, "Ann B")
    assert (said.number("value"), said.number("sigma"), said.number("nothing")) == (150.0, None, None)
    assert said.text("note") == ""
    assert Said({"x": {"a": "2", "b": 3}}).settings("x") == {"a": 2.0, "b": 3.0}
    assert Said({"t": [1, 2]}).numbers("t") == [1, 2]


def test_only_true_is_sure() -> None:
    assert not any(Said({"sure": value}).sure for value in ("true", 1, None, [], "yes"))


@pytest.mark.parametrize(
    ("fields", "read", "words"),
    [
        ({"trial": "3"}, lambda s: s.trial, "whole number"),
        ({"trial": 3.0}, lambda s: s.trial, "whole number"),
        ({"n": 0}, lambda s: s.many, "between 1 and 100"),
        ({"value": "1,5"}, lambda s: s.number("value"), r"with a point, such as 1\.5"),
        ({"value": "1_5"}, lambda s: s.number("value"), "must be a number, got"),
        ({"value": [1]}, lambda s: s.number("value"), "must be a number"),
        ({"value": True}, lambda s: s.number("value"), "must be a number"),
        ({"note": 3}, lambda s: s.text("note"), "must be text"),
        ({"note": "x" * 2001}, lambda s: s.text("note"), "at most 2,000"),
        ({"x": [1]}, lambda s: s.settings("x"), "numbers by name"),
        ({"t": []}, lambda s: s.numbers("t"), "1 to 100"),
        ({"t": [True]}, lambda s: s.numbers("t"), "whole numbers"),
    ],
)
def test_what_is_wrong_is_named(fields: dict, read: object, words: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(CampaignError, match=words):
        read(Said(fields))  # type: ignore[operator]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'"text"', b"[" * 50_000, b'{"a":' * 20_000])
def test_bodies_that_are_no_fields(body: bytes) -> None:
    with pytest.raises(CampaignError, match="a change must be"):
        Said.of(body)
