"""What can go wrong, and what a user is warned about."""

from __future__ import annotations


class RidgewayWarning(UserWarning):
    """Something a user should look at; the same fact stands in ``belief.diagnostics``."""


class NumericalError(ArithmeticError):
    """The mathematics has an answer that floating point could not reach."""
