"""The marginal GP of GPyTorch models beside the truth: Table 1 of the paper, and models that Ridgeway does not have.

    python benchmarks/guests.py [--repeats 20] [--draws 400] [--jobs 2] [--only table1] [--write docs/howto/gpytorch.md]

The first table repeats the synthetic row D = 5 of the paper's Table 1 with the same data, once by ``Diagonal()`` and
once by ``ridgeway.gpytorch.marginal`` of a GPyTorch model with the same priors. The second compares three GPyTorch
models with draws of their hyperparameters by Pyro's No-U-Turn sampler.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gpytorch
import numpy as np
import torch
from gpytorch.constraints import Positive
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel, ScaleKernel, SpectralMixtureKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.means import ConstantMean, ZeroMean
from gpytorch.priors import LogNormalPrior, NormalPrior
from joblib import Parallel, delayed

from ridgeway.experiments import pages, table1
from ridgeway.experiments.mixture import Mixture, gaussian_divergence
from ridgeway.gpytorch import MarginalGP, marginal

KINDS = ("map", "bbq", "mgp")
STARTS = 5  # draws from the prior that the search for a mode begins from; the one of most evidence counts


class Model(gpytorch.models.ExactGP):
    """As in GPyTorch's own examples."""

    def __init__(self, X: np.ndarray, y: np.ndarray, kernel: Kernel, likelihood: Any, mean: Any) -> None:
        super().__init__(torch.tensor(X), torch.tensor(y), likelihood)
        self.covar_module, self.mean_module = kernel, mean
        self.double()

    def forward(self, x: torch.Tensor) -> MultivariateNormal:
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))


def best_marginal(model: Model, seed: int) -> MarginalGP:
    """Around the best of the modes that draws from the priors lead to."""
    torch.manual_seed(seed)
    found = [marginal(model)]
    for _ in range(STARTS - 1):
        for *_, module, prior, closure, setting in model.named_priors():
            setting(module, prior.expand(closure(module).shape).sample())
        found.append(marginal(model))
    return max(found, key=lambda each: each.laplace.log_evidence)


# -- Table 1 -----------------------------------------------------------------------------------


class Divergences(NamedTuple):
    """Symmetrised divergences from the truth, by marginal: of ``Diagonal()`` and of the GPyTorch model."""

    ours: np.ndarray  # (3,)
    guest: np.ndarray  # (3,)
    r_hat: float


def _like(problem: table1.Problem) -> Model:
    """The model of Table 1: zero mean, known noise, priors of output scale and length scales."""
    D, (mean, std) = problem.X.shape[1], table1.LOG_OUTPUT_SCALE
    length_scale = LogNormalPrior(-float(np.log(problem.inverse_length_scale)), table1.LOG_LENGTH_SCALE_STD)
    kernel = RBFKernel(ard_num_dims=D, lengthscale_prior=length_scale, lengthscale_constraint=Positive())
    prior = LogNormalPrior(2.0 * mean, 2.0 * std)  # of the variance
    scaled = ScaleKernel(kernel, outputscale_prior=prior, outputscale_constraint=Positive())
    kernel.lengthscale = 1.0 / problem.inverse_length_scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # GPyTorch thinks the noise small: it is known
        noise = torch.full((problem.y.shape[0],), problem.noise**2).double()
        likelihood = FixedNoiseGaussianLikelihood(noise)
    return Model(problem.X, problem.y, scaled, likelihood, ZeroMean())


def repeat_of_table1(seed: int) -> Divergences:
    """One repeat of the synthetic row D = 5."""
    torch.set_num_threads(1)
    problem = table1.synthetic(5, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        beliefs = {how: table1._fit(problem, how, seed) for how in ("map", "nested")}
        guest = best_marginal(_like(problem), seed)
    sampled = table1._sample(beliefs["nested"], seed)
    Z, _ = beliefs["map"].reduced_coordinates(problem.X_test)
    kept = sampled.theta[:: max(1, sampled.theta.shape[0] // table1.N_PREDICTED)]
    truth = Mixture.over(beliefs["map"].posterior, kept, Z)

    def divergence(mean: np.ndarray, variance: np.ndarray) -> float:
        return float(gaussian_divergence(mean, variance, truth.mean, truth.variance).mean())

    ours = [divergence(*beliefs["map"].predict(problem.X_test, kind)[:2]) for kind in KINDS]
    theirs = []
    for kind in KINDS:
        guest.kind = kind
        found = guest(torch.tensor(problem.X_test))
        theirs.append(divergence(found.mean.numpy(), found.variance.numpy()))
    return Divergences(np.array(ours), np.array(theirs), sampled.r_hat)


def table1_lines(found: list[Divergences]) -> list[str]:
    ours, guest = np.stack([row.ours for row in found]), np.stack([row.guest for row in found])
    n = len(found)

    def cells(values: np.ndarray) -> str:
        errors = values.std(axis=0, ddof=1) / np.sqrt(n)
        return " | ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(values.mean(axis=0), errors, strict=True))

    return [
        f"| Divergence from the truth, {n} repeats | MAP | BBQ | MGP |",
        "|---|---|---|---|",
        f"| `rw.fit(..., Diagonal())` | {cells(ours)} |",
        f"| `marginal` of a GPyTorch model | {cells(guest)} |",
        "",
        f"The largest difference in any repeat is {np.abs(guest - ours).max():.1g}. "
        f"The largest R-hat of the truth's chains is {max(row.r_hat for row in found):.3f}.",
    ]


# -- models of their own -----------------------------------------------------------------------


def _noise() -> GaussianLikelihood:
    return GaussianLikelihood(noise_prior=LogNormalPrior(-4.0, 1.0), noise_constraint=Positive())


def _mean() -> ConstantMean:
    return ConstantMean(constant_prior=NormalPrior(0.0, 1.0))


def matern_ard() -> tuple[Model, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (30, 4))
    y = np.sin(2.0 * X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(30)
    kernel = MaternKernel(ard_num_dims=4, lengthscale_prior=LogNormalPrior(0.5, 1.0), lengthscale_constraint=Positive())
    scaled = ScaleKernel(kernel, outputscale_prior=LogNormalPrior(0.0, 1.0), outputscale_constraint=Positive())
    return Model(X, y, scaled, _noise(), _mean()), rng.uniform(-1.5, 1.5, (60, 4))


def spectral_mixture() -> tuple[Model, np.ndarray]:
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(0.0, 4.0, 40))
    y = np.sin(2.0 * np.pi * 0.7 * x) + 0.5 * np.sin(2.0 * np.pi * 1.6 * x) + 0.1 * rng.standard_normal(40)
    kernel = SpectralMixtureKernel(num_mixtures=2)
    for part, center in {"means": 0.0, "scales": -1.5, "weights": -0.5}.items():
        kernel.register_prior(f"mixture_{part}_prior", LogNormalPrior(center, 0.7), f"mixture_{part}")
    kernel.mixture_means = torch.tensor([0.6, 1.8]).reshape(2, 1, 1)
    kernel.mixture_scales = torch.tensor([0.2, 0.2]).reshape(2, 1, 1)
    return Model(x[:, None], y, kernel, _noise(), _mean()), np.linspace(-0.5, 5.5, 60)[:, None]


def additive() -> tuple[Model, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.0, 1.0, (40, 3))
    y = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(40)

    def part(i: int) -> Kernel:
        kernel = RBFKernel(
            active_dims=[i], lengthscale_prior=LogNormalPrior(0.0, 1.0), lengthscale_constraint=Positive()
        )
        return ScaleKernel(kernel, outputscale_prior=LogNormalPrior(-1.0, 1.0), outputscale_constraint=Positive())

    return Model(X, y, part(0) + part(1) + part(2), _noise(), _mean()), rng.uniform(-1.5, 1.5, (60, 3))


MODELS: dict[str, Callable[[], tuple[Model, np.ndarray]]] = {
    "Matérn 5/2, one length scale an input": matern_ard,
    "spectral mixture, two components": spectral_mixture,
    "additive, three inputs": additive,
}


def against_nuts(name: str, draws: int) -> str:
    """A row of the second table."""
    from pyro.infer import MCMC, NUTS

    torch.set_num_threads(1)
    model, X = MODELS[name]()
    found = marginal(model)
    evaluation, mode = found.evaluation, found.laplace.mode

    def potential(at: dict[str, torch.Tensor]) -> torch.Tensor:
        return -(evaluation.log_likelihood(at["theta"]) + evaluation.log_prior(at["theta"]))

    chain = MCMC(
        NUTS(potential_fn=potential, jit_compile=False, max_tree_depth=7), num_samples=draws, warmup_steps=draws // 2,
        initial_params={"theta": mode.clone()}, disable_progbar=True,
    )  # fmt: skip
    torch.manual_seed(0)
    chain.run()
    thetas = chain.get_samples()["theta"]
    effective = float(chain.diagnostics()["theta"]["n_eff"].min())
    points, n = torch.tensor(X), model.train_targets.shape[0]
    means, variances = [], []
    with torch.no_grad():
        for theta in thetas:
            mean, covariance, observed = evaluation.prior(theta, points)
            weights = torch.linalg.solve(observed, covariance[:n, n:]).T
            means.append(mean[n:] + weights @ (model.train_targets - mean[:n]))
            variances.append((covariance[n:, n:] - weights @ covariance[:n, n:]).diagonal())
    truth = Mixture(torch.stack(means).numpy(), torch.stack(variances).clamp_min(1e-10).numpy())
    cells = []
    for kind in KINDS:
        found.kind = kind  # type: ignore[assignment]
        ours = found(points)
        divergence = gaussian_divergence(ours.mean.numpy(), ours.variance.numpy(), truth.mean, truth.variance)
        cells.append(f"{divergence.mean():.3f}")
    return f"| {name} | {thetas.shape[1]} | {' | '.join(cells)} | {effective:.0f} |"


def nuts_lines(draws: int, jobs: int) -> list[str]:
    rows = Parallel(n_jobs=jobs)(delayed(against_nuts)(name, draws) for name in MODELS)
    return [
        "| Divergence from the truth | hyperparameters | MAP | BBQ | MGP | fewest effective draws |",
        "|---|---|---|---|---|---|",
        *rows,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=("table1", "nuts"))
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    parts: dict[str, list[str]] = {}
    if chosen.only != "nuts":
        tasks = (delayed(repeat_of_table1)(seed) for seed in range(chosen.repeats))
        parts["table1"] = table1_lines(Parallel(n_jobs=chosen.jobs)(tasks))
    if chosen.only != "table1":
        parts["nuts"] = nuts_lines(chosen.draws, chosen.jobs)
    for name, lines in parts.items():
        print("\n".join(lines) + "\n")
        if chosen.write is not None:
            pages.insert(chosen.write, name, "\n".join(lines))


if __name__ == "__main__":
    main()
