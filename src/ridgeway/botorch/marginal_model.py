"""``MarginalModel``: a ``SingleTaskGP``, or another exact GP of BoTorch, with its hyperparameters integrated out."""

from __future__ import annotations

from botorch.exceptions.errors import UnsupportedError
from botorch.models.gpytorch import GPyTorchModel
from torch import Tensor

from ridgeway.active.component_view import Spread
from ridgeway.botorch.joint_model import JointModel
from ridgeway.gpytorch.laplace import LaplaceSettings
from ridgeway.gpytorch.marginal_gp import MarginalGP, marginal
from ridgeway.gpytorch.tensor_moments import TensorMoments


class MarginalModel(JointModel):
    """The paper's marginal GP of a fitted BoTorch model with one output, in its place in any acquisition.

    Parameters
    ----------
    model
        A ``SingleTaskGP`` or another ``GPyTorchModel`` that is an ``ExactGP``. It is copied, with its transforms.
    kind
        ``"mgp"``, ``"bbq"`` or ``"map"``; see :func:`ridgeway.gpytorch.marginal`.

    Examples
    --------
    >>> import torch
    >>> from botorch.models import SingleTaskGP
    >>> X = torch.rand(12, 2, dtype=torch.double)
    >>> model = MarginalModel(SingleTaskGP(X, X.sum(-1, keepdim=True).sin()))
    >>> model.posterior(X[:3]).variance.shape
    torch.Size([3, 1])
    """

    def __init__(self, model: GPyTorchModel, kind: Spread = "mgp", settings: LaplaceSettings | None = None) -> None:
        super().__init__()
        if model.num_outputs != 1:
            raise UnsupportedError(
                f"model must have one output, got {model.num_outputs}: make a ModelListGP with a MarginalModel for each"
            )
        self.marginal: MarginalGP = marginal(model, model.likelihood, kind, settings)
        inner = self.marginal.evaluation.model
        self.likelihood = inner.likelihood
        if hasattr(inner, "input_transform"):
            self.input_transform = inner.input_transform
        if hasattr(inner, "outcome_transform"):
            self.outcome_transform = inner.outcome_transform

    @property
    def noise(self) -> Tensor:
        return self.marginal.noise

    @property
    def train_inputs(self) -> tuple[Tensor]:
        """Transformed, as in evaluation mode."""
        return (self.marginal.evaluation.X,)

    @property
    def train_targets(self) -> Tensor:
        """Transformed, ``(n,)``."""
        return self.marginal.evaluation.y

    def _set_transformed_inputs(self) -> None:
        """They are transformed already."""

    def _revert_to_original_inputs(self) -> None:
        """They stay transformed: nothing is trained any more."""

    def moments_without_added(self, X: Tensor) -> TensorMoments:
        return self.marginal.joint_moments(X)
