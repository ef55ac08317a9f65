"""Why a gang was not placed, in the words that users read: reasons, messages, and how several are joined into one text.

The reasons are upstream's words, because people search for them and tools match them. Filled during a cycle by
`place.py` and the actions, shown as condition, event and `gangline explain`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

PODS = "PodSchedulingErrors"
OVER_LIMIT = "OverLimit"
OVER_QUOTA = "NonPreemptibleOverQuota"
DELAYED = "PreemptionDelayNotElapsed"
NO_QUEUE = "QueueDoesNotExist"
NO_ROOM = "Not enough resources for the workload"

NO_NODE = "no nodes with enough resources were found"


@dataclass(frozen=True, slots=True)
class GangRefusals:
    """One reason with its messages; `plugin` is who said it, `resolvable` whether an eviction could help."""

    reason: str
    messages: tuple[str, ...]
    plugin: str = ""
    resolvable: bool = True
    details: tuple[str, ...] = ()


def task_text(base: str, reasons: Iterable[str]) -> str:
    """The text of a task that found no node: the base sentence and how many nodes said what."""
    counted = sorted(f"{number} {reason}" for reason, number in Counter(reasons).items())
    return base + (": " + "".join(f"{line}." for line in [". \n".join(counted)]) if counted else "")


def joined(refusals: Sequence[GangRefusals]) -> str:
    """All reasons of a gang as one text, each on its own line."""
    lines: list[str] = []
    for refusal in refusals:
        lines.append(f"\n{refusal.reason}.")
        lines += sorted(f"\n{message}." for message in refusal.details or refusal.messages)
    return "".join(lines)


def gang_messages(texts: Mapping[str, str]) -> list[str]:
    return [texts[uid] for uid in sorted(texts)]
