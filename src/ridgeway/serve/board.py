"""The board: what every open page shows, the newest of it only.

A page that is slow misses steps in between, never the last one, and nothing piles up for it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sheet:
    """Something to be read, with a word that changes whenever it does."""

    version: str = ""
    content: bytes = b"null"


class Board:
    """Sheets by name, and short notices; pages wait for the next change."""

    def __init__(self) -> None:
        self.sheets: dict[str, Sheet] = {}
        self.notices: dict[str, str] = {}
        self.readers = 0
        self.closed = False
        self.changes = 0
        self._changed, self._read = asyncio.Event(), asyncio.Event()

    def pin(self, name: str, version: str, content: Any) -> None:
        """Put up a sheet in place of the last of its name."""
        packed = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        self.sheets[name] = Sheet(version, packed)
        self._wake()

    def note(self, name: str, text: str) -> None:
        """Put up a notice in place of the last of its name; an empty one takes it away."""
        if self.notices.get(name, "") != text:
            self.notices[name] = text
            self._wake()

    def close(self) -> None:
        """Send all readers home."""
        self.closed = True
        self._wake()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within the block there is one reader more."""
        self.readers += 1
        self._read.set()
        try:
            yield
        finally:
            self.readers -= 1
            if not self.readers:
                self._read.clear()

    async def read(self) -> None:
        """Wait until somebody reads."""
        await self._read.wait()

    async def changed(self, since: int, patience: float) -> int:
        """The number of changes, once it is another than ``since`` or so many seconds have passed."""
        if self.changes == since and not self.closed:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), patience)
        return self.changes

    def overview(self) -> str:
        """What a page needs to see whether it shows the newest, in one line of JSON."""
        versions = {name: sheet.version for name, sheet in self.sheets.items()}
        return json.dumps({"sheets": versions, "notices": {k: v for k, v in self.notices.items() if v}})

    def _wake(self) -> None:
        self.changes += 1
        self._changed.set()
        self._changed = asyncio.Event()
