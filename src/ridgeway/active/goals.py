"""Goals: to learn where a function varies, or to find where it is least or largest; and what follows from each."""

from __future__ import annotations

from typing import Any, Literal

from ridgeway import checks

Goal = Literal["learn", "minimize", "maximize"]

GOALS: tuple[Goal, ...] = ("learn", "minimize", "maximize")

_SIGNS = {"minimize": 1.0, "maximize": -1.0}


def checked(goal: Any) -> Goal:
    """``goal`` if it is one."""
    return checks.choice(goal, GOALS, "goal")


def sign(goal: Goal) -> float:
    """The factor that makes the best value the least one: 1 for a minimum, -1 for a maximum."""
    if goal == "learn":
        raise ValueError('goal must be "minimize" or "maximize" for a best point, got "learn"')
    return _SIGNS[goal]


def acquisition(goal: Goal, given: Any) -> Any:
    """The acquisition that was ``given``, or the one that serves the goal."""
    if given is None:
        return "information" if goal == "learn" else "improvement"
    return given


def fill_every(goal: Goal, given: Any) -> int | None:
    """The interval that was ``given``; by default 2 for a learner, and no filling for an optimiser."""
    if isinstance(given, str) and given == "auto":
        return 2 if goal == "learn" else None
    return None if given is None else checks.count(given, "fill_every", 2)


def effort(goal: Goal, given: Any) -> str | float:
    """The effort that was ``given``; by default ``"normal"`` for a learner and ``"quick"`` for an optimiser.

    An optimiser asks a belief for one good point, weighs it against others, and has the next outcome as its test.
    """
    if given is None:
        return "normal" if goal == "learn" else "quick"
    found: str | float = given
    return found
