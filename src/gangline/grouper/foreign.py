"""Objects of kinds that we have no table for: found through the server's discovery, fetched as plain data, never
cached.

Used by the controller while a grouper thinks. What is remembered is only where a kind is served; that a kind is not
served is remembered for a minute, so that a definition installed later is found."""

from __future__ import annotations

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.client import Client
from gangline.errors import ApiError, NotFound
from gangline.grouper.grouping import UnservedKind
from gangline.grouper.look import Answer, Ref
from gangline.runtime import Clock

MISSING_FOR = 60.0


class ForeignObjects:
    def __init__(self, client: Client, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._served: dict[tuple[str, str], Kind[Object]] = {}
        self._missing: dict[tuple[str, str], float] = {}

    async def fetch(self, ref: Ref) -> Answer:
        """What the server says about an object, refusals included; only a server that does not answer raises."""
        try:
            kind = await self._kind(ref.api_version, ref.kind)
            if ref.name:
                return [_typed(ref, await self._client.get_raw(kind, ref.name, ref.namespace))]
            return [_typed(ref, item) for item in await self._client.list_raw(kind, labels=dict(ref.labels))]
        except ApiError as error:
            if error.code >= 500:
                raise
            return error

    async def _kind(self, api_version: str, kind: str) -> Kind[Object]:
        known = kinds.known(api_version, kind) or self._served.get((api_version, kind))
        if known is not None:
            return known
        if self._missing.get((api_version, kind), 0.0) <= self._clock.now():
            await self._discover(api_version, kind)
        served = self._served.get((api_version, kind))
        if served is None:
            raise UnservedKind(
                {"message": f"no matches for kind {kind!r} in version {api_version!r}: is its definition installed?"}
            )
        return served

    async def _discover(self, api_version: str, kind: str) -> None:
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        try:
            listed = (await self._client.get_path(root)).get("resources") or []
        except NotFound:
            listed = []
        for item in listed:
            if "/" not in item["name"]:
                self._served[api_version, item["kind"]] = kinds.foreign(
                    api_version, item["kind"], item["name"], bool(item["namespaced"])
                )
        if (api_version, kind) not in self._served:
            self._missing[api_version, kind] = self._clock.now() + MISSING_FOR


def _typed(ref: Ref, obj: dict[str, object]) -> dict[str, object]:
    return {**obj, "apiVersion": ref.api_version, "kind": ref.kind}
