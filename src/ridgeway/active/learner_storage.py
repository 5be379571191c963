"""The stored form of a learner: a dictionary that JSON can hold, and back.

The keys are those of the first release: a learner that was stored then must open for ever.
"""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.active import acquisition as acquisitions
from ridgeway.active.history import Record
from ridgeway.active.spaces import space_from_dict
from ridgeway.belief import storage
from ridgeway.gp import kernels
from ridgeway.gp.kernels import Kernel

if TYPE_CHECKING:
    from ridgeway.active.learner import ActiveLearner
    from ridgeway.types import Progress

FORMAT = 1


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
        "record": learner.record.to_dict(),
        "n_asked": learner.n_asked,
        "expected": [None if np.isnan(value) else float(value) for value in learner.expected],
        "searched_at": learner.searched_at,
        "belief": None if belief is None else base64.b64encode(storage.to_bytes(belief)).decode(),
    }


def from_dict(
    kind: type[ActiveLearner], state: Any, points: Any, kernel: Kernel | None, progress: Progress | None
) -> ActiveLearner:
    """The learner that ``state`` describes; see :meth:`ActiveLearner.from_dict`."""
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        found = state.get("format") if isinstance(state, dict) else state
        raise ValueError(f"state must be a learner's of format {FORMAT}, got {found!r}")
    resolved = kernels.from_dict(state["kernel"], kernel)
    learner = kind(
        space_from_dict(state["space"], points),
        storage.embedding_from_dict(state["embedding"]),
        state["acquisition"],
        resolved,
        state["inference"],
        state["marginal"],
        None if state["priors"] is None else storage.priors_from_dict(state["priors"]),
        state["n_initial"],
        state["fill_every"],
        state["random_state"],
        progress,
    )
    stored = state["belief"]
    belief = None if stored is None else storage.from_bytes(base64.b64decode(stored), kernel)
    record = Record.from_dict(state["record"], learner.space)
    learner.resume(record, state["n_asked"], belief, state["searched_at"])
    learner.expected = np.array([np.nan if value is None else value for value in state["expected"]])
    return learner


def _acquisition_name(acquisition: Any) -> str:
    if isinstance(acquisition, str):
        return acquisition
    name: str = acquisition.name
    if acquisitions.BY_NAME.get(name) != acquisition:
        raise ValueError(f"only an acquisition that is built in can be stored, got {acquisition!r}")
    return name
