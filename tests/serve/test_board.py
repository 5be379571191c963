"""What pages are told, and when."""

from __future__ import annotations

import asyncio
import json

from ridgeway.serve.board import Board


def test_a_slow_reader_sees_the_last_and_no_queue_grows() -> None:
    async def scene() -> None:
        board = Board()
        for i in range(1000):
            board.pin("state", str(i), {"i": i})
        assert json.loads(board.overview())["sheets"] == {"state": "999"}
        assert board.sheets["state"].content == b'{"i":999}'
        assert len(board.sheets) == 1

    asyncio.run(scene())


def test_readers_are_woken_by_changes_only() -> None:
    async def scene() -> None:
        board = Board()
        seen = board.changes
        assert await board.changed(seen, 0.01) == seen
        waiting = [asyncio.create_task(board.changed(seen, 10.0)) for _ in range(3)]
        await asyncio.sleep(0)
        board.note("report", "late")
        assert await asyncio.gather(*waiting) == [seen + 1] * 3
        board.note("report", "late")  # the same again is no change
        assert board.changes == seen + 1
        board.note("report", "")
        assert json.loads(board.overview())["notices"] == {}

    asyncio.run(scene())


def test_somebody_reads_or_nobody() -> None:
    async def scene() -> None:
        board = Board()
        with board.reading():
            with board.reading():
                await asyncio.wait_for(board.read(), 1.0)
            assert board.readers == 1
            await asyncio.wait_for(board.read(), 1.0)
        waiting = asyncio.create_task(board.read())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        waiting.cancel()
        board.close()
        assert await board.changed(board.changes, 10.0) == board.changes  # nobody waits after the end

    asyncio.run(scene())
