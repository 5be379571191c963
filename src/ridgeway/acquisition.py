"""Acquisitions by their public name; they live in :mod:`ridgeway.active.acquisition`.

To learn there are ``information``, ``bald`` and ``uncertainty``, to optimise ``improvement`` and ``thompson``:

>>> import numpy as np, ridgeway as rw
>>> from ridgeway import acquisition
>>> X = np.random.default_rng(0).uniform(0, 1, (12, 3))
>>> belief = rw.fit(X, (X @ [1.0, 2.0, 0.0] - 1.5) ** 2, rw.Linear(1), n_starts=4)
>>> acquisition.information(belief, X[:2]).shape
(2,)
>>> scores, gradient = acquisition.improvement.with_gradient(belief, X[:2], goal="maximize")
>>> acquisition.thompson.choose(belief, rw.Pool(np.random.default_rng(1).uniform(0, 1, (20, 3))), n=2).X.shape
(2, 3)
"""

from ridgeway.active.acquisition import (
    Acquisition,
    Bald,
    Improvement,
    Thompson,
    Uncertainty,
    bald,
    improvement,
    information,
    resolve,
    thompson,
    uncertainty,
)

__all__ = [
    "Acquisition",
    "Bald",
    "Improvement",
    "Thompson",
    "Uncertainty",
    "bald",
    "improvement",
    "information",
    "resolve",
    "thompson",
    "uncertainty",
]
