"""Assets: the files of the page, each known by its name; no other file can be asked for."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

_TYPES = {"js": "text/javascript", "css": "text/css", "json": "application/json"}
_OURS = ("live.js", "live.css")
_REPORTS = {"figures.js": "figures.js", "report.css": "page.css"}  # of the report, by the name they have here


@dataclass(frozen=True)
class Asset:
    """A file of the page."""

    name: str
    content: bytes

    @property
    def kind(self) -> str:
        """Its media type."""
        return f"{_TYPES[self.name.rsplit('.')[-1]]}; charset=utf-8"

    @property
    def version(self) -> str:
        """Changes with its content."""
        return hashlib.sha256(self.content).hexdigest()[:12]

    @cached_property
    def packed(self) -> bytes:
        """Its content, compressed with gzip."""
        return gzip.compress(self.content, 6, mtime=0)


class Assets:
    """All files of the page."""

    def __init__(self) -> None:
        from plotly.offline import get_plotlyjs

        from ridgeway.report.page import themes

        files = {name: _read("ridgeway.serve", name) for name in _OURS}
        files |= {name: _read("ridgeway.report", source) for name, source in _REPORTS.items()}
        files |= {"plotly.js": get_plotlyjs(), "themes.json": json.dumps(themes())}
        self._files = {name: Asset(name, text.encode()) for name, text in files.items()}

    def get(self, name: str) -> Asset | None:
        """The file of this name."""
        return self._files.get(name)

    @cached_property
    def page(self) -> str:
        """The page itself; a browser may keep the files that it names for ever, as their addresses change with them."""
        text = _read("ridgeway.serve", "live.html")
        for name, asset in self._files.items():
            text = text.replace(f'"{name}"', f'"/static/{name}?v={asset.version}"')
        return text


def _read(package: str, name: str) -> str:
    return (resources.files(package) / name).read_text(encoding="utf-8")
