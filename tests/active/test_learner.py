"""``ActiveLearner``: what it asks, what it remembers, and that an error changes nothing."""

from __future__ import annotations

import copy
import json
import pickle
import threading

import numpy as np
import pandas as pd
import pytest

import ridgeway as rw
from ridgeway.active.acquisition import Bald, information, outlook_of, score
from ridgeway.active.pending import PendingBelief
from ridgeway.belief import approximation
from ridgeway.spaces import point_chunks
from tests.active.learner_problem import (
    LOWER,
    UPPER,
    box,
    candidates,
    either_space,
    f,
    inside,
    make,
    nearest,
    run,
    spaces,
)
from tests.helpers import Cauchy
from tests.spaces import pools_on_disk as on_disk

pytestmark = pytest.mark.usefixtures("little_effort")


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
    assert "9 observed, 0 pending, 0 failed" in repr(learner)


@pytest.mark.slow
def test_it_learns():
    """The point of it all: after some experiments the direction is known."""
    learner = make(n_initial=6)
    run(learner, 25)
    direction = learner.belief.embedding[0] / np.linalg.norm(learner.belief.embedding[0])
    assert abs(direction @ [2.0, -1.0, 0.0]) / np.sqrt(5.0) > 0.99


@either_space
@pytest.mark.parametrize("acquisition", ["information", "random"])
def test_a_batch_before_anything_is_observed(space, acquisition):
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


@pytest.mark.slow
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


def test_the_score_takes_pending_points_into_account():
    learner = make(fill_every=None)
    run(learner, 6)
    X = candidates(5)
    np.testing.assert_allclose(learner.score(X), information(learner.belief, X), rtol=1e-9)
    out = learner.ask(2)
    broken = candidates(1, seed=5)[0]
    learner.fail(broken)
    expected = score(information, PendingBelief(learner.belief).given(np.vstack([out, broken])), X)
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
    (asked,) = np.flatnonzero((pool.points == learner.ask()).all(axis=1))
    assert std[asked] > (1.0 - 1e-8) * std.max()  # another may be as wide, but for rounding


def test_flat_scores_leave_the_choice_to_the_design():
    """A constant teaches nothing about where to look: the space is filled further."""
    learner = make(rw.Pool(candidates(200)), n_initial=2)
    X = run(learner, 6, lambda x: 1.0)
    assert nearest(X) > 0.05


@pytest.mark.slow
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


@pytest.mark.slow
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
    """Where most of the variation is taken for noise the space is filled instead."""
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


# -- the same again --------------------------------------------------------------------------------


@pytest.mark.slow
@either_space
@pytest.mark.parametrize("acquisition", ["information", "random"])
def test_same_seed_same_sequence(space, acquisition):
    first, again, other = (make(spaces()[space], acquisition=acquisition, random_state=s) for s in (3, 3, 4))
    X = run(first, 9)
    np.testing.assert_array_equal(X, run(again, 9))
    assert not np.array_equal(X, run(other, 9))


def through_json(learner, **arguments):
    return rw.ActiveLearner.from_dict(json.loads(json.dumps(learner.to_dict())), **arguments)


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_progress_is_reported():
    said = []
    learner = make(progress=said.append, inference="nested", fill_every=None)
    run(learner, 5)
    assert said
    assert all(isinstance(sentence, str) for sentence in said)


def test_data_from_before_stand_in_for_the_first_points() -> None:
    learner = rw.ActiveLearner(rw.Box([-1.0] * 3, [1.0] * 3), rw.Linear(1), n_initial=6)
    X = np.random.default_rng(0).uniform(-1, 1, (12, 3))
    learner.tell(X[:4], np.sin(X[:4].sum(axis=1)))
    assert not learner.consults()
    learner.tell(X[4:], np.sin(X[4:].sum(axis=1)))
    assert learner.consults()
    learner.ask()
    assert np.isfinite(learner.expected).all()


# -- names -------------------------------------------------------------------------------------

NAMES = ["share", "angle", "load"]


def named_box():
    return rw.Box(LOWER, UPPER, names=NAMES, units=[None, "°", "kg"])


def test_names_change_no_choice():
    plain, named = make(), make(named_box())
    for _ in range(7):
        x, settings = plain.ask(), named.ask(named=True)
        assert list(settings) == NAMES
        np.testing.assert_array_equal(list(settings.values()), x)
        plain.tell(x, f(x))
        named.tell(dict(reversed(settings.items())), f(x))
    np.testing.assert_array_equal(named.X, plain.X)
    assert len(named.pending) == 0


def test_several_points_by_name():
    learner = make(named_box())
    frame = pd.DataFrame(learner.ask(3, named=True))
    assert list(frame.columns) == NAMES
    np.testing.assert_array_equal(frame, learner.pending)
    learner.tell(frame[["load", "share", "angle"]], f(frame.to_numpy()))
    np.testing.assert_array_equal(learner.X, frame)
    learner.tell(frame.loc[0, ["load", "share", "angle"]], 20.0)
    np.testing.assert_array_equal(learner.X[3], frame.loc[0])
    learner.fail({"load": 200.0, "share": 0.5, "angle": 1.0}, "broken")
    np.testing.assert_array_equal(learner.failed[0][0], [0.5, 1.0, 200.0])
    asked = learner.ask(named=True)
    learner.withdraw(asked)
    assert len(learner.pending) == 0


@pytest.mark.slow
def test_the_belief_and_scores_know_the_names(tmp_path):
    learner = make(named_box())
    run(learner, 6)
    assert learner.belief.names == tuple(NAMES)
    assert learner.belief.units == (None, "°", "kg")
    frame = pd.DataFrame(candidates(5), columns=NAMES)
    np.testing.assert_array_equal(learner.score(frame[["load", "share", "angle"]]), learner.score(frame.to_numpy()))
    assert "load [kg]" in learner._repr_html_()
    assert "load [kg]" in learner.report(tmp_path / "r.html", suggestions=0).read_text("utf-8")
    stored = rw.ActiveLearner.from_dict(json.loads(json.dumps(learner.to_dict())))
    assert stored.space == learner.space
    assert stored.belief.labels == ("share", "angle [°]", "load [kg]")


def test_points_with_other_names_are_refused():
    learner = make(named_box())
    for call in (lambda x: learner.tell(x, 1.0), learner.fail, learner.withdraw):
        with pytest.raises(ValueError, match=r"x must have the columns .*: 'load' missing and 'weight' not known"):
            call({"share": 0.5, "angle": 1.0, "weight": 200.0})
    with pytest.raises(ValueError, match="named must be False where the space has no names"):
        make().ask(named=True)
    assert learner.record.n == 0


# -- numbers that are too large ------------------------------------------------------------------


@either_space
@pytest.mark.parametrize("call", ["ask", "preview"])
def test_more_points_than_can_be_chosen_at_once(space, call):
    learner = make(spaces()[space])
    if space == "pool" and call == "preview":
        assert len(learner.preview(10**9).X) == len(learner.space)  # as many as there are
        return
    with pytest.raises(ValueError, match="n must be at most"):
        getattr(learner, call)(10**9)
    assert learner.n_asked == len(learner.pending) == 0


def test_the_limit_depends_on_the_number_of_inputs():
    wide = rw.ActiveLearner(rw.Box(np.zeros(2**20), 1.0), rw.Isotropic())
    with pytest.raises(ValueError, match="n must be at most 128 points of 1,048,576 inputs at a time, got 129"):
        wide.ask(129)
    with pytest.raises(ValueError, match="n_initial must be at most 10,000 points"):
        make(n_initial=10**9)


# -- states that someone else has made ------------------------------------------------------------


@pytest.fixture(scope="module")
def state():
    learner = make()
    run(learner, 6)
    learner.ask()
    learner.fail(candidates()[0], "broken")
    assert learner.belief.y.shape == (6,)
    return json.dumps(learner.to_dict())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["space"], None),
        (["space"], {"kind": "box", "lower": [0.0], "upper": [1.0]}),
        (["space", "lower"], [0.0, 0.0]),
        (["space", "lower"], "low"),
        (["space", "names"], 3),
        (["space", "upper"], [2.0, 5.0, 300.0]),  # the belief is about another box
        (["embedding"], {"name": "linear", "d": 10**9}),
        (["embedding"], {"name": "linear", "colour": 1}),
        (["embedding"], []),
        (["acquisition"], None),
        (["acquisition"], "nonsense"),
        (["kernel"], {"name": {}}),
        (["inference"], 1),
        (["priors"], {"colour": 1}),
        (["n_initial"], 10**9),
        (["fill_every"], "often"),
        (["random_state"], -1),
        (["n_asked"], -1),
        (["n_asked"], None),
        (["searched_at"], "late"),
        (["expected"], "much"),
        (["expected"], [{}]),
        (["record"], []),
        (["record", "X"], [1.0, 2.0, 3.0]),
        (["record", "X", 0], [1.0]),
        (["record", "X", 0, 0], float("nan")),
        (["record", "X", 0, 0], 1e308),
        (["record", "y"], [1.0]),
        (["record", "y", 0], None),
        (["record", "noise", 0], -1.0),
        (["record", "out"], [[1.0, 2.0]]),
        (["record", "failed"], [[0.5, 0.0, float("inf")]]),
        (["record", "reasons"], []),
        (["record", "reasons"], [1]),
        (["belief"], "no base64!"),
        (["belief"], "bm8gYmVsaWVm"),
        (["belief"], 7),
    ],
)
def test_a_crafted_state_is_refused(state, path, value):
    changed = json.loads(state)
    node = changed
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        rw.ActiveLearner.from_dict(changed)


def test_a_state_that_lacks_something_is_refused(state):
    for key in set(json.loads(state)) - {"format", "effort", "goal", "limits"}:  # these came later
        changed = json.loads(state)
        del changed[key]
        with pytest.raises(ValueError, match=f"state must have the key '{key}'"):
            rw.ActiveLearner.from_dict(changed)
    for key in json.loads(state)["record"]:
        changed = json.loads(state)
        del changed["record"][key]
        with pytest.raises(ValueError, match=f"record must have the key '{key}'"):
            rw.ActiveLearner.from_dict(changed)


def test_threads_that_share_a_learner_lose_nothing() -> None:
    learner, errors = rw.ActiveLearner(rw.Box([0.0] * 3, [1.0] * 3), acquisition="random"), []

    def work() -> None:
        try:
            for _ in range(25):
                x = learner.ask()
                learner.tell(x, float(x.sum()))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert (learner.record.n, learner.n_asked, len(learner.pending)) == (200, 200, 0)
    assert len(np.unique(learner.X, axis=0)) == 200


def test_a_copy_of_a_learner_has_a_lock_of_its_own() -> None:
    learner = rw.ActiveLearner(rw.Box([0.0, 0.0], [1.0, 1.0]))
    twin = pickle.loads(pickle.dumps(copy.deepcopy(learner)))
    learner.ask()
    assert (len(twin.pending), np.array_equal(twin.ask(), learner.pending[0])) == (0, True)


def test_an_outcome_far_from_its_prediction_is_recorded_and_surprising():
    learner = make(box())
    run(learner, 14)
    assert learner.belief.suspects == ()
    x = learner.ask()
    learner.tell(x, 1e4)
    (found,) = learner.surprises
    assert (found.index, found.value) == (0, 1e4)
    assert learner.y[-1] == 1e4
    assert [suspect.row for suspect in learner.belief.suspects] == [14]
    assert learner.surprises == ()


# -- goals -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "acquisition"), [("minimize", "improvement"), ("maximize", "thompson")])
@either_space
def test_an_optimiser_goes_on_as_if_nothing_had_happened(space, goal, acquisition):
    learner = make(spaces()[space], goal=goal, acquisition=acquisition)
    asked = run(learner, 6)
    assert inside(learner, asked)
    pair = learner.ask(2)
    again = through_json(learner, points=candidates()) if space == "pool" else through_json(learner)
    assert again.goal == goal
    for one in (learner, again):
        one.tell(pair[0], f(pair[0]))
    np.testing.assert_array_equal(learner.ask(), again.ask())
    assert learner.best().observed_value == (learner.y.min() if goal == "minimize" else learner.y.max())
    np.testing.assert_allclose(learner.score(candidates(4)), again.score(candidates(4)), rtol=1e-6)


def test_a_goal_without_its_acquisition_and_the_other_way_round():
    with pytest.raises(ValueError, match="goal must be one of 'learn', 'minimize', 'maximize', got 'minimise'"):
        make(goal="minimise")
    with pytest.raises(ValueError, match='goal must be "minimize" or "maximize" for acquisition \'improvement\''):
        make(acquisition="improvement")
    assert make(goal="minimize", acquisition="information").acquisition == "information"


@pytest.mark.slow
def test_a_pool_that_is_exhausted():
    learner = make(rw.Pool(candidates(6)), goal="minimize", acquisition=None)
    run(learner, 6)
    with pytest.raises(ValueError, match="the pool is exhausted"):
        learner.ask()
    assert learner.best().observed_value == learner.y.min()


@pytest.mark.slow
def test_the_best_outcome_is_no_outlier():
    learner = make(goal="minimize", acquisition=None)
    X = candidates(14)
    learner.tell(X, np.append(f(X[:-1]), -500.0))
    assert learner.belief.suspects == ()
    assert learner.best().index == 13


# -- pools on disk -------------------------------------------------------------------------------


@pytest.mark.parametrize("acquisition", ["information", "random"])
@pytest.mark.parametrize("cached", [False, True])
def test_a_learner_on_disk_asks_what_one_in_memory_asks(acquisition, cached, tmp_path):
    """First points, choices, points told unasked, copies; and it goes on after it was stored, without its rows."""
    X = on_disk.points(300)
    X[[8, 250]] = X[100]
    cache = tmp_path / "kept" if cached else None
    pools = {
        "memory": lambda: rw.Pool(X, on_disk.NAMES),
        "files": lambda: rw.Pool(on_disk.written(tmp_path, X), cache=cache),
        "dask": lambda: rw.Pool(on_disk.array_of(X, 61), on_disk.NAMES, cache=cache),
    }
    asked = {}
    for kind, pool in pools.items():
        learner = make(pool(), acquisition=acquisition)
        first = learner.ask(4)
        learner.tell(first, on_disk.function(first))
        learner.tell(X[100], 0.5)
        learner.fail(X[200])
        stored = json.loads(json.dumps(learner.to_dict()))
        assert "rows:300:" in json.dumps(stored) or kind == "memory"
        again = {"memory": X, "files": None, "dask": on_disk.array_of(X, 100)}[kind]
        learner = rw.ActiveLearner.from_dict(stored, again)
        asked[kind] = np.vstack([first, learner.ask(3), learner.ask()])
        rows = learner.space.index_of(asked[kind])
        np.testing.assert_array_equal(X[rows], asked[kind])
        assert not set(rows.tolist()) & {8, 100, 200, 250}
    np.testing.assert_array_equal(asked["files"], asked["memory"])
    np.testing.assert_array_equal(asked["dask"], asked["memory"])


def test_first_points_of_a_pool_of_copies_on_disk():
    """Copies of a chosen point are found after the choice: it is made once more without them."""
    X = np.repeat(on_disk.points(3), 30, axis=0)
    memory, disk = (make(rw.Pool(points)).ask(3) for points in (X, on_disk.array_of(X, 20)))
    np.testing.assert_array_equal(disk, memory)
    assert len(np.unique(disk, axis=0)) == 3


def test_a_pool_on_disk_that_is_exhausted(tmp_path):
    X = on_disk.points(5)
    learner = make(rw.Pool(on_disk.written(tmp_path, X, (2,))))
    learner.tell(X, on_disk.function(X))
    assert learner.record.n_left == 0
    assert learner.preview(2).X.shape == (0, 4)
    with pytest.raises(ValueError, match="the pool is exhausted, 1 asked"):
        learner.ask()


def test_points_told_to_a_learner_on_disk_are_looked_for(tmp_path):
    X = on_disk.points(50)
    learner = make(rw.Pool(on_disk.written(tmp_path, X, (20,))))
    learner.tell(X[7], 1.0)
    with pytest.raises(
        ValueError, match=r"x must be points of the pool, but row 1 is not \(pass outside=True if meant\)"
    ):
        learner.tell([X[3], X[3] + 0.01], [1.0, 2.0])
    learner.tell(X[3] + 0.01, 2.0, outside=True)
    assert learner.record.n == 2
    assert learner.ask().shape == (4,)


def test_asked_points_are_told_without_a_pass(tmp_path, monkeypatch):
    learner = make(rw.Pool(on_disk.written(tmp_path, on_disk.points(50), (20,))))
    x = learner.ask()
    monkeypatch.setattr(point_chunks.ParquetPoints, "ask", None)
    learner.tell(x, 1.0)
    assert learner.space.index_of(x[None])[0] >= 0


# -- many rows -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_learner_of_many_rows_chooses_from_a_pool(monkeypatch):
    """With a finite basis: it fits when there is something new, and its scores are those of the belief."""
    monkeypatch.setattr(approximation, "MOST_EXACT", 300)
    X = on_disk.points(500)
    y = on_disk.function(X) + 0.1 * np.random.default_rng(1).standard_normal(500)
    learner = rw.ActiveLearner(rw.Pool(X), rw.Linear(1), effort="quick", fill_every=None)
    learner.tell(X[:400], y[:400])
    first = learner.ask(2)
    assert learner.belief.diagnostics.waves
    assert learner.belief is learner.belief
    assert learner.belief.n_rows == 400
    assert (learner.expected > 0).all()
    learner.tell(first, on_disk.function(first))
    again = rw.ActiveLearner.from_dict(json.loads(json.dumps(learner.to_dict())), X)
    np.testing.assert_array_equal(again.ask(), learner.ask())
    assert learner.belief.n_rows == 402
