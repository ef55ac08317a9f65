"""Who owns which field after a write: managedFields as a kind keeps them, for every verb but server-side apply.

patch/ownership.py has the rule; here it meets a request.
"""

from __future__ import annotations

from typing import Any

from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.core import Core
from gangline.cluster.server.patch import ownership
from gangline.cluster.server.patch.apply import UntypableError, managed
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.cluster.server.verbs.meta import Obj


def track(core: Core, call: ServerCall, old: Obj | None, new: Obj) -> Obj:
    """Note in managedFields what this write changes."""
    rules = rules_for(call.resource)
    endpoint = "" if call.subresource == "scale" else call.subresource
    try:
        return ownership.track(
            old,
            new,
            call.manager,
            rules.schema,
            core.now(),
            call.subresource,
            call.resource.api_version,
            tuple(rules.reset(endpoint)),
        )
    except UntypableError:
        return _with_accounts_of(old, new)


def unreadable_accounts(entries: Any) -> str:
    """Why these are no accounts of who owns which field; nothing if they are."""
    try:
        managed.read(entries)
    except ValueError as error:
        return str(error)
    return ""


def _with_accounts_of(old: Obj | None, new: Obj) -> Obj:
    """An object that no account can be given of keeps the accounts it had; validation will say what is wrong with
    it."""
    kept = old["metadata"].get("managedFields") if old else None
    about = {name: value for name, value in new["metadata"].items() if name != "managedFields"}
    return {**new, "metadata": about | ({"managedFields": kept} if kept else {})}
