"""Where experiments can be made: anywhere in a box, or at the points of a pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ridgeway import checks
from ridgeway.spaces.box import Box
from ridgeway.spaces.pool import Pool

Space = Box | Pool


def space_from_dict(description: Mapping[str, Any], points: Any = None) -> Space:
    """The space that its ``to_dict`` described; ``points`` replaces the file of a pool.

    >>> space_from_dict(Box(0.0, [1.0, 2.0]).to_dict())
    Box(2 inputs: x0 in [0, 1], x1 in [0, 2])
    """
    kind = checks.keys(description, (), "description").get("kind")
    if kind == "pool":
        return Pool.from_dict(description, points)
    if kind != "box":
        raise ValueError(f"description must be of kind 'box' or 'pool', got {kind!r}")
    if points is not None:
        raise ValueError("points must be left out for a box: it has none")
    return Box.from_dict(description)


__all__ = ["Box", "Pool", "Space", "space_from_dict"]
