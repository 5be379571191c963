"""Figure 4 of the paper: it is written and shows what its caption says."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.active.acquisition import bald, uncertainty
from ridgeway.experiments import figure1, figure4
from tests.experiments.figure_files import check_files

pytest.importorskip("matplotlib")


def first_of_the_best(acquisition, within=1e-6):
    """The same scores, those of all candidates that are as good as the best made equal: the first of them is chosen.

    By symmetry all corners score the same at first, and two of them after that. Rounding, which differs between
    processors, must not choose among them, because every later point depends on it.
    """

    def scores(belief, candidates):
        found = acquisition(belief, candidates)
        free = ~(candidates[:, None] == belief.X).all(axis=2).any(axis=1)
        best = found[free].max()
        return np.where(found > best - within, best, found)

    return scores


@pytest.mark.slow
def test_figure4(tmp_path, monkeypatch):
    """Uncertainty sampling prefers corners; BALD's posterior is near the true embedding and symmetric."""
    monkeypatch.setattr(figure4, "N_SIDE", 31)
    monkeypatch.setattr(figure4, "N_EMBEDDINGS", 53)
    by_bald, by_uncertainty = (figure4.chosen(first_of_the_best(name)) for name in (bald, uncertainty))
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
