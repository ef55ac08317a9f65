"""Two looks at a cluster, before and after → which gangs start, which wait and why, and who makes room for whom.

Pure. A gang here is what one PodGroup holds, under the name that users know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gangline.whatif.looks import Disturbance, GangLook, PoolLook

STARTS, WAITS, PARTLY = "starts", "waits", "starts in part"
MAKES_ROOM, MOVES, STOPS, STILL = "makes room", "moves", "loses its place", "still waits"
UNSATISFIED = (WAITS, STOPS, STILL)
"""Fates that `--fail-if-waiting` is about."""
UNEXPLAINED = (WAITS, PARTLY, STOPS)
"""Fates of which a verdict says why."""


@dataclass(frozen=True, slots=True)
class GangOutcome:
    """What becomes of one gang. `pods`: how many of its pods this is about; `nodes`: how many of them get which
    node."""

    name: str
    namespace: str
    queue: str
    fate: str
    pods: int
    nodes: dict[str, int] = field(default_factory=dict)
    why: str = ""
    uid: str = ""
    """Of the gang in the model; not for people."""


@dataclass(frozen=True, slots=True)
class WhatifAnswer:
    new: list[GangOutcome] = field(default_factory=list)
    """Gangs, or pods of gangs, that were not there before."""
    others: list[GangOutcome] = field(default_factory=list)
    """Gangs that were, and that start now, move, make room, lose their place or wait as before."""
    not_judged: list[str] = field(default_factory=list)
    """What is not the scheduler's to say, one sentence each."""

    @property
    def waits(self) -> bool:
        return any(outcome.fate in UNSATISFIED for outcome in (*self.new, *self.others))


Whys = Callable[[Iterable[str]], Mapping[str, str]]
"""Gangs that wait → why, in the words of a verdict."""


def compare(before: PoolLook, after: PoolLook, whys: Whys) -> WhatifAnswer:
    empty = GangLook("", "", "", "")
    new = [_new(before.gangs.get(uid, empty), gang) for uid, gang in _ordered(after)]
    others = [
        outcome for uid, gang in _ordered(before) for outcome in _others(gang, after.gangs.get(uid, empty), after)
    ]
    outcomes = [outcome for outcome in (*new, *others) if outcome is not None]
    reasons = whys([outcome.uid for outcome in outcomes if outcome.fate in UNEXPLAINED])
    return WhatifAnswer(
        [_explained(outcome, reasons) for outcome in new if outcome is not None],
        [_explained(outcome, reasons) for outcome in others],
    )


def _ordered(look: PoolLook) -> list[tuple[str, GangLook]]:
    return sorted(look.gangs.items(), key=lambda item: (item[1].namespace, item[1].title, item[0]))


def _new(was: GangLook, now: GangLook) -> GangOutcome | None:
    """What becomes of pods that were not there before."""
    pods = {uid: node for uid, node in now.pods.items() if uid not in was.pods}
    if not pods:
        return None
    nodes = _counted(pods.values())
    placed = sum(nodes.values())
    if placed == len(pods):
        fate = STARTS
    else:
        fate = PARTLY if placed else WAITS
    return _outcome(now, fate, len(pods), nodes)


def _others(was: GangLook, now: GangLook, after: PoolLook) -> Iterator[GangOutcome]:
    """What becomes of pods that were there before, if anything does: some may lose their place while others start."""
    lost = [uid for uid, node in was.pods.items() if node and uid in after.disturbed]
    if lost:
        yield _lost(was, now, [after.disturbed[uid] for uid in lost], lost)
    started = [node for uid, node in now.pods.items() if node and was.pods.get(uid) == ""]
    if started:
        yield _outcome(was, STARTS, len(started), _counted(started))
    if now.pods and was.pods and not was.runs and not any((*was.pods.values(), *now.pods.values())):
        yield _outcome(was, STILL, len(now.pods), {})


def _lost(was: GangLook, now: GangLook, reasons: Sequence[Disturbance], lost: Sequence[str]) -> GangOutcome:
    back = [node for uid in lost if (node := now.pods.get(uid, ""))]
    gone = MAKES_ROOM if any(reason.evicted for reason in reasons) else STOPS
    why = ", ".join(dict.fromkeys(reason.why for reason in reasons))
    return _outcome(was, MOVES if len(back) == len(lost) else gone, len(lost), _counted(back), why)


def _outcome(gang: GangLook, fate: str, pods: int, nodes: dict[str, int], why: str = "") -> GangOutcome:
    return GangOutcome(gang.title, gang.namespace, gang.queue, fate, pods, nodes, why, gang.uid)


def _explained(outcome: GangOutcome, reasons: Mapping[str, str]) -> GangOutcome:
    """With why it waits, behind what happened to it."""
    reason = reasons.get(outcome.uid, "") if outcome.fate in UNEXPLAINED else ""
    return replace(outcome, why="\n".join(part for part in (outcome.why, reason) if part))


def _counted(nodes: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(node for node in nodes if node).items()))
