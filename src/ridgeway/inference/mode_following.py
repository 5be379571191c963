"""Modes followed with a finite basis: from a point nearby, to where the basis is accurate.

Embedding, scales and noise are climbed together where there are many rows for so many parameters, and one within the
other where there are few.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.gp.feature_process import FeatureData
from ridgeway.gp.posterior import Posterior
from ridgeway.inference import evidence, newton
from ridgeway.inference.embedding_volume import WithVolume, volume_hessian
from ridgeway.inference.laplace import Laplace, approximate, settle
from ridgeway.inference.newton import climb
from ridgeway.inference.search_run import SearchRun
from ridgeway.inference.tilted_density import Frame, Tilted
from ridgeway.types import Array

_ROUNDS = 4  # bases at most, each chosen around the mode found with the one before
#: Rows for each parameter beyond which there are many.
ROWS_A_PARAMETER = 20
_ROUGHLY, _NEWTON = 1.0, 15  # gradient, in units of the prior, to which a draft goes, and its iterations
_CLIMBS, _SETTLED = 8, 1e-2  # at most, and nats that are not worth another
_GRADIENTS, _ARRIVED = 40, 1e-3  # iterations of each, and nats that are not worth one more
_ITERATIONS = 40  # of a quasi-Newton climb before Newton's method takes over


def followed(
    model: Posterior, theta: Array, run: SearchRun, near: Laplace | None = None, once: bool = False
) -> Laplace:
    """The mode near ``theta``, with a basis that is accurate there.

    A mode ``near``, of fewer rows, lends its curvature to the first steps. A climb that runs away is given up if
    it may be tried ``once`` only.
    """
    if model.data.n > ROWS_A_PARAMETER * theta.shape[0]:
        try:
            return _followed(model, theta, run, near, True)
        except NumericalError:  # all together, a climb may run away where the noise is far from what it will be
            if once:
                raise
    return _followed(model, theta, run, near, False)


def _followed(model: Posterior, theta: Array, run: SearchRun, near: Laplace | None, together: bool) -> Laplace:
    data = model.data
    assert isinstance(data, FeatureData)
    if near is None and together:
        near = drafted(
            replace(model, data=data.around(model.embedding, model.kernel, theta, is_draft=True)), theta, run
        )
        theta = near.theta
    for _ in range(_ROUNDS):
        fixed = replace(model, data=data.around(model.embedding, model.kernel, theta))
        near = jointly(fixed, near) if together and near is not None else nested(fixed, theta, near, run)
        theta = near.theta
        assert isinstance(fixed.data, FeatureData)
        if fixed.data.covers(theta) and fixed.data.is_fine_for(model.embedding, model.kernel, theta):
            return near
    raise NumericalError("the embedding grows out of every basis")


def drafted(fixed: Posterior, theta: Array, run: SearchRun) -> Laplace:
    """About where the mode is: that of density and volume together, with few waves."""
    inner, outer = evidence.split(fixed)
    both, rough = np.concatenate([inner, outer]), WithVolume.of(fixed)
    theta = climb(rough, theta, both, _ITERATIONS)
    rules = replace(run.settings.newton, gradient_tolerance=_ROUGHLY)
    found, H = newton.find_mode(rough, theta, both, None, _NEWTON, rules)
    at = rough.without(found)
    return approximate(fixed, at, inner, None if H is None else H - volume_hessian(at.gp))


def jointly(fixed: Posterior, lap: Laplace, climbs: int = _CLIMBS, gradients: int = _GRADIENTS) -> Laplace:
    """The same mode as :func:`nested` where there are many rows, at the cost of a few curvatures, from one nearby.

    Embedding, scales and noise are climbed together, on a density that is tilted by what the volume around the mode of
    the embedding says about scales and noise. That hardly changes on the way, so that few tilts are needed. Nor do
    climbs need more curvatures than these: they are expensive, and roughly right at best where rows are few.
    """
    inner, outer = evidence.split(fixed)
    both = np.concatenate([inner, outer])
    for _ in range(climbs):
        frame = Frame.at(lap, outer, fixed.data.n / lap.posterior.data.n)
        tilted = Tilted.of(fixed, frame.tilt)
        theta = newton.climb_with(tilted, lap.theta, both, frame.joint.factor, gradients, _ARRIVED)
        lap = approximate(fixed, fixed.evaluate(theta), inner)
        if Frame.at(lap, outer).left < _SETTLED:
            break
    return lap


def nested(fixed: Posterior, theta: Array, near: Laplace | None, run: SearchRun) -> Laplace:
    """The mode where rows are few for so many parameters: the embedding is integrated out at every step."""
    inner, _ = evidence.split(fixed)
    evaluations = None
    if near is None:
        theta = climb(fixed, theta, inner, _ITERATIONS)
    elif near.posterior.data.n < fixed.data.n:
        evaluations = run.settings.evidence.few_evaluations
        near = replace(near, eigenvalues=fixed.data.n / near.posterior.data.n * near.eigenvalues)
    start = settle(fixed, theta, inner, near, settings=run.settings.newton)
    return evidence.maximize_evidence(fixed, start, max_evaluations=evaluations, settings=run.settings)


def too_many_waves(posterior: Posterior) -> str:
    """What to say where no mode could be followed."""
    return (
        f"no finite basis is large enough for a function of {posterior.embedding.n_rows(posterior.D)} directions that "
        "varies so fast: are there inputs of enormous range? Fewer directions, bounds, or approximation='exact' on a "
        "part of the rows are ways on"
    )
