"""From a request's bytes to an object of the right kind, as far as it can be said without looking at what is stored.

Wrong kinds, undecodable values and unknown or doubled fields are found here; fieldValidation says whether the latter
refuse or warn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gangline.client.wire import JSON
from gangline.cluster.schema import BadForm, WrongType
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.status import invalid
from gangline.cluster.server.verbs.body_kinds import cannot_be_handled, check_kind
from gangline.cluster.server.verbs.kind_rules import Rules
from gangline.cluster.server.verbs.meta import MANAGER_LIMIT
from gangline.cluster.server.wire.codec import (
    check_body_type,
    duplicate_fields,
    has_duplicates,
    keys_in_order,
    media_type,
    not_an_object,
)
from gangline.errors import ApiError, Problem
from gangline.rules.values import problems as say

Obj = dict[str, Any]
_OPTIONS = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}


def check_options(call: ServerCall, applying: bool = False) -> None:
    """The query arguments every write may have; of a create, the form of its body is looked at first."""
    if call.verb == "create":
        check_body_type(call.request.content_type)
    argument = call.request.argument
    problems = []
    manager, strictness = argument("fieldManager"), argument("fieldValidation")
    if applying and not manager:
        problems.append(Problem("fieldManager", "Required value: is required for apply patch", "FieldValueRequired"))
    if call.verb == "patch" and not applying and call.request.arguments("force"):
        problems.append(Problem("force", "Forbidden: may not be specified for non-apply patch", "FieldValueForbidden"))
    if len(manager.encode()) > MANAGER_LIMIT:
        problems.append(
            Problem("fieldManager", f"Too long: may not be more than {MANAGER_LIMIT} bytes", "FieldValueTooLong")
        )
    if not manager.isprintable():
        odd = next(at for at, mark in enumerate(manager) if not mark.isprintable())
        problems.append(
            say.invalid("fieldManager", manager, f"invalid character U+{ord(manager[odd]):04X} (at position {odd})")
        )
    problems += dry_run_problems(call.request.arguments("dryRun"))
    if strictness not in ("", "Ignore", "Strict", "Warn"):
        problems.append(
            Problem(
                "fieldValidation",
                f'Unsupported value: "{strictness}": supported values: "", "Ignore", "Strict", "Warn"',
                "FieldValueNotSupported",
            )
        )
    if problems:
        raise invalid("meta.k8s.io", _OPTIONS[call.verb], "", problems)


def dry_run_problems(given: Sequence[str]) -> list[Problem]:
    """Whoever says dryRun says All."""
    if all(value == "All" for value in given):
        return []
    shown = ",".join(say.quote(value) for value in given)
    return [Problem("dryRun", f'Unsupported value: [{shown}]: supported values: "All"', "FieldValueNotSupported")]


def read_object(call: ServerCall, rules: Rules) -> Obj:
    """The body of a POST or PUT, admitted and defaulted."""
    resource = call.resource
    doubled: list[str] = []
    body = call.data(resource.kind, doubled)
    if body is None:
        body = {}
    if not isinstance(body, dict):
        raise not_an_object(body, resource.kind, call.request.body)
    warnings = [f'duplicate field "{path}"' for path in doubled_fields(call, body)]
    check_kind(call, body)
    if doubled:
        strict = call.request.argument("fieldValidation") == "Strict"
        warnings += ["yaml: unmarshal errors:\n  " + "\n  ".join(doubled)] if strict else doubled
    return admit(call, body, rules, warnings, lambda why: cannot_be_handled(resource, body, why))


def doubled_fields(call: ServerCall, data: Any) -> list[str]:
    """Keys of a JSON body that stand twice, unless nobody wants to know."""
    body = call.request.body
    if call.request.argument("fieldValidation") == "Ignore" or media_type(call.request.content_type) != JSON:
        return []
    return duplicate_fields(body) if has_duplicates(body, data) else []


def _told(call: ServerCall, doubled: list[str], unknown: list[str]) -> list[str]:
    """What a caller may want to know of a body: its fields that stand twice, and those that nobody knows."""
    in_patch = call.verb == "patch"
    strange = [f'unknown field "{path}"' for path in (sorted(unknown) if in_patch else unknown)]
    return [*doubled, *strange] if in_patch or not (doubled and strange) else _in_order(call, doubled, strange)


def _in_order(call: ServerCall, doubled: list[str], unknown: list[str]) -> list[str]:
    """What is doubled or unknown in a JSON body, as it stands there."""
    keys = keys_in_order(call.request.body)
    texts = (f'{"duplicate" if again else "unknown"} field "{path}"' for path, again in keys)
    wanted = {*doubled, *unknown}
    ordered = list(dict.fromkeys(text for text in texts if text in wanted))
    return [*ordered, *(text for text in (*doubled, *unknown) if text not in ordered)]


Refuse = Callable[[str | WrongType], ApiError]
"""From what is wrong with a body to the error that says so."""


def admit(call: ServerCall, body: Obj, rules: Rules, warnings: list[str], refuse: Refuse, complete: bool = True) -> Obj:
    """Canonical, pruned and (if the object is complete) defaulted; `refuse` makes the error for what cannot be read or
    is not known under Strict."""
    meta = body.get("metadata")
    if meta is None:
        body = {**body, "metadata": {}}
    try:
        clean, unknown = rules.schema.admit(body)
    except WrongType as error:
        raise refuse(error) from None
    except BadForm as error:
        raise refuse(str(error)) from None
    warnings = _told(call, warnings, unknown)
    strictness = call.request.argument("fieldValidation")
    if warnings and strictness == "Strict":
        raise refuse("strict decoding error: " + ", ".join(warnings))
    if warnings and strictness != "Ignore":
        call.warnings.extend(warnings)
    if not isinstance(clean.get("metadata"), dict):
        raise refuse("json: cannot unmarshal into Go struct field .metadata of type v1.ObjectMeta")
    if isinstance(meta, dict) and meta.get("managedFields") == []:
        clean["metadata"]["managedFields"] = []
    if complete:
        rules.defaults(clean)
    return clean
