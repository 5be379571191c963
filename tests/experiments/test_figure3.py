"""Figure 3 of the paper: it is written and shows what its caption says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ridgeway.experiments import figure3
from tests.experiments.figure_files import check_files

pytest.importorskip("matplotlib")


@pytest.mark.slow
def test_figure3(tmp_path):
    """The next sample is where the variances disagree most; separations vary; the posterior tightens."""
    steps = figure3.beliefs()
    assert [belief.y.shape[0] for belief in steps] == [2, 3, 4, 5, 6, 7]
    for before, after in pairwise(steps):
        found = before.predict(figure3.GRID[:, None], "mgp")
        ratio = (found.variance - found.map_variance) / found.map_variance
        chosen = np.argmin(np.abs(figure3.GRID - after.X[-1, 0]))
        assert ratio[chosen] > (1.0 - 1e-6) * ratio.max()  # others may be as good, but for rounding
    spreads = [figure3.log_length_scale(belief)[1] for belief in steps]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[-1] < 0.3 * spreads[0]
    apart = np.diff(np.sort(steps[-1].X[:, 0]))
    assert apart.max() > 2.5 * apart.min()
    mean, std = figure3.log_length_scale(steps[-1])
    assert mean == pytest.approx(np.log(figure3.LENGTH_SCALE), abs=2 * std)
    check_files(figure3.draw(tmp_path), "figure3")
