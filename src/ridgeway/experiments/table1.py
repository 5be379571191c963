"""Table 1 of the paper: how well the marginals of ``f*`` approximate the true one.

A GP with one length scale an input and zero mean, whose output scale and length scales are integrated out by
``map``, ``bbq``, ``mgp`` and ``samples``; the truth is a long run of the No-U-Turn sampler. What the paper leaves open
is chosen here: inputs are uniform in ``[-1, 1]^D``; hyperparameters are drawn from the priors that the model has; the
noise is small, known and the same everywhere. The divergence is ``KL(p, q) + KL(q, p)`` between the posteriors of
``f*`` at each test point, the truth reduced to its mean and variance as the approximations are, and once
more against the truth as it is, a mixture.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import ridgeway as rw
from ridgeway.experiments import datasets, paper
from ridgeway.experiments.cells import Cell
from ridgeway.experiments.mixture import Mixture, gaussian_divergence, gaussian_log_density
from ridgeway.gp.moments import Marginal
from ridgeway.inference import nuts
from ridgeway.types import Array

DIMENSIONS = (5, 10, 20)
TRAINING = {"yacht": 50, "concrete": 100}
ROWS = (*(f"synthetic-{D}" for D in DIMENSIONS), *TRAINING)
REPEATS, PARTITIONS = 50, 10
QUICK_REPEATS = 2

NOISE = {"synthetic": 0.01, "yacht": 0.1, "concrete": 0.1}  # standard deviations, in units of the outputs'
#: Times ``D^(-1/2)``: the median of the inverse length scales. Synthetic functions are so smooth that the box holds a
#: part of a length scale of most inputs and the test points lie beyond the data, so that the hyperparameters stay as
#: uncertain as the paper's divergences say that its were. Real data have the library's default.
INVERSE_LENGTH_SCALE = {"synthetic": 0.15, "yacht": 1.25, "concrete": 1.25}
LOG_LENGTH_SCALE_STD = 1.0
LOG_OUTPUT_SCALE = (0.0, 1.0)

COST = {"synthetic-5": 1.0, "synthetic-10": 2.0, "synthetic-20": 6.0, "yacht": 2.0, "concrete": 3.0}
METHODS: tuple[Marginal, ...] = ("map", "bbq", "mgp", "samples")
AGREED = 1.01  # R-hat
DRAWS = (500, 1500, 4500)  # of each chain: more while the chains do not agree
N_STARTS = 10  # searches for modes
N_PREDICTED = 1000  # of all draws, evenly: each costs a factorisation


@dataclass(frozen=True)
class Problem:
    """Data to train on and to be tested on."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array
    noise: float  # standard deviation
    inverse_length_scale: float  # the prior's median

    @property
    def priors(self) -> rw.Priors:
        """Over the output scale and the length scales alone."""
        return rw.Priors(
            embedding_scale=self.inverse_length_scale,
            log_scale=(0.0, 0.0),
            log_output_scale=LOG_OUTPUT_SCALE,
            log_noise=(float(np.log(self.noise)), 0.0),
            mean=(0.0, 0.0),
            log_length_scale_std=LOG_LENGTH_SCALE_STD,
            noise_floor=0.0,
        )


def synthetic(D: int, seed: int) -> Problem:
    """``10 D`` values of a function drawn from the model, and as many to test.

    A test point is ``x + t (l ∘ v)``: from a training point, ``t`` of ``U(1, 3)`` length scales ``l`` in a
    direction ``v`` that is uniform on the sphere.
    """
    rng = np.random.default_rng(seed)
    n, noise, inverse = 10 * D, NOISE["synthetic"], INVERSE_LENGTH_SCALE["synthetic"] / float(np.sqrt(D))
    length_scales = np.exp(LOG_LENGTH_SCALE_STD * rng.standard_normal(D)) / inverse
    output_scale = np.exp(LOG_OUTPUT_SCALE[0] + LOG_OUTPUT_SCALE[1] * rng.standard_normal())
    X = rng.uniform(-1.0, 1.0, (n, D))
    directions = rng.standard_normal((n, D))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    away = rng.uniform(1.0, 3.0, (n, 1)) * directions * length_scales
    X_test = X[rng.integers(n, size=n)] + away
    U = np.vstack([X, X_test]) / length_scales
    covariance = output_scale**2 * np.exp(-0.5 * cdist(U, U, "sqeuclidean"))
    covariance.flat[:: 2 * n + 1] += noise**2
    y = np.linalg.cholesky(covariance) @ rng.standard_normal(2 * n)
    return Problem(X, y[:n], X_test, y[n:], noise, inverse)


def real(name: str, seed: int, data: Path | None = None) -> Problem:
    """A random part of a data set to train on, the rest to test; outputs in units of their standard deviation.

    The paper centres concrete alone, so yacht's outputs stay away from zero.
    """
    whole = datasets.load(name, data)
    y = whole.y if name == "concrete" else whole.raw_y / whole.raw_y.std()
    order = np.random.default_rng(seed).permutation(y.shape[0])
    train, test = order[: TRAINING[name]], order[TRAINING[name] :]
    inverse = INVERSE_LENGTH_SCALE[name] / float(np.sqrt(whole.X.shape[1]))
    return Problem(whole.X[train], y[train], whole.X[test], y[test], NOISE[name], inverse)


def cells(quick: bool = False, data: Path | None = None, rows: Sequence[str] = ROWS) -> list[Cell]:
    """All repeats of all rows; a quick run has two of each but the longest."""
    found = []
    for row in rows:
        if quick and row == "synthetic-20":
            continue
        repeats = QUICK_REPEATS if quick else PARTITIONS if row in TRAINING else REPEATS
        for seed in range(repeats):
            arguments: dict[str, Any] = {"row": row, "seed": seed}
            if row in TRAINING:
                arguments["data"] = None if data is None else str(data)
            found.append(Cell(f"table1/{row}/{seed:02d}", compute, arguments, cost=COST[row]))
    return found


def compute(row: str, seed: int, data: str | None = None) -> dict[str, Any]:
    """One repeat of one row."""
    kind, _, D = row.partition("-")
    problem = synthetic(int(D), seed) if kind == "synthetic" else real(row, seed, None if data is None else Path(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)  # what they say is in the result
        beliefs = {how: _fit(problem, how, seed) for how in ("map", "nested")}
    sampled = _sample(beliefs["nested"], seed)
    Z, _ = beliefs["map"].reduced_coordinates(problem.X_test)
    kept = sampled.theta[:: max(1, sampled.theta.shape[0] // N_PREDICTED)]
    truth = Mixture.over(beliefs["map"].posterior, kept, Z)
    return {
        **_scores(beliefs, truth, problem),
        "truth": {
            "nll": float(-truth.log_density(problem.y_test, problem.noise**2).mean()),
            "r_hat": sampled.r_hat,
            "effective_draws": sampled.effective_size,
            "divergences": sampled.divergences,
            "draws": sampled.theta.shape[0],
        },
    }


def _fit(problem: Problem, inference: str, seed: int) -> rw.Belief:
    return rw.fit(
        problem.X, problem.y, rw.Diagonal(), inference=inference, bounds=(-1.0, 1.0), standardize=False,
        priors=problem.priors, random_state=seed, n_starts=N_STARTS,
    )  # fmt: skip


def _sample(belief: rw.Belief, seed: int) -> nuts.Sampled:
    """Chains from the modes, longer until they agree or patience ends; the result says which."""
    modes = [nuts.Mode(component.gp.theta, component.weight) for component in belief.components]
    for draws in DRAWS:
        sampled = nuts.sample(belief.posterior, modes, rw.Nuts(draws=draws), seed)
        if sampled.r_hat < AGREED:
            break
    return sampled


def _scores(beliefs: dict[str, rw.Belief], truth: Mixture, problem: Problem) -> dict[str, dict[str, Any]]:
    """Every metric of every marginal of each belief, averaged over the test points."""
    found = [belief.predict(problem.X_test, method) for belief in beliefs.values() for method in METHODS]
    means, variances = np.stack([p.mean for p in found]), np.stack([p.variance for p in found])
    values = {
        "nll": -gaussian_log_density(problem.y_test, means, variances + problem.noise**2),
        "skld": gaussian_divergence(means, variances, truth.mean, truth.variance),
        "skld_mixture": truth.divergences(means, variances),
    }
    scores: dict[str, dict[str, Any]] = {how: {"pareto_k": belief.pareto_k} for how, belief in beliefs.items()}
    for metric, value in values.items():
        for how, row in zip(beliefs, value.mean(axis=1).reshape(len(beliefs), len(METHODS)), strict=True):
            scores[how][metric] = dict(zip(METHODS, map(float, row), strict=True))
    return scores


def tables(results: dict[str, dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """The table in Markdown, the paper's number in brackets beside each of ours, and its rows for a CSV file."""
    rows = [summary for row in ROWS if (summary := _summary(row, results)) is not None]
    lines = [
        "Mean over test points and repeats, in brackets the paper's; standard errors and the rest are in the CSV file.",
        "",
        *_markdown(rows, "nll", "Negative log-likelihood of the test values"),
        "",
        *_markdown(rows, "skld", "Symmetrised divergence (nats) from the true posterior"),
        "",
        "Each beside the one before it, differences paired by repeat, ± their standard error; negative is better:",
        "",
        *_paired_lines(rows),
        "",
        *_sampler_lines(rows),
    ]
    return "\n".join(lines) + "\n", rows


def _summary(row: str, results: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """Means and standard errors of one row over its repeats."""
    found = [result for name, result in sorted(results.items()) if name.split("/")[:2] == ["table1", row]]
    if not found:
        return None
    summary: dict[str, Any] = {"row": row, "repeats": len(found)}
    for how in ("map", "nested"):
        for metric in ("nll", "skld", "skld_mixture"):
            for method in METHODS:
                values = np.array([result[how][metric][method] for result in found])
                key = f"{metric}_{method}" if how == "map" else f"{how}_{metric}_{method}"
                summary[key] = float(values.mean())
                summary[f"{key}_stderr"] = _standard_error(values)
    for metric in ("nll", "skld"):
        for before, after in pairwise(METHODS):
            differences = np.array([r["map"][metric][after] - r["map"][metric][before] for r in found])
            key = f"{metric}_{after}_minus_{before}"
            summary[key], summary[f"{key}_stderr"] = float(differences.mean()), _standard_error(differences)
        for name, value in paper.TABLE1[row][metric].items():
            summary[f"paper_{metric}_{name}"] = value
    truths = [result["truth"] for result in found]
    summary["truth_nll"] = float(np.mean([t["nll"] for t in truths]))
    summary["largest_r_hat"] = float(max(t["r_hat"] for t in truths))
    summary["smallest_effective_draws"] = float(min(t["effective_draws"] for t in truths))
    summary["divergences"] = int(sum(t["divergences"] for t in truths))
    summary["draws"] = int(sum(t["draws"] for t in truths))
    return summary


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def _paired_lines(rows: list[dict[str, Any]]) -> list[str]:
    pairs = list(pairwise(METHODS))
    titles = [f"{metric}: {after} - {before}" for metric in ("likelihood", "divergence") for before, after in pairs]
    lines = ["| | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    keys = [f"{metric}_{after}_minus_{before}" for metric in ("nll", "skld") for before, after in pairs]
    for row in rows:
        differences = [f"{row[key]:+.3f} ± {row[f'{key}_stderr']:.3f}" for key in keys]
        lines.append(f"| {row['row']} | " + " | ".join(differences) + " |")
    return lines


def _markdown(rows: list[dict[str, Any]], metric: str, title: str) -> list[str]:
    digits = 4 if metric == "nll" else 3
    lines = [f"| {title} | MAP | BBQ | MGP | samples |", "|---|---|---|---|---|"]
    for row in rows:
        parts = []
        for method in METHODS:
            theirs = row.get(f"paper_{metric}_{method}")
            parts.append(f"{row[f'{metric}_{method}']:.{digits}g}" + ("" if theirs is None else f" ({theirs:.3g})"))
        lines.append(f"| {row['row']}, {row['repeats']} repeats | " + " | ".join(parts) + " |")
    return lines


def _sampler_lines(rows: list[dict[str, Any]]) -> list[str]:
    """What the truth rests on."""
    lines = [
        "| The truth's sampler | largest R-hat | fewest effective draws | divergences of all draws | its own NLL |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['row']} | {row['largest_r_hat']:.4f} | {row['smallest_effective_draws']:.0f} | "
        f"{row['divergences']} of {row['draws']:,} | {row['truth_nll']:.3g} |"
        for row in rows
    ]
    return lines
