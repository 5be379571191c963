"""Coordinates of hyperparameters: there and back, and how densities change between them."""

from __future__ import annotations

import pytest

pytest.importorskip("gpytorch", reason="GPyTorch is not installed: pip install 'ridgeway[botorch]'")

import torch
from gpytorch.constraints import GreaterThan, Interval, LessThan, Positive
from gpytorch.kernels import RBFKernel, ScaleKernel

from ridgeway.gpytorch.coordinates import Coordinate, Coordinates
from tests.gpytorch.cases import MODELS, Model

CONSTRAINTS = [
    None,
    Positive(),
    GreaterThan(0.5),
    LessThan(2.0),
    Interval(0.2, 3.0),
]


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_there_and_back(constraint: object) -> None:
    bounds = (-float("inf"), float("inf"))
    if constraint is not None:
        bounds = float(constraint.lower_bound), float(constraint.upper_bound)
    coordinate = Coordinate("x", torch.Size([3]), constraint, *bounds)
    at = torch.tensor([-2.0, 0.1, 1.5], dtype=torch.double, requires_grad=True)
    torch.testing.assert_close(coordinate.from_raw(coordinate.raw(at)), at, rtol=1e-6, atol=1e-6)
    value = coordinate.value(at)
    assert ((value > bounds[0]) & (value < bounds[1])).all()
    (slope,) = torch.autograd.grad(value.sum(), at)
    torch.testing.assert_close(coordinate.log_slope(at), slope.abs().log(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_stands_where_its_coordinates_say(name: str) -> None:
    model = MODELS[name]()
    coordinates = Coordinates.of(model)
    raw = coordinates.raw(coordinates.from_model(model))
    named = dict(model.named_parameters())
    assert set(raw) == set(named)
    assert len(coordinates.labels) == coordinates.size == sum(p.numel() for p in named.values())
    for key, value in raw.items():
        torch.testing.assert_close(value, named[key].detach(), rtol=1e-6, atol=1e-6)


def test_fixed_parameters_are_left_out() -> None:
    model = Model(ScaleKernel(RBFKernel()))
    model.covar_module.raw_outputscale.requires_grad_(False)
    assert "covar_module.outputscale" not in Coordinates.of(model).labels
    assert "covar_module.base_kernel.lengthscale" in Coordinates.of(model).labels


def test_one_pair_of_bounds_for_a_parameter() -> None:
    bounds = Interval(torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="must have one lower and one upper bound"):
        Coordinates.of(Model(RBFKernel(ard_num_dims=3, lengthscale_constraint=bounds)))
