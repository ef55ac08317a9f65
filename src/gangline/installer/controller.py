"""Config and SchedulingShard → running components. Two controllers of the same four beats: look, think, act, tell.

Objects belong to their Config or shard by ownerReference, so that deleting it takes them along; a shard's go too when
the Config does. Whatever is changed or deleted by hand is put back. Which objects there should be is desired.py and
shards.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gangline.api.kinds import CONFIG, POD, SCHEDULING_SHARD, Kind
from gangline.api.meta import Object
from gangline.errors import GanglineError
from gangline.installer.act import OwnedObjects, WriteReport
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import CONFIG_NAME, OURS, WantedObjects
from gangline.installer.look import Installer, config_facts, owned, shard_facts, the_config
from gangline.installer.objects.desired import wishes_of_config
from gangline.installer.objects.services import SCHEDULER
from gangline.installer.objects.shards import wishes_of_shard
from gangline.installer.plan import ALWAYS, SOMETIMES, ObjectKey, WrittenObject, fields_of, plan
from gangline.installer.status import Outcome, conditions, unused
from gangline.installer.tell import ConfigTeller
from gangline.installer.watches import not_at_work, owner_of_pod, spec_changed, to_all_shards, to_config
from gangline.runtime import Again, Context, Controller, Key, Watch, itself, owner

SOON, LATER, SELDOM = 2.0, 15.0, 600.0
"""Seconds until the next look: where an earlier object is going, where somebody else must do something, and in any case
(a certificate runs out, nodes and policies change)."""
FOLLOWED = 5.0
"""Seconds between two looks at who leads a shard with several copies."""
TOLD = 6
"""How many objects an event names before it only counts them."""


@dataclass(slots=True)
class WriteMemory:
    """What was written for each owner, by its uid, and its conditions."""

    written: dict[str, dict[ObjectKey, WrittenObject]] = field(default_factory=dict)
    teller: ConfigTeller = field(default_factory=ConfigTeller)

    def of(self, obj: Object) -> dict[ObjectKey, WrittenObject]:
        return self.written.setdefault(obj.uid, {})


# --- the four beats ---------------------------------------------------------------------------------------------------


async def reconcile_config(installer: Installer, memory: WriteMemory, ctx: Context, key: Key) -> Again | None:
    config = ctx.read.get(CONFIG, key.name)
    if config is None or config.metadata.deleting:
        return None
    if config.name != CONFIG_NAME:
        text = f"only the Config named {CONFIG_NAME} counts; move what this one says there, and delete it"
        await memory.teller.tell(ctx, CONFIG, config, unused(text, config.metadata.generation))
        return None
    reading = ConfigReading(config.spec, installer.settings)
    await memory.teller.begin(ctx, CONFIG, config)
    wishes = wishes_of_config(reading, await config_facts(installer, ctx, config, reading), installer.parts)
    outcome = await _carry_out(ctx, memory, CONFIG, config, wishes)
    return _next(outcome) or Again(SELDOM)


async def reconcile_shard(installer: Installer, memory: WriteMemory, ctx: Context, key: Key) -> Again | None:
    shard, config = ctx.read.get(SCHEDULING_SHARD, key.name), the_config(ctx.read)
    if shard is None or shard.metadata.deleting:
        return None
    if config is None:
        report = await _write(ctx, memory, SCHEDULING_SHARD, shard, WantedObjects())
        text = f"no scheduler runs, because there is no Config {CONFIG_NAME}: create one (an empty spec will do)"
        await memory.teller.tell(ctx, SCHEDULING_SHARD, shard, unused(text, shard.metadata.generation))
        _refused(report)
        return None
    reading = ConfigReading(config.spec, installer.settings)
    await memory.teller.begin(ctx, SCHEDULING_SHARD, shard)
    wishes = wishes_of_shard(reading, shard.name, shard.spec, await shard_facts(ctx, shard, reading), installer.parts)
    outcome = await _carry_out(ctx, memory, SCHEDULING_SHARD, shard, wishes)
    return _next(outcome) or (Again(FOLLOWED) if reading.replicas(SCHEDULER) > 1 else None)


async def _carry_out(ctx: Context, memory: WriteMemory, kind: Kind[Any], obj: Object, wishes: WantedObjects) -> Outcome:
    report = await _write(ctx, memory, kind, obj, wishes)
    outcome = Outcome(
        wishes.problems,
        report.foreign,
        report.failures,
        not_at_work(ctx.read, obj, wishes.objects, memory.of(obj)),
        wishes.missing,
        wishes.notes,
        report.leaving,
        report.contested,
    )
    await memory.teller.tell(ctx, kind, obj, conditions(outcome, obj.metadata.generation))
    _refused(report)
    return outcome


async def _write(ctx: Context, memory: WriteMemory, kind: Kind[Any], obj: Object, wishes: WantedObjects) -> WriteReport:
    written = memory.of(obj)
    todo = plan(wishes, owned(ctx.read, obj.uid), written)
    report = await OwnedObjects(ctx, kind, obj, written).carry_out(todo)
    for reason, names, text in (
        ("Deployed", report.made, "made"),
        ("Changed", report.changed, "changed"),
        ("Repaired", report.repaired, "put back what was changed by hand:"),
        ("Removed", report.removed, "removed"),
    ):
        if names:
            ctx.events.tell(kind, obj, reason, f"{text} {_named(names)}")
    return report


def _named(names: Sequence[str]) -> str:
    rest = len(names) - TOLD
    return ", ".join(names[:TOLD]) + (f" and {rest} more" if rest > 0 else "")


def _refused(report: WriteReport) -> None:
    """What failed is tried again, later and later."""
    if report.failures:
        raise GanglineError("; ".join(report.failures))


def _next(outcome: Outcome) -> Again | None:
    if outcome.leaving:
        return Again(SOON)
    return Again(LATER) if outcome.foreign or outcome.missing or outcome.contested else None


# --- whether it is at work --------------------------------------------------------------------------------------------


# --- what is watched --------------------------------------------------------------------------------------------------


def controllers(installer: Installer) -> list[Controller]:
    memory = WriteMemory()
    mark = ",".join(f"{key}={value}" for key, value in OURS.items())
    kinds = (*ALWAYS, *SOMETIMES)
    selectors: dict[Kind[Any], tuple[str, str]] = {kind: (mark, fields_of(kind)) for kind in (*kinds, POD)}

    def watches(kind: Kind[Any]) -> list[Watch]:
        return [*(Watch(item, owner(kind)) for item in kinds), Watch(POD, owner_of_pod(kind))]

    return [
        Controller(
            "config",
            partial(reconcile_config, installer, memory),
            workers=1,
            selectors=selectors,
            watches=(
                Watch(CONFIG, itself, spec_changed),
                Watch(SCHEDULING_SHARD, to_config, spec_changed),
                *watches(CONFIG),
            ),
        ),
        Controller(
            "shard",
            partial(reconcile_shard, installer, memory),
            workers=2,
            selectors=selectors,
            watches=(
                Watch(SCHEDULING_SHARD, itself, spec_changed),
                Watch(SCHEDULING_SHARD, to_all_shards, spec_changed),
                Watch(CONFIG, to_all_shards, spec_changed),
                *watches(SCHEDULING_SHARD),
            ),
        ),
    ]
