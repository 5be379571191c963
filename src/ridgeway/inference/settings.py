"""Every number that steers the search for modes, in one frozen value.

Noise levels and output scales are on the standardised scale: outputs have mean 0 and variance 1. Lengths
are in units of the prior's standard deviation. Evidence is in nats (natural logarithms; 1 nat = 1.44 bits).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import log
from typing import NamedTuple

from ridgeway.gp.process import LOG_NOISE
from ridgeway.types import Array


class Recipe(NamedTuple):
    """One way to draw a start for a linear embedding."""

    power: float | None  # of the singular values that weigh the directions; None draws from the prior
    extra: int | None  # with power 0: how many directions beyond the d leading ones
    norm: float  # length of a row, in units of the prior's
    noise: float  # standard deviation to begin with
    stretched: bool = False  # a nearly linear function: large output scale, small embedding


@dataclass(frozen=True)
class StartSettings:
    """Where searches begin (:mod:`ridgeway.inference.starts`)."""

    #: Ways to draw a start of a linear embedding, used in turn.
    recipes: tuple[Recipe, ...] = (
        Recipe(1.0, None, 1.0, 0.5),
        Recipe(0.0, 1, 1.0, 0.2),
        Recipe(1.0, None, 0.3, 0.5, stretched=True),
        Recipe(1.0, None, 1.0, 0.2),
        Recipe(0.0, 0, 1.0, 0.5),
        Recipe(None, None, 0.1, 0.5),
        Recipe(0.5, None, 1.0, 0.5),
        Recipe(2.0, None, 0.3, 0.3, stretched=True),
        Recipe(None, None, 1.0, 0.5),
        Recipe(0.5, None, 1.0, 0.2),
    )
    #: Standard deviation of the logarithm of each row's length around that of its recipe.
    log_norm_spread: float = 0.4
    #: Log output scale of a stretched start; its log prior scale is minus this.
    stretch: float = 1.0
    #: Squared length scales of the plain process whose gradients guide starts, over the median squared distance.
    gradient_length_scales: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0)
    #: Ratios of noise variance to output variance that this process is tried with.
    gradient_noise_ratios: tuple[float, ...] = (0.003, 0.03, 0.1, 0.3, 1.0, 3.0)
    #: Log length scales of starts of ``Diagonal`` and ``Isotropic`` are spread this far around the prior's mean.
    length_scale_range: float = 1.5
    #: And each input's own deviates by this many prior standard deviations.
    length_scale_spread: float = 0.3
    #: Noise levels that those starts take in turn.
    length_scale_noise: tuple[float, float] = (0.5, 0.2)
    #: Noise where nothing else explains the outputs.
    noise_only: float = 0.9
    #: Least learned part of that noise.
    noise_only_least: float = 0.3


class Stage(NamedTuple):
    """A part of a climb: quasi-Newton iterations at one noise level."""

    noise: float  # standard deviation
    iterations: int


@dataclass(frozen=True)
class ClimbSettings:
    """The climbs of a search (:mod:`ridgeway.inference.mode_search`)."""

    #: Sequences of stages; each climb draws one. Noise begins high, for a climb that comes from afar. The first
    #: stages are short: after many iterations at a high noise nothing is left of a sharp mode.
    sequences: tuple[tuple[Stage, ...], ...] = (
        (Stage(0.5, 8), Stage(0.3, 10), Stage(0.15, 15), Stage(0.1, 40)),
        (Stage(0.3, 10), Stage(0.1, 50)),
        (Stage(0.3, 15), Stage(0.2, 15), Stage(0.14, 15), Stage(0.1, 40)),
        (Stage(0.3, 10), Stage(0.1, 15), Stage(0.03, 50)),
        (Stage(0.2, 10), Stage(0.1, 50)),
        (Stage(0.5, 10), Stage(0.3, 40)),
    )
    #: Stages of the last climbs, from near the best modes: a mode at a high noise holds several sharp ones.
    sharpening: tuple[Stage, ...] = (Stage(0.1, 10), Stage(0.03, 15), Stage(0.01, 50))
    #: The same again at the scales of the best mode, down to this share of its noise: better modes are often sharper.
    sharper: float = 1.0 / 3.0
    #: These modes are two unless their embeddings are more alike than this (1 is equal up to rotation).
    similar_siblings: float = 0.98
    #: Rounds of such climbs, each from near the best modes after the one before:
    sharpening_rounds: int = 3
    #: so many climbs, but at most one for so many of those that the search may make.
    sharpening_climbs: int = 48
    sharpening_share: int = 20
    #: Iterations of a climb where the noise is known.
    iterations: int = 60
    #: So many iterations into its last stage, a climb ends if it has come to a mode that was scored at its noise level,
    iterations_to_recognise: int = 10
    #: that is, to an embedding more like that mode's than this (1 is equal up to rotation).
    recognised: float = 0.95
    #: Share of the climbs that begin at fresh starts; the others begin at offspring of the modes found.
    fresh: float = 0.4
    #: Climbs that are made before their results lead to offspring; they can be made side by side.
    generation: int = 8
    #: A search ends early after at least this many climbs, if the best mode was met by several fresh starts
    least_climbs: int = 40
    #: (by this many)
    enough_independent: int = 8
    #: and leaves no more than this to noise. Modes with noise can be wide and wrong: many starts agree on those.
    explains_all: float = 0.05

    def last_climbs(self, n_climbs: int) -> int:
        """How many climbs a round of sharpening has after a search of at most ``n_climbs``."""
        return min(self.sharpening_climbs, n_climbs // self.sharpening_share)


@dataclass(frozen=True)
class PopulationSettings:
    """The modes that a search keeps, and what new starts are made of (:mod:`ridgeway.inference.population`)."""

    #: Modes kept.
    size: int = 12
    #: Modes that there must be before offspring is made.
    least: int = 4
    #: Two modes are one if their embeddings are more alike than this (1 is equal up to rotation),
    similar: float = 0.93
    #: their evidences differ by at most so many nats,
    same_evidence: float = 0.2
    #: and their fits by at most this share of the fit's variance.
    same_fit: float = 1e-3
    #: Share of the offspring with rows of two modes; of the others, all rows of one mode are disturbed.
    crossed: float = 0.55
    #: Smallest and largest disturbance, in prior standard deviations.
    shake: tuple[float, float] = (0.3, 0.7)
    #: The same for the last climbs: the sharp modes that a wide one holds can be far apart.
    last_shake: tuple[float, float] = (0.1, 0.8)


@dataclass(frozen=True)
class NewtonSettings:
    """Newton's method within a trust radius (:mod:`ridgeway.inference.newton`)."""

    #: Iterations stop at a gradient of this size: at most 5e-9 nats are left to gain.
    gradient_tolerance: float = 1e-4
    #: Most iterations where the caller does not say.
    max_iterations: int = 40
    #: Least curvature of a step from afar, in units of the prior's: a large value keeps steps short.
    least_curvature_far: float = 0.1
    #: Least curvature of a step near a known mode, where a short step would leave a bifurcation too slowly.
    least_curvature_near: float = 0.01
    #: Negative curvature, in units of the prior's, that is more than rounding along the rotations.
    saddle: float = 1e-3
    #: Accept a step whose actual gain is at least this share of the predicted one.
    acceptance: float = 0.1
    #: Double the trust radius after a step that gains more than this share of the predicted gain.
    enlarge: float = 0.7
    #: Try a step twice as long within the same model after one that gains more than this share.
    extend: float = 0.9
    #: Shrink the radius by this factor after a rejected step.
    shrink: float = 0.25
    #: Steps tried for one model.
    max_tries: int = 20
    #: Reuse the curvature for the next step if this one left at most so much of the gradient.
    reuse: float = 0.1
    #: Steps with the curvature of a nearby point, at most,
    reuse_steps: int = 8
    #: each of which must leave at most so much of the gradient.
    reuse_progress: float = 0.3
    #: Distances from a saddle point at which a better point is looked for.
    saddle_distances: tuple[float, ...] = (1.0, 0.3, 0.1, 0.01)
    #: A point is a mode if a Newton step predicts a gain below this many nats.
    converged_decrement: float = 1e-2


@dataclass(frozen=True)
class EvidenceSettings:
    """The climb of the evidence over output scale, noise and prior scale (:mod:`ridgeway.inference.evidence`)."""

    #: Step of the finite differences of the log determinant.
    difference_step: float = 1e-3
    #: Nats that a step must predict to be made, and gain to be followed by another.
    tolerance: float = 3e-3
    #: First trust radius.
    first_radius: float = 1.0
    #: Accept a step whose actual gain is at least this share of the predicted one; a smaller gain may mean that
    #: the inner mode has changed for another.
    acceptance: float = 0.25
    #: Double the trust radius after a step that gains more than this share of the predicted gain.
    enlarge: float = 0.5
    #: Shrink the radius to this share of the step after a rejected one.
    shrink: float = 0.25
    #: A rejected step shorter than this means that the inner mode is at a bifurcation: the climb ends.
    bifurcation: float = 0.1
    #: Most evaluations of the evidence in one climb.
    max_evaluations: int = 14
    #: Most evaluations in a climb from a known mode that is not the best.
    few_evaluations: int = 3
    #: Newton iterations after a step of the outer hyperparameters: more would mean another mode.
    max_newton: int = 12
    #: Evaluations before a climb can be discarded for being far below the best.
    patience: int = 6
    #: Update the curvature by a step only if it agrees with the model to at least this share.
    least_update: float = 0.1
    #: Least curvature of the evidence along an axis, in units of the Schur complement's.
    least_curvature: float = 0.25
    #: Nats by which the evidence at a probe counts as lower at most.
    largest_drop: float = 50.0


@dataclass(frozen=True)
class LineSettings:
    """The model of straight lines (:mod:`ridgeway.inference.line_model`)."""

    #: Log output scale that it is fixed at: the outputs take up a twentieth of a length scale.
    log_output_scale: float = 3.0
    #: Fewest observations for which the model is tried.
    least_observations: int = 4
    #: Least noise that a climb begins with.
    least_noise: float = 1e-3
    #: Farthest that the prior scale may begin from its mean, in prior standard deviations.
    farthest_scale: float = 5.0
    #: Grid of the ratio of explained variance to noise: decimal logarithms of its ends, and its size.
    ratios: tuple[float, float, int] = (-5.0, 7.0, 49)


@dataclass(frozen=True)
class MixtureSettings:
    """Which modes a belief keeps, and their weights (:mod:`ridgeway.inference.mixture`)."""

    #: Modes kept at most.
    n_components: int = 4
    #: Log evidences are divided by this: Laplace's are wrong by several nats between modes.
    temperature: float = 3.0
    #: Nats that each row fewer costs: the user asked for d rows, and Laplace favours smaller models.
    rank_penalty: float = 3.0
    #: Modes with less weight are dropped.
    least_weight: float = 0.02
    #: A mode this many nats below the best is discarded.
    discard: float = 15.0


@dataclass(frozen=True)
class LeftOutSettings:
    """The check on observations left out (:mod:`ridgeway.inference.left_out`)."""

    #: Parts that the data are split into; each is left out once.
    n_folds: int = 4
    #: Rounds over all parts where the function has many turns: a few good predictions prove little there.
    rounds: int = 3
    #: Fewest observations for which the check is made.
    least_observations: int = 12
    #: Most observations used; of more, a part is drawn.
    most_observations: int = 400
    #: Nats of evidence an observation above pure noise from which a fit needs no check.
    beyond_doubt: float = 0.5
    #: Length scales that the data spread over (one standard deviation) from which a function has many turns.
    many_turns: float = 2.0
    #: Share of the variance explained below which all is taken for noise, and nothing needs a check.
    explains_nothing: float = 1e-3
    #: Excess loss an observation from which the fit is hardly better than the mean and variance.
    harm: float = -0.1
    #: Nats that extra noise must gain: less can be chance.
    least_gain: float = 3.0
    #: Climbs in each part.
    n_starts: int = 6
    #: Modes kept, of those found afresh and of the known ones.
    kept: int = 2
    #: Quasi-Newton iterations: first, then at the mode's noise, then of what is kept.
    iterations: tuple[int, int, int] = (20, 30, 40)
    #: Nats by which known modes are held back: they have seen what is left out.
    known_penalty: float = 5.0
    #: Nats an observation that half of the parts must gain for the other half to be skipped.
    clear: float = 0.5


@dataclass(frozen=True)
class OutlierSettings:
    """Which observations get a noise of their own (:mod:`ridgeway.inference.outliers`)."""

    #: Nats that a noise of its own must add for an observation to be suspected: the log odds against an outlier.
    price: float = 8.0
    #: Largest share of the observations that may be suspected.
    most_share: float = 0.2
    #: Fewest observations among which any is suspected.
    least_observations: int = 8
    #: Standard deviation added where residuals are judged, in those of y: without noise a small misfit of the model is
    #: many standard deviations.
    floor: float = 0.05
    #: Predictions farther from the mean than this many standard deviations of y may be wrong by what is beyond.
    usual: float = 2.0
    #: Scales learned from the same observations: degrees of freedom that residuals lose.
    n_scales: float = 4.0
    #: Observations up to which sets of suspects are compared by searches of their own. Among more, modes are searched
    #: for once, without those far away if y has so many times the standard deviation with them.
    most_compared: int = 400
    spoiled: float = 2.0
    #: Rounds of shared noise and own variances at a fixed embedding.
    rounds: int = 10
    #: How far from its prior mean the logarithm of the shared noise may be, and how exactly it is wanted.
    noise_reach: float = 8.0
    noise_tolerance: float = 0.02
    #: Climbs, at most, of a search that compares one set of suspects with another.
    short_search: int = 40
    #: Fits in turn with examinations of their residuals.
    most_fits: int = 6


@dataclass(frozen=True)
class ChanceSettings:
    """The stated chance that a better mode was missed (:func:`ridgeway.inference.mixture.chance_missed`)."""

    #: Where the best mode leaves nothing to noise,
    clear: float = 0.03
    #: where it leaves little and two searches led to it,
    agreed: float = 0.08
    #: where only one did,
    alone: float = 0.2
    #: and where it leaves much.
    noisy: float = 0.4
    #: Searches of fewer climbs than this miss more, by the root of the ratio,
    usual_climbs: float = 200.0
    #: but never more than this is stated.
    most: float = 0.9


@dataclass(frozen=True)
class SearchSettings:
    """How modes are searched for, distinguished, weighed and checked.

    >>> SearchSettings().climbs.iterations
    60
    """

    #: Climbs that a fit to 100 observations makes at most where nothing is known.
    n_climbs: int = 800
    #: They are split into so many independent searches, of which later ones are made while the best mode is in doubt,
    most_searches: int = 4
    #: but each has at least so many climbs.
    climbs_a_search: int = 50
    #: A mode is in doubt until so many searches led to it; the second number is for one that
    agreeing_searches: tuple[int, int] = (2, 3)
    #: leaves more than this to noise.
    much_noise: float = 0.2
    #: A climb costs about this power of the number of observations: with more of them there are fewer climbs,
    cost_power: float = 2.0
    #: but at least so many, and with fewer observations more climbs, but at most this factor.
    least_climbs: int = 40
    most_factor: float = 3.0
    #: and at most this many for each observation: few data have few modes worth finding.
    climbs_per_observation: int = 30
    #: More inputs than these need more climbs, by the square of their number, but at most by this factor,
    usual_inputs: int = 20
    most_for_inputs: float = 4.0
    #: where there are so many observations for each input: fewer decide little, and with more there are few modes.
    observations_an_input: tuple[float, float] = (2.0, 5.0)
    #: Climbs beside the modes of an earlier belief.
    warm_starts: int = 1
    #: A search of at least so many climbs is a full one, whatever modes are known.
    full_search: int = 10
    #: Each lower rank gets one climb in so many.
    lower_rank_share: int = 4
    #: Modes whose output scale, noise and prior scale are optimised; half as many for lower ranks.
    n_finalists: int = 6
    #: A fresh mode beside known ones is discarded if it begins this many nats below the best.
    warm_margin: float = 5.0
    #: Noise beyond which a known mode is followed last: at its noise every other mode disappears.
    high_noise: float = 0.6
    #: Nats that a probe of the evidence must add to be climbed from, if it beats the best mode,
    probe_gain: float = 0.2
    #: and if it does not.
    probe_gain_lesser: float = 2.0
    #: Quasi-Newton iterations towards the joint mode of ``inference="map"``.
    joint_iterations: int = 100
    #: Observations above which modes are first searched for on a part of this size,
    subset: int = 400
    #: and how many of the modes found there are followed on all of them.
    subset_modes: int = 2
    #: Observations above which modes are taken from the part to all of them with a finite basis,
    many_rows: int = 500
    #: and the part is smaller where an embedding has few parameters: so many for each, but at least the second number.
    part_for_parameters: tuple[int, int] = (4, 300)
    #: Climbs on that part where a finite basis takes modes to all rows: with so many rows few modes are left,
    many_rows_climbs: int = 16
    #: and the modes whose scales are optimised on the part.
    many_rows_finalists: int = 2
    #: Largest dimension that ``Linear("auto")`` tries,
    largest_auto: int = 5
    #: and the share of a full search that it gives each, as one search, before it goes on with the best.
    auto_share: float = 0.2
    starts: StartSettings = field(default_factory=StartSettings)
    climbs: ClimbSettings = field(default_factory=ClimbSettings)
    population: PopulationSettings = field(default_factory=PopulationSettings)
    newton: NewtonSettings = field(default_factory=NewtonSettings)
    evidence: EvidenceSettings = field(default_factory=EvidenceSettings)
    lines: LineSettings = field(default_factory=LineSettings)
    mixture: MixtureSettings = field(default_factory=MixtureSettings)
    chances: ChanceSettings = field(default_factory=ChanceSettings)
    left_out: LeftOutSettings = field(default_factory=LeftOutSettings)
    outliers: OutlierSettings = field(default_factory=OutlierSettings)

    def part(self, n_parameters: int) -> int:
        """How many of many rows a search for the modes of so many parameters takes.

        >>> SearchSettings().part(60), SearchSettings().part(200)
        (300, 400)
        """
        each, least = self.part_for_parameters
        return min(self.subset, max(least, each * n_parameters))

    def is_noisy(self, theta: Array) -> bool:
        """Whether a mode leaves much to noise."""
        return bool(theta[LOG_NOISE] > log(self.much_noise))

    def searches(self, n_climbs: int) -> int:
        """How many independent searches so many climbs are split into.

        >>> [SearchSettings().searches(n) for n in (1, 40, 120, 2000)]
        [1, 1, 2, 4]
        """
        return min(self.most_searches, max(1, n_climbs // self.climbs_a_search))

    def for_a_part(self) -> SearchSettings:
        """The same for a search that only has to find where to begin on many more rows.

        Directions too many are given up there, and a mode that is behind after two steps is behind.
        """
        return replace(
            self,
            n_finalists=self.many_rows_finalists,
            lower_rank_share=10**9,
            population=replace(self.population, size=self.population.least),
            climbs=replace(self.climbs, generation=self.population.least),
            evidence=replace(self.evidence, patience=2, max_evaluations=6),
        )


DEFAULT = SearchSettings()

#: Settings by the effort that a user asks for.
EFFORTS = {
    "quick": replace(DEFAULT, n_climbs=40, least_climbs=20, most_for_inputs=1.0, most_searches=1),
    "normal": DEFAULT,
    "thorough": replace(
        DEFAULT,
        n_climbs=8000,
        least_climbs=200,
        most_searches=12,
        climbs_per_observation=150,
        climbs=replace(DEFAULT.climbs, least_climbs=400),
    ),
}
