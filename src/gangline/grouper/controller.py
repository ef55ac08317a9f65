"""Pods in, PodGroups out: the shell around plan.py and write.py.

Watches the pods of our scheduler. For each it lets the plan think, fetches the owners it asks for, writes the PodGroup
if it differs, and then (never before) marks the pod as its member, if the bind will not (marks.py). A pod that cannot
be grouped gets a Warning event, and is tried again."""

from __future__ import annotations

from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.api.kinds import CONFIG_MAP, NAMESPACE, POD, POD_GROUP, PRIORITY_CLASS, Kind
from gangline.api.meta import Object
from gangline.api.selectors import equals, print_labels
from gangline.errors import AlreadyExists, ApiError, Conflict, NotFound
from gangline.grouper import write
from gangline.grouper.foreign import ForeignObjects
from gangline.grouper.grouping import Grouping, Ungroupable
from gangline.grouper.look import Answer, GrouperView, NotFetched, Ref
from gangline.grouper.marks import (
    ORPHANED,
    before_mark,
    can_wait,
    goes_soon,
    goes_with_owner,
    group_can_wait,
    is_settled,
    known_without_mark,
    possible_groups,
)
from gangline.grouper.plan import matters, plan
from gangline.grouper.settings import GrouperSettings
from gangline.rules.gangs.memberships import own_group
from gangline.rules.objects.lean import lean_group, lean_pod
from gangline.rules.schedulers import pod_fields
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, key_of

WARNING = "PodGrouperWarning"
LONGEST_WAIT = 10.0
"""Seconds until a pod that cannot be grouped is looked at again, at most: its owner may have been mended, and owners
are not watched."""
MEMBERS = "members"
"""Index of pods by the groups they may be in."""


def controller(settings: GrouperSettings) -> Controller:
    reads: list[Kind[Object]] = [POD_GROUP, PRIORITY_CLASS]
    selectors: dict[Kind[Object], tuple[str, str]] = {
        POD: (print_labels(equals(settings.pod_selector)), pod_fields(settings.scheduler_names))
    }
    if settings.has_defaults:
        reads.append(CONFIG_MAP)
        selectors[CONFIG_MAP] = ("", f"metadata.name={settings.defaults_name}")
    if settings.namespace_selector:
        reads.append(NAMESPACE)
    reconciler = Reconciler(settings)
    pods = Watch(POD, itself, when=None if settings.manner.every_pod_event_counts else matters)
    lost_groups = Watch(POD_GROUP, reconciler.lost, when=reconciler.group_changed)
    return Controller(
        "grouper",
        reconciler,
        [pods, lost_groups],
        reads=reads,
        workers=settings.workers,
        indexes=[(POD, MEMBERS, possible_groups)],
        selectors=selectors,
        trims={POD: lean_pod, POD_GROUP: lean_group},
        longest_wait=LONGEST_WAIT,
    )


class Reconciler:
    def __init__(self, settings: GrouperSettings) -> None:
        self._settings = settings
        self._foreign: ForeignObjects | None = None
        self._written: dict[Key, PodGroup] = {}
        """Groups as we last wrote them, until the cache shows them: it may be a little behind."""
        self._grouped: set[Key] = set()
        """Pods that we have put into their group."""
        self._orphans: dict[Key, float] = {}
        """Pods whose owner is not there, and since when we know."""

    def group_changed(self, before: PodGroup | None, after: PodGroup | None) -> bool:
        """Whether a group is gone; what we wrote is forgotten once the cache shows it."""
        if after is None:
            return True
        key = key_of(after)
        written = self._written.get(key)
        if written is not None and write.revision(after) >= write.revision(written):
            del self._written[key]
        return False

    def lost(self, group: PodGroup, read: Reader) -> list[Key]:
        """A group is gone: its members need a new one."""
        self._written.pop(key_of(group), None)
        if self._settings.manner.regroups_on_pod_events_only:
            return []
        return [key_of(pod) for pod in read.by(POD, MEMBERS, f"{group.namespace}/{group.name}")]

    async def __call__(self, ctx: Context, key: Key) -> Again | None:
        pod = ctx.read.get(POD, key.name, key.namespace)
        if pod is None or not self._selected(ctx, pod):
            self._grouped.discard(key)
            self._orphans.pop(key, None)
            return None
        if group_can_wait(pod, self._settings) and self._live(ctx, Key(pod.namespace, own_group(pod))) is None:
            ctx.writer.take_turn()
        try:
            grouping = await self._think(ctx, pod)
            if grouping is not None:
                await self._write_group(ctx, pod, grouping)
                self._grouped.add(key)
                self._orphans.pop(key, None)
                wait = before_mark(pod, grouping, self._settings, ctx.clock.now())
                if wait > 0:
                    return Again(wait)
                await _write_pod(ctx, pod, grouping)
        except Conflict:
            raise
        except (Ungroupable, ApiError) as error:
            if goes_with_owner(error, pod, self._settings, key in self._grouped):
                return None
            now = ctx.clock.now()
            if goes_soon(error, now - self._orphans.setdefault(key, now), self._settings):
                return Again(ORPHANED)
            ctx.events.tell(POD, pod, WARNING, str(error), warning=True)
            if pod.metadata.deleting:
                return None
            raise
        except Exception as error:
            ctx.events.tell(
                POD, pod, WARNING, f"the pod grouper failed on this pod: {error!r}; its log says more", warning=True
            )
            raise
        return None

    def _selected(self, ctx: Context, pod: Pod) -> bool:
        wanted = self._settings.namespace_selector
        namespace = ctx.read.get(NAMESPACE, pod.namespace) if wanted else None
        return not wanted or (namespace is not None and equals(wanted).matches(namespace.labels))

    async def _think(self, ctx: Context, pod: Pod) -> Grouping | None:
        """Think; fetch what was missing; think again, until nothing is missing."""
        if self._foreign is None:
            self._foreign = ForeignObjects(ctx.client, ctx.clock)
        seen: dict[Ref, Answer] = {}
        while True:
            try:
                return plan(pod, GrouperView(self._settings, ctx.read, seen))
            except NotFetched as unseen:
                seen[unseen.ref] = await self._foreign.fetch(unseen.ref)

    async def _write_group(self, ctx: Context, pod: Pod, grouping: Grouping) -> None:
        key = Key(grouping.namespace, grouping.name)
        live = self._live(ctx, key)
        if live is None:
            try:
                waits = can_wait(pod, grouping, self._settings)
                create = ctx.writer.create_in_turn if waits else ctx.client.create
                self._written[key] = await create(POD_GROUP, write.new_object(grouping))
                return
            except AlreadyExists:
                live = await ctx.client.get(POD_GROUP, grouping.name, grouping.namespace)
        patch = None if is_settled(pod, grouping) else write.change(live, grouping, self._settings)
        if patch is None:
            return
        try:
            self._written[key] = await ctx.client.patch(POD_GROUP, grouping.name, grouping.namespace, patch)
        except (Conflict, NotFound):
            self._written.pop(key, None)
            raise

    def _live(self, ctx: Context, key: Key) -> PodGroup | None:
        """The newer of what the cache shows and what we wrote."""
        shown, written = ctx.read.get(POD_GROUP, key.name, key.namespace), self._written.get(key)
        if written is not None and shown is not None and write.revision(shown) >= write.revision(written):
            del self._written[key]
            return shown
        return written or shown


async def _write_pod(ctx: Context, pod: Pod, grouping: Grouping) -> None:
    patch = write.pod_change(pod, grouping)
    if patch is not None:
        if known_without_mark(pod, grouping):
            ctx.writer.take_turn()
        await ctx.writer.patch_unless_gone(POD, pod.name, pod.namespace, patch)
