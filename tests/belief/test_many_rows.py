import tracemalloc
from functools import cache

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.belief.many_rows import Difference
from tests.belief.many import QUICK, rows

NEW = np.random.default_rng(9).uniform(0, 1, (200, 4))


@cache
def fitted(approximation, n=600):
    X, y = rows(n)
    return rw.fit(X, y, rw.Linear(1), approximation=approximation, settings=QUICK, robust=False)


def test_a_finite_basis_predicts_what_the_exact_process_does():
    exact, there = fitted("exact").predict(NEW), fitted("features").predict(NEW)
    assert np.mean(np.abs(there.mean - exact.mean)) < 0.01 * np.std(exact.mean)
    assert np.mean(np.abs(there.std / exact.std - 1.0)) < 0.1


def test_both_learn_the_same():
    exact, there = fitted("exact"), fitted("features")
    np.testing.assert_allclose(there.importances(), exact.importances(), atol=0.01)
    np.testing.assert_allclose(there.embedding, exact.embedding, atol=0.05)
    assert np.mean(np.abs(there.embedding_std / exact.embedding_std - 1.0)) < 0.1
    assert there.noise_variance == pytest.approx(exact.noise_variance, rel=0.05)
    assert there.log_evidence == pytest.approx(exact.log_evidence, abs=1.0)
    np.testing.assert_allclose(there.bald(NEW), exact.bald(NEW), atol=0.1 * exact.bald(NEW).max())


def test_the_belief_says_how_far_it_is_from_exact():
    found = fitted("features").diagnostics
    assert found.n_rows == 600
    assert found.waves > 5
    assert 0 < found.mean_error < 0.01
    assert 0 < found.std_error < 0.05
    assert fitted("exact").diagnostics.waves == 0


@pytest.mark.slow
def test_sensitivity_is_that_of_the_exact_process():
    exact, there = (fitted(how).sensitivity(rivals=False, n_draws=12) for how in ("exact", "features"))
    np.testing.assert_allclose(there.total.mean, exact.total.mean, atol=0.02)


@pytest.mark.slow
def test_an_integral_is_that_of_the_exact_process():
    exact, there = (fitted(how).integrate(n_draws=40) for how in ("exact", "features"))
    assert abs(there.mean - exact.mean) < 2.0 * exact.std
    assert 0.6 < there.std / exact.std < 1.6


def test_observations_left_out_are_predicted():
    belief = fitted("features")
    left = belief.leave_one_out()
    exact = fitted("exact").leave_one_out()
    assert 0.8 < np.std((belief.y - left.mean) / left.std) < 1.2
    assert left.std.mean() == pytest.approx(exact.std.mean(), rel=0.05)


def test_a_stored_belief_says_the_same(tmp_path):
    belief = fitted("features")
    loaded = rw.Belief.load(belief.save(tmp_path / "many.npz"))
    for mine, theirs in zip(loaded.predict(NEW), belief.predict(NEW), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert loaded.n_rows == 600
    assert loaded.diagnostics == belief.diagnostics


def test_auto_says_what_it_does_before_it_begins_and_keeps_a_sample():
    X, y = rows(3100)
    said = []
    with pytest.warns(rw.RidgewayWarning, match="3,100 rows by a finite basis"):
        belief = rw.fit(X, y, rw.Linear(1), settings=QUICK, progress=said.append)
    assert "finite basis" in said[0]
    assert "MB" in said[0]
    assert belief.n_rows == 3100
    assert belief.X.shape == (2048, 4)
    assert "n=3100" in repr(belief)
    assert "3,100 observations" in belief.summary()


def test_a_direction_that_only_many_rows_show_is_found():
    # With this noise 60 rows say next to nothing: a regression on all rows points the way.
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (3000, 5))
    y = np.sin(2 * X[:, 1]) + 3.0 * rng.standard_normal(3000)
    belief = rw.fit(X, y, rw.Linear(1), approximation="features", settings=QUICK)
    assert belief.importances()[1] > 0.7


def test_a_belief_is_where_the_next_fit_begins():
    X, y = rows(900)
    belief = rw.fit(X, y, rw.Linear(1), approximation="features", settings=QUICK, initial=fitted("features"))
    assert belief.diagnostics.n_starts == 0
    assert belief.importances()[:2].sum() > 0.99


def test_rows_that_need_no_conversion_are_not_copied():
    X, y = rows(120_000, 40)
    first = rw.fit(X[:900], y[:900], rw.Linear(1), approximation="features", settings=QUICK)
    tracemalloc.start()
    try:
        belief = rw.fit(X, y, rw.Linear(1), approximation="features", settings=QUICK, initial=first)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert belief.diagnostics.n_rows == 120_000
    assert peak < 0.8 * X.nbytes


@pytest.mark.slow
def test_the_evidence_chooses_the_number_of_directions():
    X, y = rows(600)
    belief = rw.fit(X, y, rw.Linear("auto"), approximation="features", settings=QUICK)
    assert belief.model == rw.Linear(1)
    assert set(belief.diagnostics.dimension_evidence) == {1, 2}


def test_what_needs_all_rows_says_so():
    with pytest.raises(ValueError, match="approximation='exact'"):
        fitted("features").predict(NEW, "samples")
    with pytest.raises(TypeError, match="approximation='exact'"):
        _ = fitted("features").components[0].gp.alpha


def test_a_coarse_basis_is_said_to_be_coarse():
    assert not Difference(0.005, 0.05).is_large
    assert Difference(0.02, 0.05).is_large
    assert (
        "by 0.02 standard deviations of y on average, its standard deviations by 30 %"
        in Difference(0.02, 0.3).sentence()
    )
