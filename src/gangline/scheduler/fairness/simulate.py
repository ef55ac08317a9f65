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
from gangline.rules.values.nearest import did_you_mean
from gangline.scheduler.fairness.accounts import RESOURCES, UNLIMITED, Amounts, QueueAccount
from gangline.scheduler.fairness.divide import divide_all

EVERYTHING = 100000.0
LARGEST = 1e18
"""Of any resource, in its unit."""
TOTALS = {"cpu": "CPU", "memory": "Memory", "gpu": "GPU"}
DEFAULTS = {"deserved": 0.0, "maxAllowed": UNLIMITED, "overQuotaWeight": 1.0, "allocated": 0.0, "request": EVERYTHING}


KNOWN = {
    "the question": ("totalResource", "queues"),
    "totalResource": tuple(TOTALS.values()),
    "a queue": ("uid", "name", "priority", "creationTimestamp", "resourceShare"),
    "resourceShare": RESOURCES,
    "a share": tuple(DEFAULTS),
}
"""Where a word may stand → the words that mean something there."""


def simulate(question: Mapping[str, Any], now: float) -> dict[str, dict[str, float]]:
    """uid → resource → fair share. As upstream's simulator, it passes over words it does not know."""
    queues, _ = divided(question, now)
    return {queue.uid: dict(zip(RESOURCES, queue.fair_share, strict=True)) for queue in queues}


def divided(question: Mapping[str, Any], now: float) -> tuple[list[QueueAccount], Amounts]:
    """The books of the queues with their shares, and what was divided."""
    given = question.get("queues") or []
    if not isinstance(given, list):
        raise BadInput("queues: a list of queues is needed")
    queues = [_account(item, now) for item in given]
    total = _mapping(question.get("totalResource"), "totalResource")
    amounts = _three(lambda name: _number(total.get(TOTALS[name]), 0.0, f"totalResource.{TOTALS[name]}"))
    divide_all(queues, amounts, 0.0)
    return queues, amounts


def refuse_unknown_words(question: Mapping[str, Any]) -> None:
    """A word that means nothing here would change nothing, unnoticed."""
    _check(question, "the question", "")
    _check(question.get("totalResource"), "totalResource", "totalResource")
    queues = question.get("queues")
    if not isinstance(queues, list) or not queues:
        raise BadInput("queues: a list of at least one queue is needed")
    seen = set[str]()
    for number, queue in enumerate(queues):
        where = f"queues[{queue.get('uid', number) if isinstance(queue, Mapping) else number}]"
        _check(queue, "a queue", where)
        uid = str(queue.get("uid") or "")
        if uid and uid in seen:
            raise BadInput(f"{where}: there are two queues with this uid")
        seen.add(uid)
        shares = queue.get("resourceShare") or {}
        _check(shares, "resourceShare", f"{where}.resourceShare")
        for name, share in shares.items():
            _check(share, "a share", f"{where}.resourceShare.{name}")


def _check(data: Any, place: str, where: str) -> None:
    if data is None and where != "":
        return
    if not isinstance(data, Mapping):
        raise BadInput(f"{where}: {data!r} is no mapping of {', '.join(KNOWN[place])}")
    for word in data:
        if word not in KNOWN[place]:
            at = f"{where}: " if where else ""
            raise BadInput(
                f"{at}{place} has no {word!r}{did_you_mean(str(word), KNOWN[place])} (known: {', '.join(KNOWN[place])})"
            )


def _account(queue: Any, now: float) -> QueueAccount:
    if not isinstance(queue, Mapping) or not queue.get("uid"):
        raise BadInput("queues: every queue needs a uid")
    where = f"queues[{queue['uid']}]"
    shares = _mapping(queue.get("resourceShare"), f"{where}.resourceShare")

    def of(key: str) -> Amounts:
        def amount(name: str) -> float:
            share = _mapping(shares.get(name), f"{where}.resourceShare.{name}")
            absent = UNLIMITED if key == "deserved" and shares.get(name) is None and name != "gpu" else DEFAULTS[key]
            return _number(share.get(key), absent, f"{where}.resourceShare.{name}.{key}")

        return _three(amount)

    created = times.seconds(queue.get("creationTimestamp"))
    return QueueAccount(
        str(queue["uid"]),
        name=str(queue.get("name") or ""),
        priority=int(_number(queue.get("priority"), 0.0, f"{where}.priority")),
        created=now if created is None else created,
        deserved=of("deserved"),
        limit=of("maxAllowed"),
        weight=of("overQuotaWeight"),
        allocated=of("allocated"),
        request=of("request"),
    )


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    """What is left out is empty."""
    if value is not None and not isinstance(value, Mapping):
        raise BadInput(f"{where}: {value!r} is no mapping")
    return value or {}


def _three(amount_of: Any) -> Amounts:
    cpu, memory, gpu = (float(amount_of(name)) for name in RESOURCES)
    return cpu, memory, gpu


def _number(value: Any, absent: float, where: str) -> float:
    if value is None:
        return absent
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{where}: {value!r} is not a number")
    if abs(value) > LARGEST:
        raise BadInput(f"{where}: {value:g} is more than {LARGEST:g}, and nobody has that much")
    return float(value)
