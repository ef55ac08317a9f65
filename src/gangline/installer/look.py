"""The first beat: what a Config or a shard says, what is there of it, and the facts that the pure part needs.

Reads the cache, and the server only for what a cache would be wasteful for: one Secret, one lease, nodes and policies
of a rare kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gangline.api.kai import Config, SchedulingShard
from gangline.api.kinds import (
    CLUSTER_POLICY,
    CONFIG,
    DEPLOYMENT,
    LEASE,
    MUTATING_WEBHOOK,
    NODE,
    POD,
    PROMETHEUS,
    SCHEDULING_SHARD,
    SECRET,
    VALIDATING_WEBHOOK,
    Kind,
)
from gangline.api.meta import Object, Raw, as_raw
from gangline.client import Client
from gangline.errors import NotFound
from gangline.installer.config_reader import ConfigReading, at
from gangline.installer.contract import CONFIG_NAME, CertificatePair, ComponentParts, InstallFacts, ShardLeader
from gangline.installer.objects.services import ADMISSION, SCHEDULER, admission_address
from gangline.installer.objects.shards import lease_of
from gangline.installer.objects.webhooks import TLS_SECRET, pair_of
from gangline.installer.plan import ALWAYS, SOMETIMES
from gangline.installer.settings import InstallerSettings
from gangline.runtime import Cache, Context, Reader

FAKE_GPU = {"run.ai/fake.gpu": "true"}
VERSION, CDI_ALWAYS = "app.kubernetes.io/version", (25, 10, 0)


@dataclass(frozen=True, slots=True)
class Installer:
    """What every look needs besides the cluster."""

    settings: InstallerSettings
    parts: ComponentParts


def the_config(read: Reader) -> Config | None:
    """The Config that counts, unless it is on its way out."""
    config = read.get(CONFIG, CONFIG_NAME)
    return None if config is None or config.metadata.deleting else config


def owned(read: Reader, uid: str) -> list[tuple[Kind[Any], Object]]:
    """Everything of ours that belongs to an owner."""
    return [(kind, obj) for kind in (*ALWAYS, *SOMETIMES) for obj in read.owned(kind, uid)]


def served(read: Reader) -> frozenset[str]:
    return frozenset(kind.resource for kind in SOMETIMES if isinstance(read, Cache) and read.revision(kind))


# --- a Config ---------------------------------------------------------------------------------------------------------


async def config_facts(installer: Installer, ctx: Context, config: Config, reading: ConfigReading) -> InstallFacts:
    shards = sorted(ctx.read.list(SCHEDULING_SHARD), key=lambda scheduling_shard: scheduling_shard.name)
    detect = reading.enabled("binder") and reading.at("binder.cdiEnabled") is None
    return InstallFacts(
        served=served(ctx.read),
        fake_gpus=reading.enabled("binder") and bool((await ctx.client.list(NODE, labels=FAKE_GPU)).items),
        cdi=detect and await _cdi(ctx.client),
        shards=tuple(shard.spec for shard in shards),
        certificate=await _certificate(installer.parts, ctx, reading) if reading.enabled(ADMISSION.section) else None,
        answers=_answers(ctx.read, config, reading),
        now=ctx.clock.now(),
        instances=tuple(
            {"metadata": as_raw(prometheus.metadata), "spec": prometheus.spec or {}}
            for prometheus in ctx.read.owned(PROMETHEUS, config.uid)
        ),
    )


async def _cdi(client: Client) -> bool:
    """Whether the first policy of NVIDIA's GPU operator says so."""
    try:
        policies = await client.list_raw(CLUSTER_POLICY)
    except NotFound:
        return False
    return bool(policies) and cdi_of(sorted(policies, key=lambda policy: str(policy["metadata"]["name"]))[0])


def cdi_of(policy: Raw) -> bool:
    if not at(policy, "spec.cdi.enabled", False):
        return False
    text = str(policy["metadata"].get("labels", {}).get(VERSION, "")).removeprefix("v").partition("-")[0]
    version = tuple(int(part) for part in text.split(".") if part.isdigit())
    return version >= CDI_ALWAYS or bool(at(policy, "spec.cdi.default", False))


async def _certificate(parts: ComponentParts, ctx: Context, reading: ConfigReading) -> CertificatePair:
    try:
        kept = pair_of(await ctx.client.get_raw(SECRET, TLS_SECRET, reading.namespace))
    except NotFound:
        kept = None
    return parts.certificate(admission_address(reading).hosts, ctx.clock.now(), kept)


def _answers(read: Reader, config: Config, reading: ConfigReading) -> bool:
    """It answers, or did when the webhooks were registered."""
    server = read.get(DEPLOYMENT, ADMISSION.name, reading.namespace)
    if server is not None and _belongs(server, config.uid) and server.status.available_replicas:
        return True
    return any(read.owned(kind, config.uid) for kind in (MUTATING_WEBHOOK, VALIDATING_WEBHOOK))


def _belongs(obj: Object, uid: str) -> bool:
    return any(owner.uid == uid for owner in obj.metadata.owner_references)


# --- a shard ----------------------------------------------------------------------------------------------------------


async def shard_facts(ctx: Context, shard: SchedulingShard, reading: ConfigReading) -> InstallFacts:
    several = reading.enabled(SCHEDULER) and reading.replicas(SCHEDULER) > 1
    return InstallFacts(
        served=served(ctx.read),
        rivals=tuple(rivals(reading, shard, ctx.read.list(SCHEDULING_SHARD))),
        leader=await _leader(ctx, shard, reading) if several else None,
    )


def rivals(reading: ConfigReading, shard: SchedulingShard, shards: Iterable[SchedulingShard]) -> list[str]:
    """Older shards that serve the same nodes; without a label for pools every shard serves all of them."""

    def age(item: SchedulingShard) -> tuple[str, str]:
        return item.metadata.creation_timestamp or "", item.name

    def pool(item: SchedulingShard) -> str:
        return str(item.spec.get("partitionLabelValue") or "") if reading.pool_key else ""

    same = [
        item for item in shards if not item.metadata.deleting and pool(item) == pool(shard) and age(item) < age(shard)
    ]
    return [item.name for item in sorted(same, key=age)]


async def _leader(ctx: Context, shard: SchedulingShard, reading: ConfigReading) -> ShardLeader | None:
    try:
        lease = await ctx.client.get(LEASE, lease_of(reading, shard.spec), reading.namespace)
    except NotFound:
        return None
    pod = ctx.read.get(POD, (lease.spec.holder_identity or "").partition("_")[0], reading.namespace)
    if pod is None or pod.metadata.deleting or not pod.status.pod_ip:
        return None
    return ShardLeader(pod.name, pod.uid, pod.status.pod_ip)
