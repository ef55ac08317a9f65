"""Which volume fits which claim: one rule for the controller that binds, the binder and the scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gangline.api.core import PersistentVolumeClaim
from gangline.api.meta import Raw
from gangline.rules.volumes import best_fit, fits, reaches

SOURCE = Path(__file__).parents[2] / "src" / "gangline"


def claim(size: str = "1Gi", annotations: dict[str, str] | None = None, **spec: Any) -> PersistentVolumeClaim:
    whole = {
        "storageClassName": "fast",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        **spec,
    }
    return msgspec.convert(
        {"metadata": {"name": "c", "namespace": "x", "uid": "u", "annotations": annotations or {}}, "spec": whole},
        PersistentVolumeClaim,
    )


def volume(name: str = "v", size: str = "1Gi", phase: str = "Available", meta: Raw | None = None, **spec: Any) -> Raw:
    whole = {
        "storageClassName": "fast",
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
        "capacity": {"storage": size},
        **spec,
    }
    return {"metadata": {"name": name, **(meta or {})}, "spec": whole, "status": {"phase": phase}}


def on_host(host: str) -> Raw:
    return {
        "required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "host", "operator": "In", "values": [host]}]}]}
    }


@pytest.mark.parametrize(
    ("wanted", "there", "answer"),
    [
        (claim(), volume(), True),
        (claim("2Gi"), volume(), False),
        (claim(accessModes=["ReadWriteMany"]), volume(), False),
        (claim(accessModes=["ReadWriteOnce", "ReadOnlyMany"]), volume(), True),
        (claim(storageClassName="slow"), volume(), False),
        (claim(storageClassName=""), volume(storageClassName=None), True),
        (
            claim(storageClassName="other", annotations={"volume.beta.kubernetes.io/storage-class": "fast"}),
            volume(),
            True,
        ),
        (claim(volumeMode="Block"), volume(), False),
        (claim(volumeMode="Filesystem"), volume(), True),
        (claim(volumeAttributesClassName="gold"), volume(), False),
        (claim(selector={"matchLabels": {"disk": "ssd"}}), volume(), False),
        (claim(selector={"matchLabels": {"disk": "ssd"}}), volume(meta={"labels": {"disk": "ssd"}}), True),
        (claim(), volume(phase="Released"), False),
        (claim(), volume(phase="Pending"), False),
        (claim(), volume(meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}), False),
        (claim(), volume(claimRef={"namespace": "x", "name": "other"}), False),
        (claim(), volume(claimRef={"namespace": "x", "name": "c", "uid": "another"}), False),
        (claim(), volume(claimRef={"namespace": "x", "name": "c"}), True),
        (
            claim(storageClassName="slow"),
            volume(claimRef={"namespace": "x", "name": "c", "uid": "u"}, phase="Pending"),
            True,
        ),
        (claim("2Gi"), volume(claimRef={"namespace": "x", "name": "c"}), False),
    ],
)
def test_a_volume_fits_a_claim(wanted: PersistentVolumeClaim, there: Raw, answer: bool) -> None:
    assert fits(there, wanted) is answer


def test_the_smallest_that_fits_is_taken_and_of_equal_ones_the_first_by_name() -> None:
    found = best_fit(claim(), [volume("large", "9Gi"), volume("z", "2Gi"), volume("b", "2Gi"), volume("small", "1Mi")])
    assert found is not None and found["metadata"]["name"] == "b"


def test_the_volume_reserved_for_the_claim_comes_before_smaller_ones_and_is_the_only_one() -> None:
    mine = volume("mine", "9Gi", claimRef={"namespace": "x", "name": "c"}, nodeAffinity=on_host("a"))
    assert best_fit(claim(), [volume("small"), mine]) == mine
    assert best_fit(claim(), [volume("small"), mine], {"host": "a"}) == mine
    assert best_fit(claim(), [volume("small"), mine], {"host": "b"}) is None


def test_a_claim_that_names_a_volume_gets_that_one_or_none() -> None:
    named = claim(volumeName="v", selector={"matchLabels": {"disk": "ssd"}})
    assert best_fit(named, [volume("a"), volume("v", "5Gi")]) == volume("v", "5Gi")
    assert best_fit(named, [volume("a"), volume("v", "1Mi")]) is None
    assert best_fit(named, [volume("v", claimRef={"namespace": "x", "name": "other"})]) is None


def test_the_volume_that_a_claim_names_must_be_in_reach_of_the_node_too() -> None:
    named, there = claim(volumeName="v"), volume("v", nodeAffinity=on_host("a"))
    assert best_fit(named, [there], {"host": "a"}) == there
    assert best_fit(named, [there], {"host": "b"}) is None


def test_a_volume_that_is_held_is_for_its_holder_even_where_another_claim_names_it() -> None:
    held = volume("v", size="1Mi", claimRef={"namespace": "x", "name": "c", "uid": "u"})
    assert best_fit(claim("9Gi", volumeName="v"), [held]) == held, "who has it keeps it, whatever it asks for now"
    other = volume("v", claimRef={"namespace": "x", "name": "other"})
    assert best_fit(claim(volumeName="v"), [other]) is None


def test_only_volumes_in_reach_of_the_node_count() -> None:
    here, there = volume("here", "5Gi", nodeAffinity=on_host("a")), volume("there", nodeAffinity=on_host("b"))
    assert best_fit(claim(), [there, here], {"host": "a"}) == here
    assert not reaches(volume(nodeAffinity={"required": {"nodeSelectorTerms": [{}]}}), {"host": "a"})
    assert reaches(
        volume(
            nodeAffinity={
                "required": {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
                    ]
                }
            }
        ),
        {},
        "n1",
    )


def test_the_rule_is_written_once() -> None:
    asking = ("cluster/world/upkeep/volumes.py", "binder/plugins/volumes.py", "scheduler/objects/storage.py")
    assert [path for path in asking if "from gangline.rules.volumes import" not in (SOURCE / path).read_text()] == []
    assert [path for path in asking if 'accessModes") or ())' in (SOURCE / path).read_text()] == []
