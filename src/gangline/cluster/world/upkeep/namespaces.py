"""Namespaces: everything in one that is deleted goes with it, and a living one has its default account and its CA
bundle.

Deletion removes the content of every kind the server has, says in the conditions what still remains and why, and gives
the namespace up (finalizer `kubernetes`) when nothing does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from gangline.api.core import Namespace, Pod
from gangline.api.kinds import CONFIG_MAP, NAMESPACE, POD, SERVICE_ACCOUNT, Kind
from gangline.api.meta import Condition, Object, Raw
from gangline.cluster.world.discovery import discover
from gangline.cluster.world.settings import WorldSettings
from gangline.cluster.world.upkeep.namespace_conditions import KindRemains, changed, conditions
from gangline.errors import ApiError, NotFound
from gangline.rules.objects.finalizers import without_finalizer
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself
from gangline.runtime.clock import timestamp

FINALIZER = "kubernetes"
ROOT_CA = "kube-root-ca.crt"
DEFAULT_ACCOUNT = "default"
SOON, LATER = 0.2, 1.0
BY_NAMESPACE = "namespace"


# --- thinking ---------------------------------------------------------------------------------------------------------


# --- deletion ---------------------------------------------------------------------------------------------------------


class NamespaceState(Object, frozen=True):
    """A namespace with its conditions, read anew before it is given up."""

    spec: Raw = {}
    status: Raw = {}


LIVE = Kind("", "v1", "Namespace", "namespaces", NamespaceState, namespaced=False)


async def reconcile(ctx: Context, key: Key) -> Again | None:
    namespace = ctx.read.get(NAMESPACE, key.name)
    if namespace is None or not namespace.metadata.deleting or FINALIZER not in namespace.spec.finalizers:
        return None
    remains, failures = await _empty(ctx, key.name)
    whole = await ctx.client.get_raw(NAMESPACE, key.name)
    live = msgspec.convert(whole, NamespaceState)
    if remains or failures:
        await _write_conditions(ctx, live, remains, failures)
        return Again(LATER if any(any(remain.finalizers) for remain in remains) else SOON)
    rest = without_finalizer(live.spec.get("finalizers"), FINALIZER)
    await ctx.client.replace(LIVE, whole | {"spec": {"finalizers": rest}}, subresource="finalize")
    return None


async def _empty(ctx: Context, name: str) -> tuple[list[KindRemains], list[str]]:
    """Delete what is there; say what remains and what could not be deleted."""
    remains, failures = [], []
    for served in await discover(ctx.client):
        if not served.kind.namespaced or not served.verbs >= {"list", "delete"}:
            continue
        try:
            left = await _empty_kind(ctx, served.kind, name, "deletecollection" in served.verbs)
        except NotFound:
            continue
        except ApiError as error:
            failures.append(str(error))
            continue
        if left:
            remains.append(KindRemains(_dotted(served.kind), left))
    return remains, failures


async def _empty_kind(ctx: Context, kind: Kind[Object], namespace: str, at_once: bool) -> tuple[tuple[str, ...], ...]:
    plain = Kind(kind.group, kind.version, kind.kind, kind.plural, Object)
    items = (await ctx.client.list(plain, namespace)).items
    if not items:
        return ()
    if at_once:
        await ctx.client.send(
            "DELETE",
            kind.path(namespace),
            msgspec.json.encode({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}),
        )
    else:
        for item in items:
            await ctx.client.delete(plain, item.name, namespace, propagation="Background")
    left = (await ctx.client.list(plain, namespace)).items
    return tuple(item.metadata.finalizers for item in left)


def _dotted(kind: Kind[Object]) -> str:
    return f"{kind.plural}.{kind.group}"


async def _write_conditions(
    ctx: Context, live: NamespaceState, remains: Sequence[KindRemains], failures: Sequence[str]
) -> None:
    before = msgspec.convert(live.status.get("conditions") or [], tuple[Condition, ...])
    wanted = changed(before, conditions(remains, failures), timestamp(ctx.clock.now()))
    if wanted is not None:
        await ctx.client.patch(NAMESPACE, live.name, "", {"status": {"conditions": wanted}}, subresource="status")


def _namespace_of(obj: Object, read: Reader) -> list[Key]:
    return [Key("", obj.namespace)]


def _emptied(pod: Pod, read: Reader) -> list[Key]:
    """The dying namespace that a pod was the last to leave."""
    namespace = read.get(NAMESPACE, pod.namespace)
    dying = namespace is not None and namespace.metadata.deleting
    return [Key("", pod.namespace)] if dying and not read.by(POD, BY_NAMESPACE, pod.namespace) else []


def namespaces() -> Controller:
    return Controller(
        "namespaces",
        reconcile,
        watches=(
            Watch(NAMESPACE, itself, when=lambda before, after: after is not None and after.metadata.deleting),
            Watch(POD, _emptied, when=lambda before, after: after is None),
        ),
        indexes=((POD, BY_NAMESPACE, lambda pod: [pod.namespace]),),
        workers=4,
    )


# --- what a living namespace has --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamespaceFurnisher:
    """The default service account and the CA bundle, made again when someone deletes them."""

    root_ca: str

    async def reconcile(self, ctx: Context, key: Key) -> Again | None:
        namespace = ctx.read.get(NAMESPACE, key.name)
        if namespace is None or namespace.metadata.deleting:
            return None
        await self._account(ctx, namespace)
        await self._bundle(ctx, namespace)
        return None

    async def _account(self, ctx: Context, namespace: Namespace) -> None:
        if ctx.read.get(SERVICE_ACCOUNT, DEFAULT_ACCOUNT, namespace.name) is None:
            meta = {"name": DEFAULT_ACCOUNT, "namespace": namespace.name}
            await ctx.writer.create_unless_there(SERVICE_ACCOUNT, {"metadata": meta})

    async def _bundle(self, ctx: Context, namespace: Namespace) -> None:
        data = {"ca.crt": self.root_ca}
        config_map = ctx.read.get(CONFIG_MAP, ROOT_CA, namespace.name)
        if config_map is None:
            note = {"kubernetes.io/description": "Contains a CA bundle that can be used to verify the API server."}
            meta = {"name": ROOT_CA, "namespace": namespace.name, "annotations": note}
            await ctx.writer.create_unless_there(CONFIG_MAP, {"metadata": meta, "data": data})
        elif config_map.data != data:
            await ctx.client.patch(CONFIG_MAP, ROOT_CA, namespace.name, {"data": data})


def accounts(settings: WorldSettings) -> Controller:
    return Controller(
        "accounts",
        NamespaceFurnisher(settings.root_ca).reconcile,
        watches=(
            Watch(NAMESPACE, itself, when=lambda before, after: after is not None and before is None),
            Watch(
                SERVICE_ACCOUNT,
                _namespace_of,
                when=lambda before, after: after is None and before.name == DEFAULT_ACCOUNT,
            ),
            Watch(CONFIG_MAP, _namespace_of, when=lambda before, after: (after or before).name == ROOT_CA),
        ),
        workers=4,
    )
