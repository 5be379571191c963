"""Figure 2 of the paper: it is written and shows what its caption says."""

from __future__ import annotations

import numpy as np
import pytest

import ridgeway as rw
from ridgeway.experiments import figure2
from tests.experiments.figure_files import check_files

pytest.importorskip("matplotlib")


@pytest.mark.slow
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
