"""What `gangline doctor` finds, from facts: each thing that can be wrong is named, with what to do about it."""

from __future__ import annotations

import base64
import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from gangline.admission.certificates import self_signed
from gangline.api.crds import crds
from gangline.cli.care.checks import RIGHTS, AskedRight, DoctorFacts, examine
from gangline.cli.care.findings import FAIL, OK, WARN, DoctorFinding, conclusion

NOW = 1_800_000_000.0
WEBHOOK_RULES = [{"apiGroups": ["grove.io"], "resources": ["podcliquesets"]}]


def facts(**changes: Any) -> DoctorFacts:
    """A cluster with nothing wrong, but for what is said."""
    usual: dict[str, Any] = {
        "server": "https://here",
        "now": NOW,
        "version": {"gitVersion": "v1.35.8"},
        "skew": 0.2,
        "user": "anna",
        "rights": tuple(AskedRight(*right, True) for right in RIGHTS),
    }
    lists = {
        "definitions": crds(),
        "queues": [{"metadata": {"name": "a"}}],
        "nodes": [{"status": {"allocatable": {"nvidia.com/gpu": "8"}}}],
    }
    return DoctorFacts(**usual | changes | {"lists": lists | changes.get("lists", {})})


def wrong(**changes: Any) -> list[tuple[str, str, str]]:
    """What is not well; each has something to do about it."""
    found = [item for item in examine(facts(**changes)) if item.level != OK]
    assert [item for item in found if not item.remedy] == []
    return [(item.level, item.text, item.remedy) for item in found]


def test_nothing_is_wrong_with_a_good_cluster() -> None:
    assert wrong() == [] and conclusion(examine(facts())) == "nothing is wrong"


@pytest.mark.parametrize(
    "lists", [{"deployments": [{"metadata": {}}]}, {"queues": [{"metadata": {"name": "a"}, "spec": 5}]}, {"nodes": [5]}]
)
def test_an_object_that_its_kind_cannot_be_ends_no_other_check(lists: dict[str, Any]) -> None:
    found = wrong(lists=lists, skew=60.0)
    assert [level for level, text, _ in found if "is not what its kind can be" in text]
    assert "this machine is 60 s behind the server" in [text for _, text, _ in found]


def test_an_old_server_is_told() -> None:
    ((level, text, remedy),) = wrong(version={"gitVersion": "v1.29.3"})
    assert (level, text) == (WARN, "Kubernetes v1.29.3 is older than what we test") and "1.34 or newer" in remedy


@pytest.mark.parametrize(
    ("skew", "level", "text"),
    [(5.0, WARN, "this machine is 5 s behind the server"), (-30.0, FAIL, "this machine is 30 s ahead of the server")],
)
def test_clocks_that_disagree_are_told(skew: float, level: str, text: str) -> None:
    assert [item[:2] for item in wrong(skew=skew)] == [(level, text)]


def test_rights_that_are_missing_for_looking_are_a_problem_and_those_for_changing_are_not() -> None:
    rights = tuple(AskedRight(*right, right[0] == "list" and right[2] != "podgangs") for right in RIGHTS)
    assert [item[:2] for item in wrong(rights=rights)] == [
        (
            FAIL,
            "anna may not list podgangs.scheduler.grove.io: explain, top and get cannot see all; nor create "
            "podcliquesets.grove.io, patch queues.scheduling.run.ai",
        )
    ]
    assert [item.text for item in examine(facts(rights=rights)) if item.subject == "rights" and item.level == OK] == []
    looking = tuple(AskedRight(*right, right[0] == "list") for right in RIGHTS)
    assert "anna may look; may not create podcliquesets.grove.io, patch queues.scheduling.run.ai" in [
        item.text for item in examine(facts(rights=looking))
    ]


def test_who_may_not_look_is_not_said_to_look() -> None:
    rights = tuple(AskedRight(*right, False) for right in RIGHTS)
    told = [item.text for item in examine(facts(rights=rights)) if item.subject == "rights"]
    assert len(told) == 1 and not any("may look" in text for text in told)


def test_a_definition_that_is_missing_is_named() -> None:
    standing = [item for item in crds() if item["metadata"]["name"] != "queues.scheduling.run.ai"]
    ((level, text, remedy),) = wrong(lists={"definitions": standing})
    assert (level, text) == (WARN, "missing: queues.scheduling.run.ai") and "gangline install" in remedy


def test_a_definition_of_somebody_else_that_lacks_fields_is_named_with_its_release() -> None:
    standing = copy.deepcopy(crds())
    (queue,) = [item for item in standing if item["metadata"]["name"] == "queues.scheduling.run.ai"]
    queue["metadata"]["annotations"] = {"meta.helm.sh/release-name": "kai"}
    version = queue["spec"]["versions"][-1]
    del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["priority"]
    ((level, text, _),) = wrong(lists={"definitions": standing})
    assert level == WARN
    assert text == (
        "queues.scheduling.run.ai (of the Helm release kai) lacks spec.priority: what says so there is dropped"
    )


def webhook(days: int, name: str = "gangline-admission") -> dict[str, Any]:
    made = datetime.fromtimestamp(NOW, UTC)
    bundle = self_signed(("admission.kai-scheduler.svc",), made).certificate if days else b""
    service = {"name": "admission", "namespace": "kai-scheduler"}
    hook = {"clientConfig": {"caBundle": base64.b64encode(bundle).decode(), "service": service}, "rules": WEBHOOK_RULES}
    return {"metadata": {"name": name}, "webhooks": [hook, hook]}


SLICE = {
    "metadata": {"namespace": "kai-scheduler", "labels": {"kubernetes.io/service-name": "admission"}},
    "endpoints": [{"conditions": {"ready": True}}],
}


def test_a_webhook_that_can_answer_is_fine() -> None:
    assert wrong(lists={"validating": [webhook(365)], "slices": [SLICE]}) == []


def test_a_webhook_that_nobody_answers_is_a_problem_told_once() -> None:
    ((level, text, remedy),) = wrong(lists={"validating": [webhook(365)], "slices": []})
    assert level == FAIL and remedy.startswith("kubectl get endpointslices,pods -n kai-scheduler")
    assert text.endswith("is answered by service kai-scheduler/admission, which has no ready endpoint")


def test_a_certificate_that_cannot_be_read_or_has_ended_is_a_problem() -> None:
    (unread,) = wrong(lists={"mutating": [webhook(0)], "slices": [SLICE]})
    assert unread[:2] == (FAIL, "mutating gangline-admission has no certificate that can be read (caBundle)")
    late = wrong(now=NOW + 100 * 365 * 86400, lists={"validating": [webhook(365)], "slices": [SLICE]})
    assert late[0][0] == FAIL and late[0][1].startswith("the certificate of validating gangline-admission ended on ")


def test_two_who_judge_the_same_kind_are_told() -> None:
    both = [webhook(365), webhook(365, "grove-webhook")]
    ((level, text, _),) = wrong(lists={"validating": both, "slices": [SLICE]})
    assert (level, text) == (WARN, "podcliquesets.grove.io is judged by gangline-admission, grove-webhook (validating)")


def lease(name: str, ago: float) -> dict[str, Any]:
    renewed = f"{datetime.fromtimestamp(NOW - ago, UTC):%Y-%m-%dT%H:%M:%SZ}"
    spec = {"holderIdentity": "pod-1_x", "renewTime": renewed, "leaseDurationSeconds": 15}
    return {"metadata": {"name": name, "namespace": "kai-scheduler"}, "spec": spec}


def test_a_component_whose_lease_lapsed_is_a_problem() -> None:
    leases = [lease("kai-scheduler", 3), lease("2ad35f9c.kai.scheduler", 60), lease("somebody-elses", 900)]
    assert [item[:2] for item in wrong(lists={"leases": leases})] == [
        (FAIL, "nobody works as binder (lease kai-scheduler/2ad35f9c.kai.scheduler) since 60 s")
    ]


def test_a_config_that_is_not_available_is_told_in_its_own_words() -> None:
    conditions = [{"type": "Available", "status": "False", "message": "binder: 0 of 1 pods are ready"}]
    config = {"kind": "Config", "metadata": {"name": "kai-config"}, "status": {"conditions": conditions}}
    assert wrong(lists={"configs": [config]}) == [
        (
            FAIL,
            "Config kai-config is not Available: binder: 0 of 1 pods are ready",
            "kubectl describe config kai-config",
        )
    ]


def test_a_config_that_no_installer_has_read_and_an_installer_that_does_not_run_are_told() -> None:
    pod = {"spec": {"containers": [{"command": ["gangline", "run", "installer"]}]}}
    meta = {"name": "gangline-installer", "namespace": "gangline-system"}
    installer = {"metadata": meta, "spec": {"replicas": 1, "template": pod}}
    config = {"kind": "Config", "metadata": {"name": "kai-config"}}
    assert [item[:2] for item in wrong(lists={"configs": [config], "deployments": [installer]})] == [
        (FAIL, "Config kai-config has no conditions: no installer has read it"),
        (FAIL, "deployment gangline-system/gangline-installer: 0 of 1 pods are ready"),
    ]
    running = {**installer, "status": {"availableReplicas": 1}}
    owned = {**installer, "metadata": {**meta, "ownerReferences": [{"name": "kai-config"}]}}
    assert wrong(lists={"deployments": [running, owned]}) == []


def test_components_of_another_version_are_told() -> None:
    pod = {"spec": {"containers": [{"image": "registry.example/gangline:0.0.9"}]}}
    deployment = {"metadata": {"name": "binder", "namespace": "kai-scheduler"}, "spec": {"template": pod}}
    ((level, text, _),) = wrong(lists={"deployments": [deployment]})
    assert level == WARN and text.startswith("kai-scheduler/binder runs gangline 0.0.9, this is ")


def test_queues_and_nodes_that_let_nothing_start_are_told() -> None:
    assert [item[1] for item in wrong(lists={"queues": [], "nodes": [{"status": {}}]})] == [
        "there is no queue: no pod of the scheduler half can start",
        "none of 1 nodes offers GPUs",
    ]
    assert [item[1] for item in wrong(lists={"nodes": []})] == ["the cluster has no nodes: no pod can start"]
    orphan = [{"metadata": {"name": "a"}, "spec": {"parentQueue": "gone"}}]
    assert [item[1] for item in wrong(lists={"queues": orphan})] == [
        "queue a names the parent gone, which does not exist"
    ]
    circle = [{"metadata": {"name": name}, "spec": {"parentQueue": above}} for name, above in (("a", "b"), ("b", "a"))]
    assert [item[1] for item in wrong(lists={"queues": circle})] == [
        "queue a is below itself: its parents go in a circle",
        "queue b is below itself: its parents go in a circle",
    ]


def test_what_may_not_be_read_is_said_and_ends_nothing() -> None:
    assert wrong(refused={"leases": "leases is forbidden"}) == [
        (WARN, "leases could not be examined: leases is forbidden", "ask somebody who may read them")
    ]


def test_what_may_not_be_read_has_the_name_that_people_know() -> None:
    [(_, text, _)] = wrong(refused={"validating": "forbidden"})
    assert text == "validating webhooks could not be examined: forbidden"


def test_all_that_may_not_be_listed_is_one_finding() -> None:
    said = 'nodes is forbidden: User "anna" cannot list resource "nodes"'
    [(level, text, _)] = wrong(refused={"nodes": said, "slices": said})
    assert (level, text) == (WARN, "not examined, because anna may not list them: nodes, endpoint slices")


def test_a_webhook_of_an_address_may_trust_what_the_server_trusts() -> None:
    hook = {"rules": WEBHOOK_RULES, "clientConfig": {"url": "https://hooks.example/sets"}}
    assert wrong(lists={"validating": [{"metadata": {"name": "theirs"}, "webhooks": [hook]}]}) == []


def test_the_conclusion_counts() -> None:
    findings = [
        DoctorFinding(FAIL, "a", "b"),
        DoctorFinding(WARN, "a", "b"),
        DoctorFinding(WARN, "a", "b"),
        DoctorFinding(OK, "a", "b"),
    ]
    assert conclusion(findings) == "1 problem, 2 warnings"
