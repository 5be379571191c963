"""Predictions at more points than fit into memory: from one Parquet file to another, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway import files
from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.columns import near, note_names
from ridgeway.errors import CampaignError
from ridgeway.types import Array

#: Rows predicted at a time.
BATCH = 2**16


def is_bulk(file: Path, output: Path | None) -> bool:
    """Whether both are Parquet files, so that neither has to be in memory."""
    return output is not None and file.suffix == ".parquet" and output.suffix == ".parquet"


def predict(campaign: Campaign, file: Path, output: Path, batch: int = BATCH) -> int:
    """Write ``file`` with mean and standard deviation beside its columns; returns how many rows there were."""
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise CampaignError(".parquet files need pandas and pyarrow: pip install 'ridgeway[pool]'") from None
    try:
        source = parquet.ParquetFile(file)
    except (OSError, pyarrow.ArrowException) as error:
        raise CampaignError(f"{file} cannot be read as a Parquet file: {error}") from None
    setup, columns = campaign.setup, source.schema_arrow.names
    # a column has the name of its input, alone or with the unit
    names = [label if label in columns else name for name, label in zip(setup.names, setup.labels, strict=True)]
    missing = [name for name in names if name not in columns]
    if missing:
        raise CampaignError(
            f"{file} has no column {missing[0]!r}, which is an input of this campaign{near(missing[0], columns)}"
        )
    beliefs = campaign.beliefs
    if not beliefs:
        raise CampaignError("there is no prediction before the first result: ask for experiments, and tell it")
    added: list[str] = []
    for label, std in setup.outputs.predicted(beliefs):
        added += note_names([*columns, *added], [label if label not in columns else f"{label} predicted", std])
    done, writer = 0, None
    with files.writing(output) as temporary:
        try:
            for part in _parts(source, batch, file):
                values = np.column_stack([_numbers(part, name, file, done) for name in names])
                points = setup.coordinates(values)
                found = [belief.predict(points) for belief in beliefs.values()]
                table = pyarrow.Table.from_batches([part])
                for name, column in zip(added, (c for p in found for c in (p.mean, p.std)), strict=True):
                    table = table.append_column(name, pyarrow.array(column))
                writer = writer or parquet.ParquetWriter(temporary, table.schema)
                writer.write_table(table)
                done += part.num_rows
        finally:
            if writer is not None:
                writer.close()
        if not done:
            raise CampaignError(f"{file} has no rows")
    return done


def _parts(source: Any, batch: int, file: Path) -> Iterator[Any]:
    """Batches of rows; what is damaged in the middle of a file shows here."""
    import pyarrow

    try:
        yield from source.iter_batches(batch)
    except (OSError, pyarrow.ArrowException) as error:
        raise CampaignError(f"{file} could not be read to its end: {error}") from None


def _numbers(part: Any, name: str, file: Path, before: int) -> Array:
    """One input of a batch of rows, complete and finite."""
    column = part.column(name)
    try:
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError):
        raise CampaignError(f"column {name!r} of {file} must hold numbers, got {column.type}") from None
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise CampaignError(f"column {name!r} of {file} must be complete, but row {before + int(bad[0]) + 1} is not")
    return values
