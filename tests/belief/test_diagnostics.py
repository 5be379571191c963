"""What a fit reports about its search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.belief import fit_task
from ridgeway.inference import nested
from tests.belief.problems import fit, one_direction, rugged
from tests.helpers import inputs

GOOD = rw.Diagnostics(
    converged=True, n_starts=8, starts_at_best=3, optima=(-10.0, -12.5), disagreement=0.1, smallest_curvature=1.0,
    decrement=1e-9, outer_slack=0.0, jitter=0.0, reduced_dimension=3, used_qr=False,
)  # fmt: skip


def test_status_is_a_sentence():
    assert GOOD.status == "a mode; 1 other was found, 2.5 nats below"
    three = replace(GOOD, optima=(-10.0, -12.5, -13.0)).status
    assert three == "a mode; 2 others were found, the next 2.5 nats below"
    assert replace(GOOD, optima=(-10.0,)).status == "a mode, the only one found"
    assert replace(GOOD, n_starts=0, starts_at_best=0).status == (
        "a mode, followed from an earlier fit; no search was made"
    )
    bad = replace(GOOD, converged=False, decrement=0.5, smallest_curvature=-0.25)
    assert bad.status == (
        "not at a mode: a Newton step predicts 0.5 nats and the smallest curvature is -0.25 of the prior's"
    )


def test_how_the_search_went_is_a_sentence():
    assert GOOD.search == ""
    searched = replace(GOOD, n_starts=240, n_modes=7, found_at=31, chance_missed=0.028)
    expected = "240 climbs found 7 modes, the best at climb 31; the chance that a better one was missed is about 3 %"
    assert searched.search == expected
    assert replace(searched, chance_missed=0.001, n_modes=1).search.endswith("missed is below 1 %")
    assert replace(searched, found_at=0).search.startswith("240 climbs found 7 modes, the best known before; ")


@pytest.mark.parametrize("inference", ["nested", "map"])
def test_searches_that_ended_at_the_best_are_counted(inference):
    """One clear mode: half of the searches climb to the end, and all of those end there."""
    X = inputs(40, 3)
    diagnostics = fit(X, one_direction(X), inference=inference, n_starts=8).diagnostics
    assert diagnostics.converged
    assert len(diagnostics.optima) == 1
    assert diagnostics.n_starts == 8
    assert diagnostics.starts_at_best >= 4
    assert diagnostics.starts_at_best <= 8
    assert diagnostics.disagreement == 0.0
    assert diagnostics.decrement < 1e-2
    assert diagnostics.smallest_curvature > 0
    assert diagnostics.outer_slack < 0.1
    assert diagnostics.jitter == 0.0
    assert diagnostics.warnings == ()
    assert diagnostics.reduced_dimension == 3
    assert not diagnostics.used_qr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:a fit to a part of the data misled")  # twenty points for two directions
@pytest.mark.parametrize("inference", ["nested", "map"])
def test_optima_are_sorted(inference):
    """Best first, whatever made it the best: nothing is "-0.5 nats below"."""
    seen = 0
    for seed in range(10):
        diagnostics = fit(*rugged(seed), rw.Linear(2), inference=inference, n_starts=6).diagnostics
        optima = np.array(diagnostics.optima)
        seen = max(seen, len(optima))
        assert np.all(np.diff(optima) <= 0), seed
        assert "the next -" not in diagnostics.status
        assert 1 <= diagnostics.starts_at_best <= diagnostics.n_starts
    assert seen > 1


def test_optima_that_disagree_say_by_how_much():
    X, y = rugged(9)
    diagnostics = fit(X, y, rw.Linear(2), n_starts=6).diagnostics
    assert len(diagnostics.optima) > 1
    assert 0.0 < diagnostics.disagreement < 2.0


@pytest.mark.parametrize("gap", [{"decrement": 0.5}, {"smallest_curvature": -1.0}])
def test_a_fit_that_is_not_at_a_mode_says_so(monkeypatch, gap):
    monkeypatch.setitem(fit_task._INFER, "nested", lambda *a: replace(nested.infer(*a), converged=False, **gap))
    X = inputs(15, 2)
    with pytest.warns(rw.RidgewayWarning, match="the fit is not at a mode") as record:
        belief = fit(X, one_direction(X))
    assert len(record) == 1
    assert not belief.diagnostics.converged
    assert "not at a mode" in belief.summary()
    assert "not at a mode" in repr(belief)


def test_a_count_that_the_starts_do_not_bound_is_no_share_of_them():
    """Climbs from near the best modes come to the best one as well, and are no starts."""
    X = inputs(15, 2)
    belief = fit(X, one_direction(X))
    belief = replace(belief, diagnostics=replace(belief.diagnostics, n_starts=60, starts_at_best=147))
    for text in (belief.diagnostics.status, belief.summary(), repr(belief), belief._repr_html_()):
        assert "147" not in text
        assert "a mode" in text


@pytest.mark.parametrize(("climbs", "is_stated"), [(12, False), (60, True)])
def test_a_few_climbs_beside_a_known_mode_say_nothing_of_what_was_missed(climbs, is_stated):
    X = inputs(40, 3)
    y = one_direction(X)
    known = fit(X[:-1], y[:-1], n_starts=8)
    diagnostics = fit(X, y, initial=known, n_starts=climbs).diagnostics
    assert diagnostics.found_at == 0
    assert (diagnostics.chance_missed is not None) == is_stated
