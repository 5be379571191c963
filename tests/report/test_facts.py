"""A report computes what its figures share once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import report
from ridgeway.belief import directions, embedding_draws
from ridgeway.gp.process import ConditionedGP


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3])
def test_directions_draws_and_left_out_predictions_are_computed_once(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(d)
    X = rng.uniform(-1, 1, (40, 5))
    y = sum(np.sin(2 * X[:, j] + j) for j in range(d)) + 0.02 * rng.standard_normal(40)
    belief = rw.fit(X, y, rw.Linear(d), n_starts=4, inference="map")
    assert directions.directions(belief).k == d
    calls: Counter[str] = Counter()

    def counted(where: Any, name: str) -> None:
        original: Callable[..., Any] = getattr(where, name)

        def call(*given: Any, **named: Any) -> Any:
            calls[name] += 1
            return original(*given, **named)

        monkeypatch.setattr(where, name, call)

    counted(directions, "canonical")  # what directions() computes, whoever imported it under which name
    counted(embedding_draws, "embeddings")
    counted(embedding_draws, "shares")
    counted(ConditionedGP, "leave_one_out")
    content = report.content(belief)
    drawn = {picture.key for picture in content.pictures}
    assert {"response", "importance", "information", "left_out", "coverage", f"weights{d - 1}"} <= drawn
    assert calls == {"canonical": 1, "embeddings": 1, "shares": 1, "leave_one_out": 1}


@pytest.mark.slow
def test_a_belief_of_the_history_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (24, 3))
    y = np.sin(2 * X[:, 0] - X[:, 2])
    history = [rw.fit(X[:n], y[:n], rw.Linear(1), n_starts=3, inference="map") for n in (12, 24)]
    original, calls = directions.canonical, []
    monkeypatch.setattr(directions, "canonical", lambda *given: calls.append(1) or original(*given))
    content = report.content(history[-1], history=history)
    assert "subspace" in {picture.key for picture in content.pictures}
    assert len(calls) == 1 + len(history)
