"""What a campaign is about: its inputs or pool, its outputs, and how it learns. Stored as JSON."""

from __future__ import annotations

import io
import json
import os
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway.campaign.columns import check_names
from ridgeway.campaign.inputs import InputList, Levels
from ridgeway.campaign.outputs import Output, OutputList
from ridgeway.errors import CampaignError, RidgewayWarning
from ridgeway.types import Array

if TYPE_CHECKING:  # a command that only looks at a campaign must not wait for SciPy
    from ridgeway.active.learner import ActiveLearner
    from ridgeway.spaces.pool import Pool

_PLAIN = ("acquisition", "inference", "marginal", "n_initial", "fill_every", "random_state", "effort", "goal")
_LEARNING = (*_PLAIN, "embedding", "kernel", "priors")


@dataclass(frozen=True)
class Setup:
    """Everything about a campaign that does not change."""

    inputs: InputList | None  # of a box; a pool has names alone
    pool: dict[str, Any] | None  # Pool.to_dict()
    outputs: OutputList
    learning: dict[str, Any]  # what a learner is made from, besides its space
    acquisition: Any = None  # a function that makes a BoTorch acquisition; the database has its name alone

    @classmethod
    def of(cls, space: Any, outputs: OutputList, options: Mapping[str, Any], constraints: Any = ()) -> Setup:
        """Checked, from what a user hands over."""
        from ridgeway.active.learner import ActiveLearner
        from ridgeway.spaces.pool import Pool

        if isinstance(space, Pool) and constraints:
            raise CampaignError("constraints are for inputs that vary freely: the points of a pool are given")
        inputs = None if isinstance(space, Pool) else InputList.of(space, constraints)
        where = space if inputs is None else inputs.box
        for remark in () if inputs is None else inputs.box.remarks:
            warnings.warn(remark, RidgewayWarning, stacklevel=3)
        outputs, options = _with_goal(outputs, options)
        learner = ActiveLearner(where, **options)
        try:
            state = learner.to_dict()
        except (ValueError, TypeError, AttributeError) as error:
            raise CampaignError(f"a campaign must be able to store how it learns: {error}") from None
        learning = {key: state[key] for key in _LEARNING}
        if inputs is not None:
            return cls(inputs, None, outputs, learning)._checked(None).with_acquisition(learner.acquisition)
        description = {**state["space"], "path": None}  # the points are in the database, or in files that stay there
        if not space.in_memory:
            description["files"] = _absolute(description["files"])
        description["names"] = description["names"] or [f"x{j}" for j in range(space.D)]
        return cls(None, description, outputs, learning)._checked(space).with_acquisition(learner.acquisition)

    def with_acquisition(self, acquisition: Any) -> Setup:
        """With the function that makes its BoTorch acquisition, which must have the name that was stored."""
        from ridgeway.active.acquisition import handed_over

        try:
            return replace(self, acquisition=handed_over(self.learning["acquisition"], acquisition))
        except (ValueError, TypeError) as error:
            raise CampaignError(str(error)) from None

    def with_same_acquisition(self, other: Setup) -> Setup:
        """With the function that another setup has for its BoTorch acquisition."""
        return replace(self, acquisition=other.acquisition)

    @property
    def file_labels(self) -> tuple[str, ...]:
        """Columns of text in the files of a pool, which go with its points."""
        return tuple((self.pool or {}).get("labels", ()))

    def with_labels(self, labels: Any) -> Setup:
        """With columns of text in the files of its pool; those of a pool in memory are stored with its points."""
        if self.pool is None or self.pool.get("files") is None:
            return self
        if isinstance(labels, Mapping):
            raise CampaignError(f"labels of a pool in files must be names of columns, got {labels!r:.80}")
        return replace(self, pool={**self.pool, "labels": list(labels)}) if labels else self

    def _checked(self, pool: Pool | None) -> Setup:
        """Itself, if its names are clear and a learner can be made from it again: a kernel of the user's own cannot."""
        check_names(self)
        try:
            for output in self.outputs.items:
                self.learner(pool, output)
        except ValueError as error:
            raise CampaignError(f"a campaign must be able to store how it learns: {error}") from None
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all inputs."""
        return self.inputs.names if self.inputs is not None else tuple((self.pool or {})["names"])

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of all inputs with their units."""
        return self.inputs.labels if self.inputs is not None else self.names

    @property
    def levels(self) -> tuple[Levels, ...]:
        """Where the levels of categories stand among the inputs."""
        return () if self.inputs is None else self.inputs.levels

    @cached_property
    def shown(self) -> tuple[Levels | int, ...]:
        """The columns that people see: places of inputs, and categories each as one."""
        first = {levels.places[0]: levels for levels in self.levels}
        hidden = {j for levels in self.levels for j in levels.places[1:]}
        return tuple(first.get(j, j) for j in range(len(self.names)) if j not in hidden)

    @property
    def columns(self) -> tuple[str, ...]:
        """Labels of the columns that people see."""
        return tuple(self.labels[c] if isinstance(c, int) else c.name for c in self.shown)

    def cells(self, x: Array) -> list[float | str]:
        """One row of values as people see it: numbers, and the word of each category."""
        numbers = x.tolist()
        return [numbers[c] if isinstance(c, int) else c.word(x) for c in self.shown]

    @property
    def goal(self) -> str:
        """To learn, to minimize or to maximize one of the outputs."""
        return "learn" if self.outputs.goal is None else self.outputs.goal.goal

    @property
    def target(self) -> str:
        """What is measured and for what, in a few words: ``output yield [%]``, ``minimize cost [EUR]``."""
        goal, labels = self.outputs.goal, self.outputs.labels
        if goal is not None:
            others = [output.label for output in self.outputs.items if output is not goal]
            return f"{goal.goal} {goal.label}" + (f", also {', '.join(others)}" if others else "")
        return f"output{'' if self.outputs.only else 's'} {', '.join(labels)}"

    def learner(self, pool: Pool | None, output: Output | None = None, progress: Any = None) -> ActiveLearner:
        """A learner of one output, by default the first, that has seen nothing yet."""
        from ridgeway.active.learner import ActiveLearner
        from ridgeway.belief import storage
        from ridgeway.gp import kernels

        space = self.inputs.box if self.inputs is not None else pool
        assert space is not None
        options = {key: self.learning[key] for key in _PLAIN if key in self.learning}  # effort and goal came later
        if (
            output or self.outputs.items[0]
        ).goal != self.goal:  # it is learned beside the one that is minimized or maximized
            options |= {"goal": "learn", "acquisition": "information", "fill_every": "auto", "effort": None}
        elif self.acquisition is not None:
            options["acquisition"] = self.acquisition
        priors = self.learning["priors"]
        return ActiveLearner(
            space,
            storage.embedding_from_dict(self.learning["embedding"]),
            kernel=kernels.from_dict(self.learning["kernel"]),
            priors=None if priors is None else storage.priors_from_dict(priors),
            progress=progress,
            **options,
        )

    def coordinates(self, values: Array) -> Array:
        """The learner's points for values of all inputs."""
        return values if self.inputs is None else self.inputs.coordinates(values)

    def to_json(self) -> str:
        """For the database."""
        inputs = None if self.inputs is None else self.inputs.to_list()
        parts: dict[str, Any] = {"inputs": inputs, "pool": self.pool, "outputs": self.outputs.to_list()}
        parts["choose"] = self.outputs.choose
        if self.inputs is not None and self.inputs.constraints:
            parts["constraints"] = [str(constraint) for constraint in self.inputs.constraints]
        return json.dumps({**parts, "learning": self.learning}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Setup:
        """What :meth:`to_json` wrote."""
        parts = json.loads(text)
        inputs = parts["inputs"]
        if inputs is not None:
            inputs = InputList.from_list(inputs, parts.get("constraints", ()))  # constraints came later
        learning = parts["learning"]
        if "outputs" not in parts:  # before there could be several
            goal = learning.get("goal", "learn")
            parts["outputs"] = [{"name": parts["output"], "unit": parts["unit"], "goal": goal}]
        outputs = OutputList.from_list(parts["outputs"], parts.get("choose", "sum"))
        return cls(inputs, parts["pool"], outputs, learning)


def _with_goal(outputs: OutputList, options: Mapping[str, Any]) -> tuple[OutputList, Mapping[str, Any]]:
    """The goal of the campaign and that of its output, which are one."""
    goal, aimed = options.get("goal", "learn"), outputs.goal
    if aimed is not None:
        if goal not in ("learn", aimed.goal):
            raise CampaignError(f"goal must be that of output {aimed.name!r}, {aimed.goal!r}, got {goal!r}")
        return outputs, {**options, "goal": aimed.goal}
    if goal not in ("minimize", "maximize"):
        return outputs, options  # what is no goal is refused by the learner
    if outputs.only is None:
        raise CampaignError(
            f"goal must say which output to {goal}, as in Output({outputs.names[0]!r}, goal={goal!r}): there are "
            f"{', '.join(outputs.names)}"
        )
    return outputs.with_item(0, replace(outputs.only, goal=goal)), options


def _absolute(files: list[list[Any]] | None) -> list[list[Any]]:
    """Files of a pool by paths that mean the same wherever a command is run."""
    if files is None:
        raise CampaignError(
            "a campaign must be able to open its pool again, and a Dask collection cannot be stored: write its points "
            "to Parquet files, and make a pool of these"
        )
    return [[os.path.abspath(path), *rest] for path, *rest in files]


def pool_to_bytes(pool: Pool) -> bytes:
    """The points of a pool, compressed."""
    stream = io.BytesIO()
    np.save(stream, np.asarray(pool.points), allow_pickle=False)
    return zlib.compress(stream.getvalue(), 1)


def pool_from_bytes(content: bytes, description: Mapping[str, Any]) -> Pool:
    """What :func:`pool_to_bytes` was given, checked against its description."""
    from ridgeway.spaces.pool import Pool

    points = np.load(io.BytesIO(zlib.decompress(content)), allow_pickle=False)
    return Pool.from_dict(description, points)
