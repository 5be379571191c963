"""Sobol indices and standard deviations from few runs, beside OpenTURNS' chaos and SALib.

Each method gets the same Latin hypercube of the same size. Ridgeway is told nothing but the data and the box;
chaos is OpenTURNS' sparse polynomial chaos (LARS, hyperbolic q = 0.75, the degree up to 4, or 2 from 60 inputs,
whose leave-one-out error is smallest); SALib's estimator for given data is Delta. SALib's Saltelli scheme needs a
design of its own: it spends the same number of runs on that.

    python benchmarks/sensitivity.py --repeats 3 --problems dense --results FILE
    python benchmarks/sensitivity.py --write docs/sensitivity.md

Each answer is kept in the file of results as soon as it is there, and not computed again. Another file, which need not
be there yet, begins anew.
Needs the extra ``bench``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import qmc
from threadpoolctl import threadpool_limits

import results
import ridgeway as rw
from ridgeway import testfunctions as tf
from ridgeway.gp.measures import Uniform
from ridgeway.gp.variance_parts import Exchange, ProductAverages, Terms, VarianceParts

threadpool_limits(limits=1)
TRUTH_ERROR = 5e-4  # of an index, as far as the reference values of engineering functions are known
N_FEATURES = 256  # waves of a dense ridge: its parts are known exactly


@dataclass(frozen=True)
class Problem:
    name: str
    f: Callable[[np.ndarray], np.ndarray]
    lower: np.ndarray
    upper: np.ndarray
    truth: VarianceParts
    embedding: Any
    truth_error: float = 0.0  # of an index

    @property
    def answers(self) -> np.ndarray:
        """Mean, standard deviation, first-order and total indices."""
        v = self.truth.variance
        return np.concatenate([[self.truth.mean, np.sqrt(v)], self.truth.first / v, self.truth.total / v])


def dense(D: int, d: int, seed: int) -> Problem:
    """A function of ``d`` dense directions, drawn from the model; its variance parts are exact."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((d, D)) * (1.25 / np.sqrt(D))
    waves, phases = rng.standard_normal((d, N_FEATURES)), rng.uniform(0, 2 * np.pi, N_FEATURES)
    amplitudes = rng.standard_normal(N_FEATURES) * np.sqrt(2.0 / N_FEATURES)
    along = R.T @ waves
    terms = Terms(0.0, amplitudes * np.exp(1j * phases), lambda j, t: np.exp(1j * t[:, None] * along[j]))
    truth = ProductAverages(Uniform(-np.ones(D), np.ones(D)), terms, 32).parts()
    return Problem(
        f"dense ridge, D={D}, d={d}", lambda X: np.cos(X @ along + phases) @ amplitudes, -np.ones(D), np.ones(D),
        truth, rw.Linear(d),
    )  # fmt: skip


def ishigami() -> tf.TestFunction:
    def function(X: np.ndarray) -> np.ndarray:
        return np.sin(X[:, 0]) + 7.0 * np.sin(X[:, 1]) ** 2 + 0.1 * X[:, 2] ** 4 * np.sin(X[:, 0])

    return tf.TestFunction("Ishigami", np.full(3, -np.pi), np.full(3, np.pi), function)


def engineering(f: tf.TestFunction) -> Problem:
    """With its parts from 2^18 Sobol points and their exchanges."""
    truth = Exchange(Uniform(f.lower, f.upper), 18).parts(f)
    return Problem(f.name, f, f.lower, f.upper, truth, rw.Linear(2), TRUTH_ERROR)


# -- methods -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    values: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    note: str = ""


def ridgeway(problem: Problem, X: np.ndarray, y: np.ndarray) -> Answer:
    belief = rw.fit(X, y, problem.embedding, bounds=(problem.lower, problem.upper))
    s = belief.sensitivity()
    sides = [
        np.concatenate(
            [[getattr(s.mean, side)], [getattr(s.std, side)], getattr(s.first, side), getattr(s.total, side)]
        )
        for side in ("mean", "low", "high")
    ]
    return Answer(*sides, note=", ".join(f"{name} {weight:.2f}" for name, weight in s.models.items()))


def chaos(problem: Problem, X: np.ndarray, y: np.ndarray) -> Answer:
    import openturns as ot

    ot.ResourceMap.SetAsBool("FunctionalChaosValidation-ModelSelection", True)  # its quick validation is for all terms
    D = X.shape[1]
    marginals = [ot.Uniform(float(low), float(high)) for low, high in zip(problem.lower, problem.upper, strict=True)]
    inputs = ot.JointDistribution(marginals)
    enumeration = ot.HyperbolicAnisotropicEnumerateFunction(D, 0.75)
    basis = ot.OrthogonalProductPolynomialFactory(marginals, enumeration)
    results = []
    for degree in (1, 2, 3, 4) if D < 60 else (1, 2):  # the best by its own corrected leave-one-out error
        strategy = ot.FixedStrategy(basis, enumeration.getBasisSizeFromTotalDegree(degree))
        selection = ot.LeastSquaresMetaModelSelectionFactory(ot.LARS(), ot.CorrectedLeaveOneOut())
        algorithm = ot.FunctionalChaosAlgorithm(
            ot.Sample(X), ot.Sample(y[:, None]), inputs, strategy, ot.LeastSquaresStrategy(selection)
        )
        algorithm.run()
        results.append(algorithm.getResult())
    result = max(results, key=lambda one: ot.FunctionalChaosValidation(one).computeR2Score()[0])
    indices, vector = ot.FunctionalChaosSobolIndices(result), ot.FunctionalChaosRandomVector(result)
    first = [indices.getSobolIndex(j) for j in range(D)]
    total = [indices.getSobolTotalIndex(j) for j in range(D)]
    std = float(np.sqrt(vector.getCovariance()[0, 0]))
    return Answer(np.concatenate([[vector.getMean()[0], std], first, total]))


def _space(problem: Problem) -> dict[str, Any]:
    names = [f"x{j}" for j in range(problem.lower.shape[0])]
    bounds = list(zip(problem.lower, problem.upper, strict=True))
    return {"num_vars": len(names), "names": names, "bounds": bounds}


def delta(problem: Problem, X: np.ndarray, y: np.ndarray) -> Answer:
    """SALib's estimate of first-order indices from given data; it has no total indices for them."""
    from SALib.analyze import delta as analysis

    D = X.shape[1]
    space = _space(problem)
    found = analysis.analyze(space, X, y, num_resamples=20, seed=0)
    missing = np.full(D, np.nan)
    return Answer(np.concatenate([[y.mean(), y.std(ddof=1)], found["S1"], missing]))


def saltelli(problem: Problem, X: np.ndarray, y: np.ndarray) -> Answer:
    """SALib's Sobol indices with as many runs, at points of its own; nothing where they are too few for one."""
    from SALib.analyze import sobol
    from SALib.sample import sobol as sampling

    D, n = X.shape[1], X.shape[0]
    power = int(np.floor(np.log2(max(n // (D + 2), 1))))
    if power < 1:
        return Answer(np.full(2 + 2 * D, np.nan))
    space = _space(problem)
    points = sampling.sample(space, 2**power, calc_second_order=False, seed=int(1e6 * abs(y[0])) % 2**31)
    values = problem.f(points)
    found = sobol.analyze(space, values, calc_second_order=False, seed=0)
    return Answer(np.concatenate([[values.mean(), values.std(ddof=1)], found["S1"], found["ST"]]))


METHODS = {"Ridgeway": ridgeway, "OpenTURNS chaos": chaos, "SALib delta": delta, "SALib Sobol": saltelli}


# -- scores --------------------------------------------------------------------------------------


def scores(problem: Problem, answer: Answer) -> dict[str, float]:
    truth, D = problem.answers, problem.lower.shape[0]
    error = np.abs(answer.values - truth)
    result = {
        "mean": error[0] / truth[1],
        "sd": error[1] / truth[1],
        "first": float(error[2 : 2 + D].max()),
        "total": float(error[2 + D :].max()),
    }
    if answer.low is not None and answer.high is not None:
        slack = np.where(np.arange(truth.size) < 2, 0.0, problem.truth_error)
        inside = (answer.low - slack <= truth) & (truth <= answer.high + slack)
        result |= {
            "mean held": float(inside[0]), "sd held": float(inside[1]),
            "first held": float(inside[2 : 2 + D].mean()), "total held": float(inside[2 + D :].mean()),
        }  # fmt: skip
    return result


def latin(problem: Problem, n: int, seed: int) -> np.ndarray:
    q = qmc.LatinHypercube(problem.lower.shape[0], seed=np.random.default_rng(seed)).random(n)
    return problem.lower + q * (problem.upper - problem.lower)


SIZES = {"dense": (120,), "engineering": (60, 240)}
REPEATS = {"dense": 50, "engineering": 20}
ENGINEERING = {
    "borehole": tf.borehole, "OTL circuit": tf.otl_circuit, "piston": tf.piston, "wing weight": tf.wing_weight,
    "Ishigami": ishigami,
}  # fmt: skip
DENSE = {f"dense ridge, D={D}, d={d}": (D, d) for D, d in ((20, 1), (20, 2), (60, 1))}


_ENGINEERING: dict[str, Problem] = {}  # made once: their truth takes seconds. Other processes cannot share a cache.


def problem_called(name: str, seed: int) -> Problem:
    """A dense ridge has a function of its own for each seed; engineering functions differ in the design alone."""
    if name in DENSE:
        return dense(*DENSE[name], seed)
    if name not in _ENGINEERING:
        _ENGINEERING[name] = engineering(ENGINEERING[name]())
    return _ENGINEERING[name]


def measured(name: str, n: int, method: str, seed: int) -> dict[str, Any]:
    """What a method says about one design, beside the truth."""
    problem = problem_called(name, seed if name in DENSE else 0)
    X = latin(problem, n, 1000 + seed)
    y = problem.f(X)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.RidgewayWarning)
        answer = METHODS[method](problem, X, y)
    seconds = time.process_time() - started
    print(f"{name} N={n} seed={seed} {method} {answer.note}", flush=True)
    return scores(problem, answer) | {"seconds": seconds}


def table(run: Callable, kind: str, seeds: range, methods: list[str], largest: int) -> Iterable[str]:
    """Medians of errors and means of coverage."""
    yield "| problem | N | method | mean | sd | first | total | held: mean | sd | first | total | CPU s |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for name in DENSE if kind == "dense" else ENGINEERING:
        for n in (size for size in SIZES[kind] if size <= largest):
            for method in methods:
                yield row(name, n, method, run(measured, [(name, n, method, seed) for seed in seeds]))


def row(name: str, n: int, method: str, found: list[dict[str, float]]) -> str:
    errors = [_cell(np.median([one[key] for one in found])) for key in ("mean", "sd", "first", "total")]
    held = [
        f"{100 * np.mean([one[key] for one in found]):.0f} %" if key in found[0] else ""
        for key in ("mean held", "sd held", "first held", "total held")
    ]
    seconds = f"{np.median([one['seconds'] for one in found]):.1f}"
    return f"| {name} | {n} | {method} | {' | '.join([*errors, *held, seconds])} |"


def _cell(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4f}"


INTRODUCTION = """# Sensitivity from few runs

How far sensitivity indices can be trusted, written by `make sensitivity` (`benchmarks/sensitivity.py`).
[The guide](howto/explain.md) says how to compute them. Every method gets the same Latin hypercubes of the same size
(seeds from {first} on, run once; rules were set on others).

- *Ridgeway* is told the data, the box, and to look for one or two directions (those of the dense ridges; two for
  engineering functions, which are no functions of two directions).
- *OpenTURNS chaos* is the sparse polynomial chaos of OpenTURNS (LARS, hyperbolic q = 0.75, the degree up to 4, or 2
  from 60 inputs, whose leave-one-out error is smallest).
- *SALib delta* is SALib's estimate of first-order indices from given data. *SALib Sobol* spends as many runs on points
  of its own (Saltelli's scheme); where they are too few for one round of it there is no answer.

*mean* and *sd* are errors of the output's mean and standard deviation relative to that standard deviation, *first* and
*total* the largest error of any index: medians over designs. *held* is how often the intervals of 95 % hold the truth,
indices of all inputs counted alike. CPU seconds are medians.
"""
DENSE_TEXT = (
    "Functions of one or two dense directions, drawn from the model, without noise. Their indices are known exactly."
)
ENGINEERING_TEXT = f"""
Simulators of three to ten inputs, without noise. Their indices are known from 2^18 Sobol points, to about
{TRUTH_ERROR}, which the intervals are allowed.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, help="50 of dense ridges and 20 of engineering functions by default")
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--problems", choices=SIZES, nargs="*", default=list(SIZES))
    parser.add_argument("--methods", choices=METHODS, nargs="*", default=list(METHODS))
    parser.add_argument("--largest", type=int, default=10**9, help="designs of at most so many runs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=results.KEPT / "sensitivity.jsonl")
    parser.add_argument("--write", type=Path, help="rewrite this Markdown page")
    options = parser.parse_args()

    def run(function: Callable, jobs: list) -> list:
        return results.measure(function, jobs, options.jobs, options.results)

    text = {"dense": ("Dense ridges", DENSE_TEXT), "engineering": ("Engineering functions", ENGINEERING_TEXT)}
    first = options.first_seed
    lines = [INTRODUCTION.format(first=first).strip()]
    for kind in options.problems:
        title, words = text[kind]
        repeats = options.repeats or REPEATS[kind]
        lines += ["", f"## {title}", "", words.strip() + f" Of each, {repeats} designs.", ""]
        seeds = range(first, first + repeats)
        lines += table(run, kind, seeds, options.methods, options.largest)
    page = "\n".join(lines) + "\n"
    print(page)
    if options.write:
        options.write.write_text(page)


if __name__ == "__main__":
    main()
