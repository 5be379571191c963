"""What importing the package costs."""

from __future__ import annotations

import subprocess
import sys


def test_importing_ridgeway_imports_no_plotting() -> None:
    code = "import sys, ridgeway; print([m for m in ('plotly', 'jinja2', 'rich', 'kaleido') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
