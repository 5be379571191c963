"""Names for the arrays and arguments that travel through the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Inputs = Any  # (n, D): anything array-like, a DataFrame, or a scipy.sparse matrix
RandomState = int | np.random.Generator | np.random.RandomState | None

#: Called with a sentence before each longer piece of work.
Progress = Callable[[str], None]

#: What a user may give for it: ``True`` is a line of the terminal.
GivenProgress = Progress | bool | None
