"""The paper's figures: each is written, and shows what its caption says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.acquisition import bald, uncertainty
from ridgeway.experiments import drawing, figure1, figure2, figure3, figure4
from ridgeway.experiments.actively import learned
from ridgeway.experiments.waves import Waves

pytest.importorskip("matplotlib")


def check_files(written, name):
    assert [path.name for path in written] == [f"{name}.png", f"{name}.svg"]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    assert written[0].stat().st_size > 10_000
    assert "<svg" in written[1].read_text(encoding="utf-8")[:1000]


def test_waves_have_the_models_covariance():
    values = np.array([Waves(0.5, seed)(np.array([0.0, 0.4])) for seed in range(3000)])
    assert values.std(axis=0) == pytest.approx(1.0, abs=0.05)
    assert np.corrcoef(values.T)[0, 1] == pytest.approx(np.exp(-0.5 * (0.4 / 0.5) ** 2), abs=0.03)


def test_figure1(tmp_path):
    """Searching over the thick black lines captures all variation of the function."""
    everywhere = figure1.function(drawing.square(301)[0])
    for line in figure1.lines():
        on_line = figure1.function(line)
        assert on_line.min() == pytest.approx(everywhere.min(), abs=1e-3)
        assert on_line.max() == pytest.approx(everywhere.max(), abs=1e-3)
    assert np.abs(figure1.lines()[0]).max() == 1.0
    check_files(figure1.draw(tmp_path), "figure1")


def test_figure2(tmp_path, monkeypatch):
    """BBQ hardly differs from MAP, the MGP closely matches the truth, and would look next where the truth would."""
    monkeypatch.setattr(figure2, "SAMPLER", rw.Nuts(draws=500))
    found = figure2.compare()
    assert found.r_hat < 1.02
    assert np.abs(found.stds["bbq"] / found.stds["map"] - 1.0).max() < 0.06  # the paper's: 3.1 %
    off = {method: np.abs(np.log(std / found.stds["mcmc"])).mean() for method, std in found.stds.items()}
    assert off["mgp"] < 0.5 * min(off["bbq"], off["map"])
    assert found.best("mgp") == pytest.approx(found.best("mcmc"), abs=0.1)
    assert abs(found.best("bbq") - found.best("mcmc")) > 0.3
    monkeypatch.setattr(figure2, "compare", lambda: found)
    check_files(figure2.draw(tmp_path), "figure2")


def test_figure3(tmp_path):
    """The next sample is where the variances disagree most; separations vary; the posterior tightens."""
    steps = figure3.beliefs()
    assert [belief.y.shape[0] for belief in steps] == [2, 3, 4, 5, 6, 7]
    for before, after in pairwise(steps):
        found = before.predict(figure3.GRID[:, None], "mgp")
        ratio = (found.variance - found.map_variance) / found.map_variance
        assert figure3.GRID[np.argmax(ratio)] == pytest.approx(after.X[-1, 0])
    spreads = [figure3.log_length_scale(belief)[1] for belief in steps]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[-1] < 0.3 * spreads[0]
    apart = np.diff(np.sort(steps[-1].X[:, 0]))
    assert apart.max() > 2.5 * apart.min()
    mean, std = figure3.log_length_scale(steps[-1])
    assert mean == pytest.approx(np.log(figure3.LENGTH_SCALE), abs=2 * std)
    check_files(figure3.draw(tmp_path), "figure3")


def test_figure4(tmp_path, monkeypatch):
    """Uncertainty sampling prefers corners; BALD's posterior is near the true embedding and symmetric."""
    monkeypatch.setattr(figure4, "N_SIDE", 31)
    monkeypatch.setattr(figure4, "N_EMBEDDINGS", 53)
    by_bald, by_uncertainty = figure4.chosen(bald), figure4.chosen(uncertainty)
    assert by_bald.X.shape == by_uncertainty.X.shape == (20, 2)
    assert np.unique(by_bald.X, axis=0).shape == (20, 2)
    assert figure4.in_corners(by_uncertainty) > 2 * figure4.in_corners(by_bald)
    logs, side = figure4.log_posterior(by_bald)
    np.testing.assert_allclose(logs, logs[::-1, ::-1], atol=1e-6)
    weights = np.exp(logs)
    first, second = np.meshgrid(side, side)
    angles = np.rad2deg(np.arctan2(second, first)) % 180.0
    true = np.rad2deg(np.arctan2(*figure1.EMBEDDING[0, ::-1]))
    assert np.sum(weights[np.abs(angles - true) < 5.0]) > 0.9 * weights.sum()
    monkeypatch.setattr(figure4, "chosen", lambda acquisition: by_bald if acquisition is bald else by_uncertainty)
    check_files(figure4.draw(tmp_path), "figure4")


def test_each_point_is_asked_once():
    asked = []

    def f(X):
        asked.append(X)
        return X[:, 0]

    candidates = np.linspace(-1, 1, 9)[:, None]
    beliefs = learned(f, candidates, candidates[[4]], 4, rw.Isotropic(), figure3.PRIORS, bald)
    assert len(beliefs) == 4
    assert np.unique(np.vstack(asked)).shape == (4,)
