"""The objects that a fuzzed server begins with: one of every kind, so that updates and patches meet something."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fuzz.our_kinds import OUR_KINDS

Obj = dict[str, Any]
REFUSALS = Path(__file__).parents[1] / "cluster" / "server" / "refusals.json"
SCHEMA: Obj = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "x-kubernetes-validations": [
                {"rule": "self.n < 100 && self.t.matches('^[a-z]*$') && self.l.all(x, x != '')"}
            ],
            "properties": {
                "n": {"type": "integer", "default": 1},
                "t": {"type": "string", "pattern": "^(a|b|ab){1,60}c?$|x", "default": "x"},
                "l": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "default": ["a"]},
                "m": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {
                        "type": "object",
                        "required": ["k"],
                        "properties": {"k": {"type": "string"}, "v": {"x-kubernetes-int-or-string": True}},
                    },
                },
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "replicas": {"type": "integer"},
            },
        },
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    },
}
DEFINITION: Obj = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "odds.fuzz.io"},
    "spec": {
        "group": "fuzz.io",
        "scope": "Namespaced",
        "names": {"plural": "odds", "kind": "Odd", "singular": "odd", "listKind": "OddList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": SCHEMA},
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                },
                "selectableFields": [{"jsonPath": ".spec.t"}],
                "additionalPrinterColumns": [{"name": "N", "type": "integer", "jsonPath": ".spec.n"}],
            }
        ],
    },
}
MORE: dict[str, Obj] = {
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": DEFINITION,
    "/apis/fuzz.io/v1/namespaces/default/odds": {
        "apiVersion": "fuzz.io/v1",
        "kind": "Odd",
        "metadata": {"name": "odd"},
        "spec": {"n": 1, "t": "x", "any": {}},
    },
    "/api/v1/namespaces/default/pods": {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    },
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies": {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "policy"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": ["fuzz.io"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
                ]
            },
            "variables": [{"name": "n", "expression": "object.spec.n"}],
            "matchConditions": [{"name": "m", "expression": "true"}],
            "validations": [{"expression": "variables.n < 100", "messageExpression": "'n is ' + string(variables.n)"}],
        },
    },
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings": {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "binding"},
        "spec": {"policyName": "policy", "validationActions": ["Deny"]},
    },
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "hooks"},
        "webhooks": [
            {
                "name": "a.b.io",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "failurePolicy": "Ignore",
                "timeoutSeconds": 1,
                "clientConfig": {"url": "https://127.0.0.1:1/x"},
                "matchConditions": [{"name": "never", "expression": "false"}],
                "rules": [{"apiGroups": ["fuzz.io"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}],
            }
        ],
    },
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
    },
}


def bases() -> dict[str, Obj]:
    """An object of every kind that has one, by the path of its collection."""
    told = json.loads(REFUSALS.read_text())
    return {**{path: about["base"] for path, about in told.items() if "?" not in path}, **MORE, **OUR_KINDS}
