"""Ridgeway finds the few directions that matter in an expensive, high-dimensional function."""

from ridgeway import acquisition, kernels, testfunctions
from ridgeway.belief import Belief, Embedded, Prediction
from ridgeway.box import Box
from ridgeway.diagnostics import Diagnostics
from ridgeway.embeddings import Diagonal, Isotropic, Linear
from ridgeway.errors import NumericalError, RidgewayWarning
from ridgeway.estimator import EmbeddingRegressor
from ridgeway.fit import fit
from ridgeway.learn import learn
from ridgeway.learner import ActiveLearner
from ridgeway.nuts import Nuts
from ridgeway.pool import Pool
from ridgeway.priors import Priors

__version__ = "0.1.0"

__all__ = [
    "ActiveLearner",
    "Belief",
    "Box",
    "Diagnostics",
    "Diagonal",
    "Embedded",
    "EmbeddingRegressor",
    "Isotropic",
    "Linear",
    "NumericalError",
    "Nuts",
    "Pool",
    "Prediction",
    "Priors",
    "RidgewayWarning",
    "acquisition",
    "fit",
    "kernels",
    "learn",
    "testfunctions",
]
