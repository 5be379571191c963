"""What happened during a fit, in numbers and sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Diagnostics:
    """How far a belief can be trusted.

    ``converged`` is true when the reported point is a mode: a Newton step predicts a gain below
    a hundredth of a nat and no direction curves upwards. ``optima`` are the log evidences of
    the different modes found, best first, and ``starts_at_best`` how many searches ended at
    the best. ``failures`` are searches and climbs given up because their numbers left the range of
    floating point. ``disagreement`` is the root mean square difference between the functions that
    the best two modes fit at the data, in standard deviations of ``y``. ``held_out_excess`` is by
    how much observations left out were predicted worse than by the mean and variance of the
    others (negative: better); ``None`` where the evidence left no doubt or nothing was left out.
    """

    converged: bool
    n_starts: int
    starts_at_best: int
    optima: tuple[float, ...]
    disagreement: float
    smallest_curvature: float  # in units of the prior's; clearly below 0 is not a mode
    decrement: float  # nats that a Newton step still predicts
    outer_slack: float  # nats that scales and noise may still be below their mode
    jitter: float  # added to the covariance's diagonal, in units of the output variance
    reduced_dimension: int  # inputs after the row-space reduction
    used_qr: bool
    held_out_excess: float | None = None  # nats an observation, see above
    misfit: float = 0.0  # standard deviation of the noise added because of it, in the units of ``y``
    r_hat: float | None = None  # of the chains of "nuts"; 1.01 at most if they agree
    effective_draws: float | None = None  # what all draws of "nuts" are worth
    divergences: int = 0  # of its transitions
    failures: int = 0  # climbs that floating point could not follow
    n_modes: int = 0  # distinct modes found
    found_at: int = 0  # number of the climb that first led to the best mode; 0 for a known one
    chance_missed: float | None = None  # that a better mode was missed; ``None`` where nothing was searched for
    dimension_evidence: dict[int, float] = field(default_factory=dict)  # of Linear("auto")
    warnings: tuple[str, ...] = ()

    def after(self, first: Diagnostics) -> Diagnostics:
        """The same of a fit that followed the modes of a ``first`` one, which says what was searched for, and how."""
        return replace(
            self,
            failures=first.failures + self.failures,
            dimension_evidence=first.dimension_evidence,
            n_starts=first.n_starts,
            starts_at_best=first.starts_at_best,
            found_at=first.found_at,
            chance_missed=first.chance_missed,
        )

    @property
    def status(self) -> str:
        """One sentence for the user."""
        if not self.converged:
            return (
                f"not at a mode: a Newton step predicts {self.decrement:.2g} nats and the smallest "
                f"curvature is {self.smallest_curvature:.2g} of the prior's"
            )
        others = len(self.optima) - 1
        if others == 0:
            return f"a mode; {self.starts_at_best} of {self.n_starts} searches ended there and none elsewhere"
        gap = self.optima[0] - self.optima[1]
        found = "1 other optimum" if others == 1 else f"{others} other optima"
        return (
            f"a mode; {self.starts_at_best} of {self.n_starts} searches ended there, {found} found, "
            f"the next {gap:.1f} nats below"
        )

    @property
    def search(self) -> str:
        """How the search for modes went, in one sentence; empty where nothing was searched for."""
        if self.chance_missed is None:
            return ""
        chance = "below 1 %" if self.chance_missed < 0.01 else f"about {100 * self.chance_missed:.0f} %"
        modes = "one mode" if self.n_modes == 1 else f"{self.n_modes} modes"
        return (
            f"{self.n_starts} climbs found {modes}, the best at climb {self.found_at}; "
            f"the chance that a better one was missed is {chance}"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        result = asdict(self)
        result["dimension_evidence"] = {str(d): value for d, value in self.dimension_evidence.items()}
        return result

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Diagnostics:
        values = dict(values)
        values["optima"], values["warnings"] = tuple(values["optima"]), tuple(values["warnings"])
        values["dimension_evidence"] = {int(d): value for d, value in values["dimension_evidence"].items()}
        return cls(**values)
