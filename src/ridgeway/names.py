"""Names of inputs: checked once, and used in what a user reads."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 3  # names in a repr


def checked(names: Sequence[str] | None, D: int | None = None) -> tuple[str, ...] | None:
    """Names as a tuple of distinct words, one for each of the ``D`` inputs."""
    if names is None:
        return None
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be a sequence of strings, got {names!r}")
    if D is not None and len(names) != D:
        raise ValueError(f"names must have one entry for each of the {D} inputs, got {len(names)}")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"names must differ from each other, got {name!r} twice")
        seen.add(name)
    return tuple(names)


def called(names: Sequence[str] | None, j: int) -> str:
    """What input ``j`` is called in a sentence: its name in quotes, or its number."""
    return str(j) if names is None else repr(names[j])


def listed(labels: Sequence[str]) -> str:
    """The first few of many labels."""
    return ", ".join(labels[:_SHOWN]) + (", ..." if len(labels) > _SHOWN else "")
