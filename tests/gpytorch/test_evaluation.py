"""The log posterior of a model's hyperparameters against GPyTorch's own, and its derivatives."""

from __future__ import annotations

import gpytorch.mlls
import pytest

pytest.importorskip("gpytorch", reason="GPyTorch is not installed: pip install 'ridgeway[botorch]'")

import torch

from ridgeway.gpytorch.evaluation import Evaluation
from ridgeway.gpytorch.laplace import _products, _value_and_gradient
from tests.gpytorch.cases import MODELS, like_diagonal


@pytest.mark.parametrize("name", MODELS)
def test_it_is_what_gpytorch_maximises(name: str) -> None:
    model = MODELS[name]()
    evaluation = Evaluation(model.eval())
    at = evaluation.coordinates.from_model(model)
    found = evaluation.log_likelihood(at) + evaluation.at(at, evaluation._log_prior_of_values)
    model.train()
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    expected = mll(model(*model.train_inputs), model.train_targets) * model.train_targets.shape[0]
    torch.testing.assert_close(found, expected.detach(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_second_derivatives_are_those_of_the_first(name: str) -> None:
    """GPyTorch's own rules for some kernels are made for one derivative: a second would be wrong in silence."""
    model = MODELS[name]()
    evaluation = Evaluation(model.eval())
    at = evaluation.coordinates.from_model(model)
    direction = torch.linspace(-1.0, 1.0, at.shape[0]).double() + 0.3
    for density in (evaluation.log_likelihood, evaluation.log_prior):
        _, _, product = _products(density, at)
        h = 1e-5
        ahead, behind = (_value_and_gradient(density, at + s * h * direction)[1] for s in (1.0, -1.0))
        expected = (ahead - behind) / (2.0 * h)
        torch.testing.assert_close(
            product(direction), expected, rtol=1e-5, atol=1e-5 * float(expected.abs().max()) + 1e-8
        )


def test_priors_are_found_where_they_are() -> None:
    assert Evaluation(like_diagonal()).has_prior.all()
    evaluation = Evaluation(MODELS["Matérn ARD"]())
    having = [label for label, has in zip(evaluation.coordinates.labels, evaluation.has_prior, strict=True) if has]
    assert having == ["likelihood.noise_covar.noise", "covar_module.outputscale"]
