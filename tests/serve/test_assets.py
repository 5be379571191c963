"""The files of the page."""

from __future__ import annotations

import gzip
import re

from ridgeway.serve.assets import Assets


def test_the_page_names_its_files_and_no_other_place() -> None:
    assets = Assets()
    named = re.findall(r'(?:src|href|data-themes)="([^"#]+)"', assets.page)
    for address in named:
        if address.startswith("/static/"):
            name, _, version = address.removeprefix("/static/").partition("?v=")
            found = assets.get(name)
            assert found is not None, name
            assert found.version == version
            assert gzip.decompress(found.packed) == found.content
        else:
            assert address in ("data:,", "/export/pending.csv", "/export/trials.csv", "/export/log.csv")
    assert len(named) == 10
    assert "://" not in assets.page
    assert not re.search(r"<script(?! src=)|\son\w+=|style=", assets.page)  # the policy allows no script inside a page


def test_no_other_file_is_known() -> None:
    assets = Assets()
    assert [assets.get(name) for name in ("live.html", "app.py", "", ".", "../gate.py")] == [None] * 5
