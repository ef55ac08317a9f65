"""The protobuf kubectl insists on."""

from __future__ import annotations

import pytest

from gangline.cluster.server.wire.protobuf import NotUnderstood, decode, encode


def text(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


def envelope(version: bytes, kind: bytes, raw: bytes) -> bytes:
    return b"k8s\x00" + text(1, text(1, version) + text(2, kind)) + text(2, raw)


def test_a_review_is_read() -> None:
    attributes = text(1, b"default") + text(2, b"get") + text(5, b"pods")
    body = envelope(b"authorization.k8s.io/v1", b"SelfSubjectAccessReview", text(1, b"") + text(2, text(1, attributes)))
    assert decode(body) == {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {},
        "spec": {"resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"}},
    }


def test_maps_bytes_lists_and_numbers_are_read() -> None:
    secret = text(1, text(1, b"s") + text(11, text(1, b"a") + text(2, b"b"))) + text(
        2, text(1, b"k") + text(2, b"\x00\x01")
    )
    assert decode(envelope(b"v1", b"Secret", secret)) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "labels": {"a": "b"}},
        "data": {"k": "AAE="},
    }
    options = bytes([1 << 3, 0]) + text(5, b"All")
    assert decode(envelope(b"v1", b"DeleteOptions", options)) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "dryRun": ["All"],
    }


def test_what_go_writes_inline_stands_in_the_message_itself() -> None:
    container = text(1, b"c") + text(2, b"i") + text(11, text(1, text(1, text(1, b"true"))) + bytes([2 << 3, 5]))
    volume = text(1, b"v") + text(2, text(2, b""))
    pod = decode(envelope(b"v1", b"Pod", text(2, text(1, volume) + text(2, container))))
    assert pod["spec"] == {
        "volumes": [{"name": "v", "emptyDir": {}}],
        "containers": [
            {"name": "c", "image": "i", "readinessProbe": {"exec": {"command": ["true"]}, "initialDelaySeconds": 5}}
        ],
    }


def test_times_quantities_and_numbers_or_texts_are_read() -> None:
    limits = text(1, b"cpu") + text(2, text(1, b"500m"))
    port = bytes([3 << 3, 80]) + text(4, bytes([1 << 3, 1]) + text(3, b"http"))
    service = decode(envelope(b"v1", b"Service", text(1, text(8, bytes([1 << 3, 1]))) + text(2, text(1, port))))
    assert service == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"creationTimestamp": "1970-01-01T00:00:01Z"},
        "spec": {"ports": [{"port": 80, "targetPort": "http"}]},
    }
    pod = decode(envelope(b"v1", b"Pod", text(2, text(2, text(1, b"c") + text(8, text(1, limits))))))
    assert pod["spec"]["containers"] == [{"name": "c", "resources": {"limits": {"cpu": "500m"}}}]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"k8s\x00",
        b"k8s\x00\xff\xff",
        envelope(b"v1", b"Unicorn", b""),
        envelope(b"v1", b"ConfigMap", b"\x0a\x7f"),
        envelope(b"v1", b"ConfigMap", b"\x0b"),
    ],
)
def test_anything_else_is_not_understood(body: bytes) -> None:
    with pytest.raises(NotUnderstood):
        decode(body)


def test_spaces_around_an_amount_are_not_written() -> None:
    """Kubernetes takes them in JSON only."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": " 5 "}}}]},
    }
    assert decode(encode(pod))["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "5"}
