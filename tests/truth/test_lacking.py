"""A pod on its node that waits for a Secret, a ConfigMap or a key: named from its kubelet's words, with the object that
lets it go on. The words are those of a real kubelet; the matrix has what simulated nodes say."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.why.answers import answer, titles_of
from gangline.why.causes import cause_of
from gangline.why.needs.volumes import unmet
from gangline.why.objects import ClusterObjects
from gangline.why.remedies import remedies
from gangline.why.subjects import find
from truth.clusters import objects_of

ENV = {"env": [{"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}}]}
CONFIG_ENV = {"env": [{"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "mode"}}}]}
FROM = {"envFrom": [{"secretRef": {"name": "login"}}]}
MOUNT = {"volumes": [{"name": "tls", "secret": {"secretName": "login", "items": [{"key": "cert", "path": "c"}]}}]}
PROJECTED = {"volumes": [{"name": "all", "projected": {"sources": [{"secret": {"name": "login"}}]}}]}
BEGAN = "2026-01-01T00:00:00Z"


def asked(container: Raw, spec: Raw, state: Raw, event: tuple[str, str] | None = None) -> tuple[str, list[Raw]]:
    """What is told of pod x, and what its first remedy changes."""
    pod: Raw = {
        "metadata": {"name": "x", "namespace": "default", "uid": "x", "creationTimestamp": BEGAN},
        "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "team/app:1", **container}], **spec},
        "status": {"phase": "Pending", "containerStatuses": [{"name": "main", "state": {"waiting": state}}]},
    }
    told = {} if event is None else dict(zip(("reason", "message"), event, strict=True))
    events = [{"metadata": {"name": "e", "namespace": "default"}, "involvedObject": {"uid": "x"}, **told}]
    listed: list[tuple[Kind[Any], list[Raw]]] = [(kinds.POD, [pod]), (kinds.EVENT, events)]
    objects = ClusterObjects.of(listed, 0.0, {})
    [subject] = find(objects, "pod/x", "default")
    cause = cause_of(objects, subject, titles_of(objects))
    working = remedies(objects, subject, cause, {})
    return answer(objects, subject, cause, working).text, working[0].documents() if working else []


def creating(message: str) -> Raw:
    return {"reason": "CreateContainerConfigError", "message": message}


@pytest.mark.parametrize(
    ("container", "spec", "state", "event", "what", "made"),
    [
        (
            ENV,
            {},
            creating('secret "login" not found'),
            None,
            "waits for Secret login, which does not exist in namespace default (container main, env PASSWORD)",
            ("Secret", {"stringData": {"password": ""}}),
        ),
        (
            FROM,
            {},
            creating('secret "login" not found'),
            None,
            "waits for Secret login, which does not exist in namespace default (container main, envFrom)",
            ("Secret", {"stringData": {}}),
        ),
        (
            ENV,
            {},
            creating("couldn't find key password in Secret default/login"),
            None,
            "waits for key password of Secret login, which is not in it (container main, env PASSWORD)",
            ("Secret", {"stringData": {"password": ""}}),
        ),
        (
            CONFIG_ENV,
            {},
            creating("couldn't find key mode in ConfigMap default/settings"),
            None,
            "waits for key mode of ConfigMap settings, which is not in it (container main, env MODE)",
            ("ConfigMap", {"data": {"mode": ""}}),
        ),
        (
            {},
            MOUNT,
            {"reason": "ContainerCreating"},
            ("FailedMount", 'MountVolume.SetUp failed for volume "tls" : secret "login" not found'),
            "waits for Secret login, which does not exist in namespace default (volume tls)",
            ("Secret", {"stringData": {"cert": ""}}),
        ),
        (
            {},
            MOUNT,
            {"reason": "ContainerCreating"},
            ("FailedMount", 'MountVolume.SetUp failed for volume "tls" : references non-existent secret key: cert'),
            "waits for key cert of Secret login, which is not in it (volume tls)",
            ("Secret", {"stringData": {"cert": ""}}),
        ),
        (
            {},
            PROJECTED,
            {"reason": "ContainerCreating"},
            ("FailedMount", 'MountVolume.SetUp failed for volume "all" : secret "default/login" not found'),
            "waits for Secret login, which does not exist in namespace default (volume all)",
            ("Secret", {"stringData": {}}),
        ),
    ],
)
def test_what_a_pod_lacks_is_named_with_the_field_that_asks_for_it(
    container: Raw, spec: Raw, state: Raw, event: tuple[str, str] | None, what: str, made: tuple[str, Raw]
) -> None:
    text, [change] = asked(container, spec, state, event)
    assert text.startswith(f"x is starting: 0 of 1 pods are ready; pod x on n {what}"), text
    assert "would go on if" in text
    assert (change["kind"], {key: change[key] for key in made[1]}) == made


def test_an_image_that_cannot_be_pulled_is_told_with_the_pull_secret_that_is_missing() -> None:
    state = {"reason": "ImagePullBackOff", "message": "unauthorized"}
    said = "Unable to retrieve some image pull secrets (registry); attempting to pull the image may not succeed."
    text, changes = asked({}, {}, state, ("FailedToRetrieveImagePullSecret", said))
    assert "waits for image team/app:1 of container main: ImagePullBackOff (unauthorized)" in text
    assert "its node does not find Secret registry (spec.imagePullSecrets)" in text
    assert changes == []


def test_a_pod_that_merely_starts_lacks_nothing() -> None:
    text, changes = asked(ENV, {}, {"reason": "ContainerCreating"})
    assert "container main is not ready (ContainerCreating)" in text and changes == []


def bound_for(claim_uid: str, name: str = "data") -> str:
    """What is told of a claim that names volume v, which is reserved for this one."""
    held = {"namespace": "default", "name": name, "uid": claim_uid}
    claim: Raw = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "uid": "new"},
        "spec": {"volumeName": "v"},
    }
    volume: Raw = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "v"},
        "spec": {"claimRef": held},
    }
    return unmet(objects_of([claim, volume]), claim)[0]


def test_whose_volume_a_claim_names_is_told_right() -> None:
    assert bound_for("new").endswith("is reserved for it, and not bound yet")
    assert bound_for("old").endswith("belongs to a former PersistentVolumeClaim default/data")
    assert bound_for("x", "other").endswith("belongs to PersistentVolumeClaim default/other")
