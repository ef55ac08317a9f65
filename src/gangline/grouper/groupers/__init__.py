"""THE table of groupers: which one answers for which kind of top owner. Add a family with one file and one line here."""

from __future__ import annotations

from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.groupers.default import Default
from gangline.grouper.groupers.grove import Grove
from gangline.grouper.groupers.job import Job
from gangline.grouper.groupers.pod import BarePod

DEFAULT: Grouper = Default()

GROUPERS: tuple[Grouper, ...] = (
    DEFAULT,
    BarePod(),
    Job(),
    Grove(),
)

_BY_KIND: dict[str, Grouper] = {kind: grouper for grouper in GROUPERS for kind in grouper.kinds}


def exact(api_version: str, kind: str) -> Grouper | None:
    """The grouper that names this very version of a kind."""
    return _BY_KIND.get(f"{api_version} {kind}")


def find(api_version: str, kind: str) -> Grouper | None:
    """The grouper of a kind, by its version or by any."""
    group = api_version.rpartition("/")[0]
    return exact(api_version, kind) or exact(f"{group}/*" if group else "*", kind)
