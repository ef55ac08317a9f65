"""Dynamic resources: write down which devices a pod's ResourceClaims got, and that the pod uses them.

The scheduler chose the devices and put them into the BindRequest. A pod that asks for an extended resource backed by a
device class gets a claim made for it. A claim with devices carries Kubernetes' own finalizer: only then does the
cluster take the devices back when the last user is gone. Undone, a claim is left as it was found: our reservation goes,
and the allocation too if we made it and nobody else uses it."""

from __future__ import annotations

from typing import Any

from gangline.api.kinds import POD, RESOURCE_CLAIM, reference
from gangline.api.meta import Raw
from gangline.binder.attempt import BindAttempt, CannotBind
from gangline.binder.plugins.plugin import BinderPlugin
from gangline.client import Client
from gangline.errors import Conflict, NotFound
from gangline.rules import requests
from gangline.rules.objects.finalizers import with_finalizer

PROTECTION = "resource.kubernetes.io/delete-protection"
TRIES = 5


def consumer(attempt: BindAttempt) -> Raw:
    return {"resource": "pods", "name": attempt.pod.name, "uid": attempt.pod.uid}


def reserved(status: Raw, user: Raw, allocation: Raw) -> Raw | None:
    """The status with the allocation and the user in it; None when both are there already."""
    users = list(status.get("reservedFor") or ())
    if any(item.get("uid") == user["uid"] for item in users) and status.get("allocation"):
        return None
    if not any(item.get("uid") == user["uid"] for item in users):
        users.append(user)
    return status | {"allocation": status.get("allocation") or allocation, "reservedFor": users}


def released(status: Raw, user: Raw) -> Raw | None:
    """The status without the user, and without the allocation when nobody is left; None when the user is not there."""
    users = list(status.get("reservedFor") or ())
    left = [item for item in users if item.get("uid") != user["uid"]]
    if len(left) == len(users):
        return None
    kept = {key: value for key, value in status.items() if key not in ("reservedFor", "allocation", "devices")}
    return kept | ({"reservedFor": left, "allocation": status.get("allocation")} if left else {})


class ClaimsPlugin(BinderPlugin):
    name = "dynamicresources"
    priority = 200

    async def prepare(self, attempt: BindAttempt) -> None:
        claim_names = requests.claim_names(attempt.pod)
        for resource_claim_allocation in attempt.order.resource_claim_allocations:
            name, allocation = (
                claim_names.get(str(resource_claim_allocation.get("name"))),
                resource_claim_allocation.get("allocation"),
            )
            if name is None:
                raise CannotBind(f"the pod's resource claim {resource_claim_allocation.get('name')} does not exist yet")
            if not allocation:
                raise CannotBind(f"the request gives ResourceClaim {name} no devices", final=True)
            await self._reserve(attempt, name, allocation)
        if attempt.order.extended_resource_claim_allocation:
            await self._extended(attempt, attempt.order.extended_resource_claim_allocation)

    async def undo(self, attempt: BindAttempt) -> None:
        claim_names = requests.claim_names(attempt.pod)
        for resource_claim_allocation in attempt.order.resource_claim_allocations:
            name = claim_names.get(str(resource_claim_allocation.get("name")))
            if name is not None:
                await self._change(attempt, name, lambda status: released(status, consumer(attempt)))
        if attempt.order.extended_resource_claim_allocation:
            await self._drop_extended(attempt)

    async def _reserve(self, attempt: BindAttempt, name: str, allocation: Raw) -> None:
        if not await self._change(attempt, name, lambda status: reserved(status, consumer(attempt), allocation)):
            raise CannotBind(f"ResourceClaim {attempt.pod.namespace}/{name} does not exist")

    async def _change(self, attempt: BindAttempt, name: str, change: Any) -> bool:
        """Read, change and write a claim's status; again when somebody else was faster. False: there is no such
        claim."""
        client, namespace = attempt.ctx.client, attempt.pod.namespace
        for _ in range(TRIES):
            try:
                claim = await client.get_raw(RESOURCE_CLAIM, name, namespace)
                status = change(claim.get("status") or {})
                if status is not None and status.get("allocation"):
                    claim = await _protected(client, claim)
                if status is not None:
                    await client.replace(RESOURCE_CLAIM, claim | {"status": status}, subresource="status")
                return True
            except NotFound:
                return False
            except Conflict:
                continue
        raise CannotBind(f"ResourceClaim {namespace}/{name} is being changed by others all the time")

    async def _extended(self, attempt: BindAttempt, given: Raw) -> None:
        """The claim that stands for the pod's extended resources; the pod's status says which container uses what."""
        claim = await self._made_for(attempt)
        if claim is None:
            claim = (await attempt.ctx.client.create(RESOURCE_CLAIM, extended_claim(attempt, given))).name
        await self._reserve(attempt, claim, given.get("allocation") or {})
        status = {"resourceClaimName": claim, "requestMappings": given.get("containerMappings") or []}
        await attempt.ctx.client.patch(
            POD,
            attempt.pod.name,
            attempt.pod.namespace,
            {"status": {"extendedResourceClaimStatus": status}},
            subresource="status",
        )

    async def _made_for(self, attempt: BindAttempt) -> str | None:
        listed = await attempt.ctx.client.list(RESOURCE_CLAIM, attempt.pod.namespace)
        return next(
            (
                claim.name
                for claim in listed.items
                if claim.annotations.get(requests.EXTENDED_CLAIM) == "true"
                and claim.metadata.controller is not None
                and claim.metadata.controller.uid == attempt.pod.uid
            ),
            None,
        )

    async def _drop_extended(self, attempt: BindAttempt) -> None:
        client, pod = attempt.ctx.client, attempt.pod
        name = await self._made_for(attempt)
        try:
            forget = {"status": {"extendedResourceClaimStatus": None}}
            await client.patch(POD, pod.name, pod.namespace, forget, subresource="status")
            if name is not None:
                await self._change(attempt, name, lambda status: released(status, consumer(attempt)))
                await client.patch(RESOURCE_CLAIM, name, pod.namespace, {"metadata": {"finalizers": None}})
                await client.delete(RESOURCE_CLAIM, name, pod.namespace)
        except NotFound:
            return


async def _protected(client: Client, claim: Raw) -> Raw:
    """The claim with the finalizer under which its devices are taken back."""
    meta = claim["metadata"]
    if PROTECTION in (meta.get("finalizers") or ()):
        return claim
    guard = {
        "resourceVersion": meta["resourceVersion"],
        "finalizers": with_finalizer(meta.get("finalizers"), PROTECTION),
    }
    await client.patch(RESOURCE_CLAIM, meta["name"], meta["namespace"], {"metadata": guard})
    return await client.get_raw(RESOURCE_CLAIM, meta["name"], meta["namespace"])


def extended_claim(attempt: BindAttempt, given: Raw) -> Raw:
    return {
        "metadata": {
            "generateName": f"{attempt.pod.name}-extended-resources-",
            "namespace": attempt.pod.namespace,
            "finalizers": [PROTECTION],
            "annotations": {requests.EXTENDED_CLAIM: "true"},
            "ownerReferences": [reference(POD, attempt.pod)],
        },
        "spec": {"devices": {"requests": given.get("deviceRequests") or []}},
    }
