"""Every form of trace that can be played, by the name that `--format` takes. To add one: one file with `read`, one line
here."""

from __future__ import annotations

from collections.abc import Callable

from gangline.lab.formats import itp, openb, own, philly
from gangline.lab.formats.rows import TraceText
from gangline.lab.jobs import TraceJob

FORMATS: dict[str, Callable[[TraceText], list[TraceJob]]] = {
    "philly": philly.read,
    "itp": itp.read,
    "openb": openb.read,
    "csv": own.read,
}
