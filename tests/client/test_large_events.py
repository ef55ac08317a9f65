"""What a client keeps of a watch for others of its process does not grow with the objects."""

from __future__ import annotations

import tracemalloc

from gangline.api.kinds import CONFIG_MAP
from gangline.client.watch_events import batch_of


def test_large_events_are_not_kept_decoded() -> None:
    tracemalloc.start()
    try:
        for number in range(60):
            line = b'{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"%d"},"data":{"k":"%b"}}}\n'
            assert len(batch_of(CONFIG_MAP, line % (number, b"x" * 900_000)).events) == 1
        assert tracemalloc.get_traced_memory()[0] < 10_000_000
    finally:
        tracemalloc.stop()
