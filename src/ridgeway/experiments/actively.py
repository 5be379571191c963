"""The paper's Algorithm 1 over a fixed set of candidates, with every belief on the way kept for a figure."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import ridgeway as rw
from ridgeway.gp.embeddings import Embedding
from ridgeway.types import Array


def learned(
    f: Callable[[Array], Array],
    candidates: Array,
    first: Array,
    budget: int,
    embedding: Embedding,
    priors: rw.Priors,
    score: Callable[[rw.Belief, Array], Array],
) -> list[rw.Belief]:
    """The belief after each observation from the first ones, ``(k, D)``, to the last: ``budget`` in all.

    The paper's recipe at each step: the joint mode and its Hessian. ``f`` is asked once at each point, and no
    candidate is chosen twice.
    """
    X, y, beliefs = first, f(first), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)  # a single observation, and the like
        while True:
            beliefs.append(
                rw.fit(X, y, embedding, inference="map", bounds=(-1.0, 1.0), standardize=False, priors=priors)
            )
            if X.shape[0] == budget:
                return beliefs
            scores = score(beliefs[-1], candidates)
            scores[(candidates[:, None] == X).all(axis=2).any(axis=1)] = -np.inf
            chosen = candidates[[np.argmax(scores)]]
            X, y = np.vstack([X, chosen]), np.append(y, f(chosen))
