"""Questions answered on the spot and never stored: who am I, may I, may they, what may I, whose token is this; and tokens on request.

`kubectl auth can-i` and webhooks that ask about access live on these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gangline.apiserver.bodies import read_object
from gangline.apiserver.call import Call
from gangline.apiserver.core import Core
from gangline.apiserver.identity import ISSUER, Tokens
from gangline.apiserver.rbac import Action, Authorizer
from gangline.apiserver.resources import Resource
from gangline.apiserver.rules import rules_for
from gangline.apiserver.status import bad_request, conflict, invalid, not_found
from gangline.client.wire import User
from gangline.errors import Problem

Obj = dict[str, Any]
SHORTEST_TOKEN, DEFAULT_TOKEN = 600, 3600


class Reviews:
    def __init__(self, core: Core, authorizer: Authorizer, tokens: Tokens) -> None:
        self._core = core
        self._authorizer = authorizer
        self._tokens = tokens

    def answer(self, call: Call) -> Obj:
        """The review that was sent, with its status."""
        body = read_object(call, rules_for(call.resource))
        body["status"] = _ANSWERS[call.resource.kind](self, call, body)
        if call.resource.kind == "SelfSubjectRulesReview":
            body["spec"] = {}
        if call.resource.kind == "SelfSubjectReview":
            body.pop("spec", None)
        body["metadata"] = {key: value for key, value in body["metadata"].items() if value}
        return body

    def self_access(self, call: Call, body: Obj) -> Obj:
        return self._verdict(call.user, _read_action(body))

    def access(self, call: Call, body: Obj) -> Obj:
        spec = body.get("spec") or {}
        if call.resource.kind == "LocalSubjectAccessReview":
            _check_local(call, spec)
        action = _read_action(body)
        if not spec.get("user") and not spec.get("groups"):
            raise _invalid("spec.user", "Invalid value: \"\": at least one of user or group must be specified")
        return self._verdict(User(spec.get("user", ""), tuple(spec.get("groups") or ())), action)

    def _verdict(self, user: User, action: Action) -> Obj:
        verdict = self._authorizer.decide(user, action)
        return {"allowed": verdict.allowed} | ({"reason": verdict.reason} if verdict.reason else {})

    def rules(self, call: Call, body: Obj) -> Obj:
        namespace = (body.get("spec") or {}).get("namespace")
        if not namespace:
            raise bad_request("no namespace on request")
        resources, paths = [], []
        for rule in self._authorizer.rules(call.user, namespace):
            if rule.get("nonResourceURLs"):
                paths.append({"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]})
            else:
                kept = {key: rule[key] for key in ("verbs", "apiGroups", "resources", "resourceNames") if rule.get(key)}
                resources.append(kept)
        return {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}

    def who(self, call: Call, body: Obj) -> Obj:
        return {"userInfo": _user_info(call.user)}

    def token_review(self, call: Call, body: Obj) -> Obj:
        spec = body.get("spec") or {}
        token, audiences = spec.get("token") or "", spec.get("audiences") or [ISSUER]
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        for audience in audiences:
            user = self._tokens.user(token, audience)
            if user is not None:
                return {"authenticated": True, "user": _user_info(user), "audiences": [audience]}
        return {"user": {}, "error": "invalid bearer token"}

    def token_request(self, call: Call) -> Obj:
        """A fresh token of a service account."""
        resource = self._core.catalogue.find("authentication.k8s.io", "v1", "tokenreviews")
        assert resource is not None
        account = self._core.read(call.resource, call.place)
        kind = Resource("authentication.k8s.io", "v1", "tokenrequests", "TokenRequest", True)
        asked = Call(call.request, call.user, "create", kind, call.namespace, call.name, warnings=call.warnings)
        body = read_object(asked, rules_for(kind))
        if account is None:
            raise not_found("", "serviceaccounts", call.name)
        spec = body.get("spec") or {}
        seconds = spec.get("expirationSeconds") or DEFAULT_TOKEN
        if seconds < SHORTEST_TOKEN:
            problem = Problem("spec.expirationSeconds", f"Invalid value: {seconds}: may not specify a duration less than 10 minutes")
            raise invalid(kind.group, kind.kind, "", [problem])
        audiences = spec.get("audiences") or [ISSUER]
        uid = account["metadata"]["uid"]
        bound = spec.get("boundObjectRef")
        if bound and bound.get("kind") == "Pod":
            self._check_pod(call, bound)
        token = self._tokens.issue(call.namespace, call.name, uid, seconds, audiences)
        about = {"name": call.name, "namespace": call.namespace, "creationTimestamp": self._core.now()}
        return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": about,
                "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound},
                "status": {"token": token, "expirationTimestamp": self._core.now(seconds)}}

    def _check_pod(self, call: Call, bound: Obj) -> None:
        name = bound.get("name") or ""
        record = self._core.store.get(("", "pods"), (call.namespace, name))
        if record is None:
            raise not_found("", "pods", name)
        if bound.get("uid") and bound["uid"] != record.uid:
            raise conflict("", "Pod", name, f"the UID in the bound object reference ({bound['uid']}) does not match the UID in record. The "
                           "object might have been deleted and then recreated")


_ANSWERS: dict[str, Callable[[Reviews, Call, Obj], Obj]] = {
    "SelfSubjectAccessReview": Reviews.self_access,
    "SubjectAccessReview": Reviews.access,
    "LocalSubjectAccessReview": Reviews.access,
    "SelfSubjectRulesReview": Reviews.rules,
    "SelfSubjectReview": Reviews.who,
    "TokenReview": Reviews.token_review,
}


def _user_info(user: User) -> Obj:
    found: Obj = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        found["uid"] = user.uid
    if user.extra:
        found["extra"] = {key: list(values) for key, values in user.extra.items()}
    return found


def _invalid(path: str, message: str) -> Exception:
    return invalid("authorization.k8s.io", "", "", [Problem(path, message)])


def _check_local(call: Call, spec: Obj) -> None:
    namespace = (spec.get("resourceAttributes") or {}).get("namespace", "")
    if namespace != call.namespace:
        raise _invalid("spec.resourceAttributes.namespace", f'Invalid value: "{namespace}": must match metadata.namespace')


def _read_action(body: Obj) -> Action:
    spec = body.get("spec") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        shown = f'{{"Path":"{path.get("path", "")}","Verb":"{path.get("verb", "")}"}}'
        raise _invalid("spec.nonResourceAttributes", f"Invalid value: {shown}: cannot be specified in combination with resourceAttributes")
    if resource is None and path is None:
        raise _invalid("spec.resourceAttributes",
                       "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified")
    if path is not None:
        return Action(path.get("verb", ""), path=path.get("path", ""))
    assert resource is not None
    return Action(resource.get("verb", ""), resource.get("group", ""), resource.get("resource", ""), resource.get("subresource", ""),
                  resource.get("namespace", ""), resource.get("name", ""))
