"""From content to one HTML file with everything inside it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import jinja2
import plotly.graph_objects as go
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from ridgeway.plots.theme import template
from ridgeway.report.content import Content


def page(contents: Sequence[Content], labels: Sequence[str] = ()) -> str:
    """The page; it needs no network. Several contents have a tab each, with these ``labels``."""
    names = labels or [""] * len(contents)
    several = len(contents) > 1
    tabs = [Tab(c, name, f"{i + 1}-" * several) for i, (c, name) in enumerate(zip(contents, names, strict=True))]
    drawn = {f"{tab.prefix}{key}": figure for tab in tabs for key, figure in _figures(tab.content).items()}
    return _rendered(
        "page.html",
        tabs,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=_raw(_text("page.css")),
        script=_raw(_text("page.js")),
        figures_script=_raw(_text("figures.js")),
        plotly=_raw(get_plotlyjs() if drawn else ""),
        figures=_json(drawn),
        themes=_json(themes()),
    )


@dataclass(frozen=True)
class Tab:
    """A content among several on one page: what its tab is called, and what its names begin with."""

    content: Content
    label: str = ""
    prefix: str = ""


@dataclass(frozen=True)
class Parts:
    """A report in parts, for a page that is there already."""

    summary: str  # HTML
    sections: str  # HTML, with an empty element for each figure
    figures: dict[str, Any]  # by key, as JSON has them


def parts(content: Content) -> Parts:
    """What :func:`page` shows, without the page around it."""
    tabs = [Tab(content)]
    return Parts(_rendered("summary.html", tabs), _rendered("sections.html", tabs), _figures(content))


def themes() -> dict[str, Any]:
    """The looks of the figures on light and dark pages, as JSON has them."""
    looks = {"light": template().to_plotly_json(), "dark": template(dark=True).to_plotly_json()}
    return dict(json.loads(json.dumps(looks, default=_as_json)))


def _rendered(name: str, tabs: Sequence[Tab], **more: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable
    environment.filters["height"] = lambda picture: picture.figure.layout.height or 420
    return environment.get_template(name).render(tabs=tabs, tab=tabs[0], content=tabs[0].content, **more)


def _text(name: str) -> str:
    return (resources.files("ridgeway.report") / name).read_text(encoding="utf-8")


def _figures(content: Content) -> dict[str, Any]:
    return {picture.key: _plain(picture.figure) for picture in content.pictures if picture.figure is not None}


def _plain(figure: go.Figure) -> Any:
    """Data and layout as JSON has them, without the template: the page has one for light and one for dark."""
    result = json.loads(figure.to_json())
    result["layout"].pop("template", None)
    return result


def _json(value: Any) -> Any:
    # "</script>" inside a name would end the script; "<!--" would change how it is read.
    return _raw(json.dumps(value, default=_as_json, separators=(",", ":")).replace("<", "\\u003c"))


def _as_json(value: Any) -> Any:
    return value.to_plotly_json()


def _raw(text: str) -> Markup:
    return Markup(text)


def _breakable(text: str) -> Markup:
    """Long names may be broken after an underscore or a slash, a number not from its sign of percent."""
    together = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", str(escape(text)))
    return Markup(re.sub(r"(?<=\w)([_/])(?=\w)", r"\1<wbr>", together))
