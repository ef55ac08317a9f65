"""Questions answered on the spot and never stored: who am I, may I, may they, what may I, whose token is this; and
tokens on request.

`kubectl auth can-i` and webhooks that ask about access live on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from gangline.client.wire import User
from gangline.cluster.kinds.checks import operator_values, with_paths
from gangline.cluster.server.access.identity import ISSUER, TokenIssuer
from gangline.cluster.server.access.rbac import Action, Authorizer
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core
from gangline.cluster.server.show.negotiation import read_plain_accept
from gangline.cluster.server.status import bad_request, conflict, invalid, not_found
from gangline.cluster.server.verbs.bodies import check_options, read_object
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.cluster.server.verbs.write_checks import check_namespace, check_namespace_lives
from gangline.errors import Problem

Obj = dict[str, Any]
SHORTEST_TOKEN, DEFAULT_TOKEN = 600, 3600


class Reviews:
    def __init__(self, core: Core, authorizer: Authorizer, tokens: TokenIssuer) -> None:
        self._core = core
        self._authorizer = authorizer
        self._tokens = tokens

    def answer(self, call: ServerCall) -> Obj:
        """The review that was sent, with its status."""
        read_plain_accept(call.request.accept, by_route=True)
        check_options(call)
        body = read_object(call, rules_for(call.resource))
        body["status"] = _ANSWERS[call.resource.kind](self, call, body)
        if call.resource.kind == "SelfSubjectRulesReview":
            body["spec"] = {}
        about = {key: value for key, value in body["metadata"].items() if value}
        if call.resource.kind == "SelfSubjectReview":
            body.pop("spec", None)
            about["creationTimestamp"] = self._core.now()
        if call.namespace:
            about["namespace"] = call.namespace
        body["metadata"] = about
        return body

    def self_access(self, call: ServerCall, body: Obj) -> Obj:
        return self._verdict(call.user, _read_action(body))

    def access(self, call: ServerCall, body: Obj) -> Obj:
        spec = body.get("spec") or {}
        wrong = [] if spec.get("user") or spec.get("groups") else [_NOBODY]
        if call.resource.kind == "LocalSubjectAccessReview":
            if body["metadata"].get("namespace") not in (None, "", call.namespace):
                raise bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request"
                )
            wrong += _local_problems(call, spec)
        action = _read_action(body, wrong)
        return self._verdict(User(spec.get("user", ""), tuple(spec.get("groups") or ())), action)

    def _verdict(self, user: User, action: Action) -> Obj:
        verdict = self._authorizer.decide(user, action)
        return {"allowed": verdict.allowed} | ({"reason": verdict.reason} if verdict.reason else {})

    def rules(self, call: ServerCall, body: Obj) -> Obj:
        namespace = (body.get("spec") or {}).get("namespace")
        if not namespace:
            raise bad_request("no namespace on request")
        resources, paths = [], []
        rules, problem = self._authorizer.known_rules(call.user, namespace)
        for rule in rules:
            if rule.get("nonResourceURLs"):
                paths.append({"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]})
            else:
                kept = {key: rule[key] for key in ("verbs", "apiGroups", "resources", "resourceNames") if rule.get(key)}
                resources.append(kept)
        trouble = {"evaluationError": problem} if problem else {}
        return {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False, **trouble}

    def who(self, call: ServerCall, body: Obj) -> Obj:
        return {"userInfo": _user_info(call.user)}

    def token_review(self, call: ServerCall, body: Obj) -> Obj:
        spec = body.get("spec") or {}
        token, audiences = spec.get("token") or "", spec.get("audiences") or [ISSUER]
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        for audience in audiences:
            user = self._tokens.user(token, audience)
            if user is not None:
                return {"authenticated": True, "user": _user_info(user), "audiences": [audience]}
        claims = self._tokens.read(token)
        if claims is None:
            return {"user": {}, "error": "invalid bearer token"}
        meant, wanted = (" ".join(f'"{name}"' for name in names) for names in (claims.audiences, audiences))
        return {
            "user": {},
            "error": f"[invalid bearer token, token audiences [{meant}] "
            f"is invalid for the target audiences [{wanted}]]",
        }

    def token_request(self, call: ServerCall) -> Obj:
        """A fresh token of a service account."""
        check_namespace_lives(self._core, call, call.name)
        account = self._core.read(call.resource, call.place)
        kind = Resource("authentication.k8s.io", "v1", "tokenrequests", "TokenRequest", True)
        asked = ServerCall(
            call.request,
            call.user,
            "create",
            kind,
            call.namespace,
            call.name,
            warnings=call.warnings,
            document=call.document,
        )
        check_options(asked)
        body = read_object(asked, rules_for(kind))
        check_namespace(asked, body)
        if account is None:
            raise not_found("", "serviceaccounts", call.name)
        spec = body.get("spec") or {}
        wished = spec.get("expirationSeconds")
        seconds = DEFAULT_TOKEN if wished is None else wished
        _check_token_request(call, body, seconds)
        audiences = spec.get("audiences") or [ISSUER]
        uid = account["metadata"]["uid"]
        bound = spec.get("boundObjectRef")
        if bound:
            self._check_bound(call, bound)
        tied = (bound["kind"].lower(), bound["name"]) if bound else None
        token = self._tokens.issue(call.namespace, call.name, uid, seconds, audiences, tied)
        about = {"name": call.name, "namespace": call.namespace, "uid": uid, "creationTimestamp": self._core.now()}
        return {
            "kind": kind.kind,
            "apiVersion": kind.api_version,
            "metadata": about,
            "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound},
            "status": {"token": token, "expirationTimestamp": self._core.now(seconds)},
        }

    def _check_bound(self, call: ServerCall, bound: Obj) -> None:
        """A token may be bound to what is there, and to a pod only if that runs under the account."""
        name, kind = bound.get("name") or "", bound.get("kind")
        if kind not in ("Pod", "Secret", "Node") or bound.get("apiVersion") != "v1":
            raise bad_request(f"cannot bind token to object of type /{bound.get('apiVersion', '')}, Kind={kind}")
        plural, place = f"{kind.lower()}s", ("", name) if kind == "Node" else (call.namespace, name)
        record = self._core.store.get(("", plural), place)
        if record is None:
            raise not_found("", plural, name)
        if kind == "Pod" and (record.object()["spec"].get("serviceAccountName") or "") != call.name:
            raise bad_request(
                f'cannot bind token for serviceaccount "{call.name}" to pod running with different serviceaccount name.'
            )
        if bound.get("uid") and bound["uid"] != record.uid:
            raise conflict(
                "",
                kind,
                name,
                f"the UID in the bound object reference ({bound['uid']}) does not match the UID in record. The "
                "object might have been deleted and then recreated",
            )


_ANSWERS: dict[str, Callable[[Reviews, ServerCall, Obj], Obj]] = {
    "SelfSubjectAccessReview": Reviews.self_access,
    "SubjectAccessReview": Reviews.access,
    "LocalSubjectAccessReview": Reviews.access,
    "SelfSubjectRulesReview": Reviews.rules,
    "SelfSubjectReview": Reviews.who,
    "TokenReview": Reviews.token_review,
}


def _user_info(user: User) -> Obj:
    info: Obj = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        info["uid"] = user.uid
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return info


def _invalid(path: str, message: str, *further: Problem) -> Exception:
    return invalid("authorization.k8s.io", "", "", [Problem(path, message), *further])


def _check_token_request(call: ServerCall, body: Obj, seconds: int) -> None:
    problem = None
    name = body["metadata"].get("name")
    if name and name != call.name:
        problem = Problem("metadata.name", f'Invalid value: "{name}": must match the service account name if specified')
        raise invalid("authentication.k8s.io", "TokenRequest", call.name, [problem])
    if seconds < SHORTEST_TOKEN:
        problem = Problem(
            "spec.expirationSeconds", f"Invalid value: {seconds}: may not specify a duration less than 10 minutes"
        )
    if seconds > 1 << 32:
        problem = Problem(
            "spec.expirationSeconds", f"Invalid value: {seconds}: may not specify a duration larger than 2^32 seconds"
        )
    if problem:
        raise invalid("authentication.k8s.io", "TokenRequest", "", [problem])


def _local_problems(call: ServerCall, spec: Obj) -> Iterator[Problem]:
    path, resource = spec.get("nonResourceAttributes"), spec.get("resourceAttributes")
    if path is not None:
        yield Problem(
            "spec.nonResourceAttributes", f"Invalid value: {_go_path(path)}: disallowed on this kind of request"
        )
    elif resource is not None and resource.get("namespace", "") != call.namespace:
        yield Problem(
            "spec.resourceAttributes.namespace",
            f'Invalid value: "{resource.get("namespace", "")}": must match metadata.namespace',
        )


_WIPED = ("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "selfLink", "uid")
"""What a caller may say of a new object's metadata, and nobody reads."""
_NOBODY = Problem("spec.user", 'Invalid value: "": at least one of user or group must be specified')


def _go_path(path: Obj) -> str:
    return f'{{"Path":"{path.get("path", "")}","Verb":"{path.get("verb", "")}"}}'


def _named(about: Obj) -> Iterator[Problem]:
    if set(about) - {"namespace", "managedFields", *_WIPED}:
        yield Problem("metadata", f"Invalid value: {msgspec.json.encode(about).decode()}: must be empty")


def _selectors(resource: Obj) -> Iterator[Problem]:
    """A selector is written raw or as requirements, each with the values its operator takes."""
    for name in ("fieldSelector", "labelSelector"):
        selector, path = resource.get(name) or {}, f"spec.resourceAttributes.{name}"
        terms = selector.get("requirements") or []
        if selector.get("rawSelector") and terms:
            yield Problem(
                f"{path}.rawSelector",
                f'Invalid value: "{selector["rawSelector"]}": may not specified at the same time as requirements',
            )
        for where, term in with_paths(terms, f"{path}.requirements"):
            yield from operator_values(term, where)


def _read_action(body: Obj, further: Sequence[Problem] = ()) -> Action:
    """What a review asks about; `further` is what else is wrong with it."""
    spec = body.get("spec") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    further = [*further, *_selectors(resource or {}), *_named(body["metadata"])]
    if resource is not None and path is not None:
        raise _invalid(
            "spec.nonResourceAttributes",
            f"Invalid value: {_go_path(path)}: cannot be specified in combination with resourceAttributes",
            *further,
        )
    if resource is None and path is None:
        raise _invalid(
            "spec.resourceAttributes",
            "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
            *further,
        )
    if further:
        raise invalid("authorization.k8s.io", "", "", further)
    if path is not None:
        return Action(path.get("verb", ""), path=path.get("path", ""))
    assert resource is not None
    return Action(
        resource.get("verb", ""),
        resource.get("group", ""),
        resource.get("resource", ""),
        resource.get("subresource", ""),
        resource.get("namespace", ""),
        resource.get("name", ""),
    )
