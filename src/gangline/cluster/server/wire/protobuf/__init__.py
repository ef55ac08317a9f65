"""Bodies in protobuf: kubectl's typed commands and programs built on client-go send them whatever they are told.

    decode(body) -> object          plain data, as the same object in JSON would be; NotUnderstood for anything else

Only reading: answers are JSON or YAML, which every such client accepts too. The field numbers are in fields.py. Pure.
"""

from __future__ import annotations

from gangline.cluster.server.wire.protobuf.reading import MAGIC, NotUnderstood, decode

__all__ = ["MAGIC", "NotUnderstood", "decode"]
