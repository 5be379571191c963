"""Ridgeway finds the few directions that matter in an expensive, high-dimensional function."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgeway import acquisition, kernels, testfunctions
    from ridgeway.belief import Belief, Embedded, Prediction
    from ridgeway.box import Box
    from ridgeway.campaign import Campaign
    from ridgeway.diagnostics import Diagnostics
    from ridgeway.embeddings import Diagonal, Isotropic, Linear
    from ridgeway.errors import CampaignError, NumericalError, RidgewayWarning
    from ridgeway.estimator import EmbeddingRegressor
    from ridgeway.fit import fit
    from ridgeway.inputs import Fixed, Input
    from ridgeway.learn import learn
    from ridgeway.learner import ActiveLearner
    from ridgeway.nuts import Nuts
    from ridgeway.pool import Pool
    from ridgeway.priors import Priors

__version__ = "0.1.0"

#: Where each public name lives. They are imported when first used: a command that only looks at a
#: campaign must not wait for SciPy and scikit-learn.
_WHERE = {
    "ActiveLearner": "learner",
    "Belief": "belief",
    "Box": "box",
    "Campaign": "campaign",
    "CampaignError": "errors",
    "Diagnostics": "diagnostics",
    "Diagonal": "embeddings",
    "Embedded": "belief",
    "EmbeddingRegressor": "estimator",
    "Fixed": "inputs",
    "Input": "inputs",
    "Isotropic": "embeddings",
    "Linear": "embeddings",
    "NumericalError": "errors",
    "Nuts": "nuts",
    "Pool": "pool",
    "Prediction": "belief",
    "Priors": "priors",
    "RidgewayWarning": "errors",
    "acquisition": "",
    "fit": "fit",
    "kernels": "",
    "learn": "learn",
    "testfunctions": "",
}

__all__ = [
    "ActiveLearner",
    "Belief",
    "Box",
    "Campaign",
    "CampaignError",
    "Diagnostics",
    "Diagonal",
    "Embedded",
    "EmbeddingRegressor",
    "Fixed",
    "Input",
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


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'ridgeway' has no attribute {name!r}")
    if not _WHERE[name]:
        return import_module(f"ridgeway.{name}")
    found = getattr(import_module(f"ridgeway.{_WHERE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps ``ridgeway.fit`` and ``ridgeway.learn`` the functions: importing the modules would put these there."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and _WHERE.get(name) == name):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)  # a function that mentions it travels to other processes by name


sys.modules[__name__].__class__ = _Package
