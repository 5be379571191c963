"""Points that the tests of boxes and pools share."""

from __future__ import annotations

import numpy as np

NAN, INF = float("nan"), float("inf")

POINTS = np.random.default_rng(0).normal(size=(40, 3))

NAMES = ("a", "b", "c")


def rng(seed=0):
    return np.random.default_rng(seed)


NO_NUMBER = "points must hold numbers, but row {}, column {} is {}"

NOT_FINITE = "points must be finite, but row {}, column {} is {}"
