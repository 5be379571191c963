"""``rw.fit``: dimensions, known noise, both inferences, many observations."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import ridgeway as rw
from ridgeway.belief import fit_task
from ridgeway.inference import nested
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.settings import DEFAULT, EFFORTS
from ridgeway.testfunctions import from_model
from tests.belief.problems import assert_same_predictions, fit, one_direction, rugged
from tests.helpers import Terminal, inputs, shown


def two_directions(X, noise=0.05, seed=0):
    f = np.sin(2.0 * X[:, 0] + X[:, 1]) + 2.0 * np.cos(2.0 * X[:, 2] - X[:, 1])
    return f + noise * np.random.default_rng(seed).normal(size=len(X))


# -- the number of dimensions ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("function", "d", "tried"), [(one_direction, 1, 3), (two_directions, 2, 4)])
def test_auto_finds_the_number_of_dimensions(function, d, tried):
    """The smallest that does it; two more that do no better are enough to stop."""
    X = inputs(50, 5)
    belief = fit(X, function(X), rw.Linear("auto"), n_starts=4)
    evidence = belief.diagnostics.dimension_evidence
    assert belief.model == rw.Linear(d)
    assert belief.rank == d
    assert list(evidence) == list(range(1, tried + 1))
    assert max(evidence, key=evidence.get) == d
    assert evidence[d] == pytest.approx(belief.log_evidence)
    summary = belief.summary()
    assert f"dimensions: d={d} has the most evidence" in summary
    for other in evidence:
        if other != d:
            assert f"d={other}: {evidence[other] - evidence[d]:+.1f}" in " ".join(summary.split())
            assert evidence[other] < evidence[d] - 0.1  # a choice that rounding could turn is none


@pytest.mark.slow
def test_auto_sees_that_one_direction_is_not_enough():
    X = inputs(50, 3)
    evidence = fit(X, two_directions(X), rw.Linear("auto"), n_starts=4).diagnostics.dimension_evidence
    assert evidence[2] > evidence[1] + 10.0


def test_a_number_of_dimensions_has_no_evidence_for_others():
    X = inputs(20, 3)
    belief = fit(X, one_direction(X))
    assert belief.diagnostics.dimension_evidence == {}
    assert "dimensions" not in belief.summary()


# -- known noise -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [1.0, 10.0, 1000.0])
def test_observations_with_huge_known_noise_are_ignored(size):
    X, X_new = inputs(40, 3), inputs(50, 3, seed=1)
    y = one_direction(X)
    y[30:] += size * np.random.default_rng(2).normal(size=10)
    noise = np.where(np.arange(40) < 30, 0.0, 1e3 * size**2)
    with_them, without = fit(X, y, noise_variance=noise), fit(X[:30], y[:30])
    p, q = with_them.predict(X_new), without.predict(X_new)
    np.testing.assert_allclose(p.mean, q.mean, atol=0.07)
    np.testing.assert_allclose(p.std, q.std, atol=0.07)
    assert np.sqrt(with_them.noise_variance) == pytest.approx(np.sqrt(without.noise_variance), abs=0.03)
    unchecked = replace(DEFAULT, left_out=replace(DEFAULT.left_out, least_observations=1000))
    naive = fit(X, y, settings=unchecked, robust=False).predict(X_new)  # taken at face value they do harm
    assert np.abs(naive.mean - q.mean).max() > 0.1


@pytest.mark.parametrize("inference", ["nested", "map"])
def test_one_known_noise_is_the_same_for_all(inference):
    X, X_new = inputs(25, 3), inputs(10, 3, seed=1)
    y = one_direction(X)
    number = fit(X, y, noise_variance=0.02, inference=inference)
    array = fit(X, y, noise_variance=np.full(25, 0.02), inference=inference)
    np.testing.assert_array_equal(number.predict(X_new).variance, array.predict(X_new).variance)
    assert number.log_evidence == array.log_evidence


def test_known_noise_need_not_be_learned():
    """The learned part is what is left over: next to nothing where all of it is known."""
    X = inputs(60, 2)
    y = one_direction(X, noise=0.3)
    unknown, known = fit(X, y), fit(X, y, noise_variance=0.09)
    assert unknown.noise_variance == pytest.approx(0.09, rel=0.5)
    assert known.noise_variance < 0.3 * unknown.noise_variance


# -- nested against the joint mode -----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the fit is not at a mode")  # of a joint mode that has collapsed, or of four starts
@pytest.mark.parametrize("seed", [0, 4])
def test_the_joint_mode_collapses_and_nested_does_not(seed):
    """The paper's synthetic problem: 20 inputs, 3 directions, 100 points, noise 0.1 (DESIGN, "the mode is not enough").

    Maximising over ``R``, scales and noise together finds an embedding that threads every
    point: no noise is left, and predictions are wrong with confidence. With ``R`` integrated
    out the noise stays, and the predictive density beats the sample's mean and variance.
    """
    f = from_model(20, 3, random_state=seed)
    rng = np.random.default_rng(seed)
    X, X_new = f.sample(100, rng), f.sample(500, rng)
    y, y_new = f(X) + 0.1 * rng.standard_normal(100), f(X_new) + 0.1 * rng.standard_normal(500)
    joint, nested = (fit(X, y, rw.Linear(3), inference=kind, n_starts=4) for kind in ("map", "nested"))

    def loss(belief, marginal):
        return -belief.log_predictive_density(X_new, y_new, marginal).mean()

    trivial = 0.5 * np.mean(np.log(2 * np.pi * y.var()) + (y_new - y.mean()) ** 2 / y.var())
    assert np.sqrt(joint.noise_variance) < 0.02
    assert loss(joint, "map") > trivial + 100.0
    assert loss(joint, "mgp") > trivial + 5.0
    assert 0.05 < np.sqrt(nested.noise_variance) < 0.6
    assert loss(nested, "mgp") < trivial - 0.25
    rmse = [np.sqrt(np.mean((belief.predict(X_new).mean - f(X_new)) ** 2)) for belief in (joint, nested)]
    assert rmse[1] < 0.7 * rmse[0]
    assert rmse[1] < 0.8 * f(X_new).std()


# -- diagnostics -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")  # twenty points for two directions
@pytest.mark.parametrize("embedding", [rw.Linear(2), rw.Linear("auto")])
def test_the_same_fit_twice_is_identical(embedding):
    X, y = rugged(3)
    first = fit(X, y, embedding, n_starts=3)
    np.random.default_rng().normal(size=10)
    second = fit(X, y, embedding, n_starts=3)
    assert first.diagnostics == second.diagnostics
    assert first.log_evidence == second.log_evidence
    for a, b in zip(first.components, second.components, strict=True):
        np.testing.assert_array_equal(a.gp.theta, b.gp.theta)
        np.testing.assert_array_equal(a.factor, b.factor)
    warm = [fit(X, y, embedding, initial=belief, n_starts=1) for belief in (first, second)]
    np.testing.assert_array_equal(warm[0].components[0].gp.theta, warm[1].components[0].gp.theta)


@pytest.mark.parametrize("inference", ["nested", "map"])
def test_progress_is_reported_in_sentences(inference):
    said = []
    X = inputs(15, 2)
    quiet = fit(X, one_direction(X), inference=inference, n_starts=3)
    belief = fit(X, one_direction(X), inference=inference, n_starts=3, progress=said.append)
    assert said[0] == "climb 1 of at most 3"
    assert all(isinstance(sentence, str) and sentence for sentence in said)
    if inference == "nested":
        assert said[1].startswith("evidence of mode 1 of ")
    assert belief.log_evidence == quiet.log_evidence  # reporting progress changes nothing


def test_an_error_in_progress_reaches_the_user():
    """Also how a program stops a fit."""

    def stop(_):
        raise KeyboardInterrupt

    X = inputs(15, 2)
    with pytest.raises(KeyboardInterrupt):
        fit(X, one_direction(X), progress=stop)


# -- many observations, large inputs ---------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("inference", ["nested", "map"])
def test_modes_from_a_part_of_the_data_are_followed_on_all(monkeypatch, inference):
    X, X_new = inputs(90, 3), inputs(30, 3, seed=1)
    y = one_direction(X, noise=0.1)
    whole = fit(X, y, rw.Linear(2), inference=inference, n_starts=12)
    searched = []

    infer = fit_task._INFER[inference]

    def spy(posterior, n_starts, *rest):
        searched.append((posterior.data.n, n_starts))
        return infer(posterior, n_starts, *rest)

    monkeypatch.setitem(fit_task._INFER, inference, spy)
    belief = fit(X, y, rw.Linear(2), inference=inference, n_starts=12, settings=replace(DEFAULT, subset=60))
    assert searched == [(60, 12), (90, 0)]
    assert belief.components[0].gp.data.n == len(belief.y) == 90
    assert belief.log_evidence == pytest.approx(whole.log_evidence, abs=0.3)
    assert_same_predictions(belief, whole, X_new, 0.06)  # which lesser modes have weight depends on the search


def test_searches_on_a_part_of_the_data_are_counted():
    """Four searches were made, whichever data they looked at."""
    X = inputs(60, 3)
    assert fit(X, one_direction(X), n_starts=4, settings=replace(DEFAULT, subset=40)).diagnostics.n_starts >= 4


def test_small_problems_and_warm_starts_are_not_cut(monkeypatch):
    sizes = []

    def spy(posterior, *rest):
        sizes.append(posterior.data.n)
        return nested.infer(posterior, *rest)

    monkeypatch.setitem(fit_task._INFER, "nested", spy)
    settings = replace(DEFAULT, subset=30)
    X = inputs(31, 2)
    y = one_direction(X)
    before = fit(X[:30], y[:30], settings=settings)
    fit(X, y, initial=before, n_starts=None, settings=settings)
    assert sizes == [30, 31]


def test_a_single_input_has_one_direction_by_default():
    X = np.linspace(0.0, 1.0, 8)[:, None]
    assert rw.fit(X, np.sin(3 * X[:, 0]), effort="quick").model == rw.Linear(1)
    assert rw.ActiveLearner(rw.Box([0], [1])).embedding == rw.Linear(1)
    assert rw.ActiveLearner(rw.Box([0, 0], [1, 1])).embedding == rw.Linear(2)
    assert rw.minimize(lambda x: float(x[0] ** 2), rw.Box([-1], [1]), 4).record.n == 4


def test_inputs_are_left_as_they_were():
    X = inputs(15, 30)
    y = one_direction(X)
    X_before, y_before = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    fit(X, y, n_starts=2).predict(X)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


# -- effort ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_more_effort_makes_more_climbs():
    X, y = rugged(3)
    climbs = {}
    for effort in ("quick", "normal"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rw.RidgewayWarning)
            climbs[effort] = fit(X, y, rw.Linear(2), n_starts=None, effort=effort).diagnostics.n_starts
    assert climbs["quick"] < climbs["normal"]


@pytest.mark.slow
def test_seconds_limit_the_search():
    X, y = rugged(3)
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        belief = fit(X, y, rw.Linear(2), n_starts=None, effort=0.2)
    assert belief.diagnostics.n_starts < fit_task.full_search(len(y), EFFORTS["thorough"])
    assert time.monotonic() - started < 60.0


@pytest.mark.parametrize("effort", ["hard", 0, -1.0, True, None, float("nan")])
def test_effort_is_a_word_or_seconds(effort):
    X = inputs(10, 2)
    with pytest.raises(ValueError, match="effort must be one of 'quick', 'normal', 'thorough'"):
        fit(X, one_direction(X), effort=effort)


@pytest.mark.slow
def test_several_processes_give_the_same_belief():
    X, y = rugged(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        one, two = (fit(X, y, rw.Linear(2), n_starts=20, n_jobs=n) for n in (1, 2))
    assert one.diagnostics == two.diagnostics
    np.testing.assert_allclose(one.predict(X).mean, two.predict(X).mean, rtol=1e-9)


def test_an_interrupted_search_says_so(monkeypatch):
    calls = []

    def interrupted(self, tasks):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return [task() for task in tasks]

    monkeypatch.setattr(SearchRun, "map", interrupted)
    X = inputs(25, 3)
    with pytest.warns(rw.RidgewayWarning, match="interrupted after 8 climbs"):
        belief = fit(X, one_direction(X), n_starts=40)
    assert belief.diagnostics.n_starts == 8


def test_progress_as_a_line_of_the_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    X = inputs(15, 3)
    quiet, shows = fit(X, one_direction(X)), fit(X, one_direction(X), progress=True)
    assert quiet.log_evidence == shows.log_evidence
    lines = shown(terminal.getvalue())
    assert len(lines) > 1
    assert lines[-1] == ""  # and it is taken away
    fit(X, one_direction(X), progress=False)
    assert shown(terminal.getvalue()) == lines


@pytest.mark.parametrize("progress", ["yes", 1, object()])
def test_progress_is_a_function_or_a_yes(progress):
    X = inputs(10, 2)
    with pytest.raises(TypeError, match="progress must be True, False, None or a function of a sentence, got"):
        fit(X, one_direction(X), progress=progress)
    with pytest.raises(TypeError, match="progress must be True"):
        rw.ActiveLearner(rw.Box([0.0, 0.0], 1.0), rw.Linear(1), progress=progress)


@pytest.mark.parametrize(
    ("n", "D", "climbs"),
    [
        (100, 20, 800),
        (130, 40, 1893),  # four times as many
        (60, 40, 1800),  # too few observations to decide: what so few may have
        (250, 40, 128),  # enough observations
    ],
)
def test_more_inputs_need_more_climbs(n: int, D: int, climbs: int) -> None:
    assert fit_task.full_search(n, D=D) == climbs
    assert fit_task.full_search(n, EFFORTS["quick"], D) == fit_task.full_search(n, EFFORTS["quick"])


@pytest.mark.slow
@pytest.mark.parametrize("approximation", ["exact", "features"])
def test_a_search_uses_one_thread_of_blas(approximation: str) -> None:
    """With more, the small matrices that it is made of take longer, however many rows there are."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (510, 2))
    threads: dict[str, set[int]] = {}

    def watch(sentence: str) -> None:
        threads[sentence] = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(510)
        rw.fit(X, y, rw.Linear(1), n_starts=2, approximation=approximation, progress=watch)
        after = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    searching = [used for sentence, used in threads.items() if "climb" in sentence or "mode" in sentence]
    assert searching
    assert all(used == {1} for used in searching)
    assert after == {2}
