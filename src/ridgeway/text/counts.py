"""Numbers of things in words."""

from __future__ import annotations


def counted(n: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "input"), counted(3100, "observation")
    ('1 input', '3,100 observations')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
