"""A BoTorch acquisition in a learner: made anew by a function of the model, because the model changes at each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction, OneShotAcquisitionFunction
from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.utils.sampling import manual_seed
from torch import Tensor

from ridgeway.active.acquisition import OF_BOTORCH
from ridgeway.active.pending import PendingBelief
from ridgeway.botorch.embedding_gp import EmbeddingGP
from ridgeway.types import Array

_AT_ONCE = 4096  # points scored at a time


class MadeAcquisition:
    """Scores points by the BoTorch acquisition that ``make`` gives for a model of the belief.

    ``make`` is called with an :class:`EmbeddingGP` in the user's units, once for each belief and set of pending
    points; ``model.train_inputs[0]`` and ``model.train_targets`` are the observations. Acquisitions that sample get
    the pending points by ``set_X_pending``. For an analytic one, the model has been given each pending point with its
    mean as outcome. Random numbers depend on the belief's seed, so that a learner can be run again.
    """

    def __init__(self, make: Callable[[EmbeddingGP], AcquisitionFunction]) -> None:
        if isinstance(make, AcquisitionFunction):
            raise TypeError(
                f"acquisition must be a function that makes a {type(make).__name__} for a model, not one that is made: "
                "model and best value change at each step; write lambda model: ..."
            )
        self.make = make
        self._last: tuple[PendingBelief, AcquisitionFunction] | None = None

    @property
    def name(self) -> str:
        """What it is stored by."""
        return OF_BOTORCH + str(getattr(self.make, "__name__", type(self.make).__name__))

    @property
    def jointly(self) -> MadeAcquisition:
        return self

    def scores(self, pending: PendingBelief, X: Array) -> Array:
        acquisition = self._made(pending)
        with torch.no_grad():
            parts = [acquisition(_points(X[i : i + _AT_ONCE])) for i in range(0, X.shape[0], _AT_ONCE)]
        result: Array = torch.cat(parts).numpy()
        return result

    def scores_with_gradient(self, pending: PendingBelief, X: Array) -> tuple[Array, Array]:
        points = _points(X).requires_grad_()
        values = self._made(pending)(points)
        (gradient,) = torch.autograd.grad(values.sum(), points)
        return values.detach().numpy(), gradient[:, 0].numpy()

    def _made(self, pending: PendingBelief) -> AcquisitionFunction:
        if self._last is None or self._last[0] is not pending:
            with manual_seed(pending.belief.seed + pending.n_pending), torch.no_grad():
                made = self._for(pending)
                made(_points(pending.belief.X[:1]))  # some draw their random numbers when they are first asked
            self._last = pending, made
        return self._last[1]

    def _for(self, pending: PendingBelief) -> AcquisitionFunction:
        model = EmbeddingGP.from_belief(pending.belief, pending.spread)
        waiting = None if pending.pending is None else torch.as_tensor(pending.pending.anchors.X)
        made = self.make(model)
        if not isinstance(made, AcquisitionFunction):
            raise TypeError(f"acquisition must be a function that makes a BoTorch acquisition, got {made!r}")
        if isinstance(made, OneShotAcquisitionFunction):
            raise TypeError(
                f"acquisition must score points alone, got {type(made).__name__}, which is maximised in one shot with "
                "its fantasies: use an EmbeddingGP and optimize_acqf"
            )
        if waiting is None:
            return made
        if isinstance(made, AnalyticAcquisitionFunction):
            mean = model.posterior(waiting).mean
            return self.make(model.condition_on_observations(waiting, mean, _noise(pending).expand(mean.shape)))
        made.set_X_pending(waiting)
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {"make": self.make, "_last": None}  # it can be made again


def _points(X: Array) -> Tensor:
    return torch.tensor(np.asarray(X, dtype=float))[:, None]


def _noise(pending: PendingBelief) -> Tensor:
    return torch.tensor(pending.noise * pending.belief.output.scale**2, dtype=torch.double)
