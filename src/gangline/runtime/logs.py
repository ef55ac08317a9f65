"""Logs on standard error: one JSON object a line for machines, or plain lines for people."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

FIELDS = ("gang", "queue", "action", "controller", "object")
"""What a line may say in fields of its own: `log.info(text, extra={"gang": …})`. Lines for people have them in their
text."""


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: str(value) for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up(level: str, form: str = "json") -> None:
    """`form`: json, text for people, or auto: text where a person reads along on a terminal."""
    if form == "auto":
        form = "text" if sys.stderr.isatty() else "json"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonLines() if form == "json" else logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def hush() -> None:
    """Log nothing more: this process ends for a reason that was printed, and what its parts would add is no help."""
    logging.disable(logging.CRITICAL)
