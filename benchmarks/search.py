"""How far the search for modes gets: against the mode that a climb from the true embedding finds.

    python benchmarks/search.py [cells] [costs] [rules] [--rule-functions 10] [--first-seed 9500] [--results FILE]
        [--write docs/search.md]

The search was tuned on seeds from 1000 on; the page reports others, run once. With ``--results`` each fit is kept as
a line of that file as soon as it is measured, and those that are there are not measured again.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.special import logsumexp
from scipy.stats import qmc

import results
import ridgeway as rw
from ridgeway.belief.embedding_posterior import Directional
from ridgeway.errors import NumericalError
from ridgeway.experiments.protocol import pool
from ridgeway.gp import moments
from ridgeway.gp.process import LOG_NOISE
from ridgeway.inference import evidence
from ridgeway.inference.laplace import Laplace, settle
from ridgeway.inference.newton import climb
from ridgeway.inference.settings import DEFAULT, SearchSettings, Stage
from ridgeway.testfunctions import TestFunction, branin, from_model

N_TEST = 2000
AS_IT_IS = "as it is"
MISSED = 1.5  # nats below the truth's mode from which a search has missed it
UNCHECKED = replace(DEFAULT, left_out=replace(DEFAULT.left_out, least_observations=10**9))


@dataclass(frozen=True)
class Cell:
    """Functions of one kind, and how they are observed."""

    family: str  # "model", "pool" or "branin"
    D: int
    d: int
    noise: float
    N: int
    error: float | None = None  # the most that the mean error should be
    missed: float | None = None  # the largest share that should be missed
    functions: int = 6

    @property
    def name(self) -> str:
        where = {"model": "draws from the model", "pool": "the same, from the paper's pool", "branin": "Branin"}
        return f"{where[self.family]}, D={self.D}, d={self.d}"


CELLS = (
    Cell("model", 20, 2, 0.0, 60, 0.45, 0.15, functions=30),
    Cell("model", 20, 2, 0.0, 70, 0.20, 0.15, functions=30),
    Cell("model", 20, 2, 0.1, 80, 0.43, 0.15, functions=30),
    Cell("model", 20, 2, 0.1, 100),
    Cell("model", 40, 2, 0.0, 130, None, 0.25, functions=30),
    Cell("model", 20, 3, 0.1, 120, None, 0.25, functions=30),
    Cell("model", 10, 2, 0.03, 30),
    Cell("model", 20, 1, 0.1, 40),
    Cell("model", 40, 1, 0.03, 80),
    Cell("pool", 20, 2, 0.1, 100),
    Cell("branin", 20, 2, 0.0, 70),
)
COSTS_OF = Cell("model", 20, 2, 0.1, 100)
RULES_ON = 0  # the cell on which rules are switched off: the hardest


@dataclass(frozen=True)
class Found:
    """One function: what the truth's mode offers, and what the search found."""

    truth_error: float  # relative to the function's spread
    error: float
    gap: float  # nats by which the truth's mode has more evidence
    cpu: float
    climbs: int
    chance: float | None  # that a better mode was missed, as the belief says


def observed(cell: Cell, seed: int) -> tuple[TestFunction, np.ndarray, np.ndarray, np.ndarray]:
    """A function, inputs, outputs and test inputs."""
    f = branin(cell.D, random_state=seed) if cell.family == "branin" else from_model(cell.D, cell.d, random_state=seed)
    rng = np.random.default_rng([seed, 77])
    if cell.family == "pool":
        X = rng.permutation(pool(cell.D))[: cell.N]
    else:
        X = 2.0 * qmc.LatinHypercube(cell.D, seed=rng).random(cell.N) - 1.0
    y = f(X)
    return f, X, y + cell.noise * rng.standard_normal(cell.N), rng.uniform(-1.0, 1.0, (N_TEST, cell.D))


def from_truth(belief: rw.Belief, R: np.ndarray, noise: float) -> Laplace:
    """The mode of most evidence near the true embedding."""
    posterior = belief.posterior
    inner, _ = evidence.split(posterior)
    best: Laplace | None = None
    for level in (max(noise / belief.output.scale, 0.01), 0.05, 0.1):
        theta = posterior.initial(belief.space.restrict(R).ravel())
        theta[LOG_NOISE] = np.log(level)
        try:
            start = settle(posterior, climb(posterior, theta, inner, 60), inner)
            found = evidence.maximize_evidence(posterior, start)
        except NumericalError:
            continue
        best = found if best is None or found.log_evidence > best.log_evidence else best
    assert best is not None
    return best


def searched(cell: int, seed: int, rule: str) -> dict[str, float]:
    """One function of a cell, with a rule of the search switched off."""
    return asdict(measured(CELLS[cell], seed, rules()[rule]))


def measured(cell: Cell, seed: int, settings: SearchSettings) -> Found:
    """One function: what the truth's mode offers, and what the search finds."""
    f, X, y, X_test = observed(cell, seed)
    truth = f(X_test)

    def error(mean: np.ndarray) -> float:
        return float(np.sqrt(np.mean((mean - truth) ** 2)) / truth.std())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        frame = rw.fit(X, y, rw.Linear(cell.d), bounds=(-1, 1), n_starts=1, settings=UNCHECKED)
        started = time.process_time()
        belief = rw.fit(X, y, rw.Linear(cell.d), bounds=(-1, 1), settings=settings)
        cpu = time.process_time() - started
    assert isinstance(frame.embedding_posterior, Directional)
    best = from_truth(frame, np.asarray(f.embedding), cell.noise)
    full_rank = -float(logsumexp(-settings.mixture.rank_penalty * np.arange(cell.d)))
    offered = evidence.conclude(frame.posterior, best)[0].log_evidence + full_rank
    mean, _ = moments.plain(best.gp, frame.reduced_coordinates(X_test)[0])
    return Found(
        truth_error=error(frame.output.mean(mean)),
        error=error(belief.predict(X_test).mean),
        gap=offered - belief.diagnostics.optima[0],
        cpu=cpu,
        climbs=belief.diagnostics.n_starts,
        chance=belief.diagnostics.chance_missed,
    )


FITS: dict[str, tuple[rw.Linear, str]] = {
    "normal": (rw.Linear(COSTS_OF.d), "normal"),
    "quick": (rw.Linear(COSTS_OF.d), "quick"),
    "auto": (rw.Linear("auto"), "normal"),
}


def costed(seed: int) -> dict[str, list[float]]:
    """CPU seconds and relative error of each kind of fit, the warm one after one more observation among them."""
    f, X, y, X_test = observed(COSTS_OF, seed)
    truth = f(X_test)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        before = rw.fit(X[:-1], y[:-1], rw.Linear(COSTS_OF.d), bounds=(-1, 1))
        for name in (*FITS, "warm"):
            embedding, effort = FITS.get(name, FITS["normal"])
            started = time.process_time()
            initial = before if name == "warm" else None
            belief = rw.fit(X, y, embedding, bounds=(-1, 1), effort=effort, initial=initial)
            seconds = time.process_time() - started
            error = float(np.sqrt(np.mean((belief.predict(X_test).mean - truth) ** 2)) / truth.std())
            found[name] = [seconds, error]
    return found


# -- tables -----------------------------------------------------------------------------------------


def cell_table(run: Callable, first: int) -> Iterable[str]:
    found_in_turn = iter(run([(c, first + i, AS_IT_IS) for c, cell in enumerate(CELLS) for i in range(cell.functions)]))
    yield "| functions | noise | N | error at the truth's mode | error found | missed | CPU s | climbs |"
    yield "|---|---|---|---|---|---|---|---|"
    everything: list[Found] = []
    for cell in CELLS:
        found = [next(found_in_turn) for _ in range(cell.functions)]
        everything += found
        error = f"{np.mean([r.error for r in found]):.3f}" + (f" (at most {cell.error})" if cell.error else "")
        missed = f"{_missed(found)} of {len(found)}" + (f" (at most {cell.missed:.0%})" if cell.missed else "")
        yield (
            f"| {cell.name} | {cell.noise:g} | {cell.N} | {np.mean([r.truth_error for r in found]):.3f} | {error} | "
            f"{missed} | {np.median([r.cpu for r in found]):.1f} | {np.median([r.climbs for r in found]):.0f} |"
        )
    yield ""
    yield from chance_table(everything)


def cost_table(found: list[dict[str, list[float]]]) -> Iterable[str]:
    """Median CPU seconds, the largest, and the mean error of each kind of fit."""
    text = {
        "normal": '`effort="normal"`, the default (at most 15)',
        "quick": '`effort="quick"` (at most 3)',
        "auto": '`Linear("auto")` (at most 2.5 times the default)',
        "warm": "one more observation, from the last belief (at most 1)",
    }
    yield "| fit | CPU s, median | most | error |"
    yield "|---|---|---|---|"
    for name, words in text.items():
        seconds, errors = np.array([one[name] for one in found]).T
        yield f"| {words} | {np.median(seconds):.1f} | {seconds.max():.1f} | {errors.mean():.3f} |"


def chance_table(found: list[Found]) -> Iterable[str]:
    """Whether the stated chance of a missed mode is what then happens."""
    yield "| stated chance that a better mode was missed | functions | mean of the stated | missed |"
    yield "|---|---|---|---|"
    edges = (0.0, 0.01, 0.05, 0.15, 0.4, 1.0)
    for low, high in pairwise(edges):
        part = [r for r in found if r.chance is not None and low <= r.chance < high]
        if part:
            stated = np.mean([r.chance for r in part if r.chance is not None])
            yield f"| {low:.0%} to {high:.0%} | {len(part)} | {stated:.1%} | {_missed(part) / len(part):.1%} |"


def _missed(found: list[Found]) -> int:
    return sum(r.gap > MISSED for r in found)


def replaced(stage: Stage) -> Stage:
    return stage._replace(iterations=max(stage.iterations, 25))


def rules() -> dict[str, SearchSettings]:
    """The search with one rule switched off at a time."""
    climbs, population = DEFAULT.climbs, DEFAULT.population
    one_level = tuple((stages[-1],) for stages in climbs.sequences)
    longer = tuple(tuple(replaced(stage) for stage in stages) for stages in climbs.sequences)
    return {
        AS_IT_IS: DEFAULT,
        "fresh starts only": replace(DEFAULT, climbs=replace(climbs, fresh=1.0)),
        "no rows from two modes": replace(DEFAULT, population=replace(population, crossed=0.0)),
        "no disturbed modes": replace(DEFAULT, population=replace(population, crossed=1.0)),
        "one noise level a climb": replace(DEFAULT, climbs=replace(climbs, sequences=one_level)),
        "at least 25 iterations a stage": replace(DEFAULT, climbs=replace(climbs, sequences=longer)),
        "one sequence": replace(DEFAULT, climbs=replace(climbs, sequences=climbs.sequences[:1])),
        "no known modes recognised": replace(DEFAULT, climbs=replace(climbs, recognised=2.0)),
        "no climbs from near the best modes": replace(DEFAULT, climbs=replace(climbs, sharpening_climbs=0)),
        "last climbs at the best mode's noise only": replace(DEFAULT, climbs=replace(climbs, sharper=1.0)),
        "one search with all climbs": replace(DEFAULT, most_searches=1),
        "no early end": replace(DEFAULT, climbs=replace(climbs, least_climbs=10**9)),
        "no check on observations left out": UNCHECKED,
    }


def rule_table(run: Callable, functions: int, first: int) -> Iterable[str]:
    found_in_turn = iter(run([(RULES_ON, first + i, rule) for rule in rules() for i in range(functions)]))
    yield "| search | error found | missed | evidence lost, mean nats | CPU s, mean |"
    yield "|---|---|---|---|---|"
    as_it_is = np.zeros(functions)
    for rule in rules():
        found = [next(found_in_turn) for _ in range(functions)]
        error, cpu = (np.mean([getattr(r, what) for r in found]) for what in ("error", "cpu"))
        gaps = np.array([r.gap for r in found])
        as_it_is = gaps if rule == AS_IT_IS else as_it_is
        lost = gaps - as_it_is
        shown = f"{lost.mean():.2f} ± {lost.std(ddof=1) / np.sqrt(functions):.2f}" if rule != AS_IT_IS else ""
        yield f"| {rule} | {error:.3f} | {_missed(found)} of {functions} | {shown} | {cpu:.1f} |"


TEXT = """# The search for modes

How far the default search gets, written by `make search` (`benchmarks/search.py`). The posterior over embeddings has
many modes. A climb from the *true* embedding shows what the data have to offer; no user can make that climb. A search
has *missed* the truth's mode if the best mode that it found has less evidence by more than {missed} nats (the unit of
information with natural logarithms; 1 nat = 1.44 bits). Errors are root mean square errors relative to the spread of
the function. CPU seconds are those of one cold fit on one thread; they and the climbs are medians.

The search was tuned on functions with seeds 1000 to 1105 and 7000 to 9429. The tables are from seeds {first} on, run
once.
"""
COSTS_TEXT = f"""
Draws from the model, D={COSTS_OF.D}, d={COSTS_OF.d}, noise {COSTS_OF.noise}, N={COSTS_OF.N}, one thread.
"""
RULES_TEXT = """
Each rule of the search switched off, on the same functions (D=20, d=2, no noise, N=60). *As it is* is the default.
Evidence lost is that of the best mode found as it is less that found without the rule, function by function, with its
standard error.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="cells, costs, rules; all by default")
    parser.add_argument("--rule-functions", type=int, default=10)
    parser.add_argument("--cost-functions", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=9500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, help="keep each measurement in this file, and use those that are there")
    parser.add_argument("--write", type=Path, help="rewrite this Markdown page")
    options = parser.parse_args()
    parts = options.parts or ["cells", "costs", "rules"]

    def run(jobs: list) -> list[Found]:
        return [Found(**result) for result in results.measure(searched, jobs, options.jobs, options.results)]

    lines = [TEXT.format(missed=MISSED, first=options.first_seed).strip(), ""]
    if "cells" in parts:
        lines += ["## What the data offer, and what is found", ""]
        lines += cell_table(run, options.first_seed)
        lines += [""]
    if "costs" in parts:
        seeds = [(options.first_seed + i,) for i in range(options.cost_functions)]
        lines += ["## What a fit costs", "", COSTS_TEXT.strip(), ""]
        lines += cost_table(results.measure(costed, seeds, options.jobs, options.results))
        lines += [""]
    if "rules" in parts:
        lines += ["## What each rule is worth", "", RULES_TEXT.strip(), ""]
        lines += rule_table(run, options.rule_functions, options.first_seed)
    page = "\n".join(lines).rstrip() + "\n"
    print(page)
    if options.write:
        options.write.write_text(page)


if __name__ == "__main__":
    main()
