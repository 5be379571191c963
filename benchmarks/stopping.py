"""The forecast of how many experiments a target takes, against what then happened in simulated campaigns.

A campaign learns a noisy function of one or two directions of five to eight inputs, ten experiments at a time, up
to 80. After 30 the forecast says how many experiments bring the error down to a share of what it is expected to be
then; the truth is when the root mean square error at 1000 points first falls to that. The settings of the forecast
(campaign/forecast.py) were chosen on seeds 0 to 6; what counts are others.

Run with ``python benchmarks/stopping.py [first seed] [last seed]``; about a minute for each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import ridgeway as rw
from ridgeway.campaign import forecast as forecasts
from ridgeway.campaign.forecast import Ahead, Forecast

LAST, BATCH, FIRST, AT = 80, 10, 20, 30
SHARES = (0.7, 0.5)  # of the error expected at AT, which are the targets
FACTOR = 1.5


@dataclass(frozen=True)
class Step:
    """After some experiments: the true error, and what was forecast then."""

    n: int
    error: float
    forecast: Forecast


def problem(seed: int) -> tuple[int, Callable[[np.ndarray], np.ndarray], float]:
    """How many inputs, the function, and the standard deviation of its noise."""
    rng = np.random.default_rng([seed, 77])
    D, k = int(rng.integers(5, 9)), int(rng.integers(1, 3))
    W = rng.standard_normal((2, D))
    W /= np.linalg.norm(W, axis=1)[:, None]
    a, b, phase = rng.uniform(0.6, 1.6), rng.uniform(0.0, 1.0) * (k == 2), rng.uniform(0, 6)
    noise = float(rng.choice([0.02, 0.05, 0.1]))

    def f(X: np.ndarray) -> np.ndarray:
        u = X @ W.T
        return np.sin(1.7 * a * u[:, 0] + phase) + b * np.cos(1.3 * u[:, 1]) + 0.3 * u[:, 0]

    return D, f, noise


def simulate(seed: int) -> list[Step]:
    """One campaign."""
    D, f, noise = problem(seed)
    learner = rw.ActiveLearner(rw.Box(-np.ones(D), np.ones(D)), rw.Linear(2), effort="quick", random_state=seed)
    rng, T = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2]).uniform(-1, 1, (1000, D))
    course: list[Step] = []
    ahead: list[Ahead] = []
    before = None
    while learner.record.n < LAST:
        X = learner.ask(BATCH)
        learner.tell(X, f(X) + noise * rng.standard_normal(BATCH))
        if learner.record.n < FIRST:
            continue
        belief = learner.belief
        if before is not None:
            n = before.y.shape[0]
            ahead.append(forecasts.steps_ahead(before, belief.X[n:], belief.y[n:], np.zeros(len(belief.y) - n)))
        before = belief
        error = float(np.sqrt(np.mean((belief.predict(T).mean - f(T)) ** 2)))
        course.append(Step(learner.record.n, error, forecasts.forecast(learner, belief, ahead)))
    return course


def reached(course: list[Step], target: float) -> float:
    """When the true error first fell to ``target``, from :data:`AT` on; infinite if it never did."""
    later = [step for step in course if step.n >= AT]
    for i, step in enumerate(later):
        if step.error <= target:
            if i == 0:
                return float(AT)
            last = later[i - 1]
            share = np.log(last.error / target) / np.log(last.error / step.error)
            return float(np.exp(np.log(last.n) + share * np.log(step.n / last.n)))
    return np.inf


@dataclass(frozen=True)
class Verdict:
    """One forecast, and what became of it; numbers of experiments in all, the target in the output's units."""

    seed: int
    target: float
    low: float
    said: float
    high: float
    truth: float

    @property
    def right(self) -> bool:
        """Within the factor; of a target that was not reached in time, whether it was said to take long."""
        if np.isinf(self.truth):
            return self.said >= LAST / FACTOR
        return bool(np.isfinite(self.said) and 1 / FACTOR <= self.said / self.truth <= FACTOR)

    @property
    def right_about_more(self) -> bool:
        """The same about the experiments still to be made, give or take half a batch."""
        if np.isinf(self.truth):
            return self.said >= LAST / FACTOR
        said, truth = self.said - AT, self.truth - AT
        slack = BATCH / 2
        return bool(np.isfinite(said) and truth / FACTOR - slack <= said <= truth * FACTOR + slack)

    @property
    def within(self) -> bool:
        """Whether the interval holds the truth; what was not reached in time is in it if the interval ends later."""
        return self.high >= LAST if np.isinf(self.truth) else self.low <= self.truth <= self.high


def judge(seed: int, course: list[Step], share: float) -> Verdict:
    """The forecast after :data:`AT` experiments of when the error falls to a share of what it is expected to be."""
    found = next(step.forecast for step in course if step.n == AT)
    target = share * found.now
    low, said, high = (AT + n for n in found.needed(target))
    return Verdict(seed, target, low, said, high, reached(course, target))


def table(courses: dict[int, list[Step]]) -> None:
    """Each forecast, then how many were right."""
    for share in SHARES:
        verdicts = [judge(seed, course, share) for seed, course in courses.items()]
        print(f"\ntarget: {share} of the error expected after {AT}")
        for v in verdicts:
            print(
                f"  seed {v.seed:3d}  target {v.target:.3f}  said {v.said:5.0f} ({v.low:.0f} to {v.high:.0f})"
                f"  truth {v.truth:5.0f}  {'right' if v.right else 'wrong'}"
            )
        n = len(verdicts)
        print(
            f"  within a factor of {FACTOR}: {sum(v.right for v in verdicts)} of {n} (of the experiments still to be "
            f"made: {sum(v.right_about_more for v in verdicts)}); in the interval: {sum(v.within for v in verdicts)}; "
            f"never reached: {sum(np.isinf(v.truth) for v in verdicts)}"
        )
    now = np.array([[step.error / step.forecast.now for step in course] for course in courses.values()])
    print(f"\ntrue error / expected error now, by number: {np.exp(np.log(now).mean(axis=0)).round(2)}")
    print(f"standard deviation of its logarithm: {np.log(now).std(axis=0).round(2)}")


def main(first: int = 100, last: int = 119) -> None:
    """All seeds."""
    courses = {}
    for seed in range(first, last + 1):
        courses[seed] = simulate(seed)
        print(seed, [(step.n, round(step.error, 3), round(step.forecast.now, 3)) for step in courses[seed]], flush=True)
    table(courses)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
