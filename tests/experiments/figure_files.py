"""What every figure of the paper must leave behind."""

from __future__ import annotations


def check_files(written, name):
    assert [path.name for path in written] == [f"{name}.png", f"{name}.svg"]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    assert written[0].stat().st_size > 10_000
    assert "<svg" in written[1].read_text(encoding="utf-8")[:1000]
