"""The same points in memory, in Parquet files and in Dask collections, cut in several ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet

import ridgeway as rw

NAMES = ("a", "b", "c", "d")


def points(n=240, seed=3):
    return np.random.default_rng(seed).uniform(-1, 1, (n, 4)) * [1.0, 10.0, 1.0, 0.1] + [0.0, 5.0, 0.0, 0.0]


def function(X):
    return np.sin(2.0 * X[:, 0] + 0.1 * X[:, 1])


def written(folder, X, cuts=(70, 71), group=30, **more):
    """Files of unequal length, in groups of rows."""
    frame = pd.DataFrame(X, columns=list(NAMES)).assign(**more)
    for i, part in enumerate(np.split(np.arange(len(X)), cuts)):
        table = pa.Table.from_pandas(frame.iloc[part], preserve_index=False)
        parquet.write_table(table, folder / f"part{i}.parquet", row_group_size=group)
    return str(folder / "*.parquet")


def array_of(X, chunk, columns=3):
    import dask.array as da

    return da.from_array(X, chunks=(chunk, columns))


def everywhere(X, folder):
    """Pools of the same points, by where they are."""
    import dask.dataframe as dd

    (folder / "few").mkdir()
    few = written(folder / "few", X, (len(X) // 2,), 1000)
    return {
        "files": rw.Pool(written(folder, X), n_jobs=2),
        "two files": rw.Pool(few, n_jobs=1),
        "array": rw.Pool(array_of(X, 17), NAMES),
        "one chunk": rw.Pool(array_of(X, len(X), 4), NAMES),
        "table": rw.Pool(dd.from_pandas(pd.DataFrame(X, columns=list(NAMES)), npartitions=5)),
    }
