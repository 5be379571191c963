"""``EmbeddingGP``: a belief as a BoTorch model.

Its posterior is one Gaussian over all points asked for together: the mixture over the modes of the hyperparameters,
each with the hyperparameters integrated out around it (MGP), reduced to its mean and covariance. Observations added
later condition that Gaussian, so they teach the hyperparameters as well as the function, to first order.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import torch
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.utils.datasets import SupervisedDataset
from gpytorch.constraints import Positive
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.mlls import MarginalLogLikelihood
from torch import Tensor
from torch.autograd.function import once_differentiable

from ridgeway import checks
from ridgeway.active.component_view import Spread
from ridgeway.belief import storage
from ridgeway.belief.belief import Belief
from ridgeway.belief.fit import fit
from ridgeway.botorch.joint import Joint
from ridgeway.botorch.joint_model import JointModel
from ridgeway.gp.embeddings import Embedding
from ridgeway.gpytorch.tensor_moments import TensorMoments
from ridgeway.types import Array

MARGINALS: tuple[Spread, ...] = ("map", "bbq", "mgp")


class EmbeddingGP(JointModel):
    """A Gaussian process on a learned embedding, as a BoTorch model with one output.

    It is fitted by evidence when it is first asked, or by :meth:`fit`, which ``fit_gpytorch_mll`` calls.

    Parameters
    ----------
    train_X, train_Y, train_Yvar
        ``(n, d)``, ``(n, 1)`` and, where the variance of the noise is known, ``(n, 1)``. Noise that is learned comes
        on top of the known part.
    embedding
        ``Linear(d)``, ``Linear("auto")``, ``Diagonal()`` or ``Isotropic()``; by default ``Linear(2)``.
    marginal
        ``"mgp"`` (default), ``"bbq"``, or ``"map"``, which takes the hyperparameters of the best mode as known.
    input_transform, outcome_transform
        As for ``SingleTaskGP``. Neither is needed: a fit scales inputs and outputs by itself.
    options
        Of :func:`ridgeway.fit`: ``bounds`` of the (transformed) inputs, ``kernel``, ``priors``, ``effort``,
        ``random_state`` and others.

    Examples
    --------
    >>> import torch, ridgeway as rw
    >>> X = torch.rand(20, 4, dtype=torch.double)
    >>> model = EmbeddingGP(X, torch.sin(X.sum(-1, keepdim=True)), embedding=rw.Linear(1), effort="quick")
    >>> model.posterior(X[:3]).mean.shape
    torch.Size([3, 1])
    """

    likelihood: GaussianLikelihood

    def __init__(
        self,
        train_X: Tensor,
        train_Y: Tensor,
        train_Yvar: Tensor | None = None,
        embedding: Embedding | None = None,
        marginal: Spread = "mgp",
        input_transform: InputTransform | None = None,
        outcome_transform: OutcomeTransform | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        _check_shapes(train_X, train_Y, train_Yvar)
        self._validate_tensor_args(X=train_X, Y=train_Y, Yvar=train_Yvar)
        self.embedding = embedding
        self.marginal: Spread = checks.choice(marginal, MARGINALS, "marginal")
        self.options = options
        # Not part of a state, which says what was learned: the data belong to the model that it is loaded into.
        self.register_buffer("_X", train_X, persistent=False)
        self.register_buffer("_Y", train_Y, persistent=False)
        self.register_buffer("_Yvar", train_Yvar, persistent=False)
        if input_transform is not None:
            with torch.no_grad():  # transforms learn from the data when they first see them
                self.transform_inputs(train_X, input_transform.train())
            self.input_transform = input_transform.eval()
        if outcome_transform is not None:
            outcome_transform.train()(train_Y, train_Yvar, X=train_X)
            self.outcome_transform = outcome_transform.eval()
        self.likelihood = GaussianLikelihood(noise_constraint=Positive()).to(train_X).requires_grad_(False)
        self._belief: Belief | None = None

    @classmethod
    def from_belief(cls, belief: Belief, marginal: Spread = "mgp") -> EmbeddingGP:
        """The model of a belief, in double precision and the user's units; nothing is fitted."""
        X, y = (torch.tensor(np.asarray(part), dtype=torch.double) for part in (belief.X, belief.y))
        model = cls(X, y[:, None], embedding=belief.model, marginal=marginal)
        model.belief = belief
        return model

    @classmethod
    def construct_inputs(cls, training_data: SupervisedDataset, **options: Any) -> dict[str, Any]:
        """Arguments from a data set, with ``options`` beside them: how Ax makes a model."""
        return {**super().construct_inputs(training_data), **options}

    # -- what was learned ------------------------------------------------------------------

    def fit(self) -> Self:
        """Fit again, from the modes known so far where there are any; returns the model itself."""
        X, Y, Yvar = (None if part is None else _numpy(part) for part in self._seen())
        assert X is not None
        assert Y is not None
        known = None if Yvar is None else Yvar[:, 0]
        options = {"marginal": self.marginal, "initial": self._belief, **self.options}
        self.belief = fit(X, Y[:, 0], self.embedding, noise_variance=known, **options)
        return self

    def custom_fit(self, mll: MarginalLogLikelihood, **_: Any) -> MarginalLogLikelihood:
        """What ``fit_gpytorch_mll`` calls: BoTorch's optimisers have nothing to do here."""
        self.fit()
        return mll.eval()

    @property
    def belief(self) -> Belief:
        """The belief about the (transformed) data; fitted when it is first read."""
        if self._belief is None:
            self.fit()
        assert self._belief is not None
        return self._belief

    @belief.setter
    def belief(self, belief: Belief) -> None:
        self._belief = belief
        _, _, Yvar = self._seen()
        known = 0.0 if Yvar is None else float(Yvar.mean())
        self.likelihood.noise = torch.tensor(belief.noise_variance + known, dtype=torch.double).to(self._X)

    @property
    def noise(self) -> Tensor:
        """Variance of a new observation's noise: the learned part and the mean of the known ones."""
        self.belief  # noqa: B018 - the noise is known after the fit
        return self.likelihood.noise[0]

    def get_extra_state(self) -> Tensor:
        """What was learned, as bytes; empty before the fit."""
        content = b"" if self._belief is None else storage.to_bytes(self._belief)
        return torch.frombuffer(bytearray(content), dtype=torch.uint8) if content else torch.empty(0, dtype=torch.uint8)

    def set_extra_state(self, state: Tensor) -> None:
        """The hyperparameters of a stored belief, on the data of this model."""
        if state.numel() == 0:
            self._belief = None
            return
        belief = storage.from_bytes(_numpy(state, np.uint8).tobytes())
        X, Y, Yvar = self._seen()
        same = np.array_equal(np.asarray(belief.X), _numpy(X)) and np.array_equal(belief.y, _numpy(Y)[:, 0])
        known = None if Yvar is None else _numpy(Yvar)[:, 0]
        self.belief = belief if same else belief.condition_on(_numpy(X), _numpy(Y)[:, 0], known)

    def load_state_dict(
        self, state_dict: Any, strict: bool = True, keep_transforms: bool = True, assign: bool = False
    ) -> Any:
        """As any module; transforms act on the data anew, so both values of ``keep_transforms`` mean the same."""
        extra = state_dict.get("_extra_state")
        rest = {key: value for key, value in state_dict.items() if key != "_extra_state"}
        result = torch.nn.Module.load_state_dict(self, {**rest, "_extra_state": torch.empty(0)}, strict, assign)
        if extra is not None:  # after the transforms, through which it sees the data
            self.set_extra_state(extra)
        return result

    # -- what BoTorch asks -----------------------------------------------------------------

    @property
    def train_inputs(self) -> tuple[Tensor]:
        """Inputs of the data: transformed in evaluation mode, as they came in training mode."""
        return (self._X if self.training else self._seen()[0],)

    @property
    def train_targets(self) -> Tensor:
        """Outcomes of the data, transformed, ``(n,)``."""
        return self._seen()[1][:, 0]

    def _set_transformed_inputs(self) -> None:
        """Nothing to do: :attr:`train_inputs` looks at the mode."""

    def _revert_to_original_inputs(self) -> None:
        """Nothing to do: :attr:`train_inputs` looks at the mode."""

    def moments_without_added(self, X: Tensor) -> TensorMoments:
        *batch, q, D = X.shape
        found = _Differentiable.apply(X.reshape(-1, q, D), Joint(self.belief, self.marginal))
        return TensorMoments(*(part.reshape(*batch, *part.shape[1:]) for part in found))

    def _seen(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """The data through the transforms."""
        X, Y, Yvar = self._X, self._Y, self._Yvar
        with torch.no_grad():
            if hasattr(self, "input_transform"):
                X = self.input_transform.preprocess_transform(X)
            if hasattr(self, "outcome_transform"):
                Y, Yvar = self.outcome_transform(Y, Yvar, X=X)
        return X, Y, Yvar


class _Differentiable(torch.autograd.Function):
    """Joint moments as a function of the points, whose derivatives are the belief's closed forms."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, joint: Joint) -> tuple[Tensor, ...]:
        ctx.evaluated = joint.evaluate(_numpy(X), keep=ctx.needs_input_grad[0])
        return tuple(torch.as_tensor(part).to(X) for part in ctx.evaluated.moments)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *adjoints: Tensor) -> tuple[Tensor, None]:
        gradient = ctx.evaluated.pull_back(*map(_numpy, adjoints))
        return torch.as_tensor(gradient).to(adjoints[0]), None


def _numpy(tensor: Tensor, kind: Any = float) -> Array:
    return tensor.detach().cpu().numpy().astype(kind)


def _check_shapes(X: Tensor, Y: Tensor, Yvar: Tensor | None) -> None:
    if X.dim() != 2:
        raise ValueError(f"train_X must be a tensor n x d, got one of shape {tuple(X.shape)}")
    if Y.shape != (X.shape[0], 1):
        raise ValueError(
            f"train_Y must be a tensor {X.shape[0]} x 1, got one of shape {tuple(Y.shape)}: "
            "for several outputs make a ModelListGP with an EmbeddingGP for each"
        )
    if Yvar is not None and Yvar.shape != Y.shape:
        raise ValueError(f"train_Yvar must have the shape of train_Y, {tuple(Y.shape)}, got {tuple(Yvar.shape)}")
