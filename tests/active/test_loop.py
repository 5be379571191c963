"""``rw.learn``: the loop, its executors, its failures and how it ends."""

from __future__ import annotations

import multiprocessing
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import ridgeway as rw
from tests.helpers import Terminal, shown

BOX = rw.Box([0.0, -5.0], [1.0, 5.0])

FAST = {"embedding": rw.Linear(1), "inference": "map", "n_initial": 4}

RANDOM = {"acquisition": "random", "embedding": rw.Linear(1)}  # no model is ever fitted


pytestmark = pytest.mark.usefixtures("little_effort")


def f(x):
    return float(np.sin(3.0 * x[0] + 0.2 * x[1]))


def fails_on_the_right(x):
    if x[0] > 0.5:
        raise ValueError(f"too far right: {x[0]:.2f}")
    return f(x)


def asked(n, **arguments):
    """The points of a loop that no outcome changes."""
    return rw.ActiveLearner(BOX, **{**RANDOM, **arguments}).ask(n)


# -- outcomes ------------------------------------------------------------------------------------


def test_a_plain_function():
    learner = rw.learn(f, BOX, budget=8, **FAST)
    assert isinstance(learner, rw.ActiveLearner)
    assert learner.y.shape == (8,)
    assert BOX.contains(learner.X).all()
    np.testing.assert_array_equal(learner.y, [f(x) for x in learner.X])
    assert learner.pending.shape == (0, 2)
    assert learner.ended == "the budget of 8 experiments is spent"
    assert learner.belief.y.shape == (8,)


def test_the_loop_is_ask_and_tell():
    by_hand = rw.ActiveLearner(BOX, **FAST)
    for _ in range(8):
        x = by_hand.ask()
        by_hand.tell(x, f(x))
    np.testing.assert_array_equal(rw.learn(f, BOX, budget=8, **FAST).X, by_hand.X)


def test_the_last_belief_is_of_a_full_search():
    learner = rw.learn(f, BOX, budget=8, **RANDOM)
    assert learner.to_dict()["searched_at"] == 8


def test_f_cannot_change_the_point():
    def spoils(x):
        value = f(x)
        x[:] = 0.0
        return value

    np.testing.assert_array_equal(rw.learn(spoils, BOX, budget=4, **RANDOM).X, asked(4))


def test_threads():
    with ThreadPoolExecutor(3) as executor:
        learner = rw.learn(f, BOX, budget=9, executor=executor, **FAST)
        assert executor.submit(f, np.zeros(2)).result() == 0.0  # still open
    assert learner.y.shape == (9,)
    np.testing.assert_array_equal(learner.y, [f(x) for x in learner.X])
    assert len(np.unique(learner.X, axis=0)) == 9


@pytest.mark.slow
def test_processes():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        learner = rw.learn(fails_on_the_right, BOX, budget=8, executor=executor, most_failures=8, **RANDOM)
    X = asked(8)
    assert len(learner.y) == np.sum(X[:, 0] <= 0.5)
    np.testing.assert_array_equal(learner.y, [f(x) for x in learner.X])
    assert len(learner.failed) == np.sum(X[:, 0] > 0.5)
    assert all("ValueError: too far right" in reason for _, reason in learner.failed)
    assert sorted(map(tuple, np.vstack([learner.X, learner.record.failed]))) == sorted(map(tuple, X))


@pytest.mark.parametrize("with_executor", [True, False])
def test_outcomes_come_in_the_order_they_are_finished(with_executor):
    """The first experiment waits until three others have begun; nobody waits for it."""
    X, gate, done = asked(6), threading.Event(), []

    def slow_first(x):
        if np.array_equal(x, X[0]):
            assert gate.wait(30.0)
        else:
            done.append(x)
            if len(done) == 3:
                gate.set()
        return f(x)

    with ThreadPoolExecutor(2) as executor:
        parallel = {"executor": executor} if with_executor else {"workers": 2}
        learner = rw.learn(slow_first, BOX, budget=6, **parallel, **RANDOM)
    assert sorted(map(tuple, learner.X)) == sorted(map(tuple, X))
    position = [i for i, x in enumerate(learner.X) if np.array_equal(x, X[0])]
    assert position[0] >= 2
    np.testing.assert_array_equal(learner.y, [f(x) for x in learner.X])


def test_the_learner_knows_pending_experiments():
    most = []

    def look(learner):
        most.append(len(learner.pending))

    with ThreadPoolExecutor(3) as executor:
        rw.learn(f, BOX, budget=9, executor=executor, callback=look, **RANDOM)
    assert most == [2, 2, 2, 2, 2, 2, 2, 1, 0]


# -- failures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "reason"),
    [(np.nan, "returned nan"), (np.inf, "returned inf"), (-np.inf, "returned -inf"), (None, "ZeroDivisionError: ")],
)
def test_failures_are_recorded_and_count(bad, reason):
    calls = []

    def sometimes(x):
        calls.append(x)
        if len(calls) % 3 == 0:
            return 1 / 0 if bad is None else bad
        return f(x)

    learner = rw.learn(sometimes, BOX, budget=9, **FAST)
    assert len(calls) == 9
    assert learner.y.shape == (6,)
    assert np.isfinite(learner.y).all()
    assert len(learner.failed) == 3
    assert learner.n_done == 9
    for i, (x, why) in enumerate(learner.failed):
        np.testing.assert_array_equal(x, calls[3 * i + 2])
        assert why.startswith(reason)


def test_nothing_but_failures():
    def broken(x):
        raise OSError("no such instrument")

    learner = rw.ActiveLearner(BOX, **RANDOM)
    with pytest.raises(RuntimeError, match="the last 3 experiments failed, the last one: OSError: no such") as caught:
        rw.learn(broken, learner, budget=20, most_failures=3)
    assert isinstance(caught.value.__cause__, OSError)
    assert len(learner.failed) == 3
    assert learner.pending.shape == (0, 2)


def test_failures_in_a_row_are_counted_anew_after_a_success():
    calls = []

    def two_of_three(x):
        calls.append(x)
        return f(x) if len(calls) % 3 == 0 else np.nan

    learner = rw.learn(two_of_three, BOX, budget=12, most_failures=3, **RANDOM)
    assert len(learner.failed) == 8
    with pytest.raises(RuntimeError, match="the last 2 experiments failed, the last one: returned nan"):
        rw.learn(two_of_three, BOX, budget=12, most_failures=2, **RANDOM)


@pytest.mark.parametrize("parallel", [{}, {"workers": 3}])
def test_what_is_no_number_stops_the_loop_and_keeps_what_was_learned(parallel):
    calls = []

    def later_an_array(x):
        calls.append(x)
        return np.zeros(2) if len(calls) > 5 else f(x)

    learner = rw.ActiveLearner(BOX, **RANDOM)
    with pytest.raises(TypeError, match=r"f must return one number, got an array of shape \(2,\)"):
        rw.learn(later_an_array, learner, budget=20, **parallel)
    assert 3 <= learner.y.shape[0] <= 5
    np.testing.assert_array_equal(learner.y, [f(x) for x in learner.X])
    assert learner.pending.shape == (0, 2)
    assert learner.failed == ()
    assert learner.progress is None


def test_an_interrupt_keeps_what_was_learned():
    calls = []

    def interrupted(x):
        calls.append(x)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return f(x)

    learner = rw.ActiveLearner(BOX, **RANDOM)
    with pytest.raises(KeyboardInterrupt):
        rw.learn(interrupted, learner, budget=20)
    assert learner.y.shape == (3,)
    assert learner.pending.shape == (0, 2)


@pytest.mark.parametrize("loop", [rw.learn, rw.minimize, rw.maximize])
@pytest.mark.parametrize("reason", [KeyboardInterrupt(), TypeError, RuntimeError])
def test_what_ends_a_loop_carries_what_was_learned(loop, reason):
    calls = []

    def ending(x):
        calls.append(x)
        if len(calls) < 4:
            return f(x)
        if reason is TypeError:
            return None
        if reason is RuntimeError:
            return np.nan
        raise reason

    kind = KeyboardInterrupt if isinstance(reason, KeyboardInterrupt) else reason
    with pytest.raises(kind) as caught:
        loop(ending, BOX, budget=20, most_failures=2, n_initial=6, **RANDOM)
    learner = caught.value.learner
    assert learner.y.shape == (3,)
    assert learner.pending.shape == (0, 2)
    assert "3 outcomes are kept in the attribute `learner` of this exception" in caught.value.__notes__[0]
    assert loop(f, learner, budget=learner.n_done + 1).y.shape == (4,)


def test_an_experiment_that_hangs():
    X, gate = asked(5), threading.Event()

    def hangs(x):
        if np.array_equal(x, X[1]):
            gate.wait(30.0)
        return f(x)

    began = time.monotonic()
    learner = rw.learn(hangs, BOX, budget=5, timeout=0.2, **RANDOM)
    gate.set()
    assert time.monotonic() - began < 10.0
    assert learner.y.shape == (4,)
    ((x, reason),) = learner.failed
    np.testing.assert_array_equal(x, X[1])
    assert reason == "took longer than the time limit of 0.2 s"
    assert learner.ended == "the budget of 5 experiments is spent"


def test_when_every_worker_hangs():
    gate = threading.Event()
    learner = rw.ActiveLearner(BOX, **RANDOM)
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(TimeoutError, match="the one worker is still busy"):
            rw.learn(lambda x: gate.wait(30.0), learner, budget=5, executor=executor, timeout=0.1)
        gate.set()
    assert len(learner.failed) == 1
    assert learner.pending.shape == (0, 2)


def test_a_budget_of_failures_alone():
    """Fewer than it takes to raise: there is no belief, and that is no error."""
    learner = rw.learn(lambda x: np.nan, BOX, budget=3, **RANDOM)
    assert len(learner.failed) == 3
    assert learner.ended == "the budget of 3 experiments is spent"


# -- ends -----------------------------------------------------------------------------------------------


def test_the_callback_stops():
    seen = []

    def enough(learner):
        seen.append(learner.n_done)
        return learner.n_done >= 3

    learner = rw.learn(f, BOX, budget=50, callback=enough, **RANDOM)
    assert seen == [1, 2, 3]
    assert learner.y.shape == (3,)
    assert learner.ended == "stopped by the callback"


def test_pending_experiments_are_waited_for_when_the_callback_stops():
    with ThreadPoolExecutor(3) as executor:
        learner = rw.learn(f, BOX, budget=50, executor=executor, callback=lambda learner: True, **RANDOM)
    assert learner.y.shape == (3,)
    assert learner.pending.shape == (0, 2)
    assert learner.ended == "stopped by the callback"


def test_a_callback_that_raises():
    def complains(learner):
        raise LookupError("not like this")

    learner = rw.ActiveLearner(BOX, **RANDOM)
    with pytest.raises(LookupError, match="not like this"):
        rw.learn(f, learner, budget=5, callback=complains)
    assert learner.y.shape == (1,)
    assert learner.pending.shape == (0, 2)


def test_stops_when_choices_promise_little():
    learner = rw.learn(f, BOX, budget=30, stop_below=1e3, patience=3, fill_every=None, **FAST)
    assert learner.ended == "the last 3 choices each promised less than 1000 nats"
    assert learner.y.shape == (4 + 3,)
    assert learner.pending.shape == (0, 2)


def test_points_that_fill_the_space_do_not_count_as_choices():
    learner = rw.learn(f, BOX, budget=30, stop_below=1e3, patience=2, fill_every=2, **FAST)
    # Numbers 0 to 3 fill, and then every odd one does: the choices are 4 and 6.
    assert learner.y.shape == (7,)


def test_a_choice_that_promises_enough_resets_the_count(monkeypatch):
    promises = iter([0.1, 0.1, 5.0, 0.1, 0.1, 0.1])
    ask = rw.ActiveLearner.ask

    def promising(self, n=None):
        x = ask(self, n)
        self.expected = np.array([next(promises)])
        return x

    monkeypatch.setattr(rw.ActiveLearner, "ask", promising)
    learner = rw.learn(f, BOX, budget=30, stop_below=1.0, patience=3, **RANDOM)
    assert learner.y.shape == (6,)


def test_a_pool_that_is_smaller_than_the_budget():
    """All of it is worth having: the end of a pool is no error."""
    pool = rw.Pool(np.random.default_rng(0).uniform(size=(7, 2)))
    learner = rw.learn(f, pool, budget=20, **FAST)
    assert learner.y.shape == (7,)
    assert learner.ended == "the pool is exhausted"
    with ThreadPoolExecutor(3) as executor:
        learner = rw.learn(f, pool, budget=20, executor=executor, **RANDOM)
    assert learner.y.shape == (7,)
    assert learner.ended == "the pool is exhausted"
    assert rw.learn(f, learner, budget=20).ended == "the pool is exhausted"
    assert rw.learn(f, pool, budget=7, **RANDOM).ended == "the budget of 7 experiments is spent"


# -- going on ------------------------------------------------------------------------------------------


def test_going_on_with_a_learner():
    straight = rw.learn(f, BOX, budget=9, **FAST)
    learner = rw.learn(f, BOX, budget=6, **FAST)
    again = rw.learn(f, learner, budget=9)
    assert again is learner
    np.testing.assert_array_equal(learner.X, straight.X)
    rw.learn(f, learner, budget=9)  # nothing left to do
    assert learner.y.shape == (9,)


def test_points_of_the_users_stay_out():
    """What was asked before the loop is being evaluated elsewhere: the loop has no say in it."""
    learner = rw.ActiveLearner(BOX, **RANDOM)
    mine = learner.ask(2)
    rw.learn(f, learner, budget=4)
    np.testing.assert_array_equal(learner.pending, mine)
    with pytest.raises(TypeError, match="f must return one number"):
        rw.learn(lambda x: "high", learner, budget=6)
    np.testing.assert_array_equal(learner.pending, mine)


def test_options_belong_to_a_new_learner():
    learner = rw.ActiveLearner(BOX, **RANDOM)
    with pytest.raises(TypeError, match="options must be left out where a learner is given: embedding, n_initial"):
        rw.learn(f, learner, budget=4, embedding=rw.Linear(1), n_initial=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'learning_rate'"):
        rw.learn(f, BOX, budget=4, learning_rate=0.1)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"budget": 0}, ValueError, "budget must be a whole number of at least 1"),
        ({"budget": 2.5}, ValueError, "budget must be a whole number"),
        ({"patience": 0}, ValueError, "patience must be a whole number of at least 1"),
        ({"most_failures": 0}, ValueError, "most_failures must be a whole number of at least 1"),
        ({"stop_below": "little"}, ValueError, "stop_below must be a finite number or None"),
        ({"stop_below": -1.0}, ValueError, "stop_below must be above 0 or None, got -1.0"),
        ({"acquisition": "ei"}, ValueError, "'random', 'latin-hypercube'"),
        ({"stop_below": np.nan}, ValueError, "stop_below must be a finite number or None"),
        ({"timeout": 0.0}, ValueError, "timeout must be a positive"),
        ({"workers": 0}, ValueError, "workers must be a whole number of at least 1"),
        ({"executor": 4}, TypeError, "executor must be"),
        ({"progress": 3}, TypeError, "progress must be True, False, None or a function"),
        ({"f": 3}, TypeError, "f must be a function"),
        ({"space": [[0.0, 1.0]]}, TypeError, "space must be a Box or a Pool"),
    ],
)
def test_arguments_are_checked(arguments, error, says):
    calls = []
    with pytest.raises(error, match=says):
        rw.learn(**{"f": calls.append, "space": BOX, **arguments})
    assert calls == []


# -- progress ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [None, True])
def test_a_loop_shows_a_line_in_a_terminal(wanted, monkeypatch):
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    rw.learn(f, BOX, budget=7, progress=wanted, fill_every=None, **{**FAST, "inference": "nested"})
    lines = shown(stream.getvalue())
    assert lines[0].startswith("0 of 7")
    assert any(line.startswith("6 of 7") and "nats expected" in line for line in lines)
    assert any("·" in line for line in lines)  # what the fit is at
    assert lines[-1] == ""


def test_no_progress_where_nobody_looks(monkeypatch, capsys):
    rw.learn(f, BOX, budget=3, **RANDOM)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr", stream := Terminal())
    rw.learn(f, BOX, budget=3, progress=False, **RANDOM)
    assert stream.getvalue() == ""


def test_progress_to_a_function():
    said = []
    learner = rw.ActiveLearner(BOX, **RANDOM)
    calls = iter([1.0, np.nan, 2.0])
    rw.learn(lambda x: next(calls), learner, budget=3, progress=said.append)
    assert said[:3] == ["0 of 3", "1 of 3", "2 of 3, 1 failed"]
    assert all(sentence.startswith("3 of 3, 1 failed · ") for sentence in said[3:])
    assert learner.progress is None


def test_the_progress_of_the_learner_comes_back():
    mine = [].append
    learner = rw.ActiveLearner(BOX, progress=mine, **RANDOM)
    rw.learn(f, learner, budget=3)
    assert learner.progress is mine


def test_a_function_that_mentions_the_package_travels_to_other_processes():
    cloudpickle = pytest.importorskip("cloudpickle")

    assert cloudpickle.loads(cloudpickle.dumps(rw)) is rw
    function = eval("lambda: package.Linear(2)", {"package": rw})  # of no module: pickled with what it mentions
    assert cloudpickle.loads(cloudpickle.dumps(function))() == rw.Linear(2)


def test_a_value_beyond_floats_is_a_failure():
    values = iter([1.0, 1e200, 2.0])
    learner = rw.learn(lambda x: next(values), BOX, budget=3, progress=False, **RANDOM)
    assert learner.y.tolist() == [1.0, 2.0]
    assert learner.failed[0][1] == "returned 1e+200, beyond 1e+140: use other units"


# -- optimisation ------------------------------------------------------------------------------------


def valley(x):
    return float(((x - 0.3) ** 2).sum())


QUICK = {"embedding": rw.Linear(1), "inference": "map", "progress": False}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["minimize", "maximize"])
def test_the_best_point_is_found(way):
    space, sign = rw.Box([0, 0], [1, 1]), 1.0 if way == "minimize" else -1.0
    learner = getattr(rw, way)(lambda x: 4.0 + sign * valley(x), space, 12, **QUICK)
    assert learner.goal == way
    assert abs(learner.best().value - 4.0) < 0.05
    assert learner.ended == "the budget of 12 experiments is spent"
    np.testing.assert_allclose(learner.best().x, 0.3, atol=0.25)


@pytest.mark.slow
def test_a_budget_smaller_than_the_design():
    space = rw.Box([0, 0], [1, 1])
    learner = rw.minimize(valley, space, 5, **QUICK)
    assert learner.n_initial == 2
    assert learner.y.shape == (5,)
    assert rw.minimize(valley, space, 1, **QUICK).best().index == 0
    with pytest.raises(ValueError, match="n_initial must be below the budget of 5, got 6: no experiment would be left"):
        rw.minimize(valley, space, 5, n_initial=6, **QUICK)


def test_a_learner_with_another_goal():
    learner = rw.ActiveLearner(rw.Box([0, 0], [1, 1]), goal="maximize")
    with pytest.raises(ValueError, match="a learner whose goal is 'minimize', got one whose goal is 'maximize'"):
        rw.minimize(valley, learner, 5)
    with pytest.raises(ValueError, match="goal must be left out"):
        rw.minimize(valley, rw.Box([0], [1]), 5, goal="maximize")


@pytest.mark.slow
def test_it_stops_where_no_improvement_is_expected():
    space = rw.Box([0, 0], [1, 1])
    learner = rw.minimize(valley, space, 40, stop_below=0.9, patience=2, **QUICK)
    assert learner.ended == "the last 2 choices each promised less than 0.9 of improvement"
    assert learner.y.shape[0] < 40
    with pytest.raises(ValueError, match="stop_below must be None"):
        rw.minimize(valley, space, 9, acquisition="thompson", stop_below=0.5, **QUICK)


@pytest.mark.slow
def test_a_pool_that_ends_before_the_budget():
    points = np.random.default_rng(0).uniform(0, 1, (7, 2))
    learner = rw.minimize(valley, rw.Pool(points), 20, n_initial=3, **QUICK)
    assert learner.ended == "the pool is exhausted"
    assert learner.best().observed_value == min(map(valley, points))


def test_a_function_that_always_fails():
    with pytest.raises(RuntimeError, match="the last 3 experiments failed"):
        rw.minimize(lambda x: np.nan, rw.Box([0, 0], [1, 1]), 20, most_failures=3, **QUICK)
