"""A chooser: by a score where there is one, by a design where there is none."""

from __future__ import annotations

import numpy as np

import ridgeway as rw
from ridgeway.active.history import Record


def chooser():
    return rw.ActiveLearner(rw.Box([0, 0], [1, 1]), rw.Linear(1), n_initial=3, random_state=2).chooser


def seen(n):
    X = np.random.default_rng(0).uniform(size=(n, 2))
    record = Record.empty(rw.Box([0, 0], [1, 1]))
    return record.with_outcomes(X, np.arange(n, dtype=float)) if n else record


def test_the_outlook_is_not_asked_for_where_points_fill_the_space():
    def never():
        raise AssertionError("not needed")

    first = chooser().choose(3, seen(0), 0, never)
    assert first.X.shape == (3, 2)
    assert np.isnan(first.scores).all()
    assert not chooser().needs_belief(3, seen(0), 0)
    assert chooser().needs_belief(5, seen(0), 0)
    second = chooser().choose(1, seen(5), 5, never)  # every other one
    assert np.isnan(second.scores).all()


def test_without_an_outlook_a_design_chooses():
    asked = []
    found = chooser().choose(2, seen(4), 4, lambda: asked.append(1))
    assert asked == [1]
    assert np.isnan(found.scores).all()
