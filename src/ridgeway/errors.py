"""What can go wrong, and what a user is warned about."""

from __future__ import annotations


class RidgewayWarning(UserWarning):
    """Something a user should look at; what is about a fit stands in ``belief.diagnostics`` as well."""


class NumericalError(ArithmeticError):
    """The mathematics has an answer that floating point could not reach."""


class CampaignError(ValueError):
    """A campaign, file or database is not as it should be; the message says where and what to do."""


class NothingLeftError(ValueError):
    """There is hardly any point left that has not been asked for."""


class BudgetSpentError(CampaignError):
    """A campaign has as many trials as it may; nothing was asked."""


class UnreachableError(CampaignError):
    """The database did not answer, or could not write for now: what was to be written can be tried again."""


class ReadOnlyError(UnreachableError):
    """The database may be read, but not be written to."""
