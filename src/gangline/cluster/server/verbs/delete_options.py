"""How a caller wants something deleted: DeleteOptions from the body or the query, and what is wrong with them.

deletes.py and the eviction of pods read them. Nothing here decides what a delete does: deletion.py does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gangline.cluster.schema import BadForm, WrongType, builtin_schema
from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.status import bad_request, conflict, invalid
from gangline.cluster.server.verbs.bodies import dry_run_problems
from gangline.cluster.server.verbs.body_kinds import unreadable_kind
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.wire.codec import not_an_object
from gangline.errors import Problem

POLICIES = ("Foreground", "Background", "Orphan")


@dataclass(slots=True)
class DeleteOptions:
    grace: int | None = None
    policy: str | None = None
    orphan: bool | None = None
    uid: str = ""
    revision: str = ""
    dry_run: bool = False
    dry_run_given: list[str] = field(default_factory=list)
    raw: dict[str, Any] = field(default_factory=dict)


def read_options(call: ServerCall) -> DeleteOptions:
    """DeleteOptions from the body, or else from the query."""
    options = _from_body(call) if call.request.body.strip() else _from_query(call)
    check_options(options)
    return options


def _from_query(call: ServerCall) -> DeleteOptions:
    argument = call.request.argument
    options = DeleteOptions(dry_run=call.dry_run, dry_run_given=call.request.arguments("dryRun"))
    if call.verb == "delete":
        options.uid, options.revision = argument("uid"), argument("resourceVersion")
    options.grace = call.number("gracePeriodSeconds")
    options.policy = next(iter(call.request.arguments("propagationPolicy")), None)
    if argument("orphanDependents"):
        options.orphan = truth(argument("orphanDependents"))
    return options


def _from_body(call: ServerCall) -> DeleteOptions:
    body = _read_body(call)
    try:
        wanted, _ = builtin_schema("meta", "DeleteOptions").admit(body)
    except (WrongType, BadForm) as error:
        raise bad_request(f'DeleteOptions in version "v1" cannot be handled as a DeleteOptions: {error}') from None
    conditions = wanted.get("preconditions") or {}
    return DeleteOptions(
        wanted.get("gracePeriodSeconds"),
        wanted.get("propagationPolicy"),
        wanted.get("orphanDependents"),
        conditions.get("uid") or "",
        conditions.get("resourceVersion") or "",
        call.dry_run or bool(wanted.get("dryRun")),
        wanted.get("dryRun") or call.request.arguments("dryRun"),
        body,
    )


def _read_body(call: ServerCall) -> Obj:
    body = call.data("")
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise not_an_object(body)
    if why := unreadable_kind(body):
        raise bad_request(why)
    kind = body.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions":
        raise bad_request(
            f'no kind "{kind}" is registered for version "{body.get("apiVersion") or "meta.k8s.io/v1"}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
    return body


def check_options(options: DeleteOptions) -> None:
    problems: list[Problem] = []
    path = "propagationPolicy"
    problems += dry_run_problems(options.dry_run_given)
    if options.policy is not None and options.orphan is not None:
        problems.append(
            Problem(
                path, f'Invalid value: "{options.policy}": orphanDependents and deletionPropagation cannot be both set'
            )
        )
    if options.policy is not None and options.policy not in POLICIES:
        problems.append(
            Problem(
                path,
                f'Unsupported value: "{options.policy}": supported values: "Foreground", "Background", "Orphan", "nil"',
                "FieldValueNotSupported",
            )
        )
    if problems:
        raise invalid("meta.k8s.io", "DeleteOptions", "", problems)


def check_preconditions(call: ServerCall, options: DeleteOptions, obj: Obj) -> None:
    resource, about = call.resource, obj["metadata"]
    if options.uid and options.uid != about["uid"]:
        raise conflict(
            resource.shelf[0],
            resource.kind,
            call.name,
            f"the UID in the precondition ({options.uid}) does not match the UID "
            f"in record ({about['uid']}). The object might have been deleted and then recreated",
        )
    if options.revision and options.revision != about["resourceVersion"]:
        raise conflict(
            resource.shelf[0],
            resource.kind,
            call.name,
            f"the ResourceVersion in the precondition ({options.revision}) does "
            f"not match the ResourceVersion in record ({about['resourceVersion']}). "
            "The object might have been modified",
        )
