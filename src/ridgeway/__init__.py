"""Ridgeway finds the few directions that matter in an expensive, high-dimensional function."""

from ridgeway import kernels, testfunctions
from ridgeway.belief import Belief, Embedded, Prediction
from ridgeway.diagnostics import Diagnostics
from ridgeway.embeddings import Diagonal, Isotropic, Linear
from ridgeway.errors import NumericalError, RidgewayWarning
from ridgeway.estimator import EmbeddingRegressor
from ridgeway.fit import fit
from ridgeway.priors import Priors

__version__ = "0.1.0"

__all__ = [
    "Belief",
    "Diagnostics",
    "Diagonal",
    "Embedded",
    "EmbeddingRegressor",
    "Isotropic",
    "Linear",
    "NumericalError",
    "Prediction",
    "Priors",
    "RidgewayWarning",
    "fit",
    "kernels",
    "testfunctions",
]
