"""What the tests of the report report on."""

from __future__ import annotations

import numpy as np

import ridgeway as rw

NASTY = "</script><script>alert(1)</script> & <b>"


def learner_of(n: int, **options: object) -> rw.ActiveLearner:
    rng = np.random.default_rng(0)
    learner = rw.ActiveLearner(rw.Box([0] * 3, [1] * 3, names=["a", "b", NASTY]), rw.Linear(1), n_initial=1, **options)
    X = rng.uniform(0, 1, (n, 3))
    if n:
        learner.tell(X, np.sin(3 * X[:, 0]) + 0.01 * rng.standard_normal(n))
    return learner
