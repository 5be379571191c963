"""Table 1: its problems, its metrics against a naive version, and one small repeat."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from ridgeway.experiments import datasets, table1
from ridgeway.inference import nuts

DATA = Path(os.environ["RIDGEWAY_SHARED"]) / "data" if "RIDGEWAY_SHARED" in os.environ else None


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


@pytest.mark.slow
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
