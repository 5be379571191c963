"""Pictures of a belief as plotly figures; :func:`save` writes them to PNG, SVG or PDF.

>>> import numpy as np, ridgeway as rw
>>> from ridgeway import plots
>>> X = np.random.default_rng(0).uniform(-1, 1, (30, 4))
>>> belief = rw.fit(X, np.sin(2 * X[:, 0] - X[:, 2]), rw.Linear(1), n_starts=4)
>>> [type(plot(belief)).__name__ for plot in (plots.response, plots.weights, plots.importance)]
['Figure', 'Figure', 'Figure']
"""

from ridgeway.plots.averages import distribution, effect, sensitivity
from ridgeway.plots.error_course import errors
from ridgeway.plots.information import information
from ridgeway.plots.inputs import importance, weights
from ridgeway.plots.response import contour, pairs, response, surface
from ridgeway.plots.search import best_so_far, outcomes
from ridgeway.plots.static import save
from ridgeway.plots.theme import template, themed
from ridgeway.plots.trust import coverage, dimensions, left_out, optima, subspace

__all__ = [
    "best_so_far",
    "contour",
    "coverage",
    "dimensions",
    "distribution",
    "effect",
    "errors",
    "importance",
    "information",
    "left_out",
    "optima",
    "outcomes",
    "pairs",
    "response",
    "save",
    "sensitivity",
    "subspace",
    "surface",
    "template",
    "themed",
    "weights",
]
