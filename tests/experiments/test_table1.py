"""Table 1: its problems, its metrics against a naive version, and one small repeat."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import ridgeway as rw
from ridgeway import nuts
from ridgeway.experiments import datasets, table1
from ridgeway.experiments.mixture import Mixture, gaussian_divergence

DATA = Path(os.environ["RIDGEWAY_SHARED"]) / "data" if "RIDGEWAY_SHARED" in os.environ else None


def test_divergence_against_quadrature():
    p, q = norm(0.3, 1.2), norm(-0.4, 0.7)
    naive = sum(
        quad(lambda x, a=a, b=b: a.pdf(x) * (a.logpdf(x) - b.logpdf(x)), -12, 12)[0] for a, b in ((p, q), (q, p))
    )
    assert gaussian_divergence(0.3, 1.2**2, -0.4, 0.7**2) == pytest.approx(naive, rel=1e-6)
    one = Mixture(np.array([[0.3]]), np.array([[1.2**2]]))
    assert one.divergences(np.array([[-0.4]]), np.array([[0.7**2]]))[0, 0] == pytest.approx(naive, rel=1e-5)


def test_mixture_against_quadrature():
    mixture = Mixture(np.array([[0.0], [3.0]]), np.array([[0.5**2], [1.0]]))
    log_density = lambda x: np.log(0.5 * norm(0, 0.5).pdf(x) + 0.5 * norm(3, 1).pdf(x))  # noqa: E731
    entropy = quad(lambda x: -np.exp(log_density(x)) * log_density(x), -6, 12, points=[0, 3])[0]
    assert mixture.entropy()[0] == pytest.approx(entropy, rel=1e-5)
    conditional = np.mean([norm(0, 0.5).entropy(), norm(3, 1).entropy()])
    assert mixture.information()[0] == pytest.approx(entropy - conditional, abs=1e-5)
    assert mixture.log_density(np.array([1.0]))[0] == pytest.approx(log_density(1.0))
    assert mixture.mean[0] == 1.5
    assert mixture.variance[0] == pytest.approx(0.5 * (0.25 + 1.0) + 1.5**2)


def test_mixture_over_draws_is_what_a_belief_predicts():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (12, 2))
    belief = rw.fit(X, np.sin(2 * X[:, 0]), rw.Diagonal(), standardize=False, bounds=(-1, 1), n_starts=2)
    gp = belief.components[0].gp
    X_new = rng.uniform(-1, 1, (5, 2))
    mixture = Mixture.over(belief.posterior, gp.theta[None], belief.reduced_coordinates(X_new)[0])
    expected = belief.predict(X_new, "map")
    np.testing.assert_allclose(mixture.mean, expected.mean)
    np.testing.assert_allclose(mixture.variance, expected.variance)


def test_synthetic_problems():
    problem = table1.synthetic(5, 3)
    assert problem.X.shape == problem.X_test.shape == (50, 5)
    assert np.abs(problem.X).max() <= 1.0
    np.testing.assert_array_equal(problem.y, table1.synthetic(5, 3).y)
    assert not np.array_equal(problem.y, table1.synthetic(5, 4).y)
    means, stds = problem.priors.globals
    np.testing.assert_array_equal(stds > 0, [True, False, False, False])  # the output scale; length scales beside it
    assert np.exp(means[1]) == pytest.approx(problem.noise)
    # Over many draws: median log length scale as the prior says, outputs of the prior's scale.
    sizes = [np.log(np.std(table1.synthetic(5, seed).y_test)) for seed in range(40)]
    assert abs(np.mean(sizes)) < 0.5


@pytest.mark.skipif("yacht" not in datasets.available(DATA), reason="needs the extra `experiments`")
def test_real_problems():
    for name, n, D in (("yacht", 308, 6), ("concrete", 1030, 8)):
        problem = table1.real(name, 0, DATA)
        train = table1.TRAINING[name]
        assert problem.X.shape == (train, D)
        assert problem.X_test.shape == (n - train, D)
        everything = np.concatenate([problem.y, problem.y_test])
        assert everything.std() == pytest.approx(1.0)
        assert (abs(everything.mean()) < 1e-9) == (name == "concrete")  # which alone the paper centres
        other = table1.real(name, 1, DATA)
        assert not np.array_equal(problem.y, other.y)


def test_cells():
    full, quick = table1.cells(), table1.cells(quick=True)
    assert len(full) == 3 * 50 + 2 * 10
    assert len({cell.name for cell in full}) == len(full)
    assert {cell.name.split("/")[1] for cell in quick} == {"synthetic-5", "synthetic-10", "yacht", "concrete"}


def test_one_repeat(monkeypatch):
    """A short sampler suffices to tell the marginals apart; too few draws are sampled once more."""
    monkeypatch.setattr(table1, "DRAWS", (4, 150))
    monkeypatch.setattr(table1, "N_PREDICTED", 200)
    result = table1.compute("synthetic-5", 0)
    skld = result["map"]["skld"]
    assert skld["samples"] < skld["mgp"] < skld["bbq"] < skld["map"]
    assert result["truth"]["draws"] == 600
    assert result["truth"]["r_hat"] < 1.05
    assert result["truth"]["divergences"] >= 0
    text, rows = table1.tables({"table1/synthetic-5/00": result})
    assert rows[0]["skld_mgp"] == pytest.approx(skld["mgp"])
    assert rows[0]["paper_skld_mgp"] == 0.0835
    assert f"{skld['mgp']:.3g} (0.0835)" in text
    assert "| synthetic-5 | 1." in text


def test_sampling_goes_on_until_chains_agree(monkeypatch):
    lengths = []

    def sample(posterior, modes, options, seed):
        lengths.append(options.draws)
        return nuts.Sampled(np.zeros((4, 6)), 1.0 if options.draws == table1.DRAWS[1] else 1.2, 10.0, 0)

    monkeypatch.setattr(nuts, "sample", sample)
    problem = table1.synthetic(5, 0)
    table1._sample(table1._fit(problem, "nested", 0), 0)
    assert tuple(lengths) == table1.DRAWS[:2]
