"""What a PodCliqueSet may ask for in annotations of gangline's own, because Grove's schema has no field for it.

    gangline.io/gang-termination: disabled     a gang below its minimum is left to run
    gangline.io/max-unavailable: "2" or 25%    how much of each unit an update may take away at once
    gangline.io/progress-deadline: 10m         after so long without progress an update counts as stuck

Admission refuses what cannot be read (`problems`); the operator takes such a wish as not given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gangline.api import names
from gangline.errors import Problem
from gangline.rules.values.times import duration

DISABLED, ENABLED = "disabled", "enabled"


def ends_gangs(notes: Mapping[str, str]) -> bool:
    """Whether gangs that fell below their minimum are ended after the set's terminationDelay."""
    return notes.get(names.GANG_TERMINATION) != DISABLED


def max_unavailable(notes: Mapping[str, str], size: int) -> int | None:
    """How many of `size` an update may take away at once, at least 1; None where the set does not say."""
    return _amount(notes.get(names.MAX_UNAVAILABLE, ""), size)


def progress_deadline(notes: Mapping[str, str]) -> float | None:
    """Seconds without progress after which an update counts as stuck; None where the set does not say."""
    return _positive(notes.get(names.PROGRESS_DEADLINE, ""))


def problems(notes: Mapping[str, str]) -> Iterator[Problem]:
    where = "metadata.annotations"
    termination = notes.get(names.GANG_TERMINATION, ENABLED)
    if termination not in (DISABLED, ENABLED):
        yield Problem(
            f"{where}[{names.GANG_TERMINATION}]",
            f"must be {ENABLED} or {DISABLED}",
            "FieldValueNotSupported",
            termination,
        )
    amount = notes.get(names.MAX_UNAVAILABLE)
    if amount is not None and _amount(amount, 1) is None:
        yield Problem(
            f"{where}[{names.MAX_UNAVAILABLE}]", "must be a number above 0, or a share from 1% to 100%", value=amount
        )
    deadline = notes.get(names.PROGRESS_DEADLINE)
    if deadline is not None and _positive(deadline) is None:
        yield Problem(
            f"{where}[{names.PROGRESS_DEADLINE}]", "must be a duration above 0", value=deadline, hint="for example 10m"
        )


def _amount(text: str, size: int) -> int | None:
    share = text.endswith("%")
    number = text.removesuffix("%")
    if not number.isascii() or not number.isdigit() or int(number) < 1 or (share and int(number) > 100):
        return None
    return max(1, size * int(number) // 100) if share else int(number)


def _positive(text: str) -> float | None:
    try:
        seconds = duration(text)
    except ValueError:
        return None
    return seconds if seconds > 0 else None
