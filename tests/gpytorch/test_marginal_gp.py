"""``marginal`` against closed forms, against finite differences, and against the model itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

gpytorch = pytest.importorskip("gpytorch", reason="GPyTorch is not installed: pip install 'ridgeway[botorch]'")

import torch
from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, StudentTLikelihood
from torch import Tensor

from ridgeway.gp import moments
from ridgeway.gpytorch import MarginalGP, marginal
from ridgeway.gpytorch.marginal_gp import jacobian
from tests.gpytorch.cases import MODELS, Model, N, data, like_diagonal, points
from tests.gpytorch.same_model import same_laplace


@pytest.fixture(scope="module")
def found() -> MarginalGP:
    model = like_diagonal()
    return marginal(model, model.likelihood)


@pytest.mark.parametrize("kind", ["map", "bbq", "mgp"])
def test_it_is_the_closed_form_where_there_is_one(found: MarginalGP, kind: Any) -> None:
    ours = same_laplace(found.evaluation, found.laplace.mode)
    X = points(40)
    expected = moments.moments(ours.gp, ours.full_factor, X.numpy(), np.zeros(40), 1.0, kind)
    model = like_diagonal()
    distribution = marginal(model, model.likelihood, kind)(X)
    np.testing.assert_allclose(distribution.mean.numpy(), expected.mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(distribution.variance.numpy(), expected.variance, rtol=1e-6, atol=1e-8)
    if kind == "mgp":
        np.testing.assert_allclose(found.bald(X).numpy(), moments.information(expected), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_any_model_is_expanded_about_its_mode(name: str) -> None:
    model = MODELS[name]()
    result = marginal(model, model.likelihood)
    X, (_, y), mode = points(5), data(), result.laplace.mode

    def naive(at: Tensor) -> tuple[Tensor, Tensor]:
        mean, covariance, observed = result.evaluation.prior(at, X)
        weights = torch.linalg.solve(observed, covariance[:N, N:]).T
        return mean[N:] + weights @ (y - mean[:N]), (covariance[N:, N:] - weights @ covariance[:N, N:]).diagonal()

    h, units = 1e-5, torch.eye(mode.shape[0]).double()
    differences = [
        [(a - b) / (2.0 * h) for a, b in zip(naive(mode + h * u), naive(mode - h * u), strict=True)] for u in units
    ]
    by_mean, by_variance = (torch.stack(part, dim=1) for part in zip(*differences, strict=True))
    mean, V = naive(mode)
    from_mean, from_variance = (result.laplace.spread(part).square().sum(1) for part in (by_mean, by_variance))
    expected = 4.0 / 3.0 * V + from_mean + from_variance / (3.0 * V)  # paper eq. 19
    torch.testing.assert_close(result(X).mean, mean, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(result(X).variance, expected, rtol=1e-4, atol=1e-7)


def test_the_model_is_left_as_it_was_and_predicts_the_same_at_the_mode(found: MarginalGP) -> None:
    model = like_diagonal()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    known = marginal(model, model.likelihood, "map")
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert model.training
    model.load_state_dict({**before, **known.evaluation.coordinates.raw(known.laplace.mode)})
    X = points(6)
    with torch.no_grad():
        theirs = model.eval()(X)
    torch.testing.assert_close(known(X).mean, theirs.mean, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(known(X).covariance_matrix, theirs.covariance_matrix, rtol=1e-5, atol=1e-6)
    assert known.hyperparameters["likelihood.noise_covar.noise"] == pytest.approx(float(known.noise), rel=1e-6)
    noisy = known.posterior(X, observation_noise=True).variance
    torch.testing.assert_close(noisy, known(X).variance + known.noise)


def test_sets_of_points_have_the_covariance_of_all(found: MarginalGP) -> None:
    X = points(3, 2)
    whole = found(X.reshape(6, -1))
    for i, part in enumerate(found(X).covariance_matrix):
        rows = slice(2 * i, 2 * i + 2)
        torch.testing.assert_close(part, whole.covariance_matrix[rows, rows], rtol=1e-8, atol=1e-10)
    assert found(points(2, 3, 4)).mean.shape == (2, 3, 4)
    assert torch.linalg.eigvalsh(whole.covariance_matrix).min() > 0


def test_derivatives_in_the_points_pass_gradcheck(found: MarginalGP) -> None:
    assert torch.autograd.gradcheck(lambda X: tuple(found.joint_moments(X)), (points(1, 2).requires_grad_(),))
    assert not found.joint_moments(points(1, 2)).covariance.requires_grad


def test_noise_that_is_known_for_each_observation() -> None:
    noise = torch.linspace(0.01, 0.1, N).double()
    model = Model(ScaleKernel(RBFKernel()), FixedNoiseGaussianLikelihood(noise))
    result = marginal(model, model.likelihood)
    assert not any("noise" in name for name in result.hyperparameters)
    assert float(result.noise) == pytest.approx(float(noise.mean()))
    assert (result(points(4)).variance > marginal(model, kind="map")(points(4)).variance).all()


@pytest.mark.parametrize("m", [2, 7])
def test_jacobians_by_rows_and_by_columns(m: int) -> None:
    A = points(m, seed=4)[:, :3]
    at = torch.tensor([0.1, 0.2, 0.3]).double().requires_grad_()
    torch.testing.assert_close(jacobian(torch.sin(A @ at), at, False), torch.cos(A @ at)[:, None] * A)


def test_what_is_no_exact_gp_of_one_output_is_refused() -> None:
    model = MODELS["Matérn"]()
    with pytest.raises(TypeError, match="must be an exact GP"):
        marginal(torch.nn.Linear(1, 1))
    with pytest.raises(ValueError, match="must be the model's own"):
        marginal(model, gpytorch.likelihoods.GaussianLikelihood())
    with pytest.raises(ValueError, match="kind must be"):
        marginal(model, kind="nuts")
    model.likelihood = StudentTLikelihood()
    with pytest.raises(TypeError, match="likelihood must be Gaussian"):
        marginal(model)
    fixed = Model(MaternKernel())
    for parameter in fixed.parameters():
        parameter.requires_grad_(False)
    with pytest.raises(ValueError, match="must have a hyperparameter"):
        marginal(fixed)
