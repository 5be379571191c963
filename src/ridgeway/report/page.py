"""From content to one HTML file with everything inside it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import jinja2
import plotly.graph_objects as go
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from ridgeway.plots.theme import template
from ridgeway.report.content import Content


def page(content: Content) -> str:
    """The page; it needs no network."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["breakable"] = _breakable
    here = resources.files("ridgeway.report")
    text = environment.from_string((here / "page.html").read_text(encoding="utf-8"))
    drawn = {picture.key: _plain(picture.figure) for picture in content.pictures if picture.figure is not None}
    return text.render(
        content=content,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=_raw((here / "page.css").read_text(encoding="utf-8")),
        script=_raw((here / "page.js").read_text(encoding="utf-8")),
        plotly=_raw(get_plotlyjs() if drawn else ""),
        figures=_json(drawn),
        themes=_json({"light": template().to_plotly_json(), "dark": template(dark=True).to_plotly_json()}),
        heights={picture.key: (picture.figure.layout.height or 420) for picture in content.pictures if picture.figure},
    )


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
