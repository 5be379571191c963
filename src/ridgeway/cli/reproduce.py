"""``ridgeway reproduce``: the paper's tables and figures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ridgeway import files
from ridgeway.cli import numbers
from ridgeway.cli.common import say
from ridgeway.errors import CampaignError

if TYPE_CHECKING:
    from ridgeway.experiments.cells import Cell

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Compute the paper's tables and figures, with ours beside them.",
    epilog="Begin with: ridgeway reproduce table2 --quick",
)

Quick = Annotated[bool, typer.Option("--quick", help="A small version of the same, in minutes.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Cells at a time.", **numbers.whole(1))]
Data = Annotated[Path | None, typer.Option("--data", envvar="RIDGEWAY_DATA", help="Folder with data sets.")]
Folder = Annotated[Path, typer.Option("--output", "-o", help="Folder for results; finished cells in it are kept.")]
Page = Annotated[Path | None, typer.Option("--write-docs", help="Also write tables into this page, at its markers.")]
Experiments = Annotated[int | None, typer.Option(help="How many; 5, or 2 if quick.", **numbers.whole(1))]
Rows = Annotated[list[str] | None, typer.Option(help="Only these, e.g. branin-10,communities.")]
Words = list[str] | None


@app.command(short_help="active learning of embeddings")
def table2(
    quick: Quick = False,
    rows: Rows = None,
    methods: Annotated[Words, typer.Option(help="Only these of rand,lh,unc,bald,info,lasso.")] = None,
    inference: Annotated[Words, typer.Option(help="Only map (the paper's) or nested (ours).")] = None,
    prior: Annotated[Words, typer.Option(help="Only root (5/4 D^-1/2) or literal (5/4 D^-1).")] = None,
    curves: Annotated[Words, typer.Option(help="Learning curves of these; nested alone if not given.")] = None,
    experiments: Experiments = None,
    jobs: Jobs = 2,
    data: Data = None,
    folder: Folder = Path("reproduction"),
    page: Page = None,
) -> None:
    """The paper's Table 2: rand, lh, unc, bald and lasso, with its inference (map) and ours (nested).

    info is ours, with our inference alone: BALD of the noisy observation, where the paper's is of the function.

    Every finished cell is saved at once: run the command again after a kill to go on.

    \b
    Examples:
      ridgeway reproduce table2 --quick
      ridgeway reproduce table2 --data data/ --jobs 8
      ridgeway reproduce table2 --rows branin-10 \\
          --methods rand,bald --inference nested
    """
    from ridgeway.experiments import curves as learning
    from ridgeway.experiments import table2 as table
    from ridgeway.experiments import table2_report

    wanted = _split(rows)
    cells = table.cells(
        quick,
        data,
        wanted,
        _split(methods),
        _split(inference),
        _split(prior),
        experiments,
        _split(curves) or table.CURVES,
    )
    for name in table.missing_rows(data) if wanted is None and not quick else ():
        say(f"{name} is left out, its data are not here: --rows {name} says what to put where")
    results, failure = compute(cells, folder, jobs)
    stem = "table2-quick" if quick else "table2"
    text, records = table2_report.tables(results, quick)
    written = write_table(folder / stem, text, records)
    points = learning.rows(results)
    if points:
        written.append(write_csv(folder / f"{stem}_curves.csv", points))
        written += drawn(lambda: learning.draw(folder, results, f"{stem}_curves"))
    finish(text, written, page, stem, failure)


@app.command(short_help="how good marginals are")
def table1(
    quick: Quick = False,
    rows: Annotated[Words, typer.Option(help="Only these, e.g. synthetic-5,yacht.")] = None,
    jobs: Jobs = 2,
    data: Data = None,
    folder: Folder = Path("reproduction"),
    page: Page = None,
) -> None:
    """The paper's Table 1: MAP, BBQ and MGP, and draws with importance weights, against NUTS.

    Every finished cell is saved at once: run the command again after a kill to go on.

    \b
    Examples:
      ridgeway reproduce table1 --quick
      ridgeway reproduce table1 --rows yacht --jobs 4
    """
    from ridgeway.experiments import table1 as table

    cells = table.cells(quick, data, _split(rows) or table.ROWS)
    results, failure = compute(cells, folder, jobs)
    stem = "table1-quick" if quick else "table1"
    text, records = table.tables(results)
    finish(text, write_table(folder / stem, text, records), page, stem, failure)


@app.command(short_help="other libraries on the same data")
def comparison(
    quick: Quick = False,
    rows: Rows = None,
    libraries: Annotated[Words, typer.Option(help="Only these, e.g. ridgeway,botorch.")] = None,
    experiments: Experiments = None,
    jobs: Jobs = 2,
    data: Data = None,
    folder: Folder = Path("reproduction"),
    page: Page = None,
) -> None:
    """scikit-learn, BoTorch and SMT beside Ridgeway on Table 2's training and test points.

    BoTorch and SMT come with pip install 'ridgeway[comparison]'; what is not installed is left out.

    \b
    Examples:
      ridgeway reproduce comparison --quick
      ridgeway reproduce comparison --rows communities
    """
    from ridgeway.experiments import comparison as table

    cells = table.cells(quick, data, _split(rows), _split(libraries), experiments)
    results, failure = compute(cells, folder, jobs)
    stem = "comparison-quick" if quick else "comparison"
    text, records = table.tables(results, quick)
    finish(text, write_table(folder / stem, text, records), page, stem, failure)


FIGURES = {
    1: "a function with a one-dimensional embedding",
    2: "the MGP against MAP, BBQ and MCMC",
    3: "active learning of a length scale",
    4: "points chosen by uncertainty and by BALD",
}


def paint(number: int, folder: Path) -> None:
    """Draw one of the paper's figures into ``folder``."""
    module = import_module(f"ridgeway.experiments.figure{number}")
    folder.mkdir(parents=True, exist_ok=True)
    written = drawn(lambda: module.draw(folder))
    if not written:
        raise CampaignError(f"figure {number} was not drawn")
    say("Written: " + ", ".join(map(str, written)))


def _painter(number: int) -> Callable[..., None]:
    def command(folder: Folder = Path("reproduction")) -> None:
        paint(number, folder)

    return command


for _number, _shows in FIGURES.items():
    _text = f"The paper's Figure {_number}: {_shows}, as PNG and SVG."
    _example = f"\b\nExample:\n  ridgeway reproduce figure{_number} -o pictures"
    app.command(f"figure{_number}", short_help=_shows, help=f"{_text}\n\n{_example}")(_painter(_number))


@app.command("all", short_help="everything, one after another")
def everything(
    quick: Quick = False,
    jobs: Jobs = 2,
    data: Data = None,
    folder: Folder = Path("reproduction"),
    page: Page = None,
) -> None:
    """Every table and every figure, one after another; what cannot be computed is named at the end.

    \b
    Examples:
      ridgeway reproduce all --quick
      ridgeway reproduce all --data data/ --jobs 8
    """
    parts: dict[str, Callable[[], None]] = {f"figure{n}": partial(paint, n, folder) for n in FIGURES}
    tables: dict[str, Callable[..., None]] = {"table1": table1, "table2": table2, "comparison": comparison}
    for name, command in tables.items():
        parts[name] = partial(command, quick=quick, jobs=jobs, data=data, folder=folder, page=page)
    failed = []
    for name, part in parts.items():
        say(f"-- {name}")
        try:
            part()
        except (ValueError, OSError, ImportError) as error:
            say(f"{name}: {error}")
            failed.append(name)
    if failed:
        raise CampaignError(f"not complete, for the reasons above: {', '.join(failed)}")


# -- what the commands share ------------------------------------------------------------------------


def compute(cells: Sequence[Cell], folder: Path, jobs: int) -> tuple[dict[str, dict[str, Any]], str]:
    """The results of ``cells``, with progress, and a sentence about those that failed; "" if none did."""
    from ridgeway.cli.progress import CellProgress, duration
    from ridgeway.experiments import cells as work

    if not cells:
        raise CampaignError("there is nothing to compute: the choice of rows, methods and priors has no cell")
    where, failure = folder / "cells", ""
    try:
        with CellProgress() as progress:
            results = work.run(cells, where, jobs, progress)
    except KeyboardInterrupt:
        results = work.finished(cells, where)
        failure = f"stopped after {len(results)} of {len(cells)} cells: the same command goes on from there"
    except work.CellsError as error:
        results, failure = error.results, f"{error}. The others are saved: the same command tries these again"
    if not results:
        raise CampaignError(failure)
    say(f"{len(results)} cells, {duration(work.cpu_seconds(cells, where))} of CPU time in all")
    return results, failure


def write_table(stem: Path, text: str, records: Sequence[dict[str, Any]]) -> list[Path]:
    """A table in both forms, ``stem.md`` and ``stem.csv``."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    page = stem.with_name(f"{stem.name}.md")
    files.write_text(page, text)
    return [page, write_csv(stem.with_name(f"{stem.name}.csv"), records)]


def write_csv(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    """Write records as a table with the columns of all of them."""
    columns = list(dict.fromkeys(name for record in records for name in record))
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.writing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(records)
    return path


def drawn(draw: Callable[[], list[Path]]) -> list[Path]:
    """The files of a picture, or a sentence where there is nothing to draw with."""
    try:
        return draw()
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        say("Pictures need matplotlib: pip install 'ridgeway[experiments]'")
        return []


def finish(text: str, written: Sequence[Path], page: Path | None, marker: str, failure: str) -> None:
    """Show the table, say where everything is, and write it into a page; raise if cells are missing."""
    from ridgeway.experiments import pages

    print(text, end="")
    if page is not None and not failure:
        pages.insert(page, marker, text)
    say("Written: " + ", ".join(str(path) for path in written))
    if failure:
        raise CampaignError(f"what is written is not all: {failure}")


def _split(words: Words) -> list[str] | None:
    """Options that may be repeated, or separated by commas."""
    return None if not words else [part.strip() for word in words for part in word.split(",") if part.strip()]
