"""Learning curves."""

from __future__ import annotations

from pathlib import Path

import pytest

from ridgeway.experiments import curves
from tests.experiments.made_up_results import _results


@pytest.mark.slow
def test_learning_curves_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'ridgeway[experiments]'")
    marks = {"rand": [0.9, 0.8, 0.5], "bald": [0.9, 0.6, 0.4]}
    written = curves.draw(tmp_path, _results(dict.fromkeys(marks, 0.5), marks))
    assert [path.name for path in written] == ["table2_curves_nested.png", "table2_curves_nested.svg"]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    assert "bald" in written[1].read_text() or "<path" in written[1].read_text()
