"""Pods that name a queue and no scheduler are given ours, where their namespace or a setting says so."""

from __future__ import annotations

from typing import Any

import pytest

from embedded import admin, embedded, until
from gangline.admission.component import WebhookSettings, component
from gangline.admission.registration import WebhookAddress, configurations
from gangline.admission.scheduling import kai
from gangline.admission.scheduling.queued import queued
from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.api import names
from gangline.api.kinds import MUTATING_WEBHOOK, NAMESPACE, POD
from gangline.api.meta import Raw
from gangline.config import KAI, manner
from gangline.rules.hooks import HookReview
from gangline.runtime import Manager

LABEL = "gangline.io/schedule-queued-pods"
EVERYWHERE = AdmissionSettings(schedule_queued_pods=True)


def pod(scheduler: str | None = "default-scheduler", labels: dict[str, str] | None = None, **spec: Any) -> Raw:
    name = {} if scheduler is None else {"schedulerName": scheduler}
    marks = {"kai.scheduler/queue": "team-a"} if labels is None else labels
    return {
        "metadata": {"name": "p", "labels": marks},
        "spec": {"containers": [{"name": "c", "image": "i"}], **name, **spec},
    }


def ours(obj: Raw, settings: AdmissionSettings | None = None, namespace: str = "work", said: str = "") -> bool:
    labels = {LABEL: said} if said else {}
    return queued(HookReview("CREATE", obj, namespace=namespace), settings or AdmissionSettings(), lambda name: labels)


@pytest.mark.parametrize(
    ("settings", "said", "is_ours"),
    [
        (AdmissionSettings(), "", False),
        (AdmissionSettings(), "true", True),
        (AdmissionSettings(), "false", False),
        (EVERYWHERE, "", True),
        (EVERYWHERE, "true", True),
        (EVERYWHERE, "false", False),
    ],
)
def test_a_namespace_decides_for_its_pods_and_a_setting_for_the_others(
    settings: AdmissionSettings, said: str, is_ours: bool
) -> None:
    assert ours(pod(), settings, said=said) is is_ours
    assert ours(pod(None), settings, said=said) is is_ours


@pytest.mark.parametrize(
    "theirs",
    [
        pod("volcano"),
        pod("kai-scheduler"),
        pod(labels={}),
        pod(labels={"kai.scheduler/queue": ""}),
        pod(nodeName="n"),
        pod(labels={"kai.scheduler/queue": "q", "grove.io/podclique": "w"}),
    ],
)
def test_pods_that_somebody_else_decided_about_stay_as_they_are(theirs: Raw) -> None:
    assert not ours(theirs, EVERYWHERE)


def test_pods_of_exempt_namespaces_are_never_touched() -> None:
    assert not ours(pod(), EVERYWHERE, namespace="kube-system", said="true")


def test_the_label_of_queues_may_be_another() -> None:
    settings = AdmissionSettings(schedule_queued_pods=True, queue_label="example.com/team")
    assert ours(pod(labels={"example.com/team": "a"}), settings) and not ours(pod(), settings)


def test_upstream_is_imitated_without_it() -> None:
    hooks = [hook.name for hook in kai.hooks(AdmissionSettings(manner=manner([KAI]), schedule_queued_pods=True))]
    assert "schedule.pods.gangline.io" not in hooks


def test_a_cluster_is_told_to_leave_out_the_namespaces_that_want_none_of_it() -> None:
    mutating, _ = configurations(kai.hooks(EVERYWHERE), WebhookAddress("adm", "sys"), b"ca")
    where = mutating["webhooks"][1]["namespaceSelector"]["matchExpressions"]
    assert where[1] == {"key": LABEL, "operator": "NotIn", "values": ["false"]}


async def test_the_webhook_says_the_same(unused_tcp_port: int) -> None:
    async with embedded(kinds=True) as server:
        client = admin(server)
        for name, labels in (("work", {LABEL: "true"}), ("other", {}), (names.SYSTEM_NAMESPACE, {})):
            await client.create(NAMESPACE, {"metadata": {"name": name, "labels": labels}})
        settings = WebhookSettings(
            WebhookAddress(url=f"https://127.0.0.1:{unused_tcp_port}"), "127.0.0.1", unused_tcp_port
        )

        def hooks(read: Any) -> Any:
            return kai.hooks(
                labels=lambda name: found.labels if (found := read.get(NAMESPACE, name)) is not None else {}
            )

        manager = Manager(component(hooks, settings, (NAMESPACE,)), client)
        await manager.start()
        try:
            await until(lambda: _registered(client), "registration")
            for name in ("work", "other"):
                meta = {"name": "p", "namespace": name, "labels": {"kai.scheduler/queue": "q"}}
                await client.create(POD, {**pod(None), "metadata": meta})
            found = [(await client.get(POD, "p", name)).spec.scheduler_name for name in ("work", "other")]
            assert found == ["kai-scheduler", "default-scheduler"]
        finally:
            await manager.stop()


async def _registered(client: Any) -> bool:
    return bool((await client.list(MUTATING_WEBHOOK)).items)
