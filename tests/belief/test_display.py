"""Beliefs and learners in notebooks and terminals."""

from __future__ import annotations

import io

import ridgeway as rw
from tests.report.subjects import NASTY, learner_of


def test_notebook_and_terminal(belief: rw.Belief) -> None:
    from rich.console import Console

    learner = learner_of(6)
    assert "none yet" in learner._repr_html_()
    learner.belief  # noqa: B018 - fits
    for shown in (belief._repr_html_(), learner._repr_html_()):
        assert "Inputs by share of the variation" in shown
        assert "<script>" not in shown
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(belief)
    console.print(learner)
    text = console.export_text()
    assert "45 observations of 5 inputs" in text
    assert NASTY in text
    assert "6 observed, 0 pending, 0 failed" in text
