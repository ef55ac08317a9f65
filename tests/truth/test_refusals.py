"""What servers say when they refuse pods, where the embedded one has no such rule: read from the words of a
kube-apiserver."""

from __future__ import annotations

from gangline.why.pods.refused import insecure, no_service_account
from gangline.why.workloads import Subject

SUBJECT = Subject("job", "x", "team")


def test_the_level_of_pod_security_is_told_with_the_label_that_says_it() -> None:
    said = (
        'pods "x-8k2lp" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), '
        "hostPort (container main uses hostPort 80)"
    )
    cause = insecure(SUBJECT, said, "Job/x")
    assert cause is not None
    assert cause.why == (
        "Namespace team allows pods of level baseline only (label pod-security.kubernetes.io/enforce), so the server "
        "refuses its pods: host namespaces (hostNetwork=true), hostPort (container main uses hostPort 80)"
    )
    ((change,),) = cause.fixes
    assert change.document() == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "team", "labels": {"pod-security.kubernetes.io/enforce": "privileged"}},
    }
    assert insecure(SUBJECT, 'pods "x" is forbidden: no', "Job/x") is None


def test_a_service_account_that_is_missing_is_told_with_its_name() -> None:
    said = 'pods "x-" is forbidden: error looking up service account team/robot: serviceaccount "robot" not found'
    cause = no_service_account(SUBJECT, said, "Job/x")
    assert cause is not None and cause.why == "ServiceAccount robot does not exist, so the server refuses its pods"
