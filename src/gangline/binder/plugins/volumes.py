"""Volumes that wait for their first consumer: choose or ask for one on the node, and wait until the claim is bound.

A matching volume that exists is reserved for the claim; otherwise the node is written on the claim, and the provisioner
makes one there. Claims of other classes are bound by the cluster itself and only waited for. Undone, a claim that is
still unbound forgets the node.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gangline.api.core import PersistentVolumeClaim, Pod
from gangline.api.kinds import PV, PVC, STORAGE_CLASS
from gangline.api.meta import Raw
from gangline.binder.attempt import BindAttempt, CannotBind, NotYet
from gangline.binder.plugins.plugin import BinderPlugin
from gangline.errors import Conflict, NotFound
from gangline.rules.volumes import best_fit, class_of, reaches

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAITS = "WaitForFirstConsumer"
LOOK_AGAIN = 5.0


def claims_of(pod: Pod) -> Iterator[str]:
    for volume in pod.spec.volumes:
        if volume.get("persistentVolumeClaim"):
            yield str(volume["persistentVolumeClaim"].get("claimName"))
        elif volume.get("ephemeral") is not None:
            yield f"{pod.name}-{volume.get('name')}"


def _typed(claim: Raw) -> PersistentVolumeClaim:
    return msgspec.convert(claim, PersistentVolumeClaim)


class VolumesPlugin(BinderPlugin):
    name = "volumebinding"
    priority = 300

    async def prepare(self, attempt: BindAttempt) -> None:
        waiting = [name for name in claims_of(attempt.pod) if not await self._bound(attempt, name)]
        if not waiting:
            return
        limit = float(self.arguments.get("bindTimeoutSeconds", "120"))
        if attempt.waited() > limit:
            raise CannotBind(f"volume claims {', '.join(waiting)} were not bound in {limit:g} s")
        raise NotYet(f"waiting for volume claims {', '.join(waiting)} to be bound", LOOK_AGAIN)

    async def _bound(self, attempt: BindAttempt, name: str) -> bool:
        client, namespace = attempt.ctx.client, attempt.pod.namespace
        try:
            claim = await client.get_raw(PVC, name, namespace)
        except NotFound:
            raise CannotBind(f"volume claim {namespace}/{name} does not exist") from None
        volume_name = (claim.get("spec") or {}).get("volumeName")
        if (claim.get("status") or {}).get("phase") == "Bound" and volume_name:
            await self._check_reach(attempt, name, volume_name)
            return True
        if not volume_name and await self._waits(attempt, claim):
            await self._choose(attempt, claim)
        return False

    async def _check_reach(self, attempt: BindAttempt, claim: str, volume_name: str) -> None:
        try:
            volume = await attempt.ctx.client.get_raw(PV, volume_name)
        except NotFound:
            raise CannotBind(f"volume {volume_name} of claim {claim} does not exist") from None
        if not reaches(volume, attempt.node.labels, attempt.node.name):
            raise CannotBind(
                f"volume {volume_name} of claim {claim} cannot be reached from node {attempt.node.name}", final=True
            )

    async def _waits(self, attempt: BindAttempt, claim: Raw) -> bool:
        name = class_of(_typed(claim))
        try:
            return (
                bool(name) and (await attempt.ctx.client.get_raw(STORAGE_CLASS, name)).get("volumeBindingMode") == WAITS
            )
        except NotFound:
            raise CannotBind(f"storage class {name} does not exist") from None

    async def _choose(self, attempt: BindAttempt, claim: Raw) -> None:
        """A volume that is there, the smallest that fits; else one made on the node."""
        meta = claim["metadata"]
        volume = best_fit(_typed(claim), await attempt.ctx.client.list_raw(PV), attempt.node.labels, attempt.node.name)
        if volume is not None:
            await self._take(attempt, volume, claim)
            return
        storage = await attempt.ctx.client.get_raw(STORAGE_CLASS, class_of(_typed(claim)))
        if storage.get("provisioner") == NO_PROVISIONER:
            raise CannotBind(
                f"no free volume of class {storage['metadata']['name']} on node {attempt.node.name} fits claim "
                f"{meta['name']}",
                final=True,
            )
        if (meta.get("annotations") or {}).get(SELECTED_NODE) != attempt.node.name:
            await attempt.ctx.client.patch(
                PVC, meta["name"], meta["namespace"], {"metadata": {"annotations": {SELECTED_NODE: attempt.node.name}}}
            )

    async def _take(self, attempt: BindAttempt, volume: Raw, claim: Raw) -> None:
        if ((volume.get("spec") or {}).get("claimRef") or {}).get("uid") == claim["metadata"]["uid"]:
            return
        meta = claim["metadata"]
        ref = {
            "apiVersion": "v1",
            "kind": PVC.kind,
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
        }
        noted = {"resourceVersion": volume["metadata"]["resourceVersion"], "annotations": {BOUND_BY_CONTROLLER: "yes"}}
        try:
            await attempt.ctx.client.patch(
                PV, volume["metadata"]["name"], "", {"metadata": noted, "spec": {"claimRef": ref}}
            )
        except Conflict:
            raise NotYet(f"volume {volume['metadata']['name']} was taken by somebody else", 0.1) from None

    async def undo(self, attempt: BindAttempt) -> None:
        client, namespace = attempt.ctx.client, attempt.pod.namespace
        for name in claims_of(attempt.pod):
            try:
                claim = await client.get_raw(PVC, name, namespace)
            except NotFound:
                continue
            noted = (claim["metadata"].get("annotations") or {}).get(SELECTED_NODE)
            if noted == attempt.node.name and not (claim.get("spec") or {}).get("volumeName"):
                await client.patch(PVC, name, namespace, {"metadata": {"annotations": {SELECTED_NODE: None}}})
