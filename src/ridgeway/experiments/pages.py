"""Pages of the documentation that generated tables are written into, between markers."""

from __future__ import annotations

from pathlib import Path

from ridgeway import files


def insert(page: Path, name: str, text: str) -> None:
    """Replace what stands in ``page`` between ``<!-- name -->`` and ``<!-- /name -->``.

    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "page.md"
    >>> _ = page.write_text("before\\n<!-- table -->\\nold\\n<!-- /table -->\\nafter\\n")
    >>> insert(page, "table", "new")
    >>> page.read_text().splitlines()
    ['before', '<!-- table -->', '', 'new', '', '<!-- /table -->', 'after']
    """
    content = page.read_text(encoding="utf-8")
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if content.count(start) != 1 or content.count(end) != 1 or content.index(start) > content.index(end):
        raise ValueError(f"{page} must have the markers {start} and {end} once each, in this order")
    before, rest = content.split(start)
    _, after = rest.split(end)
    files.write_text(page, f"{before}{start}\n\n{text.strip()}\n\n{end}{after}")
