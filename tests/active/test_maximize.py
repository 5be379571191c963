"""Where a score is largest: in a pool against scoring all of it, in a box against many random points."""

from __future__ import annotations

import os
import signal
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.active import maximize, shortlist
from ridgeway.active.acquisition import BY_NAME, bald, information, outlook_of, score, score_with_gradient, uncertainty
from ridgeway.active.pool_coordinates import PoolView, view_of
from ridgeway.gp.process import condition
from ridgeway.spaces import point_chunks
from tests.active.maximize_problem import box, points
from tests.spaces import pools_on_disk as on_disk

PRIORS = rw.Priors(log_noise=(-1.5, 0.2))


def belief(n, D, seed=0, embedding=None, y=None):
    X = points(n, D, [seed, 1])
    lower, upper = box(D)
    Z = 2.0 * (X - lower) / (upper - lower) - 1.0
    rng = np.random.default_rng([seed, 2])
    f = np.sin(2.0 * Z @ rng.standard_normal(D) / np.sqrt(D)) + 0.2 * rng.standard_normal(n)
    model = rw.Linear(1) if embedding is None else embedding
    return rw.fit(
        X, f if y is None else y, model, inference="map", n_starts=2, bounds=box(D), priors=PRIORS, random_state=seed
    )


def as_good_as(value, best):
    """Equal but for rounding, which may choose between two points that are as good."""
    return value >= best - 1e-8 * abs(best)


def none(pool):
    """No point was seen."""
    return np.zeros((0, pool.D))


# -- pools -----------------------------------------------------------------------------------


@pytest.mark.parametrize("acquired", [bald, information, uncertainty])
@pytest.mark.parametrize(("n", "D"), [(12, 20), (20, 6)])
def test_one_point_of_a_pool_is_the_best(acquired, n, D):
    pool = rw.Pool(points(300, D, 3))
    outlook = outlook_of(belief(n, D))
    for pending in (np.zeros((0, D)), points(3, D, 4)):
        given = outlook.given(pending)
        choice = maximize.over_pool(PoolView(pool), given, acquired, 1, none(pool))
        scores = score(acquired, given, pool.points)
        (chosen,) = choice.indices.tolist()
        assert as_good_as(scores[chosen], scores.max())
        np.testing.assert_array_equal(choice.X, pool.points[choice.indices])
        assert choice.scores[0] == pytest.approx(scores.max(), rel=1e-9)
        assert not choice.flat
        np.testing.assert_allclose(maximize.pool_scores(PoolView(pool), given, acquired), scores, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("embedding", [rw.Linear(2), rw.Diagonal(), rw.Isotropic()])
def test_scores_of_a_pool_are_those_of_its_points(embedding):
    pool = rw.Pool(points(50, 12, 3))
    given = outlook_of(belief(9, 12, embedding=embedding)).given(points(2, 12, 4))
    expected = score(information, given, pool.points)
    np.testing.assert_allclose(maximize.pool_scores(PoolView(pool), given, information), expected, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_of_a_pool_is_greedy(seed):
    pool = rw.Pool(points(200, 6, seed))
    outlook = outlook_of(belief(20, 6, seed))
    choice = maximize.over_pool(PoolView(pool), outlook, information, 5, none(pool))
    assert len(set(choice.indices.tolist())) == 5
    left = np.ones(len(pool), dtype=bool)
    for i, value in zip(choice.indices, choice.scores, strict=True):
        scores = np.where(left, score(information, outlook, pool.points), -np.inf)
        assert as_good_as(scores[i], scores.max())
        assert value == pytest.approx(scores.max(), rel=1e-8)
        left[i], outlook = False, outlook.given(pool.points[i : i + 1])
    assert choice.scores.sum() == pytest.approx(outlook.information, rel=1e-8)


def test_a_batch_is_chosen_by_what_the_acquisition_names_for_batches():
    pool = rw.Pool(points(200, 6, 3))
    outlook, view = outlook_of(belief(20, 6)), PoolView(pool)
    by_bald, by_information = (maximize.over_pool(view, outlook, a, 4, none(pool)) for a in (bald, information))
    np.testing.assert_array_equal(by_bald.indices, by_information.indices)
    np.testing.assert_array_equal(by_bald.scores, by_information.scores)
    space = rw.Box(*box(6))
    in_box = [maximize.over_box(space, outlook, a, 2, np.random.default_rng(0)).X for a in (bald, information)]
    np.testing.assert_array_equal(*in_box)


@pytest.mark.slow
def test_a_batch_tells_more_than_the_points_that_are_best_alone():
    more = 0
    for seed in range(20):
        pool = rw.Pool(points(500, 6, [seed, 3]))
        outlook = outlook_of(belief(30, 6, seed))
        choice = maximize.over_pool(PoolView(pool), outlook, information, 8, none(pool))
        alone = np.argsort(-score(information, outlook, pool.points))[:8]
        batch = outlook.given(choice.X).information
        best = outlook.given(pool.points[alone]).information
        assert batch >= best - 1e-9
        more += batch > best + 1e-6
    assert more >= 15


def test_points_that_are_taken_are_not_proposed():
    pool = rw.Pool(points(40, 6, 3))
    outlook = outlook_of(belief(20, 6))
    free = np.zeros(40, dtype=bool)
    free[::4] = True
    choice = maximize.over_pool(PoolView(pool), outlook, information, 10, pool.points[~free])
    assert sorted(choice.indices) == list(range(0, 40, 4))
    best = int(np.argmax(score(information, outlook, pool.points)))
    alone = pool.points[[best]]
    assert maximize.over_pool(PoolView(pool), outlook, information, 1, alone).indices[0] != best


def test_copies_are_one_point():
    """A pool may hold the same point many times; a batch has no use for the second."""
    distinct = points(6, 6, 3)
    pool = rw.Pool(np.repeat(distinct, 5, axis=0))
    outlook, view = outlook_of(belief(20, 6)), PoolView(pool)
    for settings in (maximize.DEFAULT, maximize.MaximizeSettings(shortlist=6)):
        choice = maximize.over_pool(view, outlook, information, 6, none(pool), settings)
        assert len(np.unique(choice.X, axis=0)) == 6
        np.testing.assert_array_equal(pool.points[choice.indices], choice.X)
        assert choice.scores.sum() == pytest.approx(outlook.given(distinct).information, rel=1e-8)
        with pytest.raises(ValueError, match="n must be at most the number of different points left, 6, got 7"):
            maximize.over_pool(view, outlook, information, 7, none(pool), settings)


def test_a_shortlist_of_a_large_pool():
    pool = rw.Pool(points(400, 6, 3))
    outlook = outlook_of(belief(20, 6))
    whole = maximize.over_pool(PoolView(pool), outlook, information, 4, none(pool))
    sixty = maximize.MaximizeSettings(shortlist=60)
    short = maximize.over_pool(PoolView(pool), outlook, information, 4, none(pool), sixty)
    ranks = np.argsort(np.argsort(-score(information, outlook, pool.points)))
    assert short.indices[0] == whole.indices[0]
    assert ranks[short.indices].max() < 60
    assert len(set(short.indices.tolist())) == 4
    # More points asked than the shortlist is long: it grows with them.
    two = maximize.MaximizeSettings(shortlist=2)
    many = maximize.over_pool(PoolView(pool), outlook, information, 7, none(pool), two)
    assert sorted(ranks[many.indices]) == list(range(7))
    taken = maximize.over_pool(PoolView(pool), outlook, information, 7, pool.points[ranks < 100], two)
    assert sorted(ranks[taken.indices]) == list(range(100, 107))


def test_flat_scores_of_a_pool_are_reported():
    pool = rw.Pool(points(50, 6, 3))
    assert maximize.over_pool(PoolView(pool), outlook_of(nothing(6)), information, 2, none(pool)).flat


def nothing(D):
    """A belief about a constant, at ``R = 0``."""
    with pytest.warns(rw.RidgewayWarning, match="y is constant"):
        result = belief(10, D, y=np.full(10, 3.0))
    component = result.components[0]
    theta = component.gp.theta.copy()
    theta[:-4] = 0.0
    gp = condition(rw.Linear(1), result.kernel, result.posterior.data, theta)
    return replace(result, components=(replace(component, gp=gp, factor=np.zeros_like(component.factor)),))


# -- boxes -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("acquired", [information, bald, uncertainty])
@pytest.mark.parametrize(("n", "D", "seed"), [(30, 8, 0), (30, 8, 1), (30, 40, 2), (30, 40, 3)])
def test_a_box_holds_no_better_random_point(acquired, n, D, seed):
    space = rw.Box(*box(D))
    outlook = outlook_of(belief(n, D, seed))
    for given in (outlook, outlook.given(points(3, D, 4))):
        choice = maximize.over_box(space, given, acquired, 1, np.random.default_rng(seed))
        assert choice.indices is None
        assert not choice.flat
        assert space.contains(choice.X, tolerance=0.0).all()
        # alone or among others: without noise, 6 nats rest on a variance that eight digits cancel in
        assert choice.scores[0] == pytest.approx(score(acquired, given, choice.X)[0], rel=1e-7)
        assert choice.scores[0] >= score(acquired, given, points(2000, D, [seed, 5])).max()


@pytest.mark.parametrize("embedding", [rw.Linear(2), rw.Diagonal(), rw.Isotropic()])
def test_a_box_for_every_embedding(embedding):
    space, outlook = rw.Box(*box(6)), outlook_of(belief(20, 6, embedding=embedding))
    choice = maximize.over_box(space, outlook, information, 2, np.random.default_rng(0))
    assert space.contains(choice.X, tolerance=0.0).all()
    assert choice.scores[0] >= score(information, outlook, points(2000, 6, 5)).max()
    given = outlook.given(choice.X[:1])
    assert choice.scores[1] >= score(information, given, points(2000, 6, 5)).max()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_in_a_box(seed):
    space, fitted = rw.Box(*box(5)), belief(15, 5, seed)
    pending = points(4, 5, [seed, 6])
    outlook = outlook_of(fitted).given(pending)
    choice = maximize.over_box(space, outlook, information, 5, np.random.default_rng(seed))
    known = np.vstack([fitted.X, pending, choice.X])
    width = np.subtract(*box(5)[::-1])
    gaps = np.abs((known[:, None] - known) / width).max(axis=-1) + np.eye(len(known))
    assert gaps.min() > 1e-7
    assert choice.scores.sum() + outlook.information == pytest.approx(outlook.given(choice.X).information, rel=1e-6)


def test_a_pending_point_changes_the_choice():
    space, outlook = rw.Box(*box(5)), outlook_of(belief(15, 5))
    first = maximize.over_box(space, outlook, information, 1, np.random.default_rng(0))
    second = maximize.over_box(space, outlook.given(first.X), information, 1, np.random.default_rng(0))
    assert second.scores[0] < first.scores[0]
    width = np.subtract(*box(5)[::-1])
    assert np.abs((second.X - first.X) / width).max() > 1e-3


def test_a_choice_is_never_where_an_experiment_has_been(monkeypatch):
    """Even where every climb ends at an observation."""
    space, fitted = rw.Box(*box(5)), belief(15, 5)
    outlook = outlook_of(fitted).given(points(1, 5, 4))

    def to_known(box_, outlook_, acquired, X, settings):
        known = outlook.known_inputs[[0, -1] * len(X)][: len(X)]
        return known, np.full(len(X), 99.0)

    monkeypatch.setattr(maximize, "climb", to_known)
    x = maximize.over_box(space, outlook, information, 1, np.random.default_rng(0)).X
    known = outlook.known_inputs
    assert np.abs((known - x) / np.subtract(*box(5)[::-1])).max(axis=1).min() > 1e-3


def test_climbing_keeps_the_best_of_each(monkeypatch):
    """All climb together, so one may go down while the others gain more."""
    space, outlook = rw.Box(*box(8)), outlook_of(belief(30, 8))
    X, seen = points(6, 8, 7), []

    def watched(*arguments):
        result = score_with_gradient(*arguments)
        seen.append(result[0])
        return result

    monkeypatch.setattr(maximize.acquisitions, "score_with_gradient", watched)
    ends, values = maximize.climb(space, outlook, information, X)
    before = score(information, outlook, X)
    np.testing.assert_array_equal(values, np.max(seen, axis=0))
    assert not np.array_equal(values, seen[-1])
    assert len(seen) <= maximize.DEFAULT.evaluations + 20
    assert np.all(values >= before - 1e-9)
    assert np.mean(values > before + 1e-3) > 0.5
    np.testing.assert_allclose(score(information, outlook, ends), values, rtol=1e-8)
    assert space.contains(ends, tolerance=0.0).all()


def test_flat_scores_of_a_box_are_reported():
    space = rw.Box(*box(6))
    choice = maximize.over_box(space, outlook_of(nothing(6)), information, 3, np.random.default_rng(0))
    assert choice.flat
    assert space.contains(choice.X).all()
    assert len(np.unique(choice.X, axis=0)) == 3


def test_the_same_generator_gives_the_same_choice():
    space, outlook = rw.Box(*box(5)), outlook_of(belief(15, 5))
    first, again = (maximize.over_box(space, outlook, information, 2, np.random.default_rng(3)).X for _ in range(2))
    np.testing.assert_array_equal(first, again)


# -- constraints, steps and categories ---------------------------------------------------------


@pytest.mark.parametrize(
    "texts", [["x0 + x1 + x2 = 0"], ["2 x0 - x1 <= 0.3", "x2 + x3 >= -0.5"], ["x0 = x3", "x1 + x2 <= 0.2"]]
)
def test_constraints_hold_and_little_is_lost(texts):
    rng = np.random.default_rng(5)
    space = rw.Box(-np.ones(4), np.ones(4), constraints=texts)
    X = space.filling(14, rng)
    found = rw.fit(
        X, np.sin(X @ [1.0, 2.0, 0.5, 0.0]), rw.Linear(1), inference="map", n_starts=2, bounds=space.bounds,
        priors=PRIORS, random_state=0,
    )  # fmt: skip
    outlook = outlook_of(found)
    choice = maximize.over_box(space, outlook, information, 3, rng)
    assert space.contains(choice.X, 1e-10).all()
    assert choice.scores[0] >= 0.98 * score(information, outlook, space.uniform(5000, rng)).max()


def test_steps_and_levels_are_chosen_well():
    rng = np.random.default_rng(6)
    space = rw.Box(
        0.0, [1, 1, 1, 1, 1], names=["a", "b", "c", "d=p", "d=q"], steps=[0.25, 0.5, None, None, None],
        categories=[(3, 4)], constraints=["a + b + c <= 1.6"],
    )  # fmt: skip
    X = space.filling(14, rng)
    found = rw.fit(
        X, np.sin(X @ [3.0, 2.0, 0.5, 1.0, 0.0]), rw.Linear(1), inference="map", n_starts=2, bounds=space.bounds,
        priors=PRIORS, random_state=0,
    )  # fmt: skip
    outlook = outlook_of(found)
    choice = maximize.over_box(space, outlook, information, 2, rng)
    np.testing.assert_allclose(space.snapped(choice.X), choice.X, atol=1e-9)
    every = space.uniform(3000, rng)
    new = np.abs(every[:, None] - found.X[None]).max(axis=2).min(axis=1) > 1e-6
    assert choice.scores[0] >= 0.98 * score(information, outlook, every[new]).max()


def test_a_lattice_with_few_points_left_gives_new_ones(little_effort):
    space = rw.Box(0.0, [1.0, 1.0], steps=[0.5, 0.5])
    learner = rw.ActiveLearner(space, rw.Linear(1), inference="map", n_initial=4)
    for _ in range(9):
        x = learner.ask()
        learner.tell(x, float(np.sin(x @ [2.0, 1.0])))
    assert len(np.unique(learner.X, axis=0)) == 9
    with pytest.raises(ValueError, match="hardly any combination"):
        learner.ask(2)


# -- pools on disk -----------------------------------------------------------------------------


ALL = ("information", "bald", "uncertainty", "improvement", "thompson")


def on_disk_belief(n=16):
    X = on_disk.points(n, 8)
    y = on_disk.function(X) + 0.2 * np.random.default_rng(4).standard_normal(n)
    bounds = ([-1.0, -5.0, -1.0, -0.1], [1.0, 15.0, 1.0, 0.1])
    return rw.fit(X, y, rw.Linear(1), inference="map", n_starts=2, bounds=bounds, priors=PRIORS)


def with_copies():
    X = on_disk.points(400)
    X[[5, 90, 300]] = X[200]
    X[77] = on_disk.points(16, 8)[3]  # an input that the belief knows
    return X


ON_DISK = with_copies()


@pytest.mark.slow
@pytest.mark.parametrize("acquired", ALL)
def test_a_pool_on_disk_gives_what_it_gives_in_memory(acquired, tmp_path, monkeypatch):
    """For any number of chunks, in files and in Dask, for one point and for a batch."""
    monkeypatch.setattr(point_chunks, "CHUNK_ROWS", 23)
    monkeypatch.setattr(shortlist, "BLOCK_ROWS", 11)
    acquisition, known = BY_NAME[acquired], on_disk_belief()
    few = maximize.MaximizeSettings(shortlist=40)
    monkeypatch.setattr(maximize, "DEFAULT", few)
    pools = on_disk.everywhere(ON_DISK, tmp_path)
    for n in (1, 6):
        expected = acquisition.choose(known, rw.Pool(ON_DISK, on_disk.NAMES), n)
        assert 77 not in expected.indices
        for kind, pool in pools.items():
            found = acquisition.choose(known, pool, n)
            np.testing.assert_array_equal(found.indices, expected.indices, kind)
            np.testing.assert_array_equal(found.X, expected.X)
            np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-9)
            assert found.flat == expected.flat


@pytest.mark.parametrize("n", [3, 16])  # fewer observations than inputs, and more
def test_cached_coordinates_give_the_same_choice(n, tmp_path):
    known = on_disk_belief(n)
    X = known.X
    pool = rw.Pool(on_disk.written(tmp_path, ON_DISK), cache=tmp_path / "kept")
    for pending in (X[:0], ON_DISK[[200, 17]]):
        given = outlook_of(known).given(pending)
        seen = np.vstack([X, pending])
        for times in (1, 5):
            found, expected = (
                maximize.over_pool(view_of(p), given, information, times, seen) for p in (pool, rw.Pool(ON_DISK))
            )
            np.testing.assert_array_equal(found.indices, expected.indices)
            np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-9)
    assert (tmp_path / "kept" / "manifest.json").exists()


def test_a_shortlist_that_is_too_wide_to_travel_is_read_afterwards(tmp_path, monkeypatch):
    known, pool = on_disk_belief(), rw.Pool(on_disk.written(tmp_path, ON_DISK))
    expected = information.choose(known, pool, 4)
    monkeypatch.setattr(shortlist, "POINT_BYTES", 0)
    np.testing.assert_array_equal(information.choose(known, pool, 4).X, expected.X)


def test_a_pool_on_disk_with_fewer_points_than_are_asked_for(tmp_path):
    known = on_disk_belief()
    for pool in (rw.Pool(ON_DISK[:9]), rw.Pool(on_disk.array_of(np.repeat(ON_DISK[:9], 2, axis=0), 4))):
        assert sorted(information.choose(known, pool, 9).X[:, 0]) == sorted(ON_DISK[:9, 0])
        with pytest.raises(ValueError, match="n must be at most the number of different points left, 9, got 10"):
            information.choose(known, pool, 10)
        none_left = maximize.over_pool
        with pytest.raises(
            ValueError, match="n must be at most the number of points left: the pool is exhausted, 1 asked"
        ):
            none_left(view_of(pool), outlook_of(known), information, 1, ON_DISK[:9])


def test_a_choice_refuses_other_pools():
    known = on_disk_belief()
    with pytest.raises(TypeError, match="pool must be a Pool"):
        information.choose(known, ON_DISK)
    with pytest.raises(ValueError, match="pool must have the 4 inputs of the belief, got 3"):
        information.choose(known, rw.Pool(ON_DISK[:, :3]))
    named = replace(known, names=on_disk.NAMES)
    with pytest.raises(
        ValueError, match=r"pool must have the inputs of the belief in their order, a, b, c, ..., got d, "
    ):
        information.choose(named, rw.Pool(ON_DISK, on_disk.NAMES[::-1]))


@pytest.mark.slow
def test_memory_is_that_of_a_chunk_not_of_the_pool():
    """Random points that are made where they are scored."""
    import dask
    import dask.array as da

    bounds = ([-1.0, -5.0, -1.0, -0.1], [1.0, 15.0, 1.0, 0.1])
    many = da.random.default_rng(0).uniform(*(np.array(side) for side in bounds), size=(400_000, 4), chunks=(4000, 4))
    known, few = on_disk_belief(), maximize.MaximizeSettings(shortlist=100)
    with dask.config.set(scheduler="synchronous"):
        pool = rw.Pool(many)
        tracemalloc.start()
        try:
            found = maximize.over_pool(view_of(pool), outlook_of(known), uncertainty, 3, known.X, few)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert len(set(found.indices.tolist())) == 3
    assert peak < 0.5 * many.nbytes


@pytest.mark.slow
def test_a_pool_on_a_cluster(tmp_path):
    """Processes of their own: questions and answers travel."""
    distributed = pytest.importorskip("distributed")
    known = on_disk_belief()
    expected = information.choose(known, rw.Pool(ON_DISK), 5)
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None, processes=True) as cluster,
        distributed.Client(cluster),
    ):
        found = information.choose(known, rw.Pool(on_disk.array_of(ON_DISK, 90)), 5)
    np.testing.assert_array_equal(found.indices, expected.indices)


@pytest.mark.slow
@pytest.mark.parametrize("fatal_chunk", [0, 2])
def test_a_worker_that_dies_while_a_pool_is_scored_is_survived(tmp_path, fatal_chunk):
    """A chunk that kills the worker that loads it, once: whichever worker that is, and however fast."""
    distributed = pytest.importorskip("distributed")
    known = on_disk_belief()
    expected = information.choose(known, rw.Pool(ON_DISK), 5)
    armed, fired = tmp_path / "armed", tmp_path / "fired"

    def fatal(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == fatal_chunk:
            try:
                os.rename(armed, fired)  # one process succeeds
            except FileNotFoundError:
                return block
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None, processes=True) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())
        pool = rw.Pool(on_disk.array_of(ON_DISK, 90).map_blocks(fatal, dtype=float))
        armed.touch()
        found = information.choose(known, pool, 5)
        client.wait_for_workers(2, timeout=60)
        after = set(client.run(os.getpid).values())
    assert fired.exists()
    assert len(before & after) == 1  # one of the two is another
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-9)
