"""Campaigns: active learning that lives in a database, for days, crashes and several people."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgeway.campaign.campaign import Campaign
    from ridgeway.campaign.stopping import Advice
    from ridgeway.campaign.trial import Trial

_WHERE = {"Advice": "stopping", "Campaign": "campaign", "Trial": "trial"}
__all__ = ["Advice", "Campaign", "Trial"]


def __getattr__(name: str) -> Any:
    # The command line looks at the database without what a fit needs.
    if name not in __all__:
        raise AttributeError(f"module 'ridgeway.campaign' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"ridgeway.campaign.{_WHERE[name]}"), name)
