"""What mkdocs calls while it builds the documentation."""

from __future__ import annotations

import re

_ROLE = re.compile(r":(?:func|class|meth|attr|mod):(?=<code>)")


def on_page_content(html: str, **_: object) -> str:
    """Docstrings name objects with roles, as Python's own do; Markdown shows the name alone."""
    return _ROLE.sub("", html)
