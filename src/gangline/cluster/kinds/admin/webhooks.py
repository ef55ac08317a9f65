"""Rules of webhook configurations, and what admission policies share with them: rules, expressions, match
conditions."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from gangline.cluster.kinds.checks import Obj, Problems, label_selector, named, one_of, repeated, with_paths
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules import cel
from gangline.rules.values import problems as say
from gangline.rules.values.names import dns1035_problems, qualified_name_problems, subdomain_problems

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")


def admission_env(*names: str) -> cel.Env:
    """What expressions of admission may speak of."""
    return cel.Env(dict.fromkeys(names, cel.DYN))


MATCH_ENV = admission_env("object", "oldObject", "request", "authorizer")


def expression(text: str, path: str, env: cel.Env, kinds: tuple[str, ...] = ("bool",)) -> Problems:
    if not text.strip():
        yield say.required(path)
        return
    try:
        program = cel.compile(text, env)
    except cel.CelSyntaxError as error:
        yield say.invalid(path, text, f"compilation failed: {error}")
        return
    if program.kind.name not in (*kinds, "dyn"):
        expected = kinds[0] if len(kinds) == 1 else f"one of [{' '.join(kinds)}]"
        yield say.invalid(path, text, f"must evaluate to {expected} but got {program.kind.name}")


def match_conditions(items: list[Obj], path: str, env: cel.Env) -> Problems:
    if len(items) > 64:
        yield say.too_many(path, len(items), 64)
    seen: set[Any] = set()
    for where, item in with_paths(items, path):
        yield from expression(item.get("expression") or "", f"{where}.expression", env)
        name = item.get("name") or ""
        if not name:
            yield say.required(f"{where}.name")
        else:
            yield from named(name, qualified_name_problems, f"{where}.name")
            if name in seen:
                yield say.duplicate(f"{where}.name", name)
        seen.add(name)


class WebhookRules(KindRules):
    """ValidatingWebhookConfiguration and MutatingWebhookConfiguration."""

    generation = True
    unconditional_update = False

    def defaults(self, obj: Obj) -> None:
        for hook in obj.get("webhooks") or []:
            hook.setdefault("failurePolicy", "Fail")
            hook.setdefault("matchPolicy", "Equivalent")
            hook.setdefault("namespaceSelector", {})
            hook.setdefault("objectSelector", {})
            hook.setdefault("timeoutSeconds", 10)
            if self.kind.startswith("Mutating"):
                hook.setdefault("reinvocationPolicy", "Never")
            for rule in hook.get("rules") or []:
                rule.setdefault("scope", "*")
            service = (hook.get("clientConfig") or {}).get("service")
            if service is not None:
                service.setdefault("port", 443)

    def spec_changed(self, new: Obj, old: Obj) -> bool:
        return new.get("webhooks") != old.get("webhooks")

    def validate(self, obj: Obj) -> list[Problem]:
        problems: list[Problem] = []
        seen: set[Any] = set()
        for where, hook in with_paths(obj.get("webhooks"), "webhooks"):
            problems += _webhook(hook, where)
            if hook.get("name") in seen:
                problems.append(say.duplicate(f"{where}.name", hook.get("name")))
            seen.add(hook.get("name"))
        return problems


def _webhook(hook: Obj, path: str) -> Problems:
    yield from _qualified(hook.get("name") or "", f"{path}.name")
    for where, rule in with_paths(hook.get("rules"), f"{path}.rules"):
        yield from resource_rule(rule, where)
    if hook.get("failurePolicy") is not None:
        yield from one_of(hook["failurePolicy"], ("Fail", "Ignore"), f"{path}.failurePolicy")
    yield from one_of(hook.get("matchPolicy"), ("Equivalent", "Exact"), f"{path}.matchPolicy")
    if hook.get("sideEffects") is None:
        yield say.required(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun")
    else:
        yield from one_of(hook["sideEffects"], ("None", "NoneOnDryRun"), f"{path}.sideEffects")
    seconds = hook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= 30:
        yield say.invalid(f"{path}.timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds")
    yield from label_selector(hook.get("namespaceSelector"), f"{path}.namespaceSelector")
    yield from label_selector(hook.get("objectSelector"), f"{path}.objectSelector")
    yield from client_config(hook.get("clientConfig") or {}, f"{path}.clientConfig")
    yield from match_conditions(hook.get("matchConditions") or [], f"{path}.matchConditions", MATCH_ENV)
    yield from _review_versions(hook.get("admissionReviewVersions") or [], f"{path}.admissionReviewVersions")
    if hook.get("reinvocationPolicy") is not None:
        yield from one_of(hook["reinvocationPolicy"], ("IfNeeded", "Never"), f"{path}.reinvocationPolicy")


def _qualified(name: str, path: str) -> Problems:
    if not name:
        yield say.required(path)
    elif why := subdomain_problems(name):
        yield from (say.invalid(path, name, each_why) for each_why in why)
    elif name.count(".") < 2:
        yield say.invalid(path, name, "should be a domain with at least three segments separated by dots")


def resource_rule(rule: Obj, path: str) -> Problems:
    operations = rule.get("operations") or []
    if not operations:
        yield say.required(f"{path}.operations")
    if "*" in operations and len(operations) > 1:
        yield say.invalid(f"{path}.operations", operations, "if '*' is present, must not specify other operations")
    for where, operation in with_paths(operations, f"{path}.operations"):
        yield from one_of(operation, _OPERATIONS, where)
    yield from _all_or_some(rule.get("apiGroups") or [], f"{path}.apiGroups", "API groups")
    versions = rule.get("apiVersions") or []
    yield from _all_or_some(versions, f"{path}.apiVersions", "API versions")
    yield from (say.required(where) for where, version in with_paths(versions, f"{path}.apiVersions") if not version)
    if rule.get("resources"):
        yield from _rule_resources(rule["resources"], f"{path}.resources")
    else:
        yield say.required(f"{path}.resources")
    names = rule.get("resourceNames") or []
    yield from (say.duplicate(f"{path}.resourceNames[{index}]", names[index]) for index in repeated(names))
    if rule.get("scope") is not None:
        yield from one_of(rule["scope"], ("*", "Cluster", "Namespaced"), f"{path}.scope")


def _all_or_some(values: list[str], path: str, what: str) -> Problems:
    """A star, or a list without one."""
    if not values:
        yield say.required(path)
    elif "*" in values and len(values) > 1:
        yield say.invalid(path, values, f"if '*' is present, must not specify other {what}")


def _rule_resources(values: list[str], path: str) -> Problems:
    """`*` and `*/*` stand alone, and so do the wildcards `pods/*` and `*/scale` for what they already say."""
    all_of, all_with = set(), set()
    for where, text in with_paths(values, path):
        if not text:
            yield say.required(where)
        resource, slash, subresource = text.partition("/")
        if not slash:
            continue
        if resource in all_of:
            yield say.invalid(where, text, f"if '{resource}/*' is present, must not specify {text}")
        if subresource in all_with:
            yield say.invalid(where, text, f"if '*/{subresource}' is present, must not specify {text}")
        if subresource == "*":
            all_of.add(resource)
        if resource == "*":
            all_with.add(subresource)
    if "*/*" in values and len(values) > 1:
        yield say.invalid(path, values, "if '*/*' is present, must not specify other resources")
    if "*" in values and [value for value in values if value and "/" not in value][-1] != "*":
        yield say.invalid(path, values, "if '*' is present, must not specify other resources without subresources")


def client_config(config: Obj, path: str) -> Problems:
    url, service = config.get("url"), config.get("service")
    if bool(url) == bool(service):
        yield say.required(path, "exactly one of url or service is required")
    if url:
        yield from _url(url, f"{path}.url")
    if service:
        yield from _service(service, f"{path}.service")


def _url(url: str, path: str) -> Problems:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        yield say.invalid(path, url, f"url must be a valid URL: {error}; desired format: https://host[/path]")
        return
    if parts.scheme != "https":
        yield say.invalid(
            path, parts.scheme, "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        )
    if not parts.netloc:
        yield say.invalid(path, parts.netloc, "host must be specified; desired format: https://host[/path]")
    if "@" in parts.netloc:
        yield say.invalid(path, parts.netloc.rpartition("@")[0], "user information is not permitted in the URL")
    if parts.fragment:
        yield say.invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield say.invalid(path, parts.query, "query parameters are not permitted in the URL")


def _service(service: Obj, path: str) -> Problems:
    for name in ("name", "namespace"):
        if not service.get(name):
            yield say.required(f"{path}.{name}")
    number = service.get("port") or 0
    if not 1 <= number <= 65535:
        yield say.invalid(f"{path}.port", number, "port is not valid: must be between 1 and 65535, inclusive")
    way = service.get("path") or "/"
    if way != "/" and not way.startswith("/"):
        yield say.invalid(f"{path}.path", way, "must start with a '/'")
    for number, segment in enumerate(way[1:].removesuffix("/").split("/")) if way != "/" else ():
        for why in subdomain_problems(segment) if segment else ():
            yield say.invalid(f"{path}.path", way, f"segment[{number}]: {why}")
        if not segment:
            yield say.invalid(f"{path}.path", way, f"segment[{number}] may not be empty")


def _review_versions(versions: list[str], path: str) -> Problems:
    if not versions:
        yield say.required(path, "must specify one of v1, v1beta1")
        return
    again = set(repeated(versions))
    for index, version in enumerate(versions):
        if why := dns1035_problems(version):
            yield say.invalid(f"{path}[{index}]", version, ",".join(why))
        if index in again:
            yield say.invalid(f"{path}[{index}]", version, "duplicate version")
    if not {"v1", "v1beta1"} & set(versions):
        yield say.invalid(path, versions, "must include at least one of v1, v1beta1")
