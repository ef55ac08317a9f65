"""PodGroup status: what the pods of a group ask for and what they hold, and how far the group has come.

Stands after the binder in the journey (status flows back) and before the Queue controller, which adds up what is
written here. Each pod's part is worked out once per change of that pod; a group's total is a running sum. All of it
is one write. It never touches scheduling conditions, which are the scheduler's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gangline.api import names
from gangline.api.core import Node, Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import NODE, POD, POD_GROUP, PRIORITY_CLASS, RESOURCE_CLAIM
from gangline.api.meta import Object, Raw
from gangline.config import NATIVE, Manner
from gangline.controllers.parts import PartUnreadable, PodPart, part
from gangline.controllers.phases import PodStandings, conditions, standing
from gangline.controllers.sums import Amounts, MemberSum, printed, resource_list_patch
from gangline.rules import requests
from gangline.rules.gangs.memberships import is_collected
from gangline.rules.gangs.priorities import preemptible, priorities
from gangline.rules.objects.lean import lean_group, lean_pod, shared
from gangline.rules.schedulers import SERVED, pod_fields
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of
from gangline.runtime.clock import timestamp

GROUP, CLAIM = "group", "claim"


@dataclass(slots=True)
class GroupSums:
    """One group's running sums, and the pods whose part must be worked out anew."""

    requested: MemberSum = field(default_factory=MemberSum)
    allocated: MemberSum = field(default_factory=MemberSum)
    standings: PodStandings = field(default_factory=PodStandings)
    written: list[Raw] = field(default_factory=list)
    """The conditions as last written."""
    sent: tuple[str, bytes] = ("", b"")
    """The revision of the group that was looked at, and what was written then, as text."""
    changed: dict[Key, None] = field(default_factory=dict)

    def put(self, key: Key, pod: Pod | None, value: PodPart) -> None:
        """None: the pod is no member any longer."""
        self.requested.set(key, value.requested)
        self.allocated.set(key, value.allocated)
        self.standings.put(key, None if pod is None else standing(pod))


def group_of(pod: Pod) -> Key | None:
    name = pod.annotations.get(names.POD_GROUP_NAME)
    return Key(pod.namespace, name) if name else None


def groups_of(pod: Pod) -> list[Key]:
    """The same as a list: empty where the pod is in no group."""
    group = group_of(pod)
    return [] if group is None else [group]


class Ledger:
    """Which pods changed since their group was last written."""

    def __init__(self, schedulers: Sequence[str], manner: Manner) -> None:
        self._schedulers, self._manner = schedulers, manner
        self._accounts: dict[Key, GroupSums] = {}

    def account(self, group: Key) -> GroupSums:
        return self._accounts.setdefault(group, GroupSums())

    def forget(self, group: Key) -> None:
        account = self._accounts.get(group)
        if account is not None and not account.changed:
            del self._accounts[group]

    def ours(self, pod: Pod | None) -> bool:
        return pod is not None and pod.spec.scheduler_name in self._schedulers

    def pod_changed(self, before: Pod | None, after: Pod | None) -> bool:
        """Notes the pod in the group it left and the one it is in."""
        for pod in (before, after):
            group = group_of(pod) if pod is not None and self.ours(pod) else None
            if pod is not None and group is not None:
                self.account(group).changed[key_of(pod)] = None
        return True

    def bring_up_to_date(self, group: Key, read: Reader) -> GroupSums:
        """Works out the parts of changed pods; a pod that cannot be read stays to be tried again."""
        account = self.account(group)
        for key in list(account.changed):
            pod = read.get(POD, key.name, key.namespace)
            member = pod if pod is not None and self.ours(pod) and group_of(pod) == group else None
            account.put(key, member, self._part(member, read) if member is not None else PodPart())
            del account.changed[key]
        return account

    def _part(self, pod: Pod, read: Reader) -> PodPart:
        claims = [] if pod.status.phase in ("Succeeded", "Failed") else list(_claims(pod, read))
        return part(pod, claims, _node(pod, read), self._manner)


def _claims(pod: Pod, read: Reader) -> Iterable[Raw]:
    claim_names = requests.claim_names(pod)
    for reference in pod.spec.resource_claims:
        name = claim_names.get(reference.name, "")
        claim = read.get(RESOURCE_CLAIM, name, pod.namespace) if name else None
        if claim is None:
            raise PartUnreadable(
                f"pod {pod.namespace}/{pod.name}: its ResourceClaim {name or reference.name} does not exist yet"
            )
        yield {"metadata": {"annotations": claim.annotations}, "spec": claim.spec}


def _node(pod: Pod, read: Reader) -> Node | None:
    return read.get(NODE, pod.spec.node_name) if pod.spec.node_name else None


def status_patch(group: PodGroup, account: GroupSums, preemptible: bool, manner: Manner, now: str) -> Raw | None:
    """The merge patch that brings the status up to date; None when it is."""
    resources = _resources_patch(group, account.requested.amounts, account.allocated.amounts, preemptible, manner)
    before = group.status.conditions
    wanted = (
        [*before]
        if manner.group_conditions_unwritten
        else conditions(before, group.spec, account.standings, now, account.written)
    )
    new = ({"resourcesStatus": resources} if resources else {}) | (
        {"conditions": wanted} if wanted != [*before] else {}
    )
    return {"status": new} if new else None


def _resources_patch(group: PodGroup, requested: Amounts, allocated: Amounts, preemptible: bool, manner: Manner) -> Raw:
    wanted = {"requested": printed(requested), "allocated": printed(allocated)}
    if not preemptible:
        wanted["allocatedNonPreemptible"] = wanted["allocated"]
    elif not manner.keeps_non_preemptible_status:
        wanted["allocatedNonPreemptible"] = {}
    stored = group.status.resources_status
    current: dict[str, dict[str, Any]] = {
        "requested": stored.requested,
        "allocated": stored.allocated,
        "allocatedNonPreemptible": stored.allocated_non_preemptible,
    }
    return {name: resource_list_patch(current[name], value) for name, value in wanted.items() if current[name] != value}


def controller(schedulers: Sequence[str] = SERVED, manner: Manner = NATIVE, workers: int = 10) -> Controller:
    ledger = Ledger(schedulers, manner)

    async def reconcile(ctx: Context, key: Key) -> Again | None:
        group = ctx.read.get(POD_GROUP, key.name, key.namespace)
        if group is None:
            ledger.forget(key)
            return None
        collected = not manner.decides_as_upstream and is_collected(
            group, lambda name: ctx.read.get(POD, name, key.namespace)
        )
        if ledger.account(key).changed and not collected:
            ctx.writer.take_turn()
        account = ledger.bring_up_to_date(key, ctx.read)
        if collected:
            return None
        may_be_evicted = preemptible(group, priorities(ctx.read.list(PRIORITY_CLASS)))
        patch = status_patch(group, account, may_be_evicted, manner, timestamp(ctx.clock.now()))
        now_sent = group.metadata.resource_version, msgspec.json.encode(patch)
        if patch is not None and now_sent != account.sent:
            if await ctx.writer.report(POD_GROUP, key.name, key.namespace, patch):
                account.written = shared("written conditions", patch["status"].get("conditions", account.written))
                account.sent = now_sent
            else:
                ledger.forget(key)
        return None

    def again(obj: Object, read: Reader, index: str, value: str) -> Iterable[Key]:
        """Pods whose part depends on an object that changed."""
        for pod in read.by(POD, index, value):
            ledger.pod_changed(None, pod)
            yield from groups_of(pod)

    return Controller(
        "podgroup",
        reconcile,
        workers=workers,
        watches=(
            Watch(POD_GROUP, itself),
            Watch(POD, lambda pod, read: groups_of(pod), ledger.pod_changed),
            Watch(RESOURCE_CLAIM, lambda claim, read: again(claim, read, CLAIM, f"{claim.namespace}/{claim.name}")),
            Watch(NODE, lambda node, read: again(node, read, "memory-on", node.name), _labels_changed),
            Watch(PRIORITY_CLASS, lambda item, read: [key_of(group) for group in read.list(POD_GROUP)]),
        ),
        indexes=(
            (POD, CLAIM, lambda pod: [f"{pod.namespace}/{name}" for name in requests.claim_names(pod).values()]),
            (POD, "memory-on", lambda pod: [pod.spec.node_name] if names.GPU_MEMORY in pod.annotations else []),
        ),
        selectors={POD: ("", pod_fields(schedulers))},
        trims={POD: lean_pod, POD_GROUP: lean_group},
    )


def _labels_changed(before: Node | None, after: Node | None) -> bool:
    return before is None or after is None or before.labels != after.labels
