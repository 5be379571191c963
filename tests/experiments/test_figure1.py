"""Figure 1 of the paper: it is written and shows what its caption says."""

from __future__ import annotations

import numpy as np
import pytest

from ridgeway.experiments import drawing, figure1
from tests.experiments.figure_files import check_files

pytest.importorskip("matplotlib")


@pytest.mark.slow
def test_figure1(tmp_path):
    """Searching over the thick black lines captures all variation of the function."""
    everywhere = figure1.function(drawing.square(301)[0])
    for line in figure1.lines():
        on_line = figure1.function(line)
        assert on_line.min() == pytest.approx(everywhere.min(), abs=1e-3)
        assert on_line.max() == pytest.approx(everywhere.max(), abs=1e-3)
    assert np.abs(figure1.lines()[0]).max() == 1.0
    check_files(figure1.draw(tmp_path), "figure1")
