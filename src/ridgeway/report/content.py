"""What stands in a report: sentences, warnings, pictures with their numbers, tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

from ridgeway.belief.directions import UnavailableError
from ridgeway.report.tables import Table


@dataclass(frozen=True)
class Picture:
    """A figure with its caption and numbers, or the reason why there is none."""

    key: str
    title: str
    caption: str
    figure: go.Figure | None = None
    missing: str = ""
    numbers: Table | None = None
    wide: bool = False  # as wide as the page, so that those after it stand side by side


@dataclass(frozen=True)
class Download:
    """A file inside the page."""

    name: str
    text: str
    uri: str


@dataclass(frozen=True)
class Section:
    """A part of the page, with pictures side by side where there is room."""

    key: str
    title: str
    intro: str
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    downloads: tuple[Download, ...] = ()
    missing: str = ""
    code: str = ""


@dataclass(frozen=True)
class Content:
    """The whole page."""

    title: str
    subtitle: str
    headline: str
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    sections: tuple[Section, ...] = field(default_factory=tuple)

    @property
    def pictures(self) -> list[Picture]:
        """Those that are drawn, in order."""
        return [picture for section in self.sections for picture in section.pictures if picture.figure is not None]


def picture(
    key: str, title: str, caption: str, draw: Callable[[], go.Figure], numbers: Callable[[], Table] | None = None
) -> Picture:
    """A picture, or the reason that ``draw`` gives for not having one."""
    try:
        return Picture(key, title, caption, draw(), numbers=None if numbers is None else numbers())
    except UnavailableError as reason:
        return Picture(key, title, caption, missing=str(reason))


def present(sentences: Sequence[str]) -> tuple[str, ...]:
    """Without the empty ones."""
    return tuple(sentence for sentence in sentences if sentence)
