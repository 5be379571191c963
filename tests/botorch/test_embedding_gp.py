"""``EmbeddingGP`` as BoTorch's reviewers would test it, and against a ``SingleTaskGP`` that is the same model."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

botorch = pytest.importorskip("botorch", reason="BoTorch is not installed: pip install 'ridgeway[botorch]'")

import torch
from botorch.acquisition import (
    LogExpectedImprovement,
    UpperConfidenceBound,
    qKnowledgeGradient,
    qLogExpectedImprovement,
    qNegIntegratedPosteriorVariance,
)
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.fit import fit_gpytorch_mll
from botorch.generation import MaxPosteriorSampling
from botorch.models import ModelListGP
from botorch.models.transforms import Normalize, Standardize
from botorch.posteriors.gpytorch import GPyTorchPosterior
from botorch.sampling import IIDNormalSampler, SobolQMCNormalSampler
from botorch.utils.datasets import SupervisedDataset
from botorch.utils.sampling import manual_seed
from botorch.utils.testing import BotorchTestCase
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

import ridgeway as rw
from ridgeway.botorch import EmbeddingGP
from tests.botorch.cases import LOWER, UPPER, D, N, case, points

#: Smooth functions have covariances without full rank, which BoTorch factorises with a jitter that it warns about.
pytestmark = pytest.mark.filterwarnings("ignore:A not p.d., added jitter")

QUICK: dict[str, Any] = {"embedding": rw.Linear(1), "inference": "map", "n_starts": 2, "random_state": 0}


def samplers(n: int = 16) -> SobolQMCNormalSampler:
    return SobolQMCNormalSampler(torch.Size([n]), seed=5)


ACQUISITIONS = {
    "LogEI": (lambda m: LogExpectedImprovement(m, best_f=6.0), 1),
    "UCB": (lambda m: UpperConfidenceBound(m, beta=2.0), 1),
    "qLogEI with pending": (
        lambda m: qLogExpectedImprovement(m, best_f=6.0, sampler=samplers(), X_pending=points(2, seed=7)), 2
    ),
    "qLogNEI": (
        lambda m: qLogNoisyExpectedImprovement(m, points(5, seed=8), sampler=samplers(), prune_baseline=False), 2
    ),
    "qKG": (lambda m: qKnowledgeGradient(m, num_fantasies=3, sampler=samplers(3)), 5),
    "qNIPV": (lambda m: qNegIntegratedPosteriorVariance(m, mc_points=points(10, seed=9)), 2),
}  # fmt: skip


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_acquisitions_agree_with_those_of_the_same_single_task_gp(name: str) -> None:
    make, q = ACQUISITIONS[name]
    ours, theirs = (make(model)(points(3, q)) for model in (case().model("map"), case().twin()))
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
    with_hyperparameters = make(case().model("mgp"))(points(3, q))
    assert torch.isfinite(with_hyperparameters).all()
    assert not torch.allclose(with_hyperparameters, ours)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_acquisitions_have_exact_gradients(name: str) -> None:
    make, q = ACQUISITIONS[name]
    acquisition, X = make(case().model()), points(3, q).requires_grad_()
    (gradient,) = torch.autograd.grad(acquisition(X).sum(), X)
    direction, h = points(3, q, seed=6) - 1.0, 1e-5
    with torch.no_grad():
        ahead, behind = acquisition(X + h * direction).sum(), acquisition(X - h * direction).sum()
    assert float((gradient * direction).sum()) == pytest.approx(float(ahead - behind) / (2.0 * h), rel=1e-4, abs=1e-6)


def test_thompson_samples_of_the_same_model_are_the_same() -> None:
    chosen = []
    for model in (case().model("map"), case().twin()):
        with manual_seed(3):
            chosen.append(MaxPosteriorSampling(model)(points(30), num_samples=4))
    torch.testing.assert_close(*chosen)


def test_conditioning_is_that_of_the_same_single_task_gp() -> None:
    X, Y, Z = points(2, 3, seed=3), points(2, 3, seed=4)[..., :1], points(2, 4)
    found = []
    for model in (case().model("map"), case().twin()):
        model.posterior(Z)  # GPyTorch needs its caches
        given = model.condition_on_observations(X, Y)
        assert given.batch_shape == (2,)
        found.append(given.posterior(Z))
    torch.testing.assert_close(found[0].mean, found[1].mean, rtol=1e-6, atol=1e-6)
    covariances = [posterior.distribution.covariance_matrix for posterior in found]
    torch.testing.assert_close(*covariances, rtol=1e-6, atol=1e-6)


def test_conditioning_in_two_steps_is_conditioning_at_once() -> None:
    model, X, Y, Z = case().model(), points(4, seed=3), points(4, seed=4)[..., :1], points(3)
    noise = torch.tensor([0.1, 0.2, 0.3, 0.4])[:, None].double()
    once = model.condition_on_observations(X, Y, noise=noise).posterior(Z)
    first = model.condition_on_observations(X[:1], Y[:1], noise=noise[:1])
    twice = first.condition_on_observations(X[1:], Y[1:], noise=noise[1:]).posterior(Z)
    torch.testing.assert_close(once.mean, twice.mean, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(once.variance, twice.variance, rtol=1e-6, atol=1e-8)
    assert (once.variance < model.posterior(Z).variance).all()


def test_fantasies_have_the_shapes_that_botorch_expects() -> None:
    model = case().model()
    fantasies = model.fantasize(points(2, 3), sampler=IIDNormalSampler(torch.Size([5]), seed=0))
    assert fantasies.batch_shape == (5, 2)
    assert fantasies.posterior(points(4)).mean.shape == (5, 2, 4, 1)
    assert fantasies.posterior(points(2, 4)).mean.shape == (5, 2, 4, 1)
    assert fantasies.posterior(points(5, 2, 4)).variance.shape == (5, 2, 4, 1)
    nothing = model.fantasize(points(2, 0), sampler=IIDNormalSampler(torch.Size([5]), seed=0))
    mean = nothing.posterior(points(4)).mean
    torch.testing.assert_close(mean, model.posterior(points(4)).mean.expand(5, 2, 4, 1))


def test_derivatives_of_mean_and_covariance_pass_gradcheck() -> None:
    model = case().model()

    def moments(X: Tensor) -> tuple[Tensor, Tensor]:
        posterior = model.posterior(X)
        return posterior.mean, posterior.distribution.covariance_matrix

    assert torch.autograd.gradcheck(moments, (points(2, 2).requires_grad_(),))
    given = model.condition_on_observations(points(1, seed=3), points(1, seed=4)[..., :1])
    assert torch.autograd.gradcheck(lambda X: given.posterior(X).variance, (points(1, 2).requires_grad_(),))


class TestAsABotorchModel(BotorchTestCase):
    """What BoTorch's own tests of its models check, with its test case."""

    def test_posterior(self) -> None:
        for dtype in (torch.float, torch.double):
            model = case().model().to(dtype=dtype)
            assert model.num_outputs == 1
            assert model.batch_shape == torch.Size()
            assert model.train_inputs[0].dtype == dtype
            for batch in ((), (2,), (3, 2)):
                X = points(*batch, 3).to(dtype)
                posterior = model.posterior(X)
                assert isinstance(posterior, GPyTorchPosterior)
                assert posterior.mean.shape == (*batch, 3, 1)
                assert posterior.variance.shape == (*batch, 3, 1)
                assert posterior.mean.dtype == dtype
                assert posterior.device == X.device
                assert posterior.rsample(torch.Size([4])).shape == (4, *batch, 3, 1)
                noisy = model.posterior(X, observation_noise=True)
                self.assertAllClose(noisy.variance, posterior.variance + model.noise.to(X), rtol=1e-4)
                given = model.posterior(X, observation_noise=torch.full((*batch, 3, 1), 0.7).to(X))
                self.assertAllClose(given.variance, posterior.variance + 0.7, rtol=1e-4)

    def test_posterior_transform(self) -> None:
        model, X = case().model(), points(2, 3)
        transform = ScalarizedPosteriorTransform(weights=torch.tensor([-2.0]).double(), offset=1.0)
        scalarized = model.posterior(X, posterior_transform=transform)
        assert scalarized.mean.shape == (2, 3, 1)
        self.assertAllClose(scalarized.mean, 1.0 - 2.0 * model.posterior(X).mean)
        self.assertAllClose(scalarized.variance, 4.0 * model.posterior(X).variance)

    def test_several_outputs(self) -> None:
        models = ModelListGP(case().model(), case().model("map"))
        posterior = models.posterior(points(2, 3))
        assert posterior.mean.shape == (2, 3, 2)
        self.assertAllClose(posterior.variance[..., 1:], case().model("map").posterior(points(2, 3)).variance)
        fantasies = models.fantasize(points(2, 1), sampler=IIDNormalSampler(torch.Size([3]), seed=0))
        assert fantasies.posterior(points(4)).mean.shape == (3, 2, 4, 2)

    def test_construct_inputs(self) -> None:
        data = SupervisedDataset(case().X, case().Y, feature_names=list("abcd"), outcome_names=["y"])
        arguments = EmbeddingGP.construct_inputs(data, **QUICK)
        assert arguments["embedding"] == rw.Linear(1)
        assert EmbeddingGP(**arguments).posterior(points(1)).mean.shape == (1, 1)


@pytest.fixture(scope="module")
def transformed() -> EmbeddingGP:
    bounds = torch.tensor([[LOWER] * D, [UPPER] * D]).double()
    transforms = {"input_transform": Normalize(D, bounds=bounds), "outcome_transform": Standardize(1)}
    return EmbeddingGP(case().X, case().Y, **transforms, **QUICK).fit()


def test_transforms_change_units_alone(transformed: EmbeddingGP) -> None:
    x = (case().X - LOWER) / (UPPER - LOWER)
    y = (case().Y - case().Y.mean()) / case().Y.std()
    plain = EmbeddingGP(x, y, **QUICK)
    X = points(2, 3)
    inner, outer = plain.posterior((X - LOWER) / (UPPER - LOWER)), transformed.posterior(X)
    scale = case().Y.std()
    torch.testing.assert_close(outer.mean, case().Y.mean() + scale * inner.mean, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(outer.variance, scale**2 * inner.variance, rtol=1e-6, atol=1e-8)
    transformed.train()
    torch.testing.assert_close(transformed.train_inputs[0], case().X)
    transformed.eval()
    torch.testing.assert_close(transformed.train_inputs[0], x)
    given = transformed.condition_on_observations(X[0], outer.mean[0])
    torch.testing.assert_close(given.posterior(X[1]).mean, outer.mean[1], rtol=1e-6, atol=1e-6)


def test_a_state_saves_and_loads_what_was_learned(transformed: EmbeddingGP) -> None:
    stream = io.BytesIO()
    torch.save(transformed.state_dict(), stream)
    state = torch.load(io.BytesIO(stream.getvalue()), weights_only=True)
    transforms = {"input_transform": Normalize(D), "outcome_transform": Standardize(1)}
    again = EmbeddingGP(case().X, case().Y, embedding=rw.Linear(1), **transforms)
    again.load_state_dict(state)
    X = points(3)
    torch.testing.assert_close(again.posterior(X).mean, transformed.posterior(X).mean, rtol=0, atol=0)
    torch.testing.assert_close(again.posterior(X).variance, transformed.posterior(X).variance, rtol=0, atol=0)
    # What was learned of the hyperparameters, on other data: as GPyTorch's states do.
    fewer = EmbeddingGP(case().X[:12], case().Y[:12], embedding=rw.Linear(1), **copy.deepcopy(transforms))
    fewer.load_state_dict(state)
    assert fewer.belief.y.shape == (12,)
    np.testing.assert_allclose(fewer.belief.embedding, transformed.belief.embedding)
    unfitted = EmbeddingGP(case().X, case().Y, **QUICK)
    empty = unfitted.state_dict()
    assert empty["_extra_state"].numel() == 0
    other = EmbeddingGP(case().X, case().Y, **QUICK)
    other.load_state_dict(empty)
    assert other.get_extra_state().numel() == 0


def test_copies_are_the_same_model(transformed: EmbeddingGP) -> None:
    for other in (copy.deepcopy(transformed), pickle.loads(pickle.dumps(transformed))):
        torch.testing.assert_close(other.posterior(points(3)).mean, transformed.posterior(points(3)).mean)


def test_botorch_fits_it_as_its_own() -> None:
    known = torch.full_like(case().Y, 0.01)
    model = EmbeddingGP(case().X, case().Y, known, **QUICK)
    assert model.get_extra_state().numel() == 0
    mll = fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    assert not mll.training
    assert model.get_extra_state().numel() > 0
    assert float(model.noise) == pytest.approx(model.belief.noise_variance + 0.01)
    direct = rw.fit(case().X.numpy(), case().Y[:, 0].numpy(), noise_variance=0.01, **QUICK)
    found = model.posterior(points(5)).mean[:, 0].numpy()
    np.testing.assert_allclose(found, direct.predict(points(5).numpy()).mean, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"train_X": torch.rand(N).double()}, "train_X must be a tensor n x d"),
        ({"train_Y": torch.rand(N, 2).double()}, "for several outputs make a ModelListGP"),
        ({"train_Yvar": torch.rand(3, 1).double()}, "train_Yvar must have the shape of train_Y"),
        ({"marginal": "samples"}, "marginal must be"),
    ],
)
def test_what_it_cannot_model_is_refused(arguments: dict[str, Any], message: str) -> None:
    good = {"train_X": case().X, "train_Y": case().Y}
    with pytest.raises(ValueError, match=message):
        EmbeddingGP(**{**good, **arguments})


def test_there_is_one_output() -> None:
    with pytest.raises(ValueError, match="there is one output"):
        case().model().posterior(points(1), output_indices=[1])
