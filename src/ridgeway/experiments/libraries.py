"""Libraries: how each is used for regression on a hundred points, as its documentation recommends.

Each is a function of training inputs in ``[-1, 1]``, outputs and the number of directions, which only those use that
take one; it returns a function from inputs to a :class:`Predicted`. Other libraries are imported where they are used.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ridgeway.gp.priors import Priors
from ridgeway.types import Array

SAAS_WARMUP, SAAS_DRAWS, SAAS_THINNING = 512, 256, 16  # BoTorch's tutorial: "we recommend ... when possible"
RESTARTS = 2  # of scikit-learn's optimiser beside its start at length scales of √D
PLS_COMPONENTS = (1, 2, 3, 5, 8)
SMT_NOISES = (1e-6, 1e-2, 1e-1, 0.5)  # relative to the process's variance


@dataclass(frozen=True)
class Predicted:
    """Observations at ``n`` points as equally likely Gaussians, one or many for each, noise included."""

    means: Array  # (components, n)
    variances: Array  # (components, n)

    @property
    def mean(self) -> Array:
        """``(n,)``."""
        return self.means.mean(axis=0)

    def log_density(self, y: Array) -> Array:
        """``log p(y)`` at each point, ``(n,)``."""
        logs = -0.5 * (np.log(2.0 * np.pi * self.variances) + (y - self.means) ** 2 / self.variances)
        return logsumexp(logs, axis=0) - np.log(len(logs))


Predictor = Callable[[Array], Predicted]


@dataclass(frozen=True)
class Library:
    """A library, or one way of using it."""

    title: str
    settings: str  # what was chosen, in words
    fit: Callable[[Array, Array, int], Predictor]
    needs: tuple[str, ...] = ()  # modules, each package before what is inside it
    package: str = ""  # whose version is shown
    max_inputs: int | None = None  # beyond which it is not run
    too_slow: str = ""  # why

    @property
    def installed(self) -> bool:
        """Whether what it needs is here."""
        return all(find_spec(module) is not None for module in self.needs)

    def prepare(self) -> None:
        """Import what it needs, which is no part of a fit."""
        with _quiet():
            for module in self.needs:
                import_module(module)

    @property
    def named(self) -> str:
        """Title with the version that is installed."""
        try:
            return f"{self.title} ({self.package} {version(self.package)})" if self.package else self.title
        except PackageNotFoundError:
            return self.title


def ridgeway(X: Array, y: Array, d: int) -> Predictor:
    """The default: ``d`` directions, scales and noise by evidence."""
    return _ridgeway(X, y, d)


def ridgeway_auto(X: Array, y: Array, d: int) -> Predictor:
    """The default without the number of directions."""
    return _ridgeway(X, y, "auto")


def _ridgeway(X: Array, y: Array, d: Any) -> Predictor:
    from ridgeway.experiments.scores import quiet_fit
    from ridgeway.gp.linear import Linear

    belief = quiet_fit(X, y, Linear(d), bounds=(-1, 1))

    def predict(points: Array) -> Predicted:
        found = belief.predict(points)
        return _gaussian(found.mean, found.variance + belief.noise_variance)

    return predict


def sklearn_ard(X: Array, y: Array, d: int) -> Predictor:
    """A length scale for each input, noise learned, the best of several optima."""
    model = _sklearn_process(X, y)
    return lambda points: _gaussian(*_with_variance(model, points))


def sklearn_pls(X: Array, y: Array, d: int) -> Predictor:
    """The same on directions of partial least squares, their number by cross-validation."""
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.model_selection import KFold

    def fit(X: Array, y: Array, components: int) -> tuple[Any, Any]:
        pls = PLSRegression(components).fit(X, y)
        return pls, _sklearn_process(pls.transform(X), y)

    def error(components: int) -> float:
        total = 0.0
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            pls, model = fit(X[train], y[train], components)
            total += float(np.sum((model.predict(pls.transform(X[test])) - y[test]) ** 2))
        return total

    pls, model = fit(X, y, min((c for c in PLS_COMPONENTS if c <= X.shape[1]), key=error))
    return lambda points: _gaussian(*_with_variance(model, pls.transform(points)))


def _sklearn_process(X: Array, y: Array) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    lengths = np.full(X.shape[1], np.sqrt(X.shape[1]))
    floor = Priors().noise_floor ** 2  # Ridgeway's own: without one, hundreds of length scales fit anything exactly
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(lengths, (1e-2, 1e3)) + WhiteKernel(0.1, (floor, 1e1))
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=RESTARTS, random_state=0)
    with _quiet():  # it warns of every length scale at its bound, where those of inputs without effect belong
        return model.fit(X, y)


def _with_variance(model: Any, points: Array) -> tuple[Array, Array]:
    mean, std = model.predict(points, return_std=True)  # of observations: the white kernel is part of the prior
    return mean, std**2


def lasso(X: Array, y: Array, d: int) -> Predictor:
    """The penalty by cross-validation, whose error is the variance."""
    from sklearn.linear_model import LassoCV

    with _quiet():
        model = LassoCV(cv=5, random_state=0).fit(X, y)
    variance = float(model.mse_path_.mean(axis=1).min())
    return lambda points: _gaussian(model.predict(points), np.full(len(points), variance))


def botorch_single_task(X: Array, y: Array, d: int) -> Predictor:
    """Every default: a length scale for each input with a prior scaled by the dimension."""
    torch = _torch()
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    with _quiet():
        model = SingleTaskGP(_unit_cube(torch, X), torch.tensor(y)[:, None])
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))

    def predict(points: Array) -> Predicted:
        with _quiet(), torch.no_grad():
            found = model.posterior(_unit_cube(torch, points), observation_noise=True)
            return _gaussian(found.mean[:, 0].numpy(), found.variance[:, 0].numpy())

    return predict


def botorch_saas(X: Array, y: Array, d: int) -> Predictor:
    """Sparse axis-aligned subspaces by NUTS, predicting with the mixture of its draws."""
    torch = _torch()
    from botorch.fit import fit_fully_bayesian_model_nuts
    from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP
    from botorch.models.transforms import Standardize

    with _quiet():
        model = SaasFullyBayesianSingleTaskGP(
            _unit_cube(torch, X), torch.tensor(y)[:, None], outcome_transform=Standardize(m=1)
        )
        fit_fully_bayesian_model_nuts(
            model,
            warmup_steps=SAAS_WARMUP,
            num_samples=SAAS_DRAWS,
            thinning=SAAS_THINNING,
            disable_progbar=True,
        )

    def predict(points: Array) -> Predicted:
        with _quiet(), torch.no_grad():
            found = model.posterior(_unit_cube(torch, points), observation_noise=True)
            return Predicted(found.mean[..., 0].numpy(), found.variance[..., 0].numpy())

    return predict


def smt_mgp(X: Array, y: Array, d: int) -> Predictor:
    """The paper's method in SMT; the noise, which it cannot learn, is the likeliest of a few values."""
    from smt.surrogate_models import MGP

    def fit(noise: float) -> Any:
        np.random.seed(0)  # noqa: NPY002 - it draws its starts from NumPy's global generator
        model = MGP(n_comp=d, noise0=[noise], n_start=1, print_global=False)
        model.set_training_values(X, y[:, None])
        with _quiet():
            model.train()
        return model

    model = max((fit(noise) for noise in SMT_NOISES), key=_likelihood)
    noise_variance = float(np.ravel(model.optimal_noise)[0] * np.ravel(model.optimal_par["sigma2"])[0])

    def predict(points: Array) -> Predicted:
        with _quiet():
            mean, variance = model.predict_values(points), model.predict_variances(points)
        return _gaussian(np.ravel(mean), np.ravel(variance) + noise_variance)

    return predict


def _likelihood(model: Any) -> float:
    return float(np.ravel(model.optimal_rlf_value)[0])


def _gaussian(mean: Array, variance: Array) -> Predicted:
    return Predicted(mean[None], variance[None])


def _torch() -> Any:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    return torch


def _unit_cube(torch: Any, X: Array) -> Any:
    return torch.tensor(0.5 * (X + 1.0), dtype=torch.float64)


@contextmanager
def _quiet() -> Iterator[None]:
    """What other libraries warn about says nothing of the comparison: failures show in the scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


LIBRARIES = {
    "ridgeway": Library("Ridgeway, Linear(d)", "the default, given d", ridgeway),
    "ridgeway-auto": Library('Ridgeway, Linear("auto")', "the default, without d", ridgeway_auto),
    "sklearn-ard": Library(
        "scikit-learn, ARD GP",
        "squared exponential with a length scale an input, learned noise with Ridgeway's floor, "
        f"{1 + RESTARTS} searches, normalised outputs",
        sklearn_ard, ("sklearn.gaussian_process",), "scikit-learn",
    ),
    "botorch": Library(
        "BoTorch, SingleTaskGP",
        "defaults (dimension-scaled log-normal prior on length scales), inputs in the unit cube",
        botorch_single_task, ("botorch", "gpytorch"), "botorch",
    ),
    "botorch-saas": Library(
        "BoTorch, SaasFullyBayesianSingleTaskGP",
        f"NUTS with {SAAS_WARMUP} steps to warm up and {SAAS_DRAWS} draws, every {SAAS_THINNING}th kept, as its "
        "tutorial recommends; the time includes compilation",
        botorch_saas, ("botorch", "botorch.models.fully_bayesian", "jax", "numpyro"), "botorch",
    ),
    "smt-mgp": Library(
        "SMT, MGP",
        f"given d; one search for each of {len(SMT_NOISES)} noise variances, the likeliest used: it cannot learn noise",
        smt_mgp, ("smt", "smt.surrogate_models"), "smt", 20,
        "at 96 inputs a gradient takes 0.2 CPU seconds, a search more than a hundred of them for each noise variance, "
        "and a Hessian follows entry by entry",
    ),
    "sklearn-pls": Library(
        "scikit-learn, GP on PLS directions",
        "1 to 8 directions by 5-fold cross-validation, then the ARD GP on them",
        sklearn_pls, ("sklearn.gaussian_process", "sklearn.cross_decomposition"), "scikit-learn",
    ),
    "lasso": Library(
        "scikit-learn, LassoCV", "5-fold cross-validation, whose error is the variance",
        lasso, ("sklearn.linear_model",), "scikit-learn",
    ),
}  # fmt: skip
