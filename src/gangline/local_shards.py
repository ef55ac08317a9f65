"""Shards on one machine: each SchedulingShard is a scheduler in this process. The installer's counterpart where there
is nothing to deploy.

Same words, same refusals and same conditions as installer/, from the same pure functions; only the last step differs: a
scheduler is started or stopped here instead of being written as a Deployment. While some shard serves the nodes without
a pool, the scheduler that the platform started with rests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gangline.api.kai import SchedulingShard
from gangline.api.kinds import CONFIG, SCHEDULING_SHARD
from gangline.api.meta import Object
from gangline.components import build
from gangline.components.installer_parts import installer_parts
from gangline.components.options import ComponentOptions
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import CONFIG_NAME, InstallFacts, WantedObjects, digest
from gangline.installer.look import rivals, the_config
from gangline.installer.objects.shards import config_yaml, scheduler_flags, wishes_of_shard
from gangline.installer.settings import InstallerSettings
from gangline.installer.status import Outcome, conditions, unused
from gangline.installer.tell import ConfigTeller
from gangline.runtime import Again, Component, Context, Controller, Key, Manager, Reader, Watch, itself

ABOUT_CONFIGS = (
    "on one machine all components run in one process, with the settings they were started with; of a Config only what "
    "concerns schedulers counts here. Into a real cluster: gangline install"
)


@dataclass(slots=True)
class Shards:
    """Schedulers by shard, and how the platform starts and stops one."""

    options: ComponentOptions
    start: Callable[[Component], Awaitable[Manager]]
    stop: Callable[[Manager], Awaitable[None]]
    usual: Manager | None = None
    """The scheduler that the platform started with; None: it rests."""
    running: dict[str, tuple[str, Manager]] = field(default_factory=dict)
    """By shard: the digest of its settings, and its scheduler."""
    teller: ConfigTeller = field(default_factory=ConfigTeller)

    def component(self) -> Component:
        def every(obj: Object, read: Reader) -> list[Key]:
            return [Key("", shard.name) for shard in read.list(SCHEDULING_SHARD)]

        return Component(
            "installer",
            controllers=(
                Controller(
                    "shard",
                    self.reconcile,
                    workers=1,
                    watches=(
                        Watch(SCHEDULING_SHARD, itself, _changed),
                        Watch(SCHEDULING_SHARD, every, _changed),
                        Watch(CONFIG, every, _changed),
                    ),
                ),
                Controller("config", self.reconcile_config, workers=1, watches=(Watch(CONFIG, itself, _changed),)),
            ),
        )

    async def reconcile_config(self, ctx: Context, key: Key) -> Again | None:
        config = ctx.read.get(CONFIG, key.name)
        if config is not None:
            text = ABOUT_CONFIGS if config.name == CONFIG_NAME else f"only the Config named {CONFIG_NAME} counts"
            await self.teller.tell(ctx, CONFIG, config, unused(text, config.metadata.generation))
        return None

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        shard = ctx.read.get(SCHEDULING_SHARD, key.name)
        if shard is None or shard.metadata.deleting:
            await self._end(key.name)
            await self._as_usual(ctx.read)
            return None
        reading = self._reading(ctx.read)
        wishes = wishes_of_shard(
            reading,
            shard.name,
            shard.spec,
            InstallFacts(rivals=tuple(rivals(reading, shard, ctx.read.list(SCHEDULING_SHARD)))),
            installer_parts(),
        )
        await self._carry_out(shard, reading, wishes)
        await self._as_usual(ctx.read)
        outcome = Outcome(problems=wishes.problems, notes=wishes.notes, missing=wishes.missing)
        await self.teller.tell(ctx, SCHEDULING_SHARD, shard, conditions(outcome, shard.metadata.generation))
        return None

    def _reading(self, read: Reader) -> ConfigReading:
        config = the_config(read)
        return ConfigReading(config.spec if config is not None else {}, InstallerSettings(compat=self.options.compat))

    async def _carry_out(self, shard: SchedulingShard, reading: ConfigReading, wishes: WantedObjects) -> None:
        """The scheduler of a shard that is refused goes on as it was."""
        if wishes.problems:
            return
        if not wishes.objects:
            await self._end(shard.name)
            return
        flags = scheduler_flags(reading, shard.spec, installer_parts(), WantedObjects()) | {"plugin-server-port": "0"}
        config = config_yaml(reading, shard.spec, WantedObjects())
        known, mark = self.running.get(shard.name), digest([flags, config])
        if known is not None and known[0] == mark:
            return
        await self._end(shard.name)
        if not shard.spec.get("partitionLabelValue"):
            await self._stop_usual()
        manager = await self.start(build("scheduler", replace(self.options, flags=flags, config=config)))
        self.running[shard.name] = (mark, manager)

    async def _end(self, name: str) -> None:
        known = self.running.pop(name, None)
        if known is not None:
            await self.stop(known[1])

    async def _stop_usual(self) -> None:
        if self.usual is not None:
            await self.stop(self.usual)
            self.usual = None

    async def _as_usual(self, read: Reader) -> None:
        """Somebody serves the nodes without a pool: a shard, or else the scheduler that was there first."""
        shards = [shard for shard in read.list(SCHEDULING_SHARD) if shard.name in self.running]
        if self.usual is None and all(shard.spec.get("partitionLabelValue") for shard in shards):
            self.usual = await self.start(build("scheduler", self.options))


def _changed(before: Any, after: Any) -> bool:
    return (
        before is None
        or after is None
        or (before.spec, before.metadata.deleting) != (after.spec, after.metadata.deleting)
    )
