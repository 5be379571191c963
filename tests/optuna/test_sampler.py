"""``RidgewaySampler`` in studies of Optuna."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")

import ridgeway as rw
from ridgeway.optuna import RidgewaySampler
from ridgeway.optuna.parameters import Parameters


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def along(trial, D=5):
    """A function of one direction of ``D`` inputs, least where their sum is 1."""
    total = sum(trial.suggest_float(f"x{i}", -1, 1) for i in range(D))
    return (total - 1) ** 2


def study_of(sampler, storage=None, **options):
    return optuna.create_study(sampler=sampler, storage=storage, study_name="s", load_if_exists=True, **options)


def quick(**options):
    return RidgewaySampler(**{"embedding": rw.Isotropic(), "seed": 1, "n_startup_trials": 5, **options})


@pytest.mark.slow
def test_it_finds_the_least_value():
    study = study_of(quick(embedding=rw.Linear(1)))
    study.optimize(along, 16)
    assert study.best_value < 0.02


@pytest.mark.slow
def test_it_finds_the_largest_value():
    study = study_of(quick(), direction="maximize")
    study.optimize(lambda trial: -along(trial, 3), 14)
    assert study.best_value > -0.02


@pytest.mark.slow
def test_every_kind_of_parameter():
    def objective(trial):
        rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
        gap = trial.suggest_float("gap", 0, 2, step=0.5)
        layers = trial.suggest_int("layers", 1, 9, step=2)
        loss = trial.suggest_categorical("loss", ["l1", "l2"])
        return (np.log10(rate) + 2) ** 2 + (gap - 1) ** 2 + (layers - 5) ** 2 / 10 + (loss == "l1")

    study = study_of(quick())
    study.optimize(objective, 30)
    assert study.best_value < 0.2
    assert study.best_params["loss"] == "l2"


def test_parameters_that_only_some_trials_have():
    def objective(trial):
        value = trial.suggest_float("x", -1, 1) ** 2
        return value + (trial.suggest_float("extra", 0, 1) if trial.number % 2 else 0.0)

    study = study_of(quick())
    study.optimize(objective, 9)
    assert all("extra" in t.params for t in study.trials[1::2])


@pytest.mark.slow
def test_constraints_are_kept():
    def objective(trial):
        x, y = (trial.suggest_float(name, -1, 1) for name in "xy")
        trial.set_constraint("sum", x + y + 0.5)
        return (x - 0.5) ** 2 + (y - 0.5) ** 2

    study = study_of(quick())
    study.optimize(objective, 25)
    assert sum(study.best_trial.params.values()) <= -0.5
    assert study.best_value < 2 * 0.75**2 * 1.05  # the least on the border


@pytest.mark.slow
def test_a_constraint_that_no_trial_keeps_comes_first():
    study = study_of(quick())

    def objective(trial):
        x = trial.suggest_float("x", -1, 1)
        trial.set_constraint("far", 0.95 - x)
        return trial.suggest_float("y", -1, 1) ** 2 + x

    study.optimize(objective, 14)
    assert any(t.constraints["far"] <= 0 for t in study.trials)


def test_running_trials_are_pending():
    study = study_of(quick())
    study.optimize(along, 8)
    sampler, space = study.sampler, study.sampler.infer_relative_search_space(study, study.trials[0])
    trials = [study.ask() for _ in range(3)]
    first = {name: trials[0].suggest_float(name, -1, 1) for name in space}
    learner = sampler.learner_of(study)
    assert len(learner.pending) >= 1
    assert learner.record.has_seen(Parameters.of(space).points([first])[0])
    proposed = [tuple(t.suggest_float(name, -1, 1) for name in space) for t in trials]
    assert len(set(proposed)) == 3


def test_failed_trials_are_not_asked_for_again():
    def objective(trial):
        value = along(trial, 3)
        if trial.number >= 6:
            raise ValueError("burst")
        return value

    study = study_of(quick())
    study.optimize(objective, 10, catch=ValueError)
    failed = [tuple(t.params.values()) for t in study.trials[6:]]
    assert len(set(failed)) == 4
    assert len(study.sampler.learner_of(study).failed) == 4


def test_infinite_values_and_pruned_trials():
    def objective(trial):
        value = along(trial, 2)
        if trial.number == 2:
            return float("inf")
        if trial.number == 3:
            raise optuna.TrialPruned
        return value

    study = study_of(quick())
    study.optimize(objective, 8)
    learner = study.sampler.learner_of(study)
    assert (learner.record.n, len(learner.failed)) == (6, 1)


@pytest.mark.slow
def test_the_goal_to_learn():
    study = study_of(quick(goal="learn", embedding=rw.Linear(1), effort="quick"))
    study.optimize(lambda trial: np.sin(along(trial, 4)), 9)
    belief = study.sampler.learner_of(study).belief
    assert belief.embedding.shape == (1, 4)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_trials_and_another_does_not():
    runs = []
    for seed in (3, 3, 4):
        study = study_of(quick(seed=seed))
        study.optimize(lambda trial: along(trial, 3), 8)
        runs.append([t.params for t in study.trials])
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.slow
def test_several_threads():
    study = study_of(quick())
    study.optimize(lambda trial: along(trial, 3), 12, n_jobs=3)
    points = {tuple(t.params.values()) for t in study.trials}
    assert len(points) == 12


def test_a_copy_of_a_sampler_goes_on():
    study = study_of(quick())
    study.optimize(along, 7)
    again = pickle.loads(pickle.dumps(study.sampler))
    number = study.ask().number
    trial, space = study.trials[number], study.sampler.infer_relative_search_space(study, study.trials[number])
    assert study.sampler.sample_relative(study, trial, space) == again.sample_relative(study, trial, space)


RUN = """
import sys, time, optuna, ridgeway as rw
from ridgeway.optuna import RidgewaySampler
optuna.logging.set_verbosity(optuna.logging.WARNING)
sampler = RidgewaySampler(rw.Isotropic(), seed=1, n_startup_trials=5)
study = optuna.create_study(sampler=sampler, storage=sys.argv[1], study_name="s", load_if_exists=True)
def objective(trial):
    total = sum(trial.suggest_float(f"x{i}", -1, 1) for i in range(5))
    if trial.number >= int(sys.argv[2]):
        print("sleeping", flush=True)
        time.sleep(60)
    return (total - 1) ** 2
study.optimize(objective, 8)
"""


@pytest.mark.slow
def test_after_a_kill_the_next_trial_is_the_one_that_would_have_come(tmp_path):
    """The uninterrupted study and one that was killed after seven trials give the same eighth."""
    storage = f"sqlite:///{tmp_path}/study.db"
    process = subprocess.Popen([sys.executable, "-c", RUN, storage, "7"], stdout=subprocess.PIPE)
    assert process.stdout.readline().strip() == b"sleeping"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    whole = study_of(quick())
    whole.optimize(along, 8)
    killed = optuna.load_study(study_name="s", storage=storage, sampler=quick())
    assert [t.params for t in killed.trials] == [pytest.approx(t.params) for t in whole.trials]
    assert killed.trials[7].state.name == "RUNNING"
    # and with the killed one told as failed, both go on alike
    resumed = study_of(quick())
    resumed.add_trials([t for t in killed.trials if t.state.is_finished()])
    trial = resumed.ask()
    assert {name: trial.suggest_float(name, -1, 1) for name in whole.trials[7].params} == pytest.approx(
        whole.trials[7].params
    )


@pytest.mark.slow
def test_three_hundred_parameters_take_little_beyond_the_fit():
    D, rng = 300, np.random.default_rng(0)
    names = [f"x{i}" for i in range(D)]
    space = {name: optuna.distributions.FloatDistribution(-1, 1) for name in names}
    study = study_of(quick(n_startup_trials=10))
    for x in rng.uniform(-1, 1, (20, D)):
        params = dict(zip(names, x.tolist(), strict=True))
        study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=float(x[:10].sum())))
    started = time.process_time()
    _ = study.sampler.learner_of(study).averaged
    fitted = time.process_time() - started
    trial = study.ask()
    started = time.process_time()
    _ = trial.suggest_float("x0", -1, 1)
    assert time.process_time() - started < fitted + 2.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal": "win"}, "goal must be"),
        ({"seed": -1}, "seed"),
        ({"n_startup_trials": 0}, "n_startup_trials"),
        ({"effort": "heroic"}, "effort"),
        ({"acquisition": "luck"}, "acquisition"),
        ({"embedding": 3}, "embedding"),
    ],
)
def test_options_that_cannot_be_are_refused_at_once(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        RidgewaySampler(**options)


def test_more_than_one_objective_is_refused():
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=quick())
    with pytest.raises(ValueError, match="multi-objective"):
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 1.0), 2)


def test_a_study_without_parameters_has_no_learner():
    with pytest.raises(ValueError, match="study must have finished trials"):
        quick().learner_of(study_of(quick()))
