"""Sobol indices, effects, distributions, formulas and rivals of beliefs about functions whose answers are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ridgeway as rw
from ridgeway.belief import process_draws
from ridgeway.belief import sensitivity as module
from ridgeway.belief.averages import Drawing, average, dispersion, unexplained
from ridgeway.gp.measures import Uniform
from ridgeway.gp.variance_parts import Exchange
from tests.belief.averaged import LOWER, NAMES, UPPER, at_steps, fitted, ridge, stepped_box

TRUTH = Exchange(Uniform(LOWER, UPPER), 14).parts(ridge)


def test_indices_of_a_ridge_are_found_and_held() -> None:
    found = fitted(1).sensitivity(rivals=False, n_draws=60)
    std = np.sqrt(TRUTH.variance)
    assert float(found.mean.mean) == pytest.approx(TRUTH.mean, abs=0.02 * std)
    assert float(found.std.mean) == pytest.approx(std, rel=0.02)
    np.testing.assert_allclose(found.total.mean, TRUTH.total / TRUTH.variance, atol=0.02)
    np.testing.assert_allclose(found.first.mean, TRUTH.first / TRUTH.variance, atol=0.02)
    held = (found.total.low - 0.005 <= TRUTH.total / TRUTH.variance) & (
        TRUTH.total / TRUTH.variance <= found.total.high + 0.005
    )
    assert held.all()
    assert found.ranking[:3] == [0, 1, 2]
    assert np.all(found.first.mean <= found.total.mean + 1e-9)
    assert found.activity.mean.sum() == pytest.approx(1.0)
    text = str(found)
    assert text.splitlines()[1].startswith("speed [m/s]")
    assert "95 %" in text


def test_the_same_seed_gives_the_same_indices() -> None:
    one, two = (fitted(1).sensitivity(rivals=False, n_draws=8, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.total.mean, two.total.mean)


def test_indices_of_more_inputs_than_observations() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20, 30))
    belief = rw.fit(X, X[:, 0], rw.Linear(1), bounds=(-1, 1), n_starts=2, inference="map")
    drawn = process_draws.draws(belief, 4, rng)
    # What the data do not span varies as under the prior, and what they do span does not notice.
    assert np.ptp([one.rows.matrix[0, 5] for one in drawn]) > 0
    for one in drawn:
        np.testing.assert_allclose(belief.space.scaling.scaled(X) @ one.rows.matrix.T, one.U, atol=1e-8)
    found = belief.sensitivity(rivals=False, n_draws=8)
    assert found.total.mean.shape == (30,)
    assert np.isfinite(found.total.high).all()


@pytest.mark.slow
def test_rivals_take_over_where_a_ridge_is_wrong() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (40, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * X[:, 2]
    belief = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), n_starts=3, inference="map")
    found = belief.sensitivity(n_draws=40)
    assert found.models.get("Linear(d=1)", 0.0) < 0.01
    truth = Exchange(Uniform(-np.ones(3), np.ones(3)), 13).parts(
        lambda X: np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * X[:, 2]
    )
    np.testing.assert_allclose(found.total.mean, truth.total / truth.variance, atol=0.03)
    answer = belief.is_ridge()
    assert answer.answer == "no"
    assert answer.sentence.startswith("No: 1 combination of the 3 inputs explains")
    assert belief.rivals is belief.rivals


@pytest.mark.slow
def test_a_ridge_is_called_one() -> None:
    answer = fitted(1).is_ridge()
    assert answer.answer == "yes"
    assert answer.advantage > 5.0
    assert "1 combination of the 4 inputs explains" in answer.sentence
    assert sum(m.weight for m in (answer.embedding, *answer.rivals)) == pytest.approx(1.0)
    diagonal = next(rival for rival in fitted(1).rivals if rival.model == rw.Diagonal())
    with pytest.raises(ValueError, match="a question about Linear"):
        diagonal.is_ridge()


def test_dispersion_is_near_one_where_the_noise_is_right() -> None:
    assert 0.6 < dispersion(fitted(1)) < 1.6


def test_what_is_unexplained_is_the_error_of_observations_left_out() -> None:
    belief = fitted(1)
    errors = belief.y - belief.leave_one_out().mean
    assert unexplained(belief) == pytest.approx(np.mean(errors**2) / np.var(belief.y))
    assert 0.0 < unexplained(belief) < 0.01


def test_what_left_out_predictions_miss_goes_along_with_them() -> None:
    belief = fitted(1)
    how = average(belief, Uniform(LOWER, UPPER), Drawing(rivals=False, n_draws=2), "a test")
    share, error = how.missed_along
    predicted = belief.leave_one_out().mean
    missed = belief.y - predicted
    assert share == pytest.approx(np.cov(missed, predicted, bias=True)[0, 1] / np.var(belief.y), abs=1e-4)
    spread = np.std(missed) / np.std(belief.y) / np.sqrt(belief.y.shape[0])
    assert 0.5 * spread < error < 2.0 * spread
    drawn = how.corrected(np.full(4000, 2.0))
    assert drawn.mean() == pytest.approx(2.0 * (1.0 + share), rel=1e-3)
    assert drawn.std() == pytest.approx(2.0 * error, rel=0.1)
    # One formula: indices and the distribution say the same of the spread.
    one, other = belief.sensitivity(rivals=False, n_draws=60).std, belief.distribution(rivals=False, n_draws=60).std
    assert float(one.mean) == pytest.approx(float(other.mean), rel=0.01)


def test_a_belief_that_predicts_nothing_corrects_nothing() -> None:
    """Each left-out prediction is the mean of the others, which goes against the observation."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (30, 4)), rng.standard_normal(30)
    belief = rw.fit(X, y, rw.Linear(1), bounds=(-1, 1), n_starts=2, inference="map")
    how = average(belief, Uniform(-np.ones(4), np.ones(4)), Drawing(rivals=False, n_draws=2), "a test")
    assert np.abs(how.missed_along).max() < 0.2


@pytest.mark.slow
def test_the_interval_of_the_standard_deviation_holds_it_where_a_process_returns_to_its_mean() -> None:
    """On the piston, functions drawn from the posterior vary too little."""
    piston = rw.testfunctions.piston()
    truth = np.sqrt(Exchange(Uniform(piston.lower, piston.upper), 14).parts(piston).variance)
    held, errors = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rw.Box(piston.lower, piston.upper).filling(60, rng)
        belief = rw.fit(X, piston(X), rw.Diagonal(), bounds=(piston.lower, piston.upper))
        found = belief.sensitivity(rivals=False, n_draws=60).std
        held.append(float(found.low) <= truth <= float(found.high))
        errors.append(float(found.mean) / truth - 1.0)
    assert sum(held) >= 3
    assert np.abs(errors).max() < 0.06


@given(st.floats(0.0, 1.0), st.integers(0, 2**31))
def test_inputs_may_act_alone_in_what_is_unexplained_and_no_more(share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.dirichlet(np.ones(5))[:4]
    total = first + rng.uniform(size=4) * (1.0 - first.sum())
    drawn = module._Indices(0.0, 1.0, first, total, np.full(4, 0.25))
    other = module._shared_otherwise(drawn, share, rng)
    together = np.minimum(total - first, share)
    assert np.all((other.first >= first) & (other.first <= first + together))
    assert np.all((other.total <= total) & (other.total >= total - together))
    assert (other.mean, other.std) == (drawn.mean, drawn.std)


@pytest.mark.slow
def test_intervals_of_an_additive_input_hold_its_index_where_a_product_of_kernels_wins() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-np.pi, np.pi, (60, 3))
    y = np.sin(X[:, 0]) + 7.0 * np.sin(X[:, 1]) ** 2 + 0.1 * X[:, 2] ** 4 * np.sin(X[:, 0])  # Ishigami
    found = rw.fit(X, y, rw.Diagonal(), bounds=(-np.pi, np.pi)).sensitivity(rivals=False, n_draws=60)
    assert found.total.mean[1] > 0.5  # the truth is 0.4424: the kernel lets the second input act with the others
    assert found.total.low[1] < 0.4424 < found.total.high[1]
    assert found.first.low[1] < 0.4424 < found.first.high[1]


def test_an_effect_is_the_mean_at_each_value() -> None:
    found = fitted(1).effect("speed", n_points=5, rivals=False, n_draws=40)
    assert found.label == "speed [m/s]"
    np.testing.assert_allclose(found.x, np.linspace(0.0, 10.0, 5))
    q = np.random.default_rng(0).uniform(size=(20_000, 4))
    X = LOWER + q * (UPPER - LOWER)
    for x, mean, low, high in zip(found.x, found.mean, found.low, found.high, strict=True):
        X[:, 0] = x
        truth = ridge(X).mean()
        assert mean == pytest.approx(truth, abs=0.03)
        assert low <= mean <= high


def test_a_distribution_has_quantiles_and_exceedance() -> None:
    found = fitted(1).distribution(rivals=False, n_draws=30)
    X = LOWER + np.random.default_rng(0).uniform(size=(100_000, 4)) * (UPPER - LOWER)
    y = ridge(X)
    np.testing.assert_allclose(found.quantile([0.1, 0.5, 0.9]).mean, np.quantile(y, [0.1, 0.5, 0.9]), atol=0.03)
    assert float(found.exceedance(5.5).mean) == pytest.approx(np.mean(y > 5.5), abs=0.02)
    assert float(found.exceedance(100.0).high) == 0.0
    assert float(found.exceedance(-100.0).low) == pytest.approx(1.0)
    assert float(found.std.mean) == pytest.approx(y.std(), rel=0.03)
    edges, density = found.density(20)
    assert density @ np.diff(edges) == pytest.approx(1.0, abs=0.01)


def test_a_distribution_over_points_counts_them() -> None:
    belief = fitted(1)
    w = np.array([1.0, 1.0, 2.0])
    found = belief.distribution(rw.measures.Points(belief.X[:3], w), rivals=False, n_draws=10)
    expected = w @ belief.predict(belief.X[:3]).mean / w.sum()
    assert float(found.mean.mean) == pytest.approx(expected, abs=0.05)
    between = 0.5 * (found.values[:, :-1] + found.values[:, 1:])[0]  # the three differ by far more than the draws do
    heavy = int(np.argsort(belief.predict(belief.X[:3]).mean).tolist().index(2))
    expected = [0.75 - 0.25 * (heavy == 0), 0.25 + 0.25 * (heavy == 2)]
    np.testing.assert_allclose(found.exceedance(between).mean, expected)


def test_a_formula_is_the_direction_in_real_units() -> None:
    belief = fitted(1)
    formula = belief.formula()
    z = (belief.X - 0.5 * (LOWER + UPPER)) / (0.5 * (UPPER - LOWER))
    truth = z @ np.array([1.2, 0.6, -0.4, 0.0]) / 1.4
    np.testing.assert_allclose(formula(belief.X)[:, 0], truth, atol=0.05)
    space: dict = {}
    exec(formula.python(), space)
    np.testing.assert_allclose(space["directions"](*belief.X.T), formula(belief.X)[:, 0])
    text = formula.text(top=2)
    assert text.startswith("u1 = ")
    assert "speed [m/s]" in text
    assert "and 2 inputs with smaller weights" in text
    assert "uncertain" in formula.text()  # the input that does nothing
    assert r"\mathrm{speed}" in formula.latex()
    assert formula.latex().startswith(r"\begin{aligned}")
    assert np.all((formula.low <= formula.weights + 1e-12) | (formula.weights <= formula.high + 1e-12))


def test_names_that_python_does_not_take_are_changed() -> None:
    from ridgeway.belief.formula import _identifiers, _latex_name, _latex_number

    assert _identifiers(("a b", "a_b", "class", "1st")) == ["a_b", "a_b_1", "x_class", "x_1st"]
    assert _latex_name("a_b") == r"a\_b"
    assert _latex_number(1.5e-7, 2) == r"1.5 \cdot 10^{-7}"


def constrained() -> rw.Box:
    return rw.Box(LOWER, UPPER, names=NAMES, constraints=["speed + load <= 30"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.sensitivity(over=b.X), "independent inputs for sensitivity, got points"),
        (lambda b: b.sensitivity(over=rw.measures.Gaussian(b.X[0], cov=np.ones((4, 4)) + np.eye(4))), "correlated"),
        (lambda b: b.sensitivity(level=2.0), "level must be a number between 0 and 1, got 2.0"),
        (lambda b: b.sensitivity(random_state=-1), "random_state must be a whole number of at least 0, got -1"),
        (lambda b: b.distribution(random_state=np.random.default_rng(0)), "random_state must be a whole number"),
        (lambda b: b.sensitivity(over=constrained()), "sensitivity, got a box with constraints: the parts"),
        (lambda b: b.effect("gap", over=constrained()), "an effect, got a box with constraints: the parts"),
        (lambda b: b.sensitivity(over=rw.measures.Gaussian(b.X[0], std=0.0)), "over must let some input vary"),
        (lambda b: b.sensitivity(over=rw.measures.Uniform(b.X[0], b.X[0])), "over must let some input vary"),
        (lambda b: b.effect("nothing"), "input must be one of speed, angle, load, ... or its number, got 'nothing'"),
        (lambda b: b.effect(9), "from 0 to 3, got 9"),
        (lambda b: b.effect("speed", n_points=1), "n_points must be a whole number of at least 2"),
        (lambda b: b.distribution(rivals=False, n_draws=2).quantile(1.5), "q must be between 0 and 1"),
        (lambda b: b.distribution(rivals=False, n_draws=2).exceedance(np.nan), "threshold must be a number"),
    ],
)
@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
def test_bad_requests_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(fitted(1))


@pytest.mark.filterwarnings("ignore::ridgeway.RidgewayWarning")
def test_too_few_observations_are_refused() -> None:
    X = fitted(1).X
    with pytest.raises(ValueError, match="sensitivity needs at least 4 observations that differ, got 3 observations"):
        rw.fit(X[:3], ridge(X[:3]), rw.Linear(1), n_starts=1).sensitivity()
    with pytest.raises(ValueError, match="an effect needs at least 4 observations that differ, got 5 equal ones"):
        rw.fit(X[:5], np.ones(5), rw.Linear(1), n_starts=1).effect(0)


def glue() -> rw.Belief:
    """Of one input and a solvent, of which acetone matters most."""
    box = glue_box()
    X = box.uniform(30, np.random.default_rng(0))
    y = np.sin(0.2 * X[:, 0]) + X @ np.array([0.0, 0.2, 1.0, -0.4])
    return rw.fit(X, y, rw.Linear(2), bounds=(box.lower, box.upper), names=box.names, n_starts=3, inference="map")


def glue_box() -> rw.Box:
    names = ["heat", "solvent=water", "solvent=acetone", "solvent=ethanol"]
    return rw.Box([0, 0, 0, 0], [10, 1, 1, 1], names=names, categories=[names[1:]])


def test_a_category_has_one_index_and_an_effect_at_each_level() -> None:
    belief, box = glue(), glue_box()
    found = belief.sensitivity(box, rivals=False, n_draws=30)
    assert found.labels == ("heat", "solvent")
    heat = np.var(np.sin(0.2 * np.linspace(0, 10, 10_001)))
    solvent = np.var([0.2, 1.0, -0.4])
    truth = np.array([heat, solvent]) / (heat + solvent)  # the function is a sum of both
    np.testing.assert_allclose(found.first.mean, truth, atol=0.03)
    np.testing.assert_allclose(found.total.mean, truth, atol=0.04)
    effect = belief.effect("solvent", box, rivals=False, n_draws=30)
    assert effect.words == ("water", "acetone", "ethanol")
    mean = np.mean(np.sin(0.2 * np.linspace(0, 10, 10_001)))
    np.testing.assert_allclose(effect.mean, mean + np.array([0.2, 1.0, -0.4]), atol=0.1)
    assert belief.effect("solvent=water", box, rivals=False, n_draws=8).label == "solvent"
    assert belief.effect("heat", box, rivals=False, n_draws=8).x[-1] == 10.0


def test_integrals_over_a_box_with_categories_take_every_level_as_often() -> None:
    belief, box = glue(), glue_box()
    heat = np.linspace(0, 10, 2001)
    levels = [np.column_stack([heat, np.tile(row, (2001, 1))]) for row in np.eye(3)]
    expected = np.mean([belief.predict(X).mean.mean() for X in levels])
    assert belief.integrate(box).mean == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("embedding", ["directions", "length scales"])
def test_inputs_in_steps_have_the_indices_of_their_values(embedding: str) -> None:
    belief, (X, w) = fitted(1), at_steps()
    if embedding == "length scales":
        belief = rw.fit(
            belief.X, belief.y, rw.Diagonal(), bounds=(LOWER, UPPER), names=NAMES, n_starts=2, inference="map"
        )
    f = belief.predict(X, marginal="map").mean
    mean = w @ f
    variance = w @ (f - mean) ** 2
    found = belief.sensitivity(stepped_box(), rivals=False, n_draws=80)
    for j in range(3):
        values = np.unique(X[:, j])
        effects = np.array([w[X[:, j] == x] @ f[X[:, j] == x] / w[X[:, j] == x].sum() for x in values])
        weights = np.array([w[X[:, j] == x].sum() for x in values])
        assert found.first.mean[j] == pytest.approx(weights @ (effects - mean) ** 2 / variance, abs=0.01)
    assert float(found.mean.mean) == pytest.approx(mean, abs=0.01)
    assert float(found.std.mean) == pytest.approx(np.sqrt(variance), rel=0.03)
    spread = belief.distribution(stepped_box(), rivals=False, n_draws=80)
    assert float(spread.std.mean) == pytest.approx(np.sqrt(variance), rel=0.03)
    assert float(spread.mean.mean) == pytest.approx(mean, abs=0.01)
    effect = belief.effect(NAMES[0], stepped_box(), rivals=False, n_draws=80)
    assert effect.x.tolist() == [0.0, 4.0, 8.0]
    expected = [w[X[:, 0] == x] @ f[X[:, 0] == x] * 3.0 for x in effect.x]
    np.testing.assert_allclose(effect.mean, expected, atol=0.02)
    many = rw.Box(LOWER, UPPER, names=NAMES, steps=[0.1, None, None, None])
    x = belief.effect(NAMES[0], many, n_points=7, rivals=False, n_draws=2).x
    np.testing.assert_allclose(x, [0.0, 1.7, 3.3, 5.0, 6.7, 8.3, 10.0])


def test_a_column_that_never_varied_does_nothing() -> None:
    X = np.column_stack([fitted(1).X, np.full(40, 7.0)])
    found = rw.fit(X, fitted(1).y, rw.Linear(1), n_starts=2, inference="map").sensitivity(rivals=False, n_draws=20)
    for kind in (found.first, found.total, found.activity):
        assert kind.mean[4] == kind.high[4] == 0.0
    assert found.activity.mean.sum() == pytest.approx(1.0)


def test_levels_are_read_and_shown_as_they_are() -> None:
    text = str(fitted(1).sensitivity(level=0.999, rivals=False, n_draws=4))
    assert "(99.9 %: " in text
    assert fitted(1).sensitivity(level=np.float32(0.9), rivals=False, n_draws=4).level == pytest.approx(0.9)


def test_a_distribution_holds_the_error_of_its_points() -> None:
    box = rw.Box(LOWER, UPPER, names=NAMES, constraints=["speed + 5 angle + 0.3 load = 10"])
    found = [fitted(1).distribution(box, rivals=False, n_draws=20, random_state=seed) for seed in range(4)]
    for statistic in (lambda d: d.mean, lambda d: d.std, lambda d: d.quantile([0.1, 0.5]), lambda d: d.exceedance(5)):
        with_error, without = statistic(found[0]), statistic(replace(found[0], parts=None))
        assert np.all(with_error.std > without.std)
        assert np.all(with_error.high - with_error.low >= without.high - without.low)
        np.testing.assert_array_equal(with_error.mean, without.mean)
    own = np.sqrt(found[0].mean.std ** 2 - replace(found[0], parts=None).mean.std ** 2)
    n = found[0].values.shape[1]
    assert own == pytest.approx(float(found[0].std.mean) / np.sqrt(n), rel=0.5)
