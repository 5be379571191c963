"""The belief as a scikit-learn regressor and transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ridgeway.belief.belief import Belief
from ridgeway.belief.fit import fit
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.moments import Marginal
from ridgeway.gp.priors import Priors
from ridgeway.types import Array, RandomState

if TYPE_CHECKING:
    from ridgeway.belief.sensitivity import Sensitivity


class EmbeddingRegressor(RegressorMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """Gaussian process regression on a learned embedding of the inputs.

    Parameters are those of :func:`ridgeway.fit`; ``embedding=None`` is ``Linear(2)``, or
    ``Linear(1)`` for a single input. ``predict`` gives the marginal mean, ``transform`` the
    embedded inputs.

    Attributes
    ----------
    belief_ : Belief
        All that was learned.

    >>> import numpy as np, ridgeway as rw
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 5))
    >>> model = rw.EmbeddingRegressor(rw.Linear(1)).fit(X, np.sin(X[:, 0] + X[:, 1]))
    >>> model.transform(X).shape
    (40, 1)
    """

    def __init__(
        self,
        embedding: Embedding | None = None,
        kernel: str | Kernel = "se",
        inference: str = "nested",
        marginal: Marginal = "mgp",
        bounds: Any = None,
        standardize: bool = True,
        priors: Priors | None = None,
        n_starts: int | None = None,
        random_state: RandomState = 0,
        effort: str | float = "normal",
        n_jobs: int = 1,
    ) -> None:
        self.embedding = embedding
        self.kernel = kernel
        self.inference = inference
        self.marginal = marginal
        self.bounds = bounds
        self.standardize = standardize
        self.priors = priors
        self.n_starts = n_starts
        self.random_state = random_state
        self.effort = effort
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, noise_variance: Any = None) -> Self:
        """Fit the belief to ``X (n, D)`` and ``y (n,)``."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        self.belief_ = fit(
            X, y, self.embedding,
            kernel=self.kernel, inference=self.inference, marginal=self.marginal, bounds=self.bounds,
            standardize=self.standardize, priors=self.priors, noise_variance=noise_variance,
            n_starts=self.n_starts, random_state=self.random_state, effort=self.effort, n_jobs=self.n_jobs,
            names=getattr(self, "feature_names_in_", None),
        )  # fmt: skip
        return self

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Mean of ``f`` at ``X``, and its standard deviation if asked for."""
        prediction = self._fitted().predict(self._checked(X))
        return (prediction.mean, prediction.std) if return_std else prediction.mean

    def transform(self, X: Any) -> Array:
        """Coordinates of ``X`` along the learned directions, ``(n, d)``."""
        return self._fitted().embed(self._checked(X)).mean

    def sensitivity(self, over: Any = None, **options: Any) -> Sensitivity:
        """Sobol indices of every input, with intervals; arguments as for :meth:`ridgeway.Belief.sensitivity`."""
        return self._fitted().sensitivity(over, **options)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """``direction0``, ``direction1``, ..."""
        check_is_fitted(self)
        d = self.belief_.embedding.shape[0]
        return np.asarray([f"direction{k}" for k in range(d)], dtype=object)

    def _fitted(self) -> Belief:
        check_is_fitted(self)
        return self.belief_

    def _checked(self, X: Any) -> Any:
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
