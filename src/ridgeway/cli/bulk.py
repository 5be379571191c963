"""Predictions and scores at more points than fit into memory: of a Parquet file, some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ridgeway import files
from ridgeway.campaign import results
from ridgeway.campaign.campaign import Campaign
from ridgeway.campaign.columns import Columns, note_names
from ridgeway.campaign.inputs import Fixed
from ridgeway.campaign.setup import Setup
from ridgeway.campaign.sheets import Sheet
from ridgeway.errors import CampaignError
from ridgeway.types import Array

#: Rows looked at at a time.
BATCH = 2**16

#: Scores of arrays of values, one after the other, each with its array.
Scored = Callable[[Iterable[Array]], Iterator[tuple[Array, Array]]]


def is_bulk(file: Path, output: Path | None) -> bool:
    """Whether both are Parquet files, so that neither has to be in memory."""
    return output is not None and file.suffix == ".parquet" and output.suffix == ".parquet"


def predict(campaign: Campaign, file: Path, output: Path, batch: int = BATCH) -> int:
    """Write ``file`` with mean and standard deviation beside its columns; returns how many rows there were."""
    source, setup = _Source.of(file, campaign.setup), campaign.setup
    beliefs = campaign.beliefs
    if not beliefs:
        raise CampaignError("there is no prediction before the first result: ask for experiments, and tell it")
    import pyarrow
    import pyarrow.parquet as parquet

    added: list[str] = []
    for label, std in setup.outputs.predicted(beliefs):
        kept = [*source.columns, *added]
        added += note_names(kept, [label if label not in source.columns else f"{label} predicted", std])
    done, writer = 0, None
    with files.writing(output) as temporary:
        try:
            for part, values in source.parts(batch):
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


def best_scores(
    campaign: Campaign, file: Path, top: int, scored: Scored, batch: int = BATCH
) -> tuple[list[int], Array, Array]:
    """The ``top`` rows of a file by their scores: numbers, values and scores.

    Rows are numbered from 0, and of equal ones the first comes first.
    """
    source = _Source.of(file, campaign.setup)
    row, values, best = np.zeros(0, dtype=int), np.zeros((0, len(campaign.setup.names))), np.zeros(0)
    parts = (found for _, found in source.parts(batch) if len(found))
    before = 0
    for part, scores in scored(parts):
        row = np.concatenate([row, np.arange(before, before + len(part))])
        values, best, before = np.vstack([values, part]), np.concatenate([best, scores]), before + len(part)
        order = (-best).argsort(kind="stable")[:top]
        row, values, best = row[order], values[order], best[order]
    if not before:
        raise CampaignError(f"{file} has no rows")
    return row.tolist(), values, best


@dataclass(frozen=True)
class _Source:
    """The rows of a Parquet file as values of a campaign's inputs."""

    file: Path
    setup: Setup
    source: Any  # pyarrow's
    header: Columns

    @classmethod
    def of(cls, file: Path, setup: Setup) -> _Source:
        """Opened, with a column for each input that varies."""
        try:
            import pyarrow
            import pyarrow.parquet as parquet
        except ImportError:
            raise CampaignError(".parquet files need pandas and pyarrow: pip install 'ridgeway[pool]'") from None
        try:
            source = parquet.ParquetFile(file)
        except FileNotFoundError:
            raise CampaignError(f"there is no file {file}") from None
        except (OSError, pyarrow.ArrowException) as error:
            raise CampaignError(f"{file} cannot be read as a Parquet file: {error}") from None
        head = Sheet(str(file), tuple(source.schema_arrow.names), (), ())
        return cls(file, setup, source, results.point_columns(head, setup))

    @property
    def columns(self) -> list[str]:
        """Names of all columns of the file."""
        names: list[str] = self.source.schema_arrow.names
        return names

    def parts(self, batch: int) -> Iterator[tuple[Any, Array]]:
        """Some rows after the other: as they are, and the values ``(n, k)`` of all inputs."""
        inputs, before = self.setup.inputs, 0
        items = () if inputs is None else inputs.columns
        fixed = {j: item.value for j, item in enumerate(items) if isinstance(item, Fixed)}
        for part in self._batches(batch):
            values = np.zeros((part.num_rows, len(self.setup.names)))
            values[:, list(fixed)] = list(fixed.values())
            for column, kinds in self.header.categories.items():
                words = self._words(part, column, kinds, before)
                for word, j in kinds.items():
                    values[:, j] = words == word
            for column, j in self.header.inputs.items():
                values[:, j] = self._numbers(part, column, before)
                if j in fixed and np.any(values[:, j] != fixed[j]):
                    raise CampaignError(
                        f"column {self.columns[column]!r} of {self.file} has other values than {fixed[j]:g}, at which "
                        "this input is fixed"
                    )
            yield part, values
            before += part.num_rows

    def _batches(self, batch: int) -> Iterator[Any]:
        """Batches of rows; what is damaged in the middle of a file shows here."""
        import pyarrow

        try:
            yield from self.source.iter_batches(batch)
        except (OSError, pyarrow.ArrowException) as error:
            raise CampaignError(f"{self.file} could not be read to its end: {error}") from None

    def _numbers(self, part: Any, column: int, before: int) -> Array:
        """One input of a batch of rows, complete and finite."""
        cells, name = part.column(column), self.columns[column]
        try:
            values = np.asarray(cells.to_numpy(zero_copy_only=False), dtype=np.float64)
        except (TypeError, ValueError):
            raise CampaignError(f"column {name!r} of {self.file} must hold numbers, got {cells.type}") from None
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            row = before + int(bad[0]) + 1
            raise CampaignError(f"column {name!r} of {self.file} must be complete, but row {row} is not")
        return values

    def _words(self, part: Any, column: int, kinds: Mapping[str, int], before: int) -> Any:
        """One category of a batch of rows."""
        words = np.array([str(word).strip() for word in part.column(column).to_pylist()], dtype=object)
        bad = np.flatnonzero(~np.isin(words, list(kinds)))
        if bad.size:
            known, row = ", ".join(list(kinds)[:6]), before + int(bad[0]) + 1
            got = f"{words[bad[0]]!r} in row {row}"
            raise CampaignError(f"column {self.columns[column]!r} of {self.file} must hold one of {known}, got {got}")
        return words
