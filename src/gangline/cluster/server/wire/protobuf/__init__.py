"""Objects in protobuf: kubectl's typed commands and programs built on client-go send them, and ask for them.

    decode(body) -> object          plain data, as the same object in JSON would be; NotUnderstood for anything else
    encode(object) -> body          in its envelope; NotUnderstood for a kind without a table

The field numbers are in fields.py, parsed by tables.py; reading.py and writing.py walk them. Pure.
"""

from __future__ import annotations

from gangline.cluster.server.wire.protobuf.reading import decode
from gangline.cluster.server.wire.protobuf.tables import MAGIC, NotUnderstood
from gangline.cluster.server.wire.protobuf.writing import encode, item_writer, listed, watch_event

__all__ = ["MAGIC", "NotUnderstood", "decode", "encode", "item_writer", "listed", "watch_event"]
