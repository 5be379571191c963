"""``MarginalModel``: a ``SingleTaskGP`` whose hyperparameters are integrated out."""

from __future__ import annotations

import pytest

pytest.importorskip("botorch", reason="BoTorch is not installed: pip install 'ridgeway[botorch]'")

import torch
from botorch.acquisition import LogExpectedImprovement, qKnowledgeGradient
from botorch.exceptions.errors import UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize

from ridgeway.botorch import MarginalModel, qInformation
from tests.botorch.cases import D, case, points


@pytest.fixture(scope="module")
def single() -> SingleTaskGP:
    return SingleTaskGP(case().X, case().Y, input_transform=Normalize(D), outcome_transform=Standardize(1))


def test_with_known_hyperparameters_it_is_the_model_itself(single: SingleTaskGP) -> None:
    known = MarginalModel(single, "map")
    found = known.marginal
    single.load_state_dict({**single.state_dict(), **found.evaluation.coordinates.raw(found.laplace.mode)})
    X = points(2, 3)
    for noise in (False, True):
        ours, theirs = known.posterior(X, observation_noise=noise), single.posterior(X, observation_noise=noise)
        torch.testing.assert_close(ours.mean, theirs.mean, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(
            ours.distribution.covariance_matrix, theirs.distribution.covariance_matrix, rtol=1e-5, atol=1e-6
        )
    known, wider = MarginalModel(single, "map"), MarginalModel(single)
    assert (wider.posterior(X).variance > known.posterior(X).variance).all()
    torch.testing.assert_close(wider.posterior(X).mean, known.posterior(X).mean)


def test_it_takes_its_place_in_acquisitions(single: SingleTaskGP) -> None:
    model = MarginalModel(single)
    for make, q in [
        (lambda m: LogExpectedImprovement(m, best_f=6.0), 1),
        (lambda m: qKnowledgeGradient(m, num_fantasies=2), 3),
        (qInformation, 2),
    ]:
        X = points(2, q).requires_grad_()
        values = make(model)(X)
        (gradient,) = torch.autograd.grad(values.sum(), X)
        assert torch.isfinite(values).all()
        assert (gradient.abs().amax(dim=(1, 2)) > 0).all()
    nats = qInformation(model, noisy=False)(points(4, 1))
    torch.testing.assert_close(nats, model.marginal.bald(model.transform_inputs(points(4))))


def test_several_outputs_are_refused() -> None:
    two = SingleTaskGP(torch.rand(5, 2).double(), torch.rand(5, 2).double())
    with pytest.raises(UnsupportedError, match="must have one output"):
        MarginalModel(two)
