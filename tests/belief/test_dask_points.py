import numpy as np
import pytest

import ridgeway as rw

da = pytest.importorskip("dask.array")


def test_predictions_at_the_points_of_a_dask_array():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20, 3))
    belief = rw.fit(X, X[:, 0] ** 2, rw.Linear(1), n_starts=2)
    new = rng.uniform(-1, 1, (50, 3))
    found = belief.predict(da.from_array(new, chunks=(20, 2)))
    for mine, theirs in zip(found, belief.predict(new), strict=True):
        np.testing.assert_allclose(mine.compute(), theirs, rtol=1e-12)
    with pytest.raises(ValueError, match="must be a Dask array of 3 columns"):
        belief.predict(da.zeros((4, 2)))
