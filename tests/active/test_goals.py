"""What follows from a goal."""

from __future__ import annotations

import pytest

from ridgeway.active import goals


def test_defaults_follow_from_the_goal():
    for goal, defaults in (("learn", ("information", 2, "normal")), ("maximize", ("improvement", None, "quick"))):
        found = goals.acquisition(goal, None), goals.fill_every(goal, "auto"), goals.effort(goal, None)
        assert found == defaults
        assert goals.acquisition(goal, "random") == "random"
        assert goals.fill_every(goal, 3) == 3
        assert goals.fill_every(goal, None) is None
        assert goals.effort(goal, 2.5) == 2.5


def test_signs():
    assert (goals.sign("minimize"), goals.sign("maximize")) == (1.0, -1.0)
    with pytest.raises(ValueError, match='goal must be "minimize" or "maximize" for a best point, got "learn"'):
        goals.sign("learn")


@pytest.mark.parametrize("goal", ["minimise", "max", "", None, 1, ["minimize"]])
def test_a_goal_that_is_none(goal):
    with pytest.raises((ValueError, TypeError), match="goal must be"):
        goals.checked(goal)
