"""The stored form of a learner: a dictionary that JSON can hold, and back.

The keys are those of the first release: a learner that was stored then must open for ever.
"""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway import checks
from ridgeway.active import acquisition as acquisitions
from ridgeway.active.history import Record
from ridgeway.belief import storage
from ridgeway.gp import kernels
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.scaling import InputScaling
from ridgeway.spaces.space import Space, space_from_dict

if TYPE_CHECKING:
    from ridgeway.active.learner import ActiveLearner
    from ridgeway.belief.belief import Belief
    from ridgeway.types import Array, GivenProgress

FORMAT = 1
_KEYS = (
    "space", "embedding", "acquisition", "kernel", "inference", "marginal", "priors", "n_initial", "fill_every",
    "random_state", "record", "n_asked", "expected", "searched_at", "belief",
)  # fmt: skip


def to_dict(learner: ActiveLearner) -> dict[str, Any]:
    """Everything that the next ask of ``learner`` depends on."""
    belief = learner.last_belief
    return {
        "format": FORMAT,
        "space": learner.space.to_dict(),
        "embedding": learner.embedding.to_dict(),
        "acquisition": _acquisition_name(learner.acquisition),
        "kernel": kernels.to_dict(learner.kernel),
        "inference": learner.inference,
        "marginal": learner.marginal,
        "priors": None if learner.priors is None else asdict(learner.priors),
        "n_initial": learner.n_initial,
        "fill_every": learner.fill_every,
        "random_state": learner.random_state,
        "effort": learner.effort,
        "goal": learner.goal,
        "record": learner.record.to_dict(),
        "limits": None if learner.limits is None else [_or_none(row) for row in learner.limits],
        "n_asked": learner.n_asked,
        "expected": _or_none(learner.expected),
        "searched_at": learner.searched_at,
        "belief": None if belief is None else base64.b64encode(storage.to_bytes(belief)).decode(),
    }


def from_dict(
    kind: type[ActiveLearner],
    state: Any,
    points: Any,
    kernel: Kernel | None,
    progress: GivenProgress,
    acquisition: Any = None,
) -> ActiveLearner:
    """The learner that ``state`` describes; see :meth:`ActiveLearner.from_dict`."""
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        found = state.get("format") if isinstance(state, dict) else state
        raise ValueError(f"state must be a learner's of format {FORMAT}, got {found!r:.80}")
    try:
        return _learner(kind, checks.keys(state, _KEYS, "state"), points, kernel, progress, acquisition)
    except (TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"state is not a learner's: {error}") from error


def _learner(
    kind: type[ActiveLearner],
    state: dict[str, Any],
    points: Any,
    kernel: Kernel | None,
    progress: GivenProgress,
    acquisition: Any,
) -> ActiveLearner:
    learner = kind(
        space_from_dict(state["space"], points),
        storage.embedding_from_dict(state["embedding"]),
        acquisitions.handed_over(
            checks.instance(state["acquisition"], str, "acquisition of state", "a name"), acquisition
        ),
        kernels.from_dict(checks.keys(state["kernel"], ("name",), "kernel of state"), kernel),
        state["inference"],
        state["marginal"],
        None if state["priors"] is None else storage.priors_from_dict(state["priors"]),
        state["n_initial"],
        state["fill_every"],
        state["random_state"],
        progress,
        state.get("effort", "normal"),  # this, the goal and limits came later
        state.get("goal", "learn"),
    )
    record = Record.from_dict(state["record"], learner.space)
    belief = None if state["belief"] is None else _belief(state["belief"], kernel, learner.space)
    n_asked, searched_at = (checks.count(state[key], f"{key} of state") for key in ("n_asked", "searched_at"))
    learner.resume(record, n_asked, belief, searched_at)
    expected = checks.instance(state["expected"], list, "expected of state", "a list")
    learner.expected = checks.numeric(_or_nan(expected), "expected of state")
    if state.get("limits") is not None:
        learner.limit([_or_nan(row) for row in checks.instance(state["limits"], list, "limits of state", "a list")])
    return learner


def _or_none(values: Array) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _or_nan(values: list[float | None]) -> list[float]:
    return [np.nan if value is None else value for value in values]


def _belief(stored: Any, kernel: Kernel | None, space: Space) -> Belief:
    try:
        content = base64.b64decode(stored, validate=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"belief of state must be base64 text: {error}") from None
    belief = storage.from_bytes(content, kernel)
    found, expected = belief.space.scaling, InputScaling.from_bounds(*space.bounds)
    if not (np.array_equal(found.center, expected.center) and np.array_equal(found.half_width, expected.half_width)):
        raise ValueError("belief of state must be about the inputs of its space, within the same bounds")
    return belief


def _acquisition_name(acquisition: Any) -> str:
    if isinstance(acquisition, str):
        return acquisition
    found = acquisitions.resolve(acquisition)
    if not found.name.startswith(acquisitions.OF_BOTORCH) and acquisitions.BY_NAME.get(found.name) != found:
        raise ValueError(f"only an acquisition that is built in can be stored, got {acquisition!r}")
    return found.name
