"""What outliers cost: 5 % of 80 observations moved by 10 standard deviations, 20 problems, and the same without them.

    python benchmarks/outliers.py [--seeds 500 520] [--effort quick] [--jobs 2] [--write docs/outliers.md]

Seeds 100 to 119 were used to choose the settings; the page reports seeds 500 to 519.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed

import ridgeway as rw
from ridgeway import testfunctions as tf
from ridgeway.experiments import pages
from ridgeway.experiments.scores import quiet_fit, rmse

N, N_TEST, NOISE, SHARE, SIZE = 80, 500, 0.1, 0.05, 10.0
ENGINEERING = (tf.borehole, tf.piston, tf.otl_circuit, tf.wing_weight, tf.robot_arm)


class Problem(NamedTuple):
    """Data with outliers in ``rows``, the same without them, and the function at test points."""

    name: str
    d: int
    X: np.ndarray
    clean: np.ndarray
    spoiled: np.ndarray
    rows: np.ndarray
    X_test: np.ndarray
    f_test: np.ndarray
    bounds: tuple[np.ndarray, np.ndarray]


class Row(NamedTuple):
    """Errors in standard deviations of f, counts of suspects, CPU seconds."""

    name: str
    without: float  # the outliers left out, robust=False
    plain: float  # with them, robust=False
    robust: float  # with them, the default
    named: int  # outliers that are suspects
    wrongly: int  # good observations that are
    wrongly_clean: int  # suspects where there are no outliers
    changed: float  # largest change of a prediction there, in standard deviations of f
    seconds: tuple[float, float, float]  # plain and robust without outliers, robust with them


def problem(seed: int) -> Problem:
    """Three of four are draws from the model, of one or two directions in 10 to 20 inputs; the others engineering."""
    rng = np.random.default_rng(seed)
    D, d = int(rng.integers(10, 21)), 1 + seed % 2
    if seed % 4 == 3:
        f, d = tf.padded(ENGINEERING[seed // 4 % 5](), D), 2
    else:
        f = tf.from_model(D, d, random_state=seed)
    X, X_test = f.sample(N, rng), f.sample(N_TEST, rng)
    f_test = f(X_test)
    scale = float(f_test.std())
    clean = f(X) + NOISE * scale * rng.standard_normal(N)
    rows = rng.choice(N, round(SHARE * N), replace=False)
    spoiled = clean.copy()
    spoiled[rows] += SIZE * scale * rng.choice([-1.0, 1.0], rows.shape[0])
    return Problem(f.name, d, X, clean, spoiled, rows, X_test, f_test, (f.lower, f.upper))


def scored(seed: int, effort: str) -> Row:
    """All fits to one problem."""
    p = problem(seed)
    good = ~np.isin(np.arange(N), p.rows)

    def fitted(y: np.ndarray, rows: np.ndarray | slice = slice(None), robust: bool = True) -> tuple[rw.Belief, float]:
        started = time.process_time()
        belief = quiet_fit(p.X[rows], y[rows], rw.Linear(p.d), bounds=p.bounds, effort=effort, robust=robust)
        return belief, time.process_time() - started

    def error(belief: rw.Belief) -> float:
        return rmse(belief.predict(p.X_test).mean, p.f_test) / float(np.std(p.f_test))

    reference, _ = fitted(p.clean, good, robust=False)
    plain, _ = fitted(p.spoiled, robust=False)
    robust, with_outliers = fitted(p.spoiled)
    before, without_robust = fitted(p.clean, robust=False)
    after, with_robust = fitted(p.clean)
    named = {suspect.row for suspect in robust.suspects}
    change = np.abs(before.predict(p.X_test).mean - after.predict(p.X_test).mean).max() / float(np.std(p.f_test))
    return Row(
        f"{p.name}, d = {p.d}",
        error(reference),
        error(plain),
        error(robust),
        len(named & set(p.rows.tolist())),
        len(named - set(p.rows.tolist())),
        len(after.suspects),
        float(change),
        (without_robust, with_robust, with_outliers),
    )


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The problems, and what they say together."""
    k = round(SHARE * N)
    yield "| problem | outliers left out | plain | robust | outliers named | good ones named | clean: named | change |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row.name} | {row.without:.3f} | {row.plain:.3f} | {row.robust:.3f} | {row.named} of {k} "
            f"| {row.wrongly} | {row.wrongly_clean} | {row.changed:.2g} |"
        )
    ratios = np.array([row.robust / row.without for row in rows])
    named = sum(row.named for row in rows) / (k * len(rows))
    wrongly = sum(row.wrongly for row in rows) / ((N - k) * len(rows))
    clean = sum(row.wrongly_clean for row in rows) / (N * len(rows))
    before, after, spoiled = np.mean([row.seconds for row in rows], axis=0)
    yield ""
    yield (
        f"Error of the robust fit over that of the fit without the outliers: median {np.median(ratios):.2f}, mean "
        f"{ratios.mean():.2f}, largest {ratios.max():.2f}; within 10 % in {np.sum(ratios < 1.1)} of {len(rows)}. "
        f"Outliers named: {100 * named:.0f} %. Good observations named: {100 * wrongly:.1f} % beside outliers, "
        f"{100 * clean:.1f} % without. CPU seconds of a fit: {before:.1f} plain and {after:.1f} robust without "
        f"outliers, {spoiled:.1f} with them."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=(500, 520))
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    jobs = (delayed(scored)(seed, chosen.effort) for seed in range(*chosen.seeds))
    lines = list(table(Parallel(n_jobs=chosen.jobs)(jobs)))
    print("\n".join(lines))
    if chosen.write is not None:
        pages.insert(chosen.write, "outliers", "\n".join(lines))


if __name__ == "__main__":
    main()
