"""Rules of CustomResourceDefinition: names, versions, columns, subresources, conversion; its schemas are judged by
schema/wellformed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from gangline.cluster.kinds.admin.definition_paths import column_problems, scale_problems, selectable_problems
from gangline.cluster.kinds.admin.webhooks import client_config
from gangline.cluster.kinds.rules import KindRules, Obj
from gangline.cluster.schema.wellformed import schema_problems
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.formats import FORMATS
from gangline.rules.values.names import dns1035_problems, subdomain_problems

_HOISTED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
"""What the real server reports at the top when all versions say the same."""
_KNOWN_FORMATS = frozenset(FORMATS) | {"int32", "int64", "float", "double", "password", "binary"}

APPROVED = "api-approved.kubernetes.io"
APPROVAL_RULES = "https://github.com/kubernetes/enhancements/pull/1111"


class DefinitionRules(KindRules):
    generation = True
    has_status = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        names = spec.setdefault("names", {})
        if names.get("kind"):
            names.setdefault("singular", names["kind"].lower())
            names.setdefault("listKind", names["kind"] + "List")
        spec.setdefault("conversion", {"strategy": "None"})
        for webhook in filter(None, [(spec["conversion"].get("webhook") or {}).get("clientConfig")]):
            if webhook.get("service"):
                webhook["service"].setdefault("port", 443)

    def prepare_create(self, obj: Obj) -> None:
        super().prepare_create(obj)
        stored = next(
            (version["name"] for version in obj["spec"].get("versions") or [] if version.get("storage")), None
        )
        obj["status"] = {
            "conditions": None,
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": [stored] if stored is not None else None,
        }

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        super().prepare_update(new, old, subresource)
        stored = (new.get("status") or {}).get("storedVersions") or []
        fresh = [
            version["name"]
            for version in new["spec"].get("versions") or []
            if version.get("storage") and version["name"] not in stored
        ]
        if fresh:
            new["status"] = {**new["status"], "storedVersions": [*stored, *fresh]}

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_name(obj), *_spec(obj["spec"]), *_stored(obj), *_approval(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource:
            return [*_stored(new)]
        return [*_spec(new["spec"]), *_stored(new), *_immutable(new["spec"], old["spec"])]

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        formats: list[str] = []
        for version in (obj.get("spec") or {}).get("versions") or []:
            _unknown_formats((version.get("schema") or {}).get("openAPIV3Schema"), formats)
        return list(dict.fromkeys(f'unrecognized format "{item}"' for item in formats))


def _unknown_formats(schema: Any, formats: list[str]) -> None:
    if isinstance(schema, list):
        for item in schema:
            _unknown_formats(item, formats)
    elif isinstance(schema, dict):
        form = schema.get("format")
        if isinstance(form, str) and form not in _KNOWN_FORMATS and schema.get("type"):
            formats.append(form)
        for name, item in schema.items():
            if name not in ("default", "enum", "example"):
                _unknown_formats(item, formats)


def _name(obj: Obj) -> Iterator[Problem]:
    spec = obj["spec"]
    right = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"
    for field in ("generateName", "name"):
        name = obj["metadata"].get(field) or ""
        if name and name != right:
            yield say.invalid(f"metadata.{field}", name, 'must be spec.names.plural+"."+spec.group')


def _approval(obj: Obj) -> Iterator[Problem]:
    """Groups of Kubernetes itself say where they were approved, or that they were not."""
    group = f".{obj['spec'].get('group') or ''}"
    if not group.endswith((".k8s.io", ".kubernetes.io")):
        return
    approval = str((obj["metadata"].get("annotations") or {}).get(APPROVED) or "")
    where = f"metadata.annotations[{APPROVED}]"
    needed = f'protected groups must have approval annotation "{APPROVED}"'
    if not approval:
        yield say.required(where, f"{needed}, see {APPROVAL_RULES}")
    elif not approval.startswith("unapproved") and not _is_url(approval):
        yield say.invalid(
            where, approval, f'{needed} with either a URL or a reason starting with "unapproved", see {APPROVAL_RULES}'
        )


def _is_url(text: str) -> bool:
    try:
        return all(urlsplit(text)[:2])
    except ValueError:
        return False


def _spec(spec: Obj) -> Iterator[Problem]:
    versions = spec.get("versions") or []
    yield from _group(spec.get("group") or "")
    yield from _scope(spec.get("scope") or "")
    shared = _shared(versions)
    yield from _versions(versions, shared)
    if spec.get("preserveUnknownFields"):
        yield say.invalid(
            "spec.preserveUnknownFields",
            True,
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        )
    yield from _names(spec.get("names") or {})
    yield from _parts(shared, "spec", "validation", shared)
    yield from _conversion(spec.get("conversion") or {})


def _group(group: str) -> Iterator[Problem]:
    if not group:
        yield say.required("spec.group")
    elif why := subdomain_problems(group):
        yield say.invalid("spec.group", group, ",".join(why))
    elif "." not in group:
        yield say.invalid("spec.group", group, "should be a domain with at least one dot")


def _scope(scope: str) -> Iterator[Problem]:
    if not scope:
        yield say.required("spec.scope")
    elif scope not in ("Cluster", "Namespaced"):
        yield say.unsupported("spec.scope", scope, ("Cluster", "Namespaced"))


def _versions(versions: list[Obj], shared: Obj) -> Iterator[Problem]:
    if (shared.get("schema") or {}).get("openAPIV3Schema") is None:
        for index, version in enumerate(versions):
            if (version.get("schema") or {}).get("openAPIV3Schema") is None:
                yield say.required(f"spec.versions[{index}].schema.openAPIV3Schema")
    for index, version in enumerate(versions):
        yield from _version(version, shared, f"spec.versions[{index}]")
    yield from _version_list(versions, shared)
    if versions and versions[0].get("name") and (why := dns1035_problems(versions[0]["name"])):
        yield say.invalid("spec.version", versions[0]["name"], ",".join(why))


def _shared(versions: list[Obj]) -> Obj:
    """The parts all versions have in common; they are judged once."""
    if not versions:
        return {}
    first = versions[0]
    return {
        name: first[name]
        for name in _HOISTED
        if name in first and all(version.get(name) == first[name] for version in versions)
    }


def _version(version: Obj, shared: Obj, path: str) -> Iterator[Problem]:
    if why := dns1035_problems(version.get("name") or ""):
        yield say.invalid(f"{path}.name", version.get("name") or "", ",".join(why))
    warning = version.get("deprecationWarning")
    if warning is not None:
        if not version.get("deprecated"):
            yield say.invalid(f"{path}.deprecationWarning", warning, "can only be set for deprecated versions")
        elif not warning:
            yield say.invalid(f"{path}.deprecationWarning", warning, "must not be an empty string")
        elif (odd := next((at for at, mark in enumerate(warning) if not mark.isprintable()), None)) is not None:
            yield say.invalid(
                f"{path}.deprecationWarning",
                warning,
                f"must only contain printable UTF-8 characters; non-printable character found at index {odd}",
            )
        elif len(warning) > 256:
            yield say.invalid(f"{path}.deprecationWarning", warning, "must be <= 256 characters long")
    own = {name: value for name, value in version.items() if name not in shared}
    yield from _parts(own, path, "schema", version)


def _parts(about: Obj, path: str, schema_name: str, whole: Obj) -> Iterator[Problem]:
    schema = (about.get("schema") or {}).get("openAPIV3Schema")
    if schema is not None:
        yield from schema_problems(schema, f"{path}.{schema_name}.openAPIV3Schema")
    scale = (about.get("subresources") or {}).get("scale")
    if scale is not None:
        yield from scale_problems(scale, f"{path}.subresources.scale")
    for index, column in enumerate(about.get("additionalPrinterColumns") or []):
        yield from column_problems(column, f"{path}.additionalPrinterColumns[{index}]")
    judged = (whole.get("schema") or {}).get("openAPIV3Schema")
    yield from selectable_problems(about.get("selectableFields") or [], judged, f"{path}.selectableFields")


def _version_list(versions: list[Obj], shared: Obj) -> Iterator[Problem]:
    names = [version.get("name") for version in versions]
    dumped = [
        {
            "Name": version.get("name", ""),
            "Served": bool(version.get("served")),
            "Storage": bool(version.get("storage")),
            "Deprecated": bool(version.get("deprecated")),
            "DeprecationWarning": version.get("deprecationWarning"),
            "Schema": None,
            "Subresources": None,
            "AdditionalPrinterColumns": None,
            "SelectableFields": None,
        }
        for version in versions
    ]
    if len(set(names)) != len(names):
        yield _dump("spec.versions", dumped, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield _dump("spec.versions", dumped, "must have exactly one version marked as storage version")


def _dump(path: str, value: Any, detail: str) -> Problem:
    return Problem(
        path, f"Invalid value: {json.dumps(value, separators=(',', ':'))}: {detail}", "FieldValueInvalid", None
    )


def _names(names: Obj) -> Iterator[Problem]:
    for word in ("plural", "singular", "kind", "listKind"):
        if not names.get(word):
            yield say.required(f"spec.names.{word}")
    for word in ("plural", "singular"):
        if names.get(word):
            yield from _served_name(names[word], f"spec.names.{word}")
    for word in ("kind", "listKind"):
        if names.get(word) and (why := dns1035_problems(names[word].lower())):
            yield say.invalid(
                f"spec.names.{word}", names[word], "may have mixed case, but should otherwise match: " + ",".join(why)
            )
    for index, short in enumerate(names.get("shortNames") or []):
        yield from _served_name(short, f"spec.names.shortNames[{index}]")
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield say.invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same")
    for index, category in enumerate(names.get("categories") or []):
        yield from _served_name(category, f"spec.names.categories[{index}]")


def _served_name(name: str, path: str) -> Iterator[Problem]:
    if why := dns1035_problems(name):
        yield say.invalid(path, name, ",".join(why))


def _conversion(conversion: Obj) -> Iterator[Problem]:
    path, strategy, webhook = "spec.conversion", conversion.get("strategy") or "", conversion.get("webhook") or {}
    if not strategy:
        yield say.required(f"{path}.strategy")
    elif strategy not in ("None", "Webhook"):
        yield say.unsupported(f"{path}.strategy", strategy, ("None", "Webhook"))
    if strategy != "Webhook":
        for name, field in (
            ("clientConfig", "webhookClientConfig"),
            ("conversionReviewVersions", "conversionReviewVersions"),
        ):
            if webhook.get(name):
                yield say.forbidden(f"{path}.{field}", "should not be set when strategy is not set to Webhook")
        return
    client = webhook.get("clientConfig")
    if client is None:
        yield say.required(f"{path}.webhookClientConfig", "required when strategy is set to Webhook")
    else:
        yield from client_config(client, f"{path}.webhookClientConfig")
    yield from _review_versions(webhook.get("conversionReviewVersions") or [], path)


def _review_versions(versions: list[str], path: str) -> Iterator[Problem]:
    if not versions:
        yield say.required(f"{path}.conversionReviewVersions")
    for index, version in enumerate(versions):
        where = f"{path}.conversionReviewVersions[{index}]"
        if version in versions[:index]:
            yield say.invalid(where, version, "duplicate version")
        else:
            yield from (say.invalid(where, version, why) for why in dns1035_problems(version))
    if versions and not {"v1", "v1beta1"} & set(versions):
        yield say.invalid(f"{path}.conversionReviewVersions", versions, "must include at least one of v1, v1beta1")


def _stored(obj: Obj) -> Iterator[Problem]:
    path, stored = "status.storedVersions", (obj.get("status") or {}).get("storedVersions") or []
    if not stored:
        yield say.invalid(path, None, "must have at least one stored version")
        return
    unheard = {name: index for index, name in enumerate(stored)}
    for version in obj["spec"].get("versions") or []:
        if version.get("storage") and version["name"] not in unheard:
            yield say.invalid(path, stored, f"must have the storage version {version['name']}")
        unheard.pop(version.get("name"), None)
    for name, index in unheard.items():
        yield say.invalid(
            f"{path}[{index}]",
            name,
            f"missing from spec.versions; {name} was previously a storage version, and must "
            f"remain in spec.versions until a storage migration ensures no data remains persisted in {name} and "
            f"removes {name} from status.storedVersions",
        )


def _immutable(new: Obj, old: Obj) -> Iterator[Problem]:
    for path in (("scope",), ("group",), ("names", "kind"), ("names", "plural")):
        before, after = _at(old, path), _at(new, path)
        if before != after:
            yield say.invalid("spec." + ".".join(path), after, "field is immutable")


def _at(obj: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        obj = (obj or {}).get(name)
    return obj
