"""Suspects and surprises in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ridgeway.belief.suspects import Suspect, surprises, warnings_naming
from tests.belief.problems import fit, one_direction
from tests.helpers import inputs

SUSPECT = Suspect(row=2, value=4000.0, predicted=51.2, residual=45.0, noise_std=3900.0, nats=80.0)


def test_a_sentence_says_what_came_what_was_expected_and_what_to_do() -> None:
    said = SUSPECT.sentence("trial 7")
    for words in ("trial 7 is 4000", "45 standard deviations", "51.2", "correct it", "repeat the experiment"):
        assert words in said
    assert SUSPECT.sentence().startswith("y[2] is")


def test_warnings_name_observations_as_their_reader_does() -> None:
    X = inputs(12, 3)
    plain = fit(X, one_direction(X), n_starts=2)
    notes = (SUSPECT.sentence(), "something else")
    belief = replace(plain, suspects=(SUSPECT,), diagnostics=replace(plain.diagnostics, warnings=notes))
    named = warnings_naming(belief, [f"trial {i + 10}" for i in range(12)])
    assert named == (SUSPECT.sentence("trial 12"), "something else")


def test_only_outcomes_far_from_their_prediction_are_surprising() -> None:
    X, new = inputs(30, 3), inputs(4, 3, seed=1)
    belief = fit(X, one_direction(X))
    told = one_direction(new, seed=1)
    assert surprises(belief, new, told) == ()
    told[2] += 50.0
    (found,) = surprises(belief, new, told)
    assert (found.index, found.value) == (2, told[2])
    assert found.residual > 20.0
    assert "was predicted" in found.sentence("Trial 3")
    assert surprises(belief, new, told, np.full(4, 50.0**2)) == ()
    few = fit(X[:5], one_direction(X)[:5], n_starts=2)
    assert surprises(few, new, told) == ()
