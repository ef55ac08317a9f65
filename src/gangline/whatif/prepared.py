"""A platform in memory whose server has our kinds, rights and default objects from the beginning.

Under stage.py and copy.py, which open one for every question. The first of a process is installed by requests, as
`gangline up` is; later ones are given what was written then, past every rule, which takes a tenth of the time. It never
prepares a server that is kept on a disk."""

from __future__ import annotations

from functools import cache

from gangline.api.crds import crds
from gangline.api.kinds import CRD
from gangline.api.meta import Raw
from gangline.cluster.server.store.shelf import ShelfKey
from gangline.local import Platform
from gangline.rules.values.times import timestamp
from gangline.whatif.staged import established

_written: dict[tuple[bool, tuple[str, ...]], list[tuple[ShelfKey, Raw]]] = {}
"""What an installation writes besides definitions, with our hooks in the server and without, and for each manner."""


class PreparedPlatform(Platform):
    async def install(self) -> None:
        await self.define()
        manner = (self.settings.admission, tuple(self.options.compat))
        if manner in _written:
            self._plant(_written[manner])
            return
        before = self.server.store.revision
        await super().install()
        _written[manner] = self._written_after(before)

    async def define(self) -> None:
        """Takes our definitions as they are, for the server's rules have nothing to find in them."""
        for definition in _definitions():
            self.server.plant(CRD.group, CRD.plural, definition)

    def _written_after(self, revision: int) -> list[tuple[ShelfKey, Raw]]:
        written = [(shelf.key, record) for shelf in self.server.store.shelves() for record in shelf.records.values()]
        written.sort(key=lambda item: item[1].revision)
        return [(key, record.object()) for key, record in written if record.revision > revision]

    def _plant(self, objects: list[tuple[ShelfKey, Raw]]) -> None:
        now = timestamp(self.clock.now())
        for key, obj in objects:
            self.server.plant(*key, obj | {"metadata": obj["metadata"] | {"creationTimestamp": now}})


@cache
def _definitions() -> tuple[Raw, ...]:
    return tuple(established(definition) for definition in crds())
