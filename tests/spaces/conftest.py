"""The same points in every kind of file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tests.spaces.points import NAMES, POINTS


@pytest.fixture
def stored(tmp_path):
    """The same numbers in every place they may be."""
    frame = pd.DataFrame(POINTS, columns=list(NAMES))
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.to_parquet(tmp_path / "p.parquet")
    np.save(tmp_path / "p.npy", POINTS)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(POINTS))
    mapped = np.memmap(tmp_path / "p.bin", dtype=">f8", mode="w+", shape=POINTS.shape)
    mapped[:] = POINTS
    return {
        "array": POINTS, "list": POINTS.tolist(), "fortran": np.asfortranarray(POINTS), "memmap": mapped,
        "long": POINTS.astype(np.longdouble), "objects": POINTS.astype(object),
        "frame": frame, "nullable": frame.astype("Float64"), "arrow": pa.Table.from_pandas(frame),
        "csv": tmp_path / "p.csv", "parquet": str(tmp_path / "p.parquet"),
        "npy": tmp_path / "p.npy", "fortran.npy": tmp_path / "fortran.npy",
    }  # fmt: skip


@pytest.fixture
def rng():
    """The same random numbers in every test."""
    return np.random.default_rng(7)
