"""What a suite's runner hands back: which cases passed, which failed and why, and which were found at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[str], None]


@dataclass(slots=True)
class Results:
    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Case id → the first difference, for people."""

    def add(self, case: str, problem: str = "") -> None:
        """An empty problem is a pass."""
        if problem:
            self.failed[case] = problem
        else:
            self.passed.append(case)

    def join(self, other: Results) -> Results:
        return Results(self.passed + other.passed, self.failed | other.failed)
