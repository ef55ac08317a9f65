"""Cron schedules as the server judges them, in the words a kube-apiserver uses for what is wrong.

What a schedule means stands in `rules/cron`, by which the world runs it too. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gangline.rules.values.cron import CronError, parse

_ZONE = re.compile(r"^(?:CRON_)?TZ=\S* ?", re.ASCII)


def schedule_problems(schedule: str, before: str = "") -> Iterator[str]:
    """What is wrong with a schedule that is not empty; one that named a time zone when that was allowed may go on doing
    so."""
    try:
        parse(_ZONE.sub("", schedule))
    except CronError as wrong:
        yield str(wrong)
    if "TZ" in schedule and "TZ" not in before:
        yield "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
