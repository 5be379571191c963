"""``ActiveLearner``: what it asks, what it remembers, and that an error changes nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ridgeway as rw
from conftest import Cauchy
from ridgeway import learner as learners
from ridgeway import search
from ridgeway.acquisition import Bald, information, outlook_of, score
from ridgeway.outlook import Outlook

LOWER, UPPER = np.array([0.0, -5.0, 100.0]), np.array([1.0, 5.0, 300.0])
FAST = {"inference": "map", "n_initial": 4, "acquisition": "information"}  # fits of a few milliseconds


def box(D=3):
    return rw.Box(LOWER, UPPER) if D == 3 else rw.Box(np.zeros(D), np.arange(1.0, D + 1))


def candidates(n=40, seed=0):
    return np.random.default_rng(seed).uniform(LOWER, UPPER, (n, 3))


def f(x):
    """A ridge in units of its own."""
    z = 2.0 * (np.asarray(x) - LOWER) / (UPPER - LOWER) - 1.0
    return 20.0 + 3.0 * np.sin(2.0 * z[..., 0] - z[..., 1])


def make(space=None, embedding=None, **arguments):
    model = rw.Linear(1) if embedding is None else embedding
    return rw.ActiveLearner(box() if space is None else space, model, **{**FAST, **arguments})


def spaces():
    return {"box": box(), "pool": rw.Pool(candidates())}


@pytest.fixture(autouse=True)
def _little_effort(monkeypatch):
    """Fewer searches for modes and fewer points tried: what is asked may be worse, and comes sooner."""
    monkeypatch.setattr(learners, "full_search", lambda embedding: 1)
    for name, few in (("_FILLING", 128), ("_DIRECTIONS", 16), ("_CLIMBS", 2), ("_EVALUATIONS", 15)):
        monkeypatch.setattr(search, name, few)


either_space = pytest.mark.parametrize("space", ["box", "pool"])


def run(learner, steps, function=f):
    """So many experiments, and the points asked for."""
    asked = []
    for _ in range(steps):
        x = learner.ask()
        learner.tell(x, function(x))
        asked.append(x)
    return np.array(asked)


def inside(learner, X):
    X = np.atleast_2d(X)
    if isinstance(learner.space, rw.Pool):
        return bool((learner.space.index_of(X) >= 0).all())
    return bool(learner.space.contains(X, tolerance=0.0).all())


def nearest(X):
    """The smallest distance between any two rows, in units of the box."""
    Z = (X - LOWER) / (UPPER - LOWER)
    gaps = np.abs(Z[:, None] - Z).max(axis=-1) + 2.0 * np.eye(len(Z))
    return gaps.min()


# -- asking ------------------------------------------------------------------------------------


@either_space
@pytest.mark.parametrize("acquisition", ["information", "bald", "uncertainty", "random"])
def test_ask_tell_belief(space, acquisition):
    learner = make(spaces()[space], acquisition=acquisition)
    X = run(learner, 9)
    assert inside(learner, X)
    np.testing.assert_array_equal(learner.X, X)
    np.testing.assert_array_equal(learner.y, f(X))
    belief = learner.belief
    np.testing.assert_array_equal(belief.X, X)
    np.testing.assert_array_equal(
        belief.space.scaling.center, 0.5 * (learner.space.bounds[0] + learner.space.bounds[1])
    )
    assert learner.belief is belief
    assert learner.n_asked == learner.n_done == 9
    assert learner.pending.shape == (0, 3)
    assert learner.failed == ()
    assert "9 told, 0 out, 0 failed" in repr(learner)


def test_it_learns():
    """The point of it all: after some experiments the direction is known."""
    learner = make(n_initial=6)
    run(learner, 25)
    direction = learner.belief.embedding[0] / np.linalg.norm(learner.belief.embedding[0])
    assert abs(direction @ [2.0, -1.0, 0.0]) / np.sqrt(5.0) > 0.99


@either_space
@pytest.mark.parametrize("acquisition", ["information", "random"])
def test_a_batch_before_anything_is_told(space, acquisition):
    learner = make(spaces()[space], acquisition=acquisition)
    X = learner.ask(8)
    assert X.shape == (8, 3)
    assert nearest(X) > 1e-6
    assert inside(learner, X)
    np.testing.assert_array_equal(learner.pending, X)
    assert np.isnan(learner.expected).all()
    more = learner.ask(8)
    assert nearest(np.vstack([X, more])) > 1e-6
    assert learner.n_asked == 16


def test_a_point_of_a_design_does_not_depend_on_how_many_are_asked():
    for space in spaces().values():
        for acquisition in ("information", "random"):
            one, many = make(space, acquisition=acquisition), make(space, acquisition=acquisition)
            np.testing.assert_array_equal(np.array([one.ask() for _ in range(7)]), many.ask(7))


@either_space
@pytest.mark.parametrize("told", [0, 1, 2, 3])
def test_few_observations(space, told):
    """Fewer than the rows of the embedding, too."""
    learner = make(spaces()[space], rw.Linear(2))
    if told == 0:
        with pytest.raises(ValueError, match="there is no belief before the first observation"):
            _ = learner.belief
        with pytest.raises(ValueError, match="there is no belief before the first observation"):
            learner.score(candidates(2))
    X = run(learner, told)
    if told:
        assert learner.belief.y.shape == (told,)
        assert learner.score(candidates(2)).shape == (2,)
    next_one = learner.ask()
    assert inside(learner, next_one)
    assert nearest(np.vstack([X.reshape(-1, 3), next_one])) > 1e-6


@either_space
def test_no_point_is_asked_twice(space):
    """Over 30 steps in which some fail, some stay out and some come in batches."""
    learner = make(rw.Pool(candidates(60)) if space == "pool" else box())
    asked = []
    for step in range(30):
        X = learner.ask(2) if step % 7 == 3 else learner.ask()[None]
        assert inside(learner, X)
        asked.extend(X)
        for i, x in enumerate(X):
            if step % 5 == 4:
                learner.fail(x, "broke")
            elif step % 6 == 5 and i == 0:
                continue  # stays out
            else:
                learner.tell(x, f(x))
    assert nearest(np.array(asked)) > 1e-6
    assert len(learner.failed) >= 5
    assert len(learner.pending) >= 4
    assert len(learner.X) + len(learner.failed) + len(learner.pending) == len(asked)


def test_expected_is_the_score_of_the_choice():
    for space in spaces().values():
        learner = make(space, fill_every=None)
        run(learner, 6)
        before = outlook_of(learner.belief)
        scores = learner.score(candidates())
        x = learner.ask()
        assert learner.expected.shape == (1,)
        assert learner.expected[0] == pytest.approx(score(information, before, x[None])[0], rel=1e-8)
        assert learner.expected[0] >= scores.max() - 1e-9
        batch = learner.ask(3)
        # Each given those before it, so all together are what the batch adds.
        joint = before.given(np.vstack([x, batch])).information - before.given(x[None]).information
        assert learner.expected.sum() == pytest.approx(joint, rel=1e-6)


def test_the_score_takes_what_is_out_into_account():
    learner = make(fill_every=None)
    run(learner, 6)
    X = candidates(5)
    np.testing.assert_allclose(learner.score(X), information(learner.belief, X), rtol=1e-9)
    out = learner.ask(2)
    broken = candidates(1, seed=5)[0]
    learner.fail(broken)
    expected = score(information, Outlook(learner.belief).given(np.vstack([out, broken])), X)
    np.testing.assert_allclose(learner.score(X), expected, rtol=1e-9)
    with pytest.raises(ValueError, match="acquisition 'random' has no score"):
        make(acquisition="random").score(X)
    with pytest.raises(ValueError, match="X must have 3 columns"):
        learner.score(X[:, :2])


def test_pending_points_change_the_next_one():
    one, other = make(fill_every=None), make(fill_every=None)
    run(one, 6)
    run(other, 6)
    np.testing.assert_array_equal(one.ask(), first := other.ask())
    one.withdraw(first)
    one.n_asked = other.n_asked = 6
    assert nearest(np.vstack([other.ask(), first])) > 1e-3
    np.testing.assert_array_equal(one.ask(), first)


def test_some_points_go_on_filling_the_space():
    learner = make(fill_every=3)
    kinds = []
    for _ in range(10):
        x = learner.ask()
        kinds.append(bool(np.isnan(learner.expected[0])))
        learner.tell(x, f(x))
    assert kinds == [True] * 4 + [False, True, False, False, True, False]
    never = make(fill_every=None)
    run(never, 4)
    for _ in range(6):
        x = never.ask()
        assert np.isfinite(never.expected[0])
        never.tell(x, f(x))


def test_a_batch_that_fills_in_between():
    for space in spaces().values():
        learner = make(space, fill_every=3)
        run(learner, 4)
        X = learner.ask(6)  # numbers 4 to 9, of which 5 and 8 fill
        assert X.shape == (6, 3)
        assert np.isnan(learner.expected).sum() == 2
        assert nearest(X) > 1e-6
        assert inside(learner, X)


def test_uncertainty_asks_where_the_prediction_is_widest():
    pool = rw.Pool(candidates(100))
    learner = make(pool, acquisition="uncertainty", fill_every=None)
    X = run(learner, 8)
    std = learner.belief.predict(pool.points).std
    std[pool.index_of(X)] = 0.0
    np.testing.assert_array_equal(learner.ask(), pool.points[np.argmax(std)])


def test_flat_scores_leave_the_choice_to_the_design():
    """A constant teaches nothing about where to look: the space is filled further."""
    learner = make(rw.Pool(candidates(200)), n_initial=2)
    X = run(learner, 6, lambda x: 1.0)
    assert nearest(X) > 0.05


@pytest.mark.parametrize(
    "embedding", [rw.Diagonal(), rw.Isotropic(), rw.Linear(1), rw.Linear(2), rw.Linear("auto")], ids=str
)
@either_space
def test_every_embedding(embedding, space):
    learner = make(spaces()[space], embedding, fill_every=None)
    X = run(learner, 7)
    assert nearest(X) > 1e-6
    assert np.isfinite(learner.expected).all()
    kind = type(embedding)
    assert isinstance(learner.belief.model, kind)


def test_auto_keeps_the_dimension_between_searches():
    learner = make(embedding=rw.Linear("auto"), fill_every=None)
    run(learner, 10)
    first = learner.belief
    searched = learner._searched_at
    run(learner, 1)
    assert learner.belief.y.shape == (11,)
    if learner._searched_at == searched:
        assert learner.belief.model == first.model
    assert isinstance(learner.belief.model.d, int)


def test_a_belief_that_explains_nothing_is_not_asked():
    """Where most of the variation passes for noise the space is filled instead."""
    lost = make(priors=rw.Priors(log_noise=(0.0, 0.01)), fill_every=None)
    found = make(fill_every=None)
    for learner in (lost, found):
        run(learner, 5)
    np.testing.assert_array_equal(lost.X[:4], found.X[:4])
    assert lost.belief.noise_variance > 0.5 * np.var(lost.y)
    assert np.isnan(lost.expected).all()
    assert np.isfinite(found.expected).all()
    np.testing.assert_array_equal(lost.X, make().ask(5))


def test_defaults():
    learner = rw.ActiveLearner(box())
    assert learner.acquisition == "information"
    assert learner.embedding == rw.Linear(2)


def test_a_batch_of_bald_is_chosen_by_noisy_observations():
    by_bald, by_information = make(acquisition="bald", fill_every=None), make(fill_every=None)
    X = candidates(8)
    for learner in (by_bald, by_information):
        learner.tell(X, f(X))
        learner.n_asked = 8
    np.testing.assert_array_equal(by_bald.ask(3), by_information.ask(3))


def test_n_initial_by_default():
    assert rw.ActiveLearner(box(), rw.Linear(1)).n_initial == 6
    assert rw.ActiveLearner(box(), rw.Linear(3)).n_initial == 10
    assert rw.ActiveLearner(box(), rw.Linear("auto")).n_initial == 8
    assert rw.ActiveLearner(box(), rw.Diagonal()).n_initial == 8


def test_one_input():
    learner = make(rw.Box(2.0, 3.0))
    X = run(learner, 8, lambda x: float(np.sin(5.0 * x[0])))
    assert X.shape == (8, 1)
    assert len(np.unique(X)) == 8


# -- designs -------------------------------------------------------------------------------------


def test_batches_of_a_latin_hypercube():
    n = 5
    learner = make(acquisition="latin-hypercube", n_initial=n)
    X = np.array([learner.ask() for _ in range(3 * n)])
    for first in range(0, 3 * n, n):
        cells = np.floor(n * (X[first : first + n] - LOWER) / (UPPER - LOWER)).astype(int)
        for column in cells.T:
            assert sorted(column) == list(range(n))
    assert nearest(X) > 1e-6
    with pytest.raises(ValueError, match='"latin-hypercube" needs a Box'):
        make(rw.Pool(candidates()), acquisition="latin-hypercube")


@pytest.mark.parametrize("acquisition", ["random", "latin-hypercube"])
def test_designs_for_comparison_never_use_the_model(acquisition):
    learner, deaf = make(acquisition=acquisition), make(acquisition=acquisition)
    X = run(learner, 12)
    np.testing.assert_array_equal(X, deaf.ask(12))
    assert learner._belief is None
    assert learner.belief.y.shape == (12,)


def test_random_points_are_uniform():
    X = make(acquisition="random", n_initial=1).ask(400)
    Z = (X - LOWER) / (UPPER - LOWER)
    np.testing.assert_allclose(Z.mean(axis=0), 0.5, atol=0.06)
    np.testing.assert_allclose(Z.std(axis=0), 1 / np.sqrt(12), atol=0.03)
    assert np.abs(np.corrcoef(Z.T) - np.eye(3)).max() < 0.15


def test_the_first_points_fill_the_box():
    Z = (make(n_initial=16).ask(16) - LOWER) / (UPPER - LOWER)
    for column in Z.T:  # a Sobol sequence has one of 16 in each sixteenth of every input
        assert sorted(np.floor(16 * column).astype(int)) == list(range(16))


# -- telling --------------------------------------------------------------------------------------


@either_space
def test_points_that_were_not_asked(space):
    learner = make(spaces()[space])
    X = candidates()[:5]
    learner.tell(X, f(X))
    learner.tell(X[0], f(X[0]) + 0.1)  # a replicate
    assert learner.n_asked == 0
    assert learner.y.shape == (6,)
    np.testing.assert_array_equal(learner.X[5], X[0])
    np.testing.assert_array_equal(learner.belief.X, learner.X)
    x = learner.ask()
    assert nearest(np.vstack([X, x])) > 1e-6


@pytest.mark.parametrize("acquisition", ["information", "random", "latin-hypercube"])
def test_results_of_an_earlier_learner(acquisition):
    """Told to a new one that has the same seed: it does not ask for the same points again."""
    earlier, learner, other = (make(acquisition=acquisition, n_initial=8) for _ in range(3))
    X = earlier.ask(4)
    learner.tell(X[:3], f(X[:3]))
    learner.fail(X[3])
    more = [learner.ask() for _ in range(4)]
    assert nearest(np.vstack([X, more])) > 1e-6
    other.tell(X[:3], f(X[:3]))
    other.fail(X[3])
    np.testing.assert_array_equal(other.ask(4), more)


def test_told_in_another_order_and_form():
    learner = make()
    X = learner.ask(4)
    learner.tell(X[2], [f(X[2])])
    learner.tell(X[[3, 0]].tolist(), f(X[[3, 0]])[:, None])
    np.testing.assert_array_equal(learner.pending, X[1:2])
    np.testing.assert_array_equal(learner.X, X[[2, 3, 0]])
    np.testing.assert_array_equal(learner.y, f(X[[2, 3, 0]]))


def test_a_rounded_point_is_the_one_that_is_out():
    learner = make()
    x = learner.ask()
    learner.tell(x * (1.0 - 1e-10), 1.0)
    assert learner.pending.shape == (0, 3)
    x = learner.ask()
    learner.tell(LOWER + 0.5 * (x - LOWER), 1.0)  # another one
    assert learner.pending.shape == (1, 3)


def test_replicates_settle_one_each():
    learner = make()
    x = learner.ask()
    learner.tell([x, x], [1.0, 1.1])
    assert learner.pending.shape == (0, 3)
    assert learner.y.tolist() == [1.0, 1.1]


def test_only_replicates_of_the_centre():
    """Nothing is known about any direction, and still there is a next point."""
    learner = make(rw.Box(-1.0, [1.0] * 4), n_initial=1)
    learner.tell(np.zeros((3, 4)), [1.0, 1.2, 0.9])
    X = np.vstack([learner.ask() for _ in range(3)])
    assert np.abs(X).max(axis=1).min() > 1e-3


def test_known_noise():
    learner = make()
    X = candidates()[:8]
    learner.tell(X[:4], f(X[:4]), noise_variance=0.3)
    learner.tell(X[4:6], f(X[4:6]), noise_variance=[0.1, 0.2])
    learner.tell(X[6:], f(X[6:]))
    np.testing.assert_allclose(learner.record.noise, [0.3] * 4 + [0.1, 0.2, 0.0, 0.0])
    floor, scale = rw.Priors().noise_floor, learner.belief.output.scale
    expected = floor**2 + learner.record.noise / scale**2
    np.testing.assert_allclose(learner.belief.posterior.data.noise, expected)
    for wrong in (-1.0, np.nan, [1.0, 2.0]):
        before = learner.to_dict()
        with pytest.raises(ValueError, match="noise_variance must"):
            learner.tell(X[0], 1.0, noise_variance=wrong)
        assert learner.to_dict() == before


def test_an_experiment_to_come_is_as_noisy_as_those_so_far():
    learner = make()
    X = candidates()
    learner.tell(X[:9], f(X[:9]), noise_variance=[0.1] * 3 + [0.3] * 6)
    belief = learner.belief
    prediction = belief.predict(X[9:])
    noise = belief.noise_variance + 0.3
    expected = 0.5 * np.log((prediction.variance + noise) / (prediction.map_variance + noise))
    np.testing.assert_allclose(learner.score(X[9:]), expected)
    assert learner.score(X[9:]).max() < rw.acquisition.information(belief, X[9:]).max()


def test_nan_is_a_failure():
    learner = make()
    X = learner.ask(4)
    learner.tell(X, [1.0, np.nan, 2.0, np.nan], noise_variance=[1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(learner.X, X[[0, 2]])
    np.testing.assert_array_equal(learner.record.noise, [1.0, 3.0])
    assert [reason for _, reason in learner.failed] == ["told NaN", "told NaN"]
    np.testing.assert_array_equal([x for x, _ in learner.failed], X[[1, 3]])
    assert learner.n_done == 4
    assert learner.pending.shape == (0, 3)
    assert learner.belief.y.tolist() == [1.0, 2.0]


@either_space
def test_fail_and_withdraw(space):
    learner = make(spaces()[space])
    X = learner.ask(3)
    learner.fail(X[0], reason="the fuse blew")
    learner.withdraw(X[1])
    np.testing.assert_array_equal(learner.pending, X[2:])
    assert [reason for _, reason in learner.failed] == ["the fuse blew"]
    learner.fail(candidates()[7])  # not asked: no use asking
    assert learner.failed[1][1] == "failed"
    assert learner.n_done == 2
    learner.withdraw(learner.pending)
    assert learner.pending.shape == (0, 3)
    before = learner.to_dict()
    with pytest.raises(ValueError, match="x must be out for evaluation"):
        learner.withdraw(X[1])
    assert learner.to_dict() == before


def test_a_withdrawn_row_of_a_pool_is_free_again():
    learner = make(rw.Pool(candidates(5)), n_initial=1, fill_every=None)
    X = learner.ask(5)
    with pytest.raises(ValueError, match="the pool is exhausted, 1 asked"):
        learner.ask()
    learner.withdraw(X[2])
    np.testing.assert_array_equal(learner.ask(), X[2])
    learner.fail(X[2])
    with pytest.raises(ValueError, match="the pool is exhausted"):
        learner.ask()


def test_fewer_rows_than_asked():
    learner = make(rw.Pool(candidates(10)))
    run(learner, 7)
    before = learner.to_dict()
    with pytest.raises(ValueError, match="the pool has only 3 points left, 4 asked"):
        learner.ask(4)
    assert learner.to_dict() == before
    X = learner.ask(3)
    assert nearest(np.vstack([learner.X, X])) > 1e-9


@pytest.mark.parametrize("acquisition", ["information", "random"])
def test_copies_in_a_pool_are_asked_once(acquisition):
    distinct = candidates(9)
    pool = rw.Pool(np.vstack([distinct, distinct, distinct]))
    learner = make(pool, acquisition=acquisition)
    X = np.vstack([run(learner, 5), learner.ask(4)])
    assert len(np.unique(X, axis=0)) == 9
    assert not learner.record.free.any()
    again = make(pool, acquisition=acquisition)
    run(again, 5)
    _ = again.belief
    before = again.to_dict()
    with pytest.raises(ValueError, match="points left"):
        again.ask(5)
    assert again.to_dict() == before


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([0.5, 0.0, 200.0], np.inf, r"y must be finite, or NaN for an experiment that failed, but y\[0\] is inf"),
        ([0.5, 0.0, 200.0], -np.inf, "y must be finite"),
        ([0.5, 0.0, 200.0], [1.0, 2.0], "y must have one value for each of the 1 points"),
        ([[0.5, 0.0, 200.0]] * 2, 1.0, "y must have one value for each of the 2 points"),
        ([[0.5, 0.0, 200.0]] * 2, [1.0, np.inf], r"y\[1\] is inf"),
        ([0.5, 0.0, 200.0], "high", "y must hold numbers"),
        ([0.5, 0.0], 1.0, "x must have 3 inputs as the space has, got 2"),
        ([[0.5, 0.0, 200.0, 1.0]], [1.0], "x must have 3 inputs"),
        ([0.5, 9.0, 200.0], 1.0, r"input 1 of row 0 is 9, not within \[-5, 5\] \(pass outside=True if meant\)"),
        ([[0.5, 0.0, 200.0], [-1.0, 0.0, 200.0]], [1.0, 2.0], "input 0 of row 1 is -1"),
        ([np.nan, 0.0, 200.0], 1.0, "x must be finite"),
        ([0.5, 0.0, np.inf], 1.0, "x must be finite"),
        (0.5, 1.0, r"x must have shape \(n, D\)"),
    ],
)
def test_what_cannot_be_told(x, y, says):
    learner = make()
    run(learner, 5)
    learner.ask()
    before = learner.to_dict()
    with pytest.raises(ValueError, match=says):
        learner.tell(x, y)
    assert learner.to_dict() == before


def test_points_outside_a_box():
    learner = rw.ActiveLearner(rw.Box(LOWER, UPPER, names=["share", "shift", "load"]), rw.Linear(1), **FAST)
    with pytest.raises(ValueError, match="input 'load' of row 0 is 400, not within"):
        learner.tell([0.5, 0.0, 400.0], 1.0)
    learner.tell([0.5, 0.0, 400.0], 1.0, outside=True)
    assert learner.X[0, 2] == 400.0
    learner.tell(candidates()[:5], f(candidates()[:5]))
    assert inside(learner, learner.ask())


def test_points_outside_a_pool():
    learner = make(rw.Pool(candidates()))
    strange = np.vstack([candidates()[0], candidates()[0] + 0.01])
    before = learner.to_dict()
    with pytest.raises(ValueError, match="x must be points of the pool, but row 1 is not"):
        learner.tell(strange, [1.0, 2.0])
    assert learner.to_dict() == before
    learner.tell(strange, [1.0, 2.0], outside=True)
    assert learner.y.shape == (2,)
    assert inside(learner, learner.ask())


@pytest.mark.parametrize(
    "call",
    [
        lambda learner: learner.ask(0),
        lambda learner: learner.ask(2.0),
        lambda learner: learner.ask(True),
        lambda learner: learner.fail([0.5, 0.0]),
        lambda learner: learner.fail([np.nan, 0.0, 200.0]),
        lambda learner: learner.withdraw([0.5, 0.0, 200.0]),
        lambda learner: learner.withdraw([0.5, 0.0]),
        lambda learner: learner.withdraw(np.vstack([learner.pending, learner.pending])),
    ],
)
def test_an_error_changes_nothing(call):
    learner = make()
    run(learner, 5)
    learner.ask(2)
    before = learner.to_dict()
    with pytest.raises(ValueError, match=r"n must be|x must|one column"):
        call(learner)
    assert learner.to_dict() == before


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"space": candidates()}, TypeError, "space must be a Box or a Pool"),
        ({"space": (0.0, 1.0)}, TypeError, "space must be a Box or a Pool"),
        ({"acquisition": "best"}, ValueError, "acquisition must be one of"),
        ({"acquisition": 3}, TypeError, "acquisition must be a name"),
        ({"kernel": "cubic"}, ValueError, "kernel must be one of"),
        ({"n_initial": 0}, ValueError, "n_initial must be a whole number of at least 1"),
        ({"n_initial": 2.5}, ValueError, "n_initial must be a whole number"),
        ({"fill_every": 1}, ValueError, "fill_every must be a whole number of at least 2"),
        ({"random_state": -1}, ValueError, "random_state must be a whole number"),
        ({"random_state": None}, ValueError, "random_state must be a whole number"),
        ({"embedding": "linear"}, TypeError, "embedding must be"),
        ({"embedding": rw.Linear(4)}, ValueError, "d of Linear must be at most the number of inputs, 3, got 4"),
        ({"inference": "mcmc"}, ValueError, "inference must be one of"),
        ({"marginal": "exact"}, ValueError, "marginal must be one of"),
        ({"priors": {"mean": 0.0}}, TypeError, "priors must be a Priors or None"),
    ],
)
def test_arguments_are_checked_before_the_first_experiment(arguments, error, says):
    """Not when the first model is fitted, after experiments that cost something."""
    with pytest.raises(error, match=says):
        rw.ActiveLearner(**{"space": box(), **arguments})


# -- the same again --------------------------------------------------------------------------------


@either_space
@pytest.mark.parametrize("acquisition", ["information", "random"])
def test_same_seed_same_sequence(space, acquisition):
    first, again, other = (make(spaces()[space], acquisition=acquisition, random_state=s) for s in (3, 3, 4))
    X = run(first, 9)
    np.testing.assert_array_equal(X, run(again, 9))
    assert not np.array_equal(X, run(other, 9))


def through_json(learner, **arguments):
    return rw.ActiveLearner.from_dict(json.loads(json.dumps(learner.to_dict())), **arguments)


@pytest.mark.parametrize(
    ("kind", "acquisition"),
    [
        ("box", "information"),
        ("box", "uncertainty"),
        ("box", "latin-hypercube"),
        ("pool", "information"),
        ("pool", "bald"),
        ("pool", "random"),
        ("file", "information"),
    ],
)
def test_a_stored_learner_goes_on_as_if_nothing_had_happened(kind, acquisition, tmp_path):
    arguments = {}
    space = box()
    if kind == "pool":
        space, arguments = rw.Pool(candidates()), {"points": candidates()}
    if kind == "file":
        np.save(tmp_path / "candidates.npy", candidates())
        space = rw.Pool(tmp_path / "candidates.npy")
    straight, stored = make(space, acquisition=acquisition), make(space, acquisition=acquisition)
    for step in range(12):
        batch = 3 if step == 6 else 1
        X = straight.ask(batch)
        stored = through_json(stored, **arguments)
        np.testing.assert_array_equal(stored.ask(batch), X)
        np.testing.assert_allclose(stored.expected, straight.expected, rtol=1e-9)
        stored = through_json(stored, **arguments)
        np.testing.assert_array_equal(stored.pending, straight.pending)
        assert stored.to_dict()["searched_at"] == straight.to_dict()["searched_at"]
        for x in X[:2]:
            for learner in (straight, stored):
                if step == 8:
                    learner.fail(x, "broke")
                else:
                    learner.tell(x, f(x), noise_variance=0.01 if step % 2 else None)
    stored = through_json(stored, **arguments)
    assert stored.failed[0][1] == "broke"
    assert stored.record.to_dict() == straight.record.to_dict()
    assert stored.n_asked == straight.n_asked == 14
    np.testing.assert_array_equal(stored.belief.embedding, straight.belief.embedding)
    assert stored.belief.log_evidence == straight.belief.log_evidence


@pytest.mark.parametrize("embedding", [rw.Diagonal(), rw.Isotropic(), rw.Linear(2), rw.Linear("auto")], ids=str)
def test_every_embedding_can_be_stored(embedding):
    straight = make(box(), embedding, inference="nested", fill_every=None, n_initial=3, random_state=2)
    run(straight, 6)
    stored = through_json(straight)
    assert stored.embedding == embedding
    np.testing.assert_array_equal(stored.ask(), straight.ask())


def test_settings_are_stored():
    priors = rw.Priors(log_noise=(-2.0, 0.5), embedding_scale=0.4)
    learner = make(
        rw.Box(LOWER, UPPER, names=["share", "shift", "load"]), rw.Linear(2), acquisition="bald", kernel="matern52",
        marginal="bbq", priors=priors, n_initial=7, fill_every=None, random_state=5,
    )  # fmt: skip
    stored = through_json(learner)
    assert stored.space == learner.space
    assert stored.priors == priors
    for name in ("embedding", "acquisition", "kernel", "inference", "marginal", "n_initial", "fill_every"):
        assert getattr(stored, name) == getattr(learner, name), name
    assert stored.random_state == 5
    assert stored.to_dict() == learner.to_dict()


def test_what_is_no_stored_learner():
    state = make().to_dict()
    for wrong in ({**state, "format": 99}, {}, {"format": None}, None, "text"):
        with pytest.raises(ValueError, match="state must be a learner's of format 1, got"):
            rw.ActiveLearner.from_dict(wrong)


def test_a_pool_has_to_be_the_same():
    state = make(rw.Pool(candidates())).to_dict()
    with pytest.raises(ValueError, match="points must be given"):
        rw.ActiveLearner.from_dict(state)
    with pytest.raises(ValueError, match="points must be what the pool was made of"):
        rw.ActiveLearner.from_dict(state, points=candidates(seed=1))


def test_a_kernel_of_the_users_own_has_to_be_handed_over():
    learner = make(kernel=Cauchy())
    run(learner, 6)
    learner.ask()
    state = json.loads(json.dumps(learner.to_dict()))
    with pytest.raises(ValueError, match="kernel 'cauchy' is not built in: pass it as `kernel=`"):
        rw.ActiveLearner.from_dict(state)
    stored = rw.ActiveLearner.from_dict(state, kernel=Cauchy())
    np.testing.assert_array_equal(stored.ask(), learner.ask())


def test_a_built_in_acquisition_is_stored_by_its_name():
    learner = make(acquisition=Bald(noisy=True))
    run(learner, 6)
    stored = rw.ActiveLearner.from_dict(json.loads(json.dumps(learner.to_dict())))
    assert stored.acquisition == "information"
    np.testing.assert_array_equal(stored.ask(), learner.ask())


def test_an_acquisition_of_the_users_own_cannot_be_stored():
    class Mine(Bald):
        @property
        def name(self):
            return "mine"

    with pytest.raises(ValueError, match="only an acquisition that is built in can be stored"):
        make(acquisition=Mine()).to_dict()


def test_what_was_seen_cannot_be_changed_from_outside():
    learner = make()
    run(learner, 2)
    for array in (learner.X, learner.y, learner.pending):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_a_point_of_a_pool_may_come_back_rounded():
    learner = make(rw.Pool(candidates()))
    first, second = learner.ask(2)
    learner.tell(np.round(first, 8), 1.0)
    learner.fail(np.round(second, 8))
    assert len(learner.pending) == 0
    np.testing.assert_array_equal(learner.X[0], first)
    np.testing.assert_array_equal(learner.failed[0][0], second)


def test_what_is_asked_is_the_callers_to_change():
    learner = make()
    x = learner.ask()
    kept = x.copy()
    x += 1.0
    np.testing.assert_array_equal(learner.pending[0], kept)
    X, y = kept[None].copy(), np.array([1.0])
    learner.tell(X, y)
    X += 1.0
    y += 1.0
    np.testing.assert_array_equal(learner.X, kept[None])
    assert learner.y.tolist() == [1.0]


# -- when modes are searched again -------------------------------------------------------------------


def test_modes_are_searched_again_as_data_grow_or_surprise():
    learner = make()
    run(learner, 10)
    _ = learner.belief
    searched = learner._searched_at
    run(learner, 1)
    _ = learner.belief
    assert learner._searched_at in (searched, 11)
    quiet = learner._searched_at
    x = learner.ask()
    learner.tell(x, f(x) + 100.0)
    _ = learner.belief
    assert learner._searched_at == 12 != quiet


def test_searching_again_at_the_end():
    learner = make()
    run(learner, 12)
    learner._belief, learner._searched_at = learner.belief, 11
    last = learner.search_again()
    assert learner.to_dict()["searched_at"] == 12
    assert learner.search_again() is last is learner.belief


def test_progress_is_told():
    said = []
    learner = make(progress=said.append, inference="nested", fill_every=None)
    run(learner, 5)
    assert said
    assert all(isinstance(sentence, str) for sentence in said)


def test_a_learner_that_was_lost_finds_its_way_when_more_is_known() -> None:
    f = rw.testfunctions.from_model(10, 2, random_state=0)
    rng = np.random.default_rng(0)
    ball = rng.standard_normal((500, 10))
    ball *= rng.uniform(size=(500, 1)) ** 0.1 / np.linalg.norm(ball, axis=1, keepdims=True)
    space = rw.Pool(np.vstack([rng.uniform(-1, 1, (500, 10)), ball]))
    X = space.points[space.spread(60, rng)]
    y = f(X) + 0.1 * rng.standard_normal(60)
    all_is_noise = rw.Priors(log_noise=(-0.05, 0.01))
    lost = rw.fit(X[:45], y[:45], rw.Linear(2), bounds=space.bounds, priors=all_is_noise, n_starts=2)
    assert lost.noise_variance > 0.8 * np.var(y[:45])
    learner = rw.ActiveLearner(space, rw.Linear(2))
    learner.tell(X, y)
    learner.resume(learner.record, 60, lost, 45)
    assert learner.belief.noise_variance < 0.3 * np.var(y)


def test_data_from_before_stand_in_for_the_first_points() -> None:
    learner = rw.ActiveLearner(rw.Box([-1.0] * 3, [1.0] * 3), rw.Linear(1), n_initial=6)
    X = np.random.default_rng(0).uniform(-1, 1, (12, 3))
    learner.tell(X[:4], np.sin(X[:4].sum(axis=1)))
    assert not learner.consults()
    learner.tell(X[4:], np.sin(X[4:].sum(axis=1)))
    assert learner.consults()
    learner.ask()
    assert np.isfinite(learner.expected).all()
