"""Pods on their way in: a part of a GPU is prepared, contradictions are refused, foreign pods are not touched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gangline.admission.scheduling import kai, pods
from gangline.admission.scheduling.settings import AdmissionSettings, from_flags
from gangline.api.meta import Raw
from gangline.config import KAI, manner
from gangline.errors import ConfigError
from gangline.rules.hooks import Denied, HookReview

NATIVE = AdmissionSettings()
COMPAT = AdmissionSettings(manner=manner([KAI]))
BLOCKING = AdmissionSettings(block_visible_devices=True)


def pod(*containers: Raw, annotations: Raw | None = None, **meta: Any) -> Raw:
    listed = [{"name": f"c{at}", **container} for at, container in enumerate(containers or ({},))]
    return {
        "metadata": {"name": "p", "annotations": annotations or {}, **meta},
        "spec": {"schedulerName": "kai-scheduler", "containers": listed},
    }


def completed(which: Raw, settings: AdmissionSettings = NATIVE) -> Raw:
    found = pods.complete(HookReview("CREATE", which, namespace="work"), settings, lambda: "bcdfghj")
    assert isinstance(found, dict), found
    return found


def refusal(which: Raw, settings: AdmissionSettings = NATIVE) -> str | None:
    found = pods.problem(HookReview("CREATE", which, namespace="work", name="p"), settings)
    return found.message if found else None


def gpu(amount: str, kind: str = "limits") -> Raw:
    return {"resources": {kind: {"nvidia.com/gpu": amount}}}


def test_a_part_of_a_gpu_is_announced_to_its_container() -> None:
    made = completed(pod(annotations={"gpu-fraction": "0.5"}))
    assert made["metadata"]["annotations"]["runai/shared-gpu-configmap"] == "p-bcdfghj-shared-gpu"
    container = made["spec"]["containers"][0]
    assert [item["name"] for item in container["env"]] == ["NVIDIA_VISIBLE_DEVICES", "RUNAI_NUM_OF_GPUS", "GPU_PORTION"]
    assert container["env"][0]["valueFrom"]["configMapKeyRef"] == {
        "name": "p-bcdfghj-shared-gpu-0",
        "key": "NVIDIA_VISIBLE_DEVICES",
    }
    assert container["envFrom"] == [{"configMapRef": {"name": "p-bcdfghj-shared-gpu-0-evar", "optional": False}}]
    assert made["spec"]["volumes"] == [
        {"name": "p-bcdfghj-shared-gpu-0-vol", "configMap": {"name": "p-bcdfghj-shared-gpu-0"}}
    ]


def test_completing_twice_changes_nothing_more() -> None:
    once = completed(pod(annotations={"gpu-memory": "2000"}))
    assert completed(once) == once


def test_what_was_sent_is_not_changed() -> None:
    sent = pod(annotations={"gpu-fraction": "0.5"})
    completed(sent)
    assert "env" not in sent["spec"]["containers"][0]


def test_another_container_may_be_named_even_an_init_container() -> None:
    which = pod({"name": "main"}, annotations={"gpu-fraction": "0.5", "gpu-fraction-container-name": "setup"})
    which["spec"]["initContainers"] = [{"name": "first"}, {"name": "setup"}]
    assert "env" not in completed(which)["spec"]["containers"][0]
    env = completed(which)["spec"]["initContainers"][1]["env"]
    assert env[0]["valueFrom"]["configMapKeyRef"]["name"] == "p-bcdfghj-shared-gpu-i1"


def test_a_container_that_is_not_there_is_refused_by_name() -> None:
    which = pod(annotations={"gpu-fraction": "0.5", "gpu-fraction-container-name": "nope"})
    found = pods.complete(HookReview("CREATE", which), NATIVE, lambda: "x")
    assert found == Denied("annotation gpu-fraction-container-name names container 'nope', which the pod does not have")


def test_the_name_is_cut_so_that_the_volume_stays_a_label() -> None:
    made = completed(pod(annotations={"gpu-fraction": "0.5"}, ownerReferences=[{"name": "a" * 32 + "." + "b" * 40}]))
    name = made["spec"]["volumes"][0]["name"]
    assert made["metadata"]["annotations"]["runai/shared-gpu-configmap"] == "a" * 32 + "-bcdfghj-shared-gpu"
    assert len(name) <= 63


def test_a_pod_that_has_only_a_generate_name_is_named_after_it_unless_upstream_is_imitated() -> None:
    which = pod(annotations={"gpu-fraction": "0.5"}, name="", generateName="train-")
    assert completed(which)["metadata"]["annotations"]["runai/shared-gpu-configmap"] == "train-bcdfghj-shared-gpu"
    assert completed(which, COMPAT)["metadata"]["annotations"]["runai/shared-gpu-configmap"] == "-bcdfghj-shared-gpu"


def test_hami_gets_its_memory_limit() -> None:
    env = completed(pod(annotations={"gpu-fraction": "0.5"}), replace(NATIVE, hami_core=True))["spec"]["containers"][0][
        "env"
    ]
    limit = {"name": "p-bcdfghj-shared-gpu-0", "key": "CUDA_DEVICE_MEMORY_LIMIT", "optional": True}
    assert env[-1] == {"name": "CUDA_DEVICE_MEMORY_LIMIT", "valueFrom": {"configMapKeyRef": limit}}


def test_only_fractions_without_a_runtime_class_get_one() -> None:
    settings = replace(NATIVE, runtime_class="nvidia")
    assert completed(pod(annotations={"gpu-fraction": "0.5"}), settings)["spec"]["runtimeClassName"] == "nvidia"
    assert "runtimeClassName" not in completed(pod(gpu("1")), settings)["spec"]
    own = pod(annotations={"gpu-fraction": "0.5"})
    own["spec"]["runtimeClassName"] = "mine"
    assert completed(own, settings)["spec"]["runtimeClassName"] == "mine"


def test_containers_that_ask_for_no_gpu_see_none() -> None:
    made = completed(pod(gpu("1", "requests"), {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}), BLOCKING)
    assert "env" not in made["spec"]["containers"][0]
    assert made["spec"]["containers"][1]["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]


def test_hiding_devices_replaces_a_reference_unless_upstream_is_imitated() -> None:
    source = {"configMapKeyRef": {"name": "m", "key": "k"}}
    which = pod({"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": source}]})
    assert completed(which, BLOCKING)["spec"]["containers"][0]["env"] == [
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}
    ]
    kept = completed(which, replace(COMPAT, block_visible_devices=True))["spec"]["containers"][0]["env"][0]
    assert kept["valueFrom"] == source


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        ({"gpu-fraction": "1"}, "annotation gpu-fraction must be a number between 0 and 1, such as 0.5, not '1'"),
        ({"gpu-fraction": "NaN"}, "not 'NaN'"),
        ({"gpu-fraction": "0x1p-1"}, "not '0x1p-1'"),
        ({"gpu-fraction": "0_5"}, "not '0_5'"),
        ({"gpu-fraction": " 0.5"}, "not ' 0.5'"),
        ({"gpu-fraction": "٠.٥"}, "not '٠.٥'"),
        ({"gpu-memory": "0"}, "annotation gpu-memory must be a whole number of MiB above 0, not '0'"),
        ({"gpu-memory": "2Gi"}, "not '2Gi'"),
        (
            {"gpu-fraction": "0.5", "gpu-fraction-num-devices": "+2"},
            "gpu-fraction-num-devices must be a whole number above 0, not '+2'",
        ),
        ({"gpu-fraction-num-devices": "2"}, "gpu-fraction-num-devices needs gpu-fraction or gpu-memory beside it"),
        ({"gpu-fraction": "0.5", "gpu-memory": "10"}, "gpu-memory excludes gpu-fraction"),
        ({"mps": "true"}, "annotation mps needs a part of a GPU"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_with_its_value(annotations: Raw, words: str) -> None:
    assert words in (refusal(pod(annotations=annotations)) or "")


@pytest.mark.parametrize("value", ["0.5", ".5", "5e-1", "0.123456789", "+0.5", "0.50"])
def test_a_number_between_zero_and_one_is_a_fraction(value: str) -> None:
    assert refusal(pod(annotations={"gpu-fraction": value})) is None


def test_a_part_and_a_whole_gpu_exclude_each_other() -> None:
    both = pod(gpu("1"), annotations={"gpu-fraction": "0.5"})
    assert "ask for a part or for whole GPUs" in (refusal(both) or "")
    zero = pod(gpu("0"), annotations={"gpu-fraction": "0.5"})
    assert refusal(zero) is None
    assert refusal(zero, COMPAT) is not None


def test_parts_can_be_switched_off() -> None:
    off = replace(NATIVE, gpu_sharing=False)
    words = "pod work/p asks for a part of a GPU, but GPU sharing is switched off here"
    assert refusal(pod(annotations={"gpu-fraction": "0.5"}), off) == words
    assert refusal(pod(gpu("1")), off) is None


def test_a_container_may_not_choose_its_devices_where_they_are_hidden() -> None:
    chosen = pod({**gpu("1"), "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]})
    assert "container c0 sets NVIDIA_VISIBLE_DEVICES itself" in (refusal(chosen, BLOCKING) or "")
    assert refusal(chosen) is None
    harmless = pod({"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"}]})
    assert refusal(harmless, BLOCKING) is None


def test_the_hooks_match_only_pods_of_our_scheduler_outside_exempt_namespaces() -> None:
    hook = next(hook for hook in kai.hooks() if hook.mutate is not None)
    assert hook.matches(HookReview("CREATE", pod(), namespace="work"))
    assert not hook.matches(HookReview("CREATE", pod(), namespace="kube-system"))
    other = pod()
    other["spec"]["schedulerName"] = "default-scheduler"
    assert not hook.matches(HookReview("CREATE", other, namespace="work"))


def test_upstreams_flags_are_understood_on_top_of_upstreams_defaults() -> None:
    assert from_flags([]).runtime_class == "nvidia"
    assert not from_flags([]).gpu_sharing
    assert from_flags(["--gpu-sharing-enabled"]).gpu_sharing
    assert from_flags(["--gpu-pod-runtime-class-name=old"]).runtime_class == "old"
    assert (
        from_flags(["--gpu-pod-runtime-class-name=old", "--gpu-fraction-runtime-class-name=new"]).runtime_class == "new"
    )
    with pytest.raises(
        ConfigError, match="the admission server has no flag --nonsense; it knows --block-nvidia-visible-devices"
    ):
        from_flags(["--nonsense"])


def test_a_pod_whose_part_of_a_gpu_is_no_longer_allowed_can_still_be_written_but_none_can_come() -> None:
    off = replace(NATIVE, gpu_sharing=False)
    stored = pod(annotations={"gpu-fraction": "0.5"})
    labelled = stored | {"metadata": stored["metadata"] | {"labels": {"team": "a"}}}
    assert pods.problem(HookReview("UPDATE", labelled, stored, "work", "p"), off) is None
    assert refusal(stored, off) == "pod work/p asks for a part of a GPU, but GPU sharing is switched off here"
    whole = pod()
    changed = pods.problem(HookReview("UPDATE", stored, whole, "work", "p"), off)
    assert changed is not None and "GPU sharing is switched off" in changed.message
