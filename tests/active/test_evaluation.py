"""The user's function at work: in this thread, in others, in other processes, late, failing and hanging."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from multiprocessing import get_all_start_methods, get_context

import numpy as np
import pytest

from ridgeway.active.evaluation import Evaluations, Outcome

X = np.array([1.0, 2.0])


def total(x):
    return float(x.sum())


def process_of(x):
    return os.getpid()


class AwkwardError(Exception):
    """One that cannot be rebuilt from its message, as a process pool would."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def fail_by_sign(x):
    if x[0] < 0:
        raise AwkwardError(3, "no convergence")
    if x[0] == 0:
        raise ValueError("zero")
    return x[0]


def die(x):
    os._exit(1)


def nap(x):
    time.sleep(x[0])
    return x[0]


class Hanging:
    """Returns once it is told to."""

    def __init__(self):
        self.gate = threading.Event()

    def __call__(self, x):
        if x[0] < 0:
            self.gate.wait(10.0)
        return x[0]


@pytest.fixture
def hanging():
    f = Hanging()
    yield f
    f.gate.set()


def clean_processes():
    """Not forked from here: a fork of a process with threads may stand still."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["ridgeway.active.evaluation"])  # imported once, not by each process
    return context


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=clean_processes()) as executor:
        yield executor


@pytest.fixture
def threads():
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(params=["here", "own threads", "threads", "processes"])
def anywhere(request):
    """Arguments for each way to run a function."""
    if request.param in ("threads", "processes"):
        return {"executor": request.getfixturevalue(request.param), "workers": None}
    return {"workers": 1 if request.param == "here" else 2}


# -- what every way of running shares --------------------------------------------------------


@pytest.mark.slow
def test_values_come_back(anywhere):
    with Evaluations(total, **anywhere) as running:
        points = [np.array([float(i), 1.0]) for i in range(5)]
        outcomes, waiting = [], list(points)
        while waiting or running.in_flight:
            while waiting and running.room:
                running.submit(waiting.pop())
            outcomes.append(running.next())
        assert running.room == running.workers
    outcomes.sort(key=lambda outcome: outcome.x[0])
    assert [outcome.value for outcome in outcomes] == [1.0, 2.0, 3.0, 4.0, 5.0]
    for outcome, point in zip(outcomes, points, strict=True):
        np.testing.assert_array_equal(outcome.x, point)
        assert (outcome.reason, outcome.error, outcome.failed) == (None, None, False)
        assert 0.0 <= outcome.seconds < 10.0


def test_errors_are_outcomes(anywhere):
    with Evaluations(fail_by_sign, **anywhere) as running:
        running.submit([0.0])
        outcome = running.next()
        assert (outcome.value, outcome.reason, outcome.failed) == (None, "ValueError: zero", True)
        assert isinstance(outcome.error, ValueError)
        with pytest.raises(ValueError, match=r"^zero$"):
            raise outcome.error
        running.submit([-1.0])
        assert running.next().reason.endswith("AwkwardError: no convergence")
        running.submit([2.0])  # and the executor is none the worse for it
        assert running.next().value == 2.0


def test_room(anywhere):
    with Evaluations(total, **anywhere) as running:
        workers = running.workers
        assert (running.room, running.in_flight) == (workers, 0)
        for i in range(workers):
            running.submit(X)
            assert (running.room, running.in_flight) == (workers - i - 1, i + 1)
        with pytest.raises(RuntimeError, match=f"there is no room: {workers} experiments are in flight; take one with"):
            running.submit(X)
        running.next()
        assert (running.room, running.in_flight) == (1, workers - 1)


def test_nothing_to_wait_for(anywhere):
    with (
        Evaluations(total, **anywhere) as running,
        pytest.raises(RuntimeError, match="there is nothing to wait for: no experiment is in flight"),
    ):
        running.next()


def test_the_function_gets_a_copy(threads):
    def spoil(x):
        x[:] = 9.0
        return 1.0

    for arguments in ({}, {"workers": 2}, {"executor": threads}):
        with Evaluations(spoil, **arguments) as running:
            given = X.copy()
            running.submit(given)
            outcome = running.next()
            given[:] = 5.0
            np.testing.assert_array_equal(outcome.x, X)


# -- what f returns --------------------------------------------------------------------------


def outcome_of(value, **arguments):
    with Evaluations(lambda x: value, **arguments) as running:
        running.submit(X)
        return running.next()


@pytest.mark.parametrize(
    "value",
    [2.5, np.float32(2.5), np.array(2.5), np.array([2.5]), np.array([[2.5]]), [2.5], Decimal("2.5"), Fraction(5, 2)],
    ids=repr,
)
def test_one_number(value):
    outcome = outcome_of(value)
    assert type(outcome.value) is float
    assert outcome.value == 2.5


def test_whole_numbers_and_truths():
    assert outcome_of(3).value == 3.0
    assert outcome_of(np.True_).value == 1.0


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "returned nan"),
        (-math.inf, "returned -inf"),
        (np.array([np.inf]), "returned inf"),
        (-(10**400), "returned -inf"),
        (np.ma.masked, "returned nan"),
    ],
    ids=["nan", "-inf", "array", "beyond floats", "masked"],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_not_finite_is_a_failure(value, reason, workers):
    outcome = outcome_of(value, workers=workers)
    assert (outcome.value, outcome.reason, outcome.error) == (None, reason, None)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "got None"),
        ("high", "got 'high'"),
        (np.zeros(3), r"got an array of shape \(3,\)"),
        ([], r"got an array of shape \(0,\)"),
        (1j, "got the complex 1j"),
        (np.array([1j]), "got the complex 1j"),
        ({"loss": 1.0}, "got {'loss': 1.0}"),
        ([[1.0], [1.0, 2.0]], "got a list"),
        (np.timedelta64(3, "s"), "got np.timedelta64"),
    ],
    ids=str,
)
@pytest.mark.parametrize("workers", [1, 2])
def test_anything_else_is_an_error(value, said, workers):
    with pytest.raises(TypeError, match=f"f must return one number, {said}"):
        outcome_of(value, workers=workers)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("arguments", [{}, {"workers": 2}, {"timeout": 5.0}], ids=str)
def test_interrupts_go_through(kind, arguments):
    def interrupted(x):
        raise kind("stop")

    with Evaluations(interrupted, **arguments) as running:
        running.submit(X)
        with pytest.raises(kind, match="stop"):
            running.next()
        assert running.in_flight == 0


# -- in this thread --------------------------------------------------------------------------


def test_here_is_lazy_and_in_this_thread():
    called = []
    with Evaluations(lambda x: called.append(threading.get_ident()) or 1.0) as running:
        running.submit(X)
        assert called == []
        running.next()
    assert called == [threading.get_ident()]


# -- in other threads ------------------------------------------------------------------------


def test_own_threads_are_daemons_and_work_at_once():
    barrier = threading.Barrier(3)

    def together(x):
        barrier.wait(5.0)  # passed only if all three are here
        return float(threading.current_thread().daemon)

    with Evaluations(together, workers=3) as running:
        for _ in range(3):
            running.submit(X)
        assert [running.next().value for _ in range(3)] == [1.0] * 3


@pytest.mark.parametrize("kind", ["own", "executor"])
def test_the_first_to_finish_comes_first(kind, threads):
    with Evaluations(nap, threads if kind == "executor" else None, workers=2) as running:
        running.submit([0.15])
        running.submit([0.01])
        first, second = running.next(), running.next()
    assert (first.value, second.value) == (0.01, 0.15)
    assert 0.14 < second.seconds < 1.0
    assert first.seconds < second.seconds


def test_the_first_to_finish_comes_first_also_when_nobody_waits():
    with Evaluations(nap, workers=2) as running:
        running.submit([0.08])
        running.submit([0.0])
        time.sleep(0.4)  # the caller is busy
        first, second = running.next(), running.next()
    assert (first.value, second.value) == (0.0, 0.08)
    assert second.seconds < 0.35  # what it took, not what it waited to be asked


def test_a_hung_thread_does_not_keep_python_alive():
    program = (
        "import time\nfrom ridgeway.active.evaluation import Evaluations\n"
        "with Evaluations(lambda x: time.sleep(60), timeout=0.05) as running:\n"
        "    running.submit([0.0])\n    print(running.next().reason)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout == "took longer than the time limit of 0.05 s\n"


# -- executors -------------------------------------------------------------------------------


def test_processes_do_the_work(processes):
    with Evaluations(process_of, processes, workers=None) as running:
        assert running.workers == 2
        running.submit(X)
        assert running.next().value != os.getpid()


def test_processes_need_a_function_they_can_find(processes):
    with pytest.raises(
        TypeError, match="f must be a function at the top of a module to run in other processes, got <fu"
    ):
        Evaluations(lambda x: 1.0, processes)


def test_a_dead_process_is_no_failed_experiment():
    with (
        ProcessPoolExecutor(1, mp_context=clean_processes()) as executor,
        Evaluations(die, executor) as running,
    ):
        running.submit(X)
        with pytest.raises(BrokenExecutor):
            running.next()


def test_traceback_of_another_process_is_kept(processes):
    with Evaluations(fail_by_sign, processes) as running:
        running.submit([0.0])
        assert "in fail_by_sign" in str(running.next().error.__cause__)


class Foreign(Executor):
    """An executor that says nothing about itself, and begins nothing until told."""

    def __init__(self):
        self.futures = []

    def submit(self, function, /, *arguments):
        self.futures.append((Future(), function, arguments))
        return self.futures[-1][0]

    def finish(self, i):
        future, function, arguments = self.futures[i]
        future.set_result(function(*arguments))


def test_other_executors():
    executor = Foreign()
    assert Evaluations(total, executor, workers=None).workers == 1
    with Evaluations(total, executor, workers=2) as running:
        running.submit([1.0])
        running.submit([2.0])
        executor.finish(1)
        assert running.next().value == 2.0
        executor.finish(0)
        assert running.next().value == 1.0


def test_a_repeated_experiment_is_another_call():
    """Else dask, which knows a call by its function and arguments, would hand out the first result twice."""
    executor = Foreign()
    with Evaluations(total, executor, workers=2) as running:
        running.submit(X)
        running.submit(X)
    (_, _, first), (_, _, second) = executor.futures
    assert any(np.any(a != b) for a, b in zip(first, second, strict=True))


def test_leaving_cancels_and_leaves_the_executor_open(threads):
    executor = Foreign()
    with Evaluations(total, executor) as running:
        running.submit(X)
    assert executor.futures[0][0].cancelled()
    assert running.in_flight == 0
    with pytest.raises(RuntimeError, match="these evaluations are closed"):
        running.submit(X)
    with Evaluations(total, threads) as running:
        running.submit(X)
    assert threads.submit(total, X).result() == 3.0


def test_an_executor_that_cancels():
    executor = Foreign()
    with Evaluations(total, executor) as running:
        running.submit(X)
        executor.futures[0][0].cancel()
        with pytest.raises(RuntimeError, match="the executor cancelled an experiment: was it shut down"):
            running.next()


# -- time limits -----------------------------------------------------------------------------


LATE = "took longer than the time limit of 1 s"


def test_in_time():
    with Evaluations(total, timeout=5) as running:
        running.submit(X)
        assert running.next().value == 3.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["own", "executor"])
def test_too_late(kind, hanging, threads):
    began = time.monotonic()
    with Evaluations(hanging, threads if kind == "executor" else None, workers=2, timeout=1.0) as running:
        running.submit([-1.0])
        outcome = running.next()
        assert (outcome.value, outcome.reason, outcome.error) == (None, LATE, None)
        assert 1.0 <= outcome.seconds < 20.0
        # A worker of an executor is gone for now; in place of a thread of our own there is another.
        assert (running.room, running.in_flight) == (1 if kind == "executor" else 2, 0)
        running.submit([1.0])
        assert running.next().value == 1.0
        hanging.gate.set()
        while running.room < 2:  # the late one is done: its worker is back, its result is nobody's
            assert time.monotonic() - began < 30.0
            time.sleep(0.005)
        running.submit([2.0])
        assert running.next().value == 2.0
        assert running.in_flight == 0


@pytest.mark.slow
def test_a_result_waits_while_another_hangs(hanging):
    with Evaluations(hanging, workers=2, timeout=1.0) as running:
        running.submit([-1.0])
        running.submit([1.0])
        assert running.next().value == 1.0
        assert running.next().reason == LATE


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_all_workers_hang(workers, hanging):
    who = "the one worker is" if workers == 1 else "all 2 workers are"
    message = f"{who} still busy with experiments beyond the time limit of 1 s"
    with ThreadPoolExecutor(workers) as executor, Evaluations(hanging, executor, workers, timeout=1.0) as running:
        for _ in range(workers):
            running.submit([-1.0])
        assert [running.next().reason for _ in range(workers)] == [LATE] * workers
        assert running.room == 0
        with pytest.raises(TimeoutError, match=message):
            running.submit([1.0])
        with pytest.raises(TimeoutError, match=message):
            running.next()
        hanging.gate.set()  # else the executor would wait for them


@pytest.mark.slow
def test_own_threads_go_on_while_others_hang(hanging):
    with Evaluations(hanging, timeout=1.0) as running:
        for _ in range(2):
            running.submit([-1.0])
            assert running.next().reason == LATE
        running.submit([1.0])
        assert running.next().value == 1.0


@pytest.mark.slow
def test_done_in_time_though_asked_for_late():
    with Evaluations(nap, workers=2, timeout=1.0) as running:
        running.submit([0.01])
        running.submit([1.3])
        time.sleep(1.6)  # the caller was busy: the first was in time, the second not, though both are done
        assert running.next().value == 0.01
        assert running.next().reason == LATE
        assert running.room == 2


@pytest.mark.slow
def test_one_that_never_began_makes_room():
    executor = Foreign()
    with Evaluations(total, executor, timeout=1.0) as running:
        running.submit(X)
        assert running.next().reason == LATE
        assert running.room == 1
    assert executor.futures[0][0].cancelled()


# -- arguments that are refused --------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"f": 3}, TypeError, "f must be a function of one point, got 3"),
        ({"executor": 3}, TypeError, "executor must be one of concurrent.futures or have its submit, got 3"),
        *(
            ({"workers": w}, ValueError, f"workers must be a whole number of at least 1, got {w!r}")
            for w in (0, -1, 1.5, "2", True)
        ),
        *(
            ({"timeout": t}, ValueError, f"timeout must be a positive, finite number of seconds or None, got {t!r}")
            for t in (0, -1.0, math.inf, math.nan, "5", True)
        ),
    ],
    ids=str,
)
def test_bad_arguments(arguments, kind, message):
    with pytest.raises(kind, match=message):
        Evaluations(**{"f": total, **arguments})


def test_no_more_workers_than_the_executor_has_where_time_counts(threads):
    with pytest.raises(ValueError, match="workers must be at most the executor's 2 where there is a timeout, got 3"):
        Evaluations(total, threads, workers=3, timeout=1.0)
    assert Evaluations(total, threads, workers=3).room == 3


def test_no_workers_asked_for_is_one():
    assert Evaluations(total, workers=None).room == 1


@pytest.mark.parametrize("x", [1.0, [[1.0]]])
def test_bad_point(x):
    with pytest.raises(ValueError, match=r"x must have shape \(D,\), got"):
        Evaluations(total).submit(x)


def test_outcome_cannot_change():
    with pytest.raises(AttributeError):
        Outcome(X, 1.0, None, 0.0).value = 2.0
