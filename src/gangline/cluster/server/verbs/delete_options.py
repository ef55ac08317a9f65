"""How a caller wants something deleted: DeleteOptions from the body or the query, and what is wrong with them.

deletes.py and the eviction of pods read them. Nothing here decides what a delete does: deletion.py does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gangline.cluster.schema import BadForm, WrongType, builtin_schema
from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.status import bad_request, conflict, invalid
from gangline.cluster.server.verbs.meta import Obj
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
    dry_run_given: list[str] = field(default_factory=lambda: ["All"])
    raw: dict[str, Any] = field(default_factory=dict)


def read_options(call: ServerCall) -> DeleteOptions:
    """DeleteOptions from the body, or else from the query."""
    request = call.request
    asked = request.argument("dryRun")
    options = DeleteOptions(dry_run=call.dry_run, dry_run_given=[asked] if asked else ["All"])
    if request.body.strip():
        body = call.data("")
        if not isinstance(body, dict):
            raise bad_request("couldn't get version/kind; json parse error: the body is not an object")
        kind = body.get("kind") or "DeleteOptions"
        if kind != "DeleteOptions":
            raise bad_request(
                f'no kind "{kind}" is registered for version "{body.get("apiVersion")}" in scheme '
                '"pkg/runtime/scheme.go:111"'
            )
        try:
            wanted_options, _ = builtin_schema("meta", "DeleteOptions").admit(body)
        except (WrongType, BadForm) as error:
            raise bad_request(f'DeleteOptions in version "v1" cannot be handled as a DeleteOptions: {error}') from None
        wanted = wanted_options.get("preconditions") or {}
        dry_run, given = (
            options.dry_run or bool(wanted_options.get("dryRun")),
            wanted_options.get("dryRun") or options.dry_run_given,
        )
        options = DeleteOptions(
            wanted_options.get("gracePeriodSeconds"),
            wanted_options.get("propagationPolicy"),
            wanted_options.get("orphanDependents"),
            wanted.get("uid") or "",
            wanted.get("resourceVersion") or "",
            dry_run,
            given,
            body,
        )
    else:
        options.grace = call.number("gracePeriodSeconds")
        options.policy = next((value for name, value in request.query if name == "propagationPolicy"), None)
        if request.argument("orphanDependents"):
            options.orphan = truth(request.argument("orphanDependents"))
    check_options(options)
    return options


def check_options(options: DeleteOptions) -> None:
    problems = []
    path = "propagationPolicy"
    if options.dry_run and set(options.dry_run_given) != {"All"}:
        shown = ",".join(f'"{item}"' for item in options.dry_run_given)
        problems.append(
            Problem("dryRun", f'Unsupported value: [{shown}]: supported values: "All"', "FieldValueNotSupported")
        )
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
