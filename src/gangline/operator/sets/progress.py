"""Whether an update of a set still moves, as a condition; only for sets that name a progress deadline.

The condition's transition time is when something last moved, so that the deadline needs no memory. A stuck update is
named and nothing more: it goes on by itself as soon as it can.
"""

from __future__ import annotations

from gangline.api.meta import Condition, Raw, condition
from gangline.operator.plan import condition_raw
from gangline.operator.sets.look import SetView
from gangline.operator.status import update_open
from gangline.rules import wishes
from gangline.rules.values.times import as_duration, seconds

PROGRESSING = "Progressing"
STUCK = "ProgressDeadlineExceeded"


def progressing(view: SetView, counters: Raw, now: str) -> Raw | None:
    """The condition, or None where no deadline is named or nothing was ever updated. `counters`: the set's
    updateProgress."""
    deadline = wishes.progress_deadline(view.pcs.annotations)
    if deadline is None or view.progress is None:
        return None
    done, before = _progress_text(view, counters), condition(view.pcs.status.conditions, PROGRESSING)
    if not update_open(view.progress):
        return _written(before, Condition(type=PROGRESSING, status="True", reason="UpdateComplete", message=done), now)
    same = before is not None and before.message.partition("; ")[0] == done
    since = before.last_transition_time if before is not None and same else now
    if (seconds(now) or 0.0) - (seconds(since) or 0.0) < deadline:
        return _written(before, Condition(type=PROGRESSING, status="True", reason="Updating", message=done), since)
    message = f"{done}; nothing has moved for {as_duration(deadline)}"
    return _written(before, Condition(type=PROGRESSING, status="False", reason=STUCK, message=message), since)


def condition_in(status: Raw) -> Raw | None:
    """The condition in a new status of the set, if it is there."""
    return next((item for item in status["conditions"] if item["type"] == PROGRESSING), None)


def remaining(moves: Raw | None, deadline: float | None, now: float) -> float | None:
    """Seconds until an update that does not move counts as stuck."""
    if moves is None or deadline is None or moves["reason"] != "Updating":
        return None
    return max(1.0, (seconds(moves["lastTransitionTime"]) or now) + deadline - now)


def _written(before: Condition | None, new: Condition, since: str | None) -> Raw:
    if before is not None and (before.status, before.reason, before.message) == (new.status, new.reason, new.message):
        return condition_raw(before)
    return condition_raw(new) | {"lastTransitionTime": since}


def _progress_text(view: SetView, counters: Raw) -> str:
    places = [place for replica in view.places for place in replica]
    pods = sum(clique.status.updated_replicas for place in places if (clique := view.cliques(place.name)) is not None)
    share = {
        what: f"{counters.get(f'updated{what}Count', 0)} of {counters.get(f'total{what}Count', 0)}"
        for what in ("PodCliques", "PodCliqueScalingGroups")
    }
    return f"updated: {share['PodCliques']} cliques ({pods} pods), {share['PodCliqueScalingGroups']} scaling groups"
