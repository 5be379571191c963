"""The mode and the Gaussian around it, against the closed forms of a belief with the same priors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("gpytorch", reason="GPyTorch is not installed: pip install 'ridgeway[botorch]'")

import torch
from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel
from gpytorch.priors import LogNormalPrior

from ridgeway.errors import NumericalError, RidgewayWarning
from ridgeway.gpytorch.evaluation import Evaluation
from ridgeway.gpytorch.laplace import Laplace, LaplaceSettings, find
from tests.gpytorch.cases import MODELS, Model, like_diagonal
from tests.gpytorch.same_model import same_laplace


def test_it_is_the_gaussian_of_the_same_model_in_closed_form() -> None:
    evaluation = Evaluation(like_diagonal().eval())
    found = find(evaluation, LaplaceSettings())
    ours = same_laplace(evaluation, found.mode)
    assert ours.decrement < 1e-12  # the same point is a mode of both
    assert found.decrement < 1e-12
    # In the order of the belief: log length scales, log output scale and log noise, which are half of those here, mean.
    names = ["covar_module.base_kernel.lengthscale[0]", "covar_module.base_kernel.lengthscale[1]"]
    names += ["covar_module.base_kernel.lengthscale[2]", "covar_module.outputscale", "likelihood.noise_covar.noise"]
    order = [evaluation.coordinates.labels.index(name) for name in [*names, "mean_module.constant"]]
    factor = found.spread(torch.eye(6).double()).numpy()[order] * np.array([1, 1, 1, 0.5, 0.5, 1.0])[:, None]
    own = ours.full_factor[:6]
    np.testing.assert_allclose(factor @ factor.T, own @ own.T, rtol=1e-6, atol=1e-9)
    # The densities of a logarithm and of its half differ by a factor of 2, for output scale and noise alike.
    assert found.log_evidence == pytest.approx(ours.log_evidence, abs=1e-6)


def test_leading_curvatures_are_enough_where_parameters_are_many() -> None:
    """Of 40 length scales a dozen observations say something in a few directions: elsewhere the prior's width stays."""
    rng = np.random.default_rng(0)
    X = torch.tensor(rng.uniform(-1.0, 1.0, (12, 40)))
    kernel = RBFKernel(ard_num_dims=40, lengthscale_prior=LogNormalPrior(2.0, 0.5))
    model = Model(ScaleKernel(kernel, outputscale_prior=LogNormalPrior(0.0, 1.0)))
    model.set_train_data(X, torch.sin(2.0 * X[:, 0]), strict=False)
    evaluation = Evaluation(model.eval())
    dense = find(evaluation, LaplaceSettings())
    leading = find(evaluation, LaplaceSettings(most_dense=20, rank=15))
    torch.testing.assert_close(leading.mode, dense.mode, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(leading.std, dense.std, rtol=0.05, atol=0.0)
    assert leading.log_evidence == pytest.approx(dense.log_evidence, abs=0.5)
    assert leading.directions.shape == (43, 15)


def test_a_parameter_without_a_prior_is_as_uncertain_as_the_settings_say() -> None:
    """Two outputs scales whose product alone matters: their ratio is known by the prior alone."""
    model = Model(ScaleKernel(ScaleKernel(MaternKernel())))
    evaluation = Evaluation(model.eval())
    for spread in (1.0, 2.0):
        found = find(evaluation, LaplaceSettings(spread=spread))
        labels = evaluation.coordinates.labels
        ratio = torch.zeros(1, len(labels)).double()
        ratio[0, labels.index("covar_module.outputscale")] = 2.0**-0.5
        ratio[0, labels.index("covar_module.base_kernel.outputscale")] = -(2.0**-0.5)
        assert float(found.spread(ratio).norm()) == pytest.approx(spread, rel=1e-6)


def test_the_step_leads_to_the_mode() -> None:
    evaluation = Evaluation(like_diagonal().eval())
    found = find(evaluation, LaplaceSettings())
    away = 1e-3 * torch.linspace(-1.0, 1.0, 6).double()
    precision = torch.linalg.inv(found.spread(torch.eye(6).double()) @ found.spread(torch.eye(6).double()).T)
    near: Laplace = replace(found, mode=found.mode + away, gradient=-precision @ away)
    torch.testing.assert_close(near.mode + near.step, found.mode, rtol=0, atol=1e-9)
    assert near.decrement == pytest.approx(0.5 * float(away @ precision @ away))


def test_a_search_that_ends_early_is_told_of() -> None:
    evaluation = Evaluation(MODELS["spectral mixture"]().eval())
    with pytest.warns(RidgewayWarning, match="the mode of the hyperparameters was not reached"):
        find(evaluation, LaplaceSettings(iterations=1))


def test_a_covariance_without_a_factor_is_told_of() -> None:
    model = MODELS["Matérn"]()
    X, y = model.train_inputs[0], model.train_targets
    model.set_train_data(X[:1].repeat(25, 1), y, strict=False)
    with torch.no_grad():
        model.covar_module.outputscale = 1e18
    with pytest.raises(NumericalError, match="not positive definite"):
        find(Evaluation(model.eval()), LaplaceSettings())
