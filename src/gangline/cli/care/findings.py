"""One finding of an examination, and findings as text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

OK, WARN, FAIL = "ok", "warning", "problem"
MARKS = {OK: "✓", WARN: "!", FAIL: "✗"}
COLOURS = {OK: "green", WARN: "yellow", FAIL: "red"}


class DoctorFinding(msgspec.Struct, frozen=True):
    level: str
    """ok, warning or problem."""
    subject: str
    """What was examined, in a word."""
    text: str
    remedy: str = ""


def conclusion(findings: Sequence[DoctorFinding]) -> str:
    """All in one sentence."""
    problems = sum(finding.level == FAIL for finding in findings)
    warnings = sum(finding.level == WARN for finding in findings)
    if not problems and not warnings:
        return "nothing is wrong"
    parts = [(problems, "problem"), (warnings, "warning")]
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in parts if count)
