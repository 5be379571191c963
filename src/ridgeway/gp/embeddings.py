"""The protocol of an embedding: how an input becomes the few coordinates that matter, and its derivatives.

Three classes implement it:

- :class:`~ridgeway.gp.linear.Linear`: ``u = x Rᵀ`` with every entry of ``R (d, D)`` free, the paper's model;
- :class:`~ridgeway.gp.length_scales.Diagonal`: one length scale an input, automatic relevance determination;
- :class:`~ridgeway.gp.length_scales.Isotropic`: one length scale for all inputs.

The numerics need four things: the coordinates ``U`` of reduced inputs ``Z``, the contraction of
the kernel matrix' derivative with given weights (which is the gradient, and every mixed second
derivative), the Hessian of the log likelihood in the embedding's parameters, and the derivatives of
the predictive mean and variance at new points. Each is a handful of matrix products; no loop runs
over parameters, observations or candidates. The remaining methods say what else differs between
embeddings: rotations that leave the model unchanged, models of lower rank, and how parameters carry
over to other data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.gp.process import ConditionedGP
    from ridgeway.gp.rowspace import RowSpace


class Candidates(NamedTuple):
    """New points as the derivatives need them: ``M`` points, ``N`` observations."""

    Z: Array  # (M, r) reduced inputs
    U: Array  # (M, d) embedded
    k: Array  # (M, N) covariances with the data, gamma² g(s)
    K1: Array  # (M, N) 2 gamma² g'(s)
    g2: Array  # (M, N) g''(s)
    a: Array  # (M, N) rows G⁻¹ k(x*)


class MomentGradients(NamedTuple):
    """Derivatives of the predictive mean and variance at ``M`` points."""

    mean: Array  # (M, P) in the embedding's parameters
    variance: Array  # (M, P)
    mean_u: Array  # (M, d) in the embedded input, for what the data do not span
    variance_u: Array  # (M, d)


class PulledBack(NamedTuple):
    """Adjoints of a point's parts, from those of its :class:`MomentGradients`."""

    Z: Array  # (M, r) where the reduced input itself enters
    U: Array  # (M, d) through the kernel's first derivative
    a: Array  # (M, N)


class Embedding(Protocol):
    """What the numerics ask of an embedding."""

    name: ClassVar[str]
    #: "span": only the inputs' components within the data's row space are parameters;
    #: "distance": only distances between inputs are needed; "none": every input counts.
    reduction: ClassVar[Literal["span", "distance", "none"]]
    #: Whether its rows are combinations of inputs, free up to a rotation.
    has_directions: ClassVar[bool]

    # -- numerics ------------------------------------------------------------------------------

    def n_parameters(self, r: int) -> int:
        """Number of parameters for inputs of ``r`` reduced coordinates."""

    def project(self, parameters: Array, Z: Array) -> Array:
        """Coordinates ``U`` of inputs ``Z (n, r)``."""

    def contract(self, gp: ConditionedGP, weights: Array) -> Array:
        """``sum_ij weights_ij dK_ij/dparameter``, ``(P,)``, for symmetric weights."""

    def contract_with_alpha(self, gp: ConditionedGP, left: Array) -> Array:
        """``left (q, N)`` times ``dK/dparameter`` times ``alpha``, ``(q, P)``."""

    def hessian(self, gp: ConditionedGP, out: Array) -> None:
        """Write the second derivatives of the log likelihood in the parameters to ``out (P, P)``."""

    def moment_gradients(self, gp: ConditionedGP, at: Candidates) -> MomentGradients:
        """Derivatives of the predictive moments in the parameters."""

    def pull_back(self, gp: ConditionedGP, at: Candidates, adjoint: MomentGradients) -> PulledBack:
        """The transpose of :meth:`moment_gradients`' derivative in the point: reverse mode by hand."""

    def pull_back_projection(self, parameters: Array, U: Array) -> Array:
        """The transpose of :meth:`project`: adjoints of ``U (n, d)`` to those of ``Z (n, r)``."""

    def candidate_terms(self, gp: ConditionedGP) -> Any:
        """Products of the data alone that :meth:`moment_gradients` uses for every block of candidates."""

    # -- rotations that leave the model unchanged ------------------------------------------------

    def rotations(self, parameters: Array) -> Array:
        """Tangents ``(P, g)`` of the rotations through the parameters; ``g = 0`` where there are none."""

    def log_orbit_volume(self, parameters: Array) -> float:
        """Logarithm of the volume of all rotations of the parameters, which are one and the same model."""

    def similarity(self, a: Array, b: Array) -> float:
        """From 0 to 1: how alike two sets of parameters are, up to a rotation."""

    def aligned(self, parameters: Array, target: Array) -> Array:
        """Rows of parameters ``(n, P)``, each rotated to be as near to ``target (P,)`` as it can be."""

    # -- other ranks, other data, other forms ------------------------------------------------------

    @property
    def n_directions(self) -> int | None:
        """Rows that were asked for; ``None`` where the evidence chooses or rows are not directions."""

    def check(self, D: int) -> None:
        """Raise if this embedding is impossible for ``D`` inputs."""

    def n_rows(self, D: int) -> int:
        """Number of rows of :meth:`matrix` for ``D`` inputs."""

    def lower_ranks(self) -> tuple[Embedding, ...]:
        """The embeddings with fewer rows, smallest first."""

    def with_parameters(self, n_parameters: int, r: int) -> Embedding:
        """The embedding of this kind, of any rank, that has so many parameters for ``r`` reduced inputs."""

    def matrix(self, parameters: Array, space: RowSpace) -> Array:
        """The rows that act on inputs mapped to [-1, 1], ``(k, D)``."""

    def slopes(self, along: Array, parameters: Array, space: RowSpace) -> Array:
        """Rows ``along (m, k)`` of slopes in ``u`` as slopes in the inputs mapped to [-1, 1], ``(m, D)``."""

    def transferred(self, parameters: Array, old: RowSpace, new: RowSpace) -> Array:
        """The parameters of the same embedding in the coordinates and units of another data set."""

    def padded(self, parameters: Array, old_r: int, new_r: int) -> Array:
        """Rows of parameters ``(n, P)`` with zeros for reduced inputs that were added."""

    def unseen(self, old_r: int, new_r: int) -> Array:
        """Unit vectors ``(P, q)`` of the parameters that belong to added reduced inputs."""

    def to_dict(self) -> dict[str, Any]:
        """A description that JSON can hold; its ``name`` says which class reads it."""


def laplacian(weights: Array) -> Array:
    """``diag(P·1) - P``: the quadratic form ``½ sum_ij P_ij (v_i - v_j)²``."""
    result = -weights
    result.flat[:: weights.shape[0] + 1] += weights.sum(axis=1)
    return result


def differences(u: Array, v: Array) -> Array:
    """``u_i - v_j``."""
    return np.subtract.outer(u, v)


def towards(weights: Array, U: Array, V: Array) -> Array:
    """``sum_n weights_mn (U_m - V_n)``, ``(m, d)``."""
    return weights.sum(axis=1)[:, None] * U - weights @ V
