"""What happened during a fit, in numbers and sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

#: Values that a stored field may have, by the type that it is declared with.
_KINDS: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": int | float,
    "float | None": int | float | None,
    "int | None": int | None,
}


@dataclass(frozen=True)
class Diagnostics:
    """How far a belief can be trusted.

    ``converged`` is true when the reported point is a mode: a Newton step predicts a gain below
    a hundredth of a nat and no direction curves upwards. ``optima`` are the log evidences of
    the different modes found, best first. ``starts_at_best`` counts how often climbs came to
    the best: also those from near it at the end of a search, which are not among the ``n_starts``,
    so it may be the larger of the two.
    ``failures`` are searches and climbs given up because their numbers left the range of
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
    n_rows: int | None = None  # that the fit saw, where the belief keeps a sample of them
    waves: int = 0  # functions of the finite basis; 0 where the process is exact
    mean_error: float | None = None  # of the basis against the exact process, in standard deviations of ``y``
    std_error: float | None = None  # and of standard deviations, relative

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
        if self.n_starts == 0:
            return "a mode, followed from an earlier fit; no search was made"
        others = len(self.optima) - 1
        if others == 0:
            return "a mode, the only one found"
        gap = f"{self.optima[0] - self.optima[1]:.1f} nats below"
        return (
            f"a mode; 1 other was found, {gap}"
            if others == 1
            else f"a mode; {others} others were found, the next {gap}"
        )

    @property
    def search(self) -> str:
        """How the search for modes went, in one sentence; empty where nothing was searched for."""
        if self.chance_missed is None:
            return ""
        chance = "below 1 %" if self.chance_missed < 0.01 else f"about {100 * self.chance_missed:.0f} %"
        modes = "one mode" if self.n_modes == 1 else f"{self.n_modes} modes"
        best = f"the best at climb {self.found_at}" if self.found_at else "the best known before"
        return f"{self.n_starts} climbs found {modes}, {best}; the chance that a better one was missed is {chance}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        result = asdict(self)
        result["dimension_evidence"] = {str(d): value for d, value in self.dimension_evidence.items()}
        return result

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Diagnostics:
        """What :meth:`to_dict` described; refused if it is anything else."""
        values = dict(values)
        for entry in fields(cls):
            kind = _KINDS.get(str(entry.type))
            if kind is not None and entry.name in values and not isinstance(values[entry.name], kind):
                raise ValueError(f"{entry.name!r} of diagnostics must be {entry.type}, got {values[entry.name]!r:.80}")
        numbers, sentences = values["optima"], values["warnings"]
        if not numbers or not all(isinstance(number, int | float) for number in numbers):
            raise ValueError(f"'optima' of diagnostics must be numbers, got {numbers!r:.80}")
        if not all(isinstance(sentence, str) for sentence in sentences):
            raise ValueError(f"'warnings' of diagnostics must be sentences, got {sentences!r:.80}")
        values["optima"], values["warnings"] = tuple(values["optima"]), tuple(values["warnings"])
        values["dimension_evidence"] = {int(d): value for d, value in values["dimension_evidence"].items()}
        return cls(**values)
