"""Names of inputs in lines and labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgeway.names import labels, lines


@given(st.text(min_size=1, max_size=80), st.integers(4, 40))
def test_labels_are_broken_and_never_cut(text: str, width: int) -> None:
    broken = lines(text, width)
    assert all(len(line) <= width for line in broken) or not text.strip()
    assert "".join("".join(broken).split()) == "".join(text.split())


def test_labels_are_names_or_numbers() -> None:
    assert labels(None, 2) == ("x0", "x1")
    with pytest.raises(ValueError, match="one entry for each of the 3 inputs"):
        labels(["a", "b"], 3)
