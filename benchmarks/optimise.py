"""How good and how fast the search for the best point is, beside other optimisers on the same problems and seeds.

    python benchmarks/optimise.py [--problems branin-100 ...] [--methods ridgeway botorch ...] [--seeds 200 210]
        [--results benchmarks/kept/optimise.jsonl] [--jobs 1] [--write docs/optimise.md]

Every run is kept as soon as it is finished, and not made twice: a benchmark that was stopped goes on where it was, and
the table is of all that is kept. Another file of results, which need not be there yet, begins anew.
Seeds 0 to 9 were used to choose the settings; the page reports seeds from 200 on. The rivals need the extra ``bench``.

A seed is a rotation of the problem, a design and the random numbers of the optimiser. All methods but CMA-ES begin with
the same ten points of a scrambled Sobol sequence or Latin hypercube. Rivals are used as their documentation shows:
BoTorch's ``SingleTaskGP`` with ``LogExpectedImprovement`` in its defaults, TuRBO-1 and SAASBO as in its tutorials
(TuRBO with batches of one and Thompson sampling; SAASBO with shorter chains, which its tutorial uses as well),
CMA-ES from the centre of the box with a step of a quarter of its width.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.stats import special_ortho_group

import results
import ridgeway as rw
from ridgeway.experiments import pages

INITIAL = 10
Function = Callable[[np.ndarray], float]

# -- problems: all are minimised over [-1, 1]^D ------------------------------------------------------------


def branin(v: np.ndarray) -> float:
    """Branin over [0, 1]²; its least value is 0.397887."""
    x, y = 15.0 * v[0] - 5.0, 15.0 * v[1]
    along = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return float(along**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10)


_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_A3 = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
_P3 = 1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]])
_A6 = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
_P6 = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann3(v: np.ndarray) -> float:
    """Hartmann over [0, 1]³; its least value is -3.86278."""
    return float(-_ALPHA @ np.exp(-np.sum(_A3 * (v - _P3) ** 2, axis=1)))


def hartmann6(v: np.ndarray) -> float:
    """Hartmann over [0, 1]⁶; its least value is -3.32237."""
    return float(-_ALPHA @ np.exp(-np.sum(_A6 * (v - _P6) ** 2, axis=1)))


def levy(v: np.ndarray) -> float:
    """Levy over [0, 1]^D, which maps to [-10, 10]^D; its least value is 0."""
    w = 1.0 + (20.0 * v - 11.0) / 4.0
    middle = np.sum((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2))
    return float(np.sin(np.pi * w[0]) ** 2 + middle + (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2))


@dataclass(frozen=True)
class Problem:
    """A function of ``d`` combinations of ``D`` inputs, or of the first ``d`` inputs themselves."""

    function: Function
    D: int
    d: int  # directions that our method is told
    least: float
    budget: int
    rotated: bool = True

    def at(self, seed: int) -> Function:
        """The function of ``x (D,)`` in [-1, 1]^D; outside the function's own box it is not clipped."""
        used = self.D if self.function is levy else self.d
        R = special_ortho_group.rvs(self.D, random_state=seed)[:used] if self.rotated else np.eye(used, self.D)
        return lambda x: self.function((R @ np.asarray(x) + 1.0) / 2.0)


PROBLEMS = {
    "branin-20": Problem(branin, 20, 2, 0.397887, 100),
    "branin-40": Problem(branin, 40, 2, 0.397887, 100),
    "branin-100": Problem(branin, 100, 2, 0.397887, 50),
    "branin-1000": Problem(branin, 1000, 2, 0.397887, 50),
    "hartmann3-20": Problem(hartmann3, 20, 3, -3.86278, 100),
    "hartmann3-40": Problem(hartmann3, 40, 3, -3.86278, 100),
    "hartmann6-20": Problem(hartmann6, 20, 6, -3.32237, 100),
    "hartmann6-100": Problem(hartmann6, 100, 6, -3.32237, 100),
    "hartmann6-1000": Problem(hartmann6, 1000, 6, -3.32237, 50),
    "axis-branin-100": Problem(branin, 100, 2, 0.397887, 50, rotated=False),
    "axis-levy-20": Problem(levy, 20, 2, 0.0, 100, rotated=False),
}


# -- methods: each gives its outcomes in their order -----------------------------------------------------------


def design(D: int, seed: int) -> np.ndarray:
    """The points that methods begin with."""
    return rw.Box(-np.ones(D), np.ones(D)).filling(INITIAL, np.random.default_rng([seed, 7]))


def ridgeway(f: Function, problem: Problem, seed: int, acquisition: str = "improvement") -> list[float]:
    box = rw.Box(-np.ones(problem.D), np.ones(problem.D))
    learner = rw.ActiveLearner(
        box, rw.Linear(problem.d), goal="minimize", acquisition=acquisition, n_initial=INITIAL, random_state=seed
    )
    X = design(problem.D, seed)
    learner.tell(X, [f(x) for x in X])
    while learner.record.n < problem.budget:
        x = learner.ask()
        learner.tell(x, f(x))
    return learner.y.tolist()


def thompson(f: Function, problem: Problem, seed: int) -> list[float]:
    return ridgeway(f, problem, seed, "thompson")


def random(f: Function, problem: Problem, seed: int) -> list[float]:
    rng = np.random.default_rng([seed, 8])
    return [f(x) for x in rng.uniform(-1.0, 1.0, (problem.budget, problem.D))]


def cma_es(f: Function, problem: Problem, seed: int) -> list[float]:
    import cma

    options = {"bounds": [-1.0, 1.0], "seed": seed + 1, "verbose": -9, "maxfevals": problem.budget}
    search, y = cma.CMAEvolutionStrategy(np.zeros(problem.D), 0.5, options), []
    while len(y) < problem.budget:
        points = search.ask()
        values = [f(x) for x in points]
        search.tell(points, values)
        y += values
    return y[: problem.budget]


def botorch(f: Function, problem: Problem, seed: int) -> list[float]:
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    def propose(X: Any, y: Any) -> Any:
        model = SingleTaskGP(X, y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return _optimised(LogExpectedImprovement(model, best_f=y.max()), problem.D)

    return _torch_loop(f, problem, seed, propose)


def saasbo(f: Function, problem: Problem, seed: int) -> list[float]:
    from botorch.acquisition import qLogExpectedImprovement
    from botorch.fit import fit_fully_bayesian_model_nuts
    from botorch.models import SaasFullyBayesianSingleTaskGP

    def propose(X: Any, y: Any) -> Any:
        model = SaasFullyBayesianSingleTaskGP(X, y)
        fit_fully_bayesian_model_nuts(model, warmup_steps=128, num_samples=64, thinning=4, disable_progbar=True)
        return _optimised(qLogExpectedImprovement(model, best_f=y.max()), problem.D)

    return _torch_loop(f, problem, seed, propose)


def turbo(f: Function, problem: Problem, seed: int) -> list[float]:
    """TuRBO-1 as in BoTorch's tutorial: Matérn 5/2 with a length scale for each input, Thompson sampling."""
    return _torch_loop(f, problem, seed, _TrustRegion(problem.D, seed))


class _TrustRegion:
    """The region of TuRBO's tutorial: it grows after successes in a row and shrinks after failures."""

    def __init__(self, D: int, seed: int) -> None:
        self.D, self.seed = D, seed
        self.length, self.successes, self.failures, self.seen = 0.8, 0, 0, -np.inf
        self.tolerance = max(4.0, float(D))

    def __call__(self, X: Any, y: Any) -> Any:
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.generation import MaxPosteriorSampling
        from botorch.models import SingleTaskGP
        from gpytorch.constraints import Interval
        from gpytorch.kernels import MaternKernel, ScaleKernel
        from gpytorch.likelihoods import GaussianLikelihood
        from gpytorch.mlls import ExactMarginalLogLikelihood

        self._update(float(y.max()))
        standard = (y - y.mean()) / y.std()
        kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=self.D, lengthscale_constraint=Interval(0.005, 4.0)))
        likelihood = GaussianLikelihood(noise_constraint=Interval(1e-8, 1e-3))
        model = SingleTaskGP(X, standard, covar_module=kernel, likelihood=likelihood, outcome_transform=None)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        center = X[y.argmax()]
        weights = model.covar_module.base_kernel.lengthscale.squeeze().detach()
        weights = weights / weights.mean()
        weights = weights / torch.prod(weights.pow(1.0 / len(weights)))
        lower = torch.clamp(center - weights * self.length / 2.0, 0.0, 1.0)
        upper = torch.clamp(center + weights * self.length / 2.0, 0.0, 1.0)
        n = min(5000, max(2000, 200 * self.D))
        sobol = torch.quasirandom.SobolEngine(self.D, scramble=True, seed=self.seed + len(y))
        drawn = lower + (upper - lower) * sobol.draw(n).to(X)
        mask = torch.rand(n, self.D, dtype=X.dtype) <= min(20.0 / self.D, 1.0)
        none = torch.where(mask.sum(dim=1) == 0)[0]
        mask[none, torch.randint(0, self.D, size=(len(none),))] = True
        candidates = center.expand(n, self.D).clone()
        candidates[mask] = drawn[mask]
        with torch.no_grad():
            return MaxPosteriorSampling(model=model, replacement=False)(candidates, num_samples=1)

    def _update(self, best: float) -> None:
        if best > self.seen + 1e-3 * abs(self.seen if np.isfinite(self.seen) else 0.0):
            self.successes, self.failures = self.successes + 1, 0
        else:
            self.successes, self.failures = 0, self.failures + 1
        if self.successes >= 10:
            self.length, self.successes = min(2.0 * self.length, 1.6), 0
        elif self.failures >= self.tolerance:
            self.length, self.failures = self.length / 2.0, 0
        if self.length < 0.5**7:
            self.length = 0.8
        self.seen = max(self.seen, best)


def _optimised(acquisition: Any, D: int) -> Any:
    import torch
    from botorch.optim import optimize_acqf

    bounds = torch.stack([torch.zeros(D), torch.ones(D)]).double()
    return optimize_acqf(acquisition, bounds=bounds, q=1, num_restarts=10, raw_samples=512)[0]


def _torch_loop(f: Function, problem: Problem, seed: int, propose: Callable[[Any, Any], Any]) -> list[float]:
    """Inputs in [0, 1]^D and outputs turned to be maximised, as BoTorch has it."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    X = torch.tensor((design(problem.D, seed) + 1.0) / 2.0, dtype=torch.double)
    y = torch.tensor([[-f(2.0 * x.numpy() - 1.0)] for x in X], dtype=torch.double)
    while len(y) < problem.budget:
        x = propose(X, y).detach()
        X = torch.cat([X, x])
        y = torch.cat([y, torch.tensor([[-f(2.0 * x[0].numpy() - 1.0)]], dtype=torch.double)])
    return (-y[:, 0]).tolist()


def _study(f: Function, problem: Problem, seed: int, sampler: Any) -> list[float]:
    """A study of Optuna, whose trials suggest every input by itself."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=sampler)
    names = [f"x{i:03d}" for i in range(problem.D)]
    for x in design(problem.D, seed):
        study.enqueue_trial(dict(zip(names, x.tolist(), strict=True)))
    study.optimize(lambda trial: f([trial.suggest_float(name, -1.0, 1.0) for name in names]), problem.budget)
    return [trial.value for trial in study.trials]


def tpe(f: Function, problem: Problem, seed: int) -> list[float]:
    from optuna.samplers import TPESampler

    return _study(f, problem, seed, TPESampler(seed=seed))


def optuna_cma(f: Function, problem: Problem, seed: int) -> list[float]:
    from optuna.samplers import CmaEsSampler

    return _study(f, problem, seed, CmaEsSampler(seed=seed))


def optuna_gp(f: Function, problem: Problem, seed: int) -> list[float]:
    from optuna.samplers import GPSampler

    return _study(f, problem, seed, GPSampler(seed=seed, deterministic_objective=True))


def optuna_ridgeway(f: Function, problem: Problem, seed: int) -> list[float]:
    from ridgeway.optuna import RidgewaySampler

    return _study(f, problem, seed, RidgewaySampler(seed=seed, n_startup_trials=INITIAL))


METHODS: dict[str, Callable[[Function, Problem, int], list[float]]] = {
    "ridgeway": ridgeway,
    "thompson": thompson,
    "botorch": botorch,
    "turbo": turbo,
    "saasbo": saasbo,
    "cma": cma_es,
    "random": random,
    "optuna-ridgeway": optuna_ridgeway,
    "optuna-tpe": tpe,
    "optuna-cma": optuna_cma,
    "optuna-gp": optuna_gp,
}
NAMED = {
    "ridgeway": "Ridgeway, improvement",
    "thompson": "Ridgeway, Thompson",
    "botorch": "BoTorch, SingleTaskGP + LogEI",
    "turbo": "TuRBO-1",
    "saasbo": "SAASBO",
    "cma": "CMA-ES",
    "random": "random",
    "optuna-ridgeway": "Optuna, RidgewaySampler",
    "optuna-tpe": "Optuna, TPE",
    "optuna-cma": "Optuna, CMA-ES",
    "optuna-gp": "Optuna, GP",
}


USUAL = ("ridgeway", "botorch", "turbo", "cma", "random")  # the others are slow, or for one problem


# -- runs and their table --------------------------------------------------------------------------------


def run(problem: str, method: str, seed: int) -> dict[str, Any]:
    """All outcomes of one run, and its CPU seconds."""
    about = PROBLEMS[problem]
    started = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = METHODS[method](about.at(seed), about, seed)
    seconds = round(process_time() - started, 1)
    print(f"{problem} {method} {seed}: best {min(y):.4f}, {seconds:.0f} CPU s", flush=True)
    return {"y": [float(f"{value:.7g}") for value in y], "seconds": seconds}


def table(found: dict[tuple[Any, ...], dict[str, Any]]) -> Iterator[str]:
    """A row for each method of each problem: regrets at the end, and what they cost."""
    yield "| problem | evaluations | method | seeds | median regret | mean ± standard error | mean best | CPU s |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, problem in PROBLEMS.items():
        for method, named in NAMED.items():
            runs = [result for job, result in found.items() if job[:2] == (name, method)]
            if not runs:
                continue
            best = np.array([min(r["y"]) for r in runs])
            regret, n = best - problem.least, len(runs)
            error = f"{regret.std(ddof=1) / np.sqrt(n):.2g}" if n > 1 else "?"
            seconds = np.mean([r["seconds"] for r in runs])
            yield (
                f"| {name} | {problem.budget} | {named} | {n} | {np.median(regret):.3g} "
                f"| {regret.mean():.3g} ± {error} | {best.mean():.4g} | {seconds:.0f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(USUAL))
    parser.add_argument("--seeds", type=int, nargs=2, default=(200, 210))
    parser.add_argument("--results", type=Path, default=results.KEPT / "optimise.jsonl")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    seeds = range(*chosen.seeds)
    jobs = [(problem, method, seed) for seed in seeds for problem in chosen.problems for method in chosen.methods]
    results.measure(run, jobs, chosen.jobs, chosen.results)
    everything = results.kept(run, chosen.results)
    lines = list(table({job: result for job, result in everything.items() if job[2] in seeds}))
    print("\n".join(lines))
    if chosen.write is not None:
        pages.insert(chosen.write, "optimise", "\n".join(lines))


if __name__ == "__main__":
    main()
