"""What one search carries with it: settings, random numbers, progress, its deadline, and what it had to give up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ridgeway.errors import NumericalError
from ridgeway.inference.settings import DEFAULT, SearchSettings
from ridgeway.types import Progress

#: Calls each of several independent tasks, here or in other processes, and returns their results in order.
MapTasks = Callable[[Sequence[Callable[[], Any]]], list[Any]]


@dataclass
class SearchRun:
    """One search. What changes in it: random numbers, failures, and whether it was interrupted."""

    rng: np.random.Generator
    settings: SearchSettings = DEFAULT
    progress: Progress | None = None
    deadline: float = np.inf  # of time.monotonic(), after which no more climbs begin
    map_tasks: MapTasks | None = None  # by default one after another
    failures: int = field(default=0)  # climbs given up because floating point could not follow them
    interrupted: bool = field(default=False)  # by the keyboard: the best so far is wanted
    doing: str = field(default="")  # what comes before each sentence about progress

    def say(self, sentence: str) -> None:
        """Report progress to whoever asked for it."""
        if self.progress is not None:
            self.progress(self.doing + sentence)

    def is_over(self) -> bool:
        """Whether no more climbs should begin."""
        return self.interrupted or time.monotonic() > self.deadline

    def map(self, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        """Results of independent tasks, in order."""
        if self.map_tasks is not None:
            return self.map_tasks(tasks)
        return [task() for task in tasks]

    @contextmanager
    def counting_failures(self) -> Iterator[None]:
        """Give up a climb that floating point cannot follow, and count it: others remain."""
        try:
            yield
        except NumericalError:
            self.failures += 1
