"""What if the cluster were divided among these queues: the body of a question as KAI's fair-share simulator takes it →
its answer.

One level of queues, no history. What a queue leaves out: it wants everything, may have everything, has weight 1; of a
resource it does not mention at all it deserves everything. Asked by `gangline fairshare`. Pure: the time is handed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangline.errors import BadInput
from gangline.rules.values import times
from gangline.scheduler.fairness.accounts import RESOURCES, UNLIMITED, Amounts, QueueAccount
from gangline.scheduler.fairness.divide import divide_all

EVERYTHING = 100000.0
TOTALS = {"cpu": "CPU", "memory": "Memory", "gpu": "GPU"}
DEFAULTS = {"deserved": 0.0, "maxAllowed": UNLIMITED, "overQuotaWeight": 1.0, "allocated": 0.0, "request": EVERYTHING}


def simulate(question: Mapping[str, Any], now: float) -> dict[str, dict[str, float]]:
    """uid → resource → fair share."""
    queues = [_account(item, now) for item in question.get("queues") or ()]
    total = question.get("totalResource") or {}
    divide_all(queues, _three(lambda name: _number(total.get(TOTALS[name]), 0.0, f"totalResource.{TOTALS[name]}")), 0.0)
    return {queue.uid: dict(zip(RESOURCES, queue.fair_share, strict=True)) for queue in queues}


def _account(queue: Any, now: float) -> QueueAccount:
    if not isinstance(queue, Mapping) or not queue.get("uid"):
        raise BadInput("queues: every queue needs a uid")
    shares = queue.get("resourceShare") or {}

    def of(key: str) -> Amounts:
        def amount(name: str) -> float:
            share = shares.get(name)
            absent = UNLIMITED if key == "deserved" and share is None and name != "gpu" else DEFAULTS[key]
            return _number((share or {}).get(key), absent, f"queues[{queue['uid']}].resourceShare.{name}.{key}")

        return _three(amount)

    created = times.seconds(queue.get("creationTimestamp"))
    return QueueAccount(
        str(queue["uid"]),
        name=str(queue.get("name") or ""),
        priority=int(queue.get("priority") or 0),
        created=now if created is None else created,
        deserved=of("deserved"),
        limit=of("maxAllowed"),
        weight=of("overQuotaWeight"),
        allocated=of("allocated"),
        request=of("request"),
    )


def _three(amount_of: Any) -> Amounts:
    cpu, memory, gpu = (float(amount_of(name)) for name in RESOURCES)
    return cpu, memory, gpu


def _number(value: Any, absent: float, where: str) -> float:
    if value is None:
        return absent
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{where}: {value!r} is not a number")
    return float(value)
