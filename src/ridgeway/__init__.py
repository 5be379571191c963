"""Ridgeway finds the few directions that matter in an expensive, high-dimensional function."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgeway import acquisition, kernels, measures, testfunctions
    from ridgeway.active.best import Best
    from ridgeway.active.integral import integrate
    from ridgeway.active.learner import ActiveLearner
    from ridgeway.active.loop import learn, maximize, minimize
    from ridgeway.belief.belief import Belief, Embedded, Prediction
    from ridgeway.belief.diagnostics import Diagnostics
    from ridgeway.belief.estimator import EmbeddingRegressor
    from ridgeway.belief.fit import fit
    from ridgeway.campaign.campaign import Campaign
    from ridgeway.campaign.inputs import Category, Fixed, Input
    from ridgeway.campaign.outputs import Output
    from ridgeway.errors import CampaignError, NumericalError, RidgewayWarning
    from ridgeway.gp.length_scales import Diagonal, Isotropic
    from ridgeway.gp.linear import Linear
    from ridgeway.gp.priors import Priors
    from ridgeway.inference.nuts import Nuts
    from ridgeway.spaces.box import Box
    from ridgeway.spaces.pool import Pool

__version__ = "0.1.0"

#: Where each public name lives. They are imported when first used: a command that only looks at a
#: campaign must not wait for SciPy and scikit-learn.
_WHERE = {
    "ActiveLearner": "active.learner",
    "Belief": "belief.belief",
    "Best": "active.best",
    "Box": "spaces.box",
    "Campaign": "campaign.campaign",
    "CampaignError": "errors",
    "Category": "campaign.inputs",
    "Diagnostics": "belief.diagnostics",
    "Diagonal": "gp.length_scales",
    "Embedded": "belief.belief",
    "EmbeddingRegressor": "belief.estimator",
    "Fixed": "campaign.inputs",
    "Input": "campaign.inputs",
    "Isotropic": "gp.length_scales",
    "Linear": "gp.linear",
    "NumericalError": "errors",
    "Nuts": "inference.nuts",
    "Output": "campaign.outputs",
    "Pool": "spaces.pool",
    "Prediction": "belief.belief",
    "Priors": "gp.priors",
    "RidgewayWarning": "errors",
    "fit": "belief.fit",
    "integrate": "active.integral",
    "learn": "active.loop",
    "maximize": "active.loop",
    "minimize": "active.loop",
}
_MODULES = ("acquisition", "kernels", "measures", "testfunctions")

__all__ = [
    "ActiveLearner",
    "Belief",
    "Best",
    "Box",
    "Campaign",
    "CampaignError",
    "Category",
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
    "Output",
    "Pool",
    "Prediction",
    "Priors",
    "RidgewayWarning",
    "acquisition",
    "fit",
    "integrate",
    "kernels",
    "learn",
    "maximize",
    "measures",
    "minimize",
    "testfunctions",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"ridgeway.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'ridgeway' has no attribute {name!r}")
    found = getattr(import_module(f"ridgeway.{_WHERE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
