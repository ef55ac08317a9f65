"""Why a gang was not placed, in the words that users read: reasons, messages, and how several are joined into one text.

The reasons are upstream's words, because people search for them and tools match them. Filled during a cycle by
`placing/place.py` and the actions, shown as condition, event and `gangline explain`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PODS = "PodSchedulingErrors"
OVER_LIMIT = "OverLimit"
OVER_QUOTA = "NonPreemptibleOverQuota"
DELAYED = "PreemptionDelayNotElapsed"
TOO_DEAR = "EvictionTooCostly"
NO_QUEUE = "QueueDoesNotExist"
NO_ROOM = "Not enough resources for the workload"

SEVERAL = "Unable to schedule podgroup"
SEPARATOR = ". \n"
NO_POD = "Unable to schedule pod"
NO_NODE = "no nodes with enough resources were found"

DOUBLE_STOP = re.compile(r"(?<!\.)\.\.(?!\.)")

QueueTriple = tuple[float, float, float]
"""CPU in millicores, memory in bytes, GPUs; -1 is unlimited."""


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """The usage and limits of the queue that refused, and what was asked of it."""

    name: str
    requested: QueueTriple
    deserved: QueueTriple
    allocated: QueueTriple
    allocated_firm: QueueTriple
    limit: QueueTriple
    asked: QueueTriple
    asked_firm: QueueTriple


@dataclass(frozen=True, slots=True)
class GangRefusals:
    """One reason with its messages; `plugin` refused, `resolvable` whether an eviction could help, `queue` which
    queue refused."""

    reason: str
    messages: tuple[str, ...]
    plugin: str = ""
    resolvable: bool = True
    details: tuple[str, ...] = ()
    queue: QueueFigures | None = None


def task_text(base: str, reasons: Mapping[str, int]) -> str:
    """The text of a task that found no node: the base sentence, then how many nodes gave which reason."""
    counted = sorted(f"{number} {reason}" for reason, number in reasons.items())
    return f"{base}: {SEPARATOR.join(counted)}." if counted else base


def joined(refusals: Sequence[GangRefusals]) -> str:
    """All refusals of a gang as one detailed text, one line each."""
    if not refusals:
        return ""
    reason = refusals[0].reason if len(refusals) == 1 else SEVERAL
    return f"\n{reason}." + "".join(
        sorted(f"\n{', '.join(refusal.details or refusal.messages)}." for refusal in refusals)
    )


def summary(refusals: Sequence[GangRefusals]) -> str:
    """The same, short: equal messages are counted."""
    reason = refusals[0].reason if len(refusals) == 1 else SEVERAL
    counted = Counter(message for refusal in refusals for message in refusal.messages)
    lines = sorted(f"{number} {message}" if number > 1 else message for message, number in counted.items())
    return f"{reason}: {SEPARATOR.join(lines)}." if lines else reason


def one_stop(text: str) -> str:
    """Without the second stop that upstream's texts have where a message ends with one of its own."""
    return DOUBLE_STOP.sub(".", text)
