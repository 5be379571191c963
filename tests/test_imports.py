"""What importing the package costs."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_importing_ridgeway_imports_no_library_of_an_extra() -> None:
    guests = ("torch", "botorch", "gpytorch", "linear_operator", "pyro", "optuna", "ax")
    # All that a learner needs, and the names of the package: a guest is imported when it is asked for.
    code = "import ridgeway as rw; [getattr(rw, n) for n in rw.__all__]; rw.ActiveLearner(rw.Box([0, 0], [1, 1])).ask()"
    code = f"import sys; {code}; print([m for m in {guests} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_ridgeway_imports_no_plotting() -> None:
    code = "import sys, ridgeway; print([m for m in ('plotly', 'jinja2', 'rich', 'kaleido') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
