"""The hyperparameters of a GPyTorch model as one vector without bounds: logarithms of what is positive.

A Gaussian fits a posterior better there than in the values themselves, and the closed forms of :mod:`ridgeway.gp` are
in the same coordinates. GPyTorch's own raw parameters are others (the inverse of softplus).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, log
from typing import Any

import torch
from gpytorch.models import ExactGP
from torch import Tensor


@dataclass(frozen=True)
class Coordinate:
    """One parameter of a model: any number of values with the same bounds."""

    name: str
    shape: torch.Size
    constraint: Any  # of GPyTorch, or None
    lower: float
    upper: float

    @property
    def size(self) -> int:
        return self.shape.numel()

    def from_raw(self, raw: Tensor) -> Tensor:
        """Coordinates of GPyTorch's parameter."""
        value = raw if self.constraint is None else self.constraint.transform(raw)
        above, below = value - self.lower, self.upper - value
        if isinf(self.lower) and isinf(self.upper):
            return value
        if isinf(self.upper):
            return above.log()
        return -below.log() if isinf(self.lower) else above.log() - below.log()

    def value(self, at: Tensor) -> Tensor:
        """The value that a kernel, mean or noise has."""
        if isinf(self.lower) and isinf(self.upper):
            return at
        if isinf(self.upper):
            return self.lower + at.exp()
        if isinf(self.lower):
            return self.upper - (-at).exp()
        return self.lower + (self.upper - self.lower) * torch.sigmoid(at)

    def raw(self, at: Tensor) -> Tensor:
        """GPyTorch's parameter."""
        value = self.value(at)
        return value if self.constraint is None else self.constraint.inverse_transform(value)

    def log_slope(self, at: Tensor) -> Tensor:
        """``log |d value / d coordinate|``: what a density of values gains as one of coordinates."""
        if isinf(self.lower) and isinf(self.upper):
            return torch.zeros_like(at)
        if isinf(self.upper):
            return at
        if isinf(self.lower):
            return -at
        return log(self.upper - self.lower) + torch.nn.functional.logsigmoid(at) + torch.nn.functional.logsigmoid(-at)


@dataclass(frozen=True)
class Coordinates:
    """All parameters of a model that are learned, one after the other."""

    parts: tuple[Coordinate, ...]

    @classmethod
    def of(cls, model: ExactGP) -> Coordinates:
        """Of the model with its likelihood; parameters without ``requires_grad`` are taken as known."""
        found = []
        for name, parameter, constraint in model.named_parameters_and_constraints():
            if parameter.requires_grad:
                lower, upper = (-float("inf"), float("inf")) if constraint is None else _bounds(name, constraint)
                found.append(Coordinate(name, parameter.shape, constraint, lower, upper))
        return cls(tuple(found))

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each coordinate."""
        return tuple(
            part.name.replace("raw_", "") + (f"[{i}]" if part.size > 1 else "")
            for part in self.parts
            for i in range(part.size)
        )

    def from_model(self, model: ExactGP) -> Tensor:
        """Where the model's parameters stand, ``(P,)``."""
        parameters = dict(model.named_parameters())
        return torch.cat([part.from_raw(parameters[part.name].detach()).reshape(-1) for part in self.parts])

    def split(self, at: Tensor) -> list[Tensor]:
        """The coordinates of each parameter, in its shape."""
        sizes = [part.size for part in self.parts]
        return [piece.reshape(part.shape) for part, piece in zip(self.parts, at.split(sizes), strict=True)]

    def raw(self, at: Tensor) -> dict[str, Tensor]:
        """GPyTorch's parameters by name."""
        return {part.name: part.raw(piece) for part, piece in zip(self.parts, self.split(at), strict=True)}

    def values(self, at: Tensor) -> Tensor:
        """Values in place of coordinates, ``(P,)``."""
        pieces = zip(self.parts, self.split(at), strict=True)
        return torch.cat([part.value(piece).reshape(-1) for part, piece in pieces])

    def log_slopes(self, at: Tensor) -> Tensor:
        """``log |d value / d coordinate|``, ``(P,)``."""
        pieces = zip(self.parts, self.split(at), strict=True)
        return torch.cat([part.log_slope(piece).reshape(-1) for part, piece in pieces])


def _bounds(name: str, constraint: Any) -> tuple[float, float]:
    lower, upper = constraint.lower_bound, constraint.upper_bound
    if lower.numel() > 1 or upper.numel() > 1:
        raise ValueError(f"parameter {name!r} must have one lower and one upper bound, got a bound for each entry")
    return float(lower), float(upper)
