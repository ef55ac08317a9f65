"""Admission hooks of our own, inside the embedded server: the same functions that a webhook would serve, without the
socket."""

from __future__ import annotations

from typing import Any

from gangline.cluster.server.admit.chain import Admission, WriteReview
from gangline.cluster.server.status import failure
from gangline.errors import ApiError, Problem
from gangline.rules import hooks


def admit_with(admission: Admission, hook: hooks.Hook) -> None:
    """Register one hook."""

    def asked(review: WriteReview) -> hooks.HookReview | None:
        obj = review.object if review.object is not None else review.old
        if obj is None or ("*" not in hook.versions and review.resource.version not in hook.versions):
            return None
        about = hooks.HookReview(
            review.operation,
            obj,
            review.old,
            review.namespace,
            review.name,
            review.user.name,
            tuple(review.user.groups),
            review.subresource,
            review.dry_run,
        )
        return about if hook.asks(about) else None

    def mutate(review: WriteReview) -> dict[str, Any] | None:
        about = asked(review)
        if about is None or hook.mutate is None or review.operation == "DELETE":
            return None
        changed = hook.mutate(about)
        if isinstance(changed, hooks.Denied):
            raise refusal(hook, changed, review)
        return changed

    def validate(review: WriteReview) -> list[Problem]:
        about = asked(review)
        if about is None:
            return []
        review.warnings += hook.warn(about)
        denied = hook.validate(about) if hook.validate is not None else None
        if denied is not None:
            raise refusal(hook, denied, review)
        return []

    admission.add(
        hook.group,
        hook.plural,
        hook.operations,
        mutate=mutate if hook.mutate else None,
        validate=validate,
        name=hook.name,
        subresources=hook.subresources,
    )


def refusal(hook: hooks.Hook, denied: hooks.Denied, review: WriteReview) -> ApiError:
    """The Status a webhook's refusal becomes."""
    causes = [
        {"reason": problem.kind, "message": problem.message, "field": problem.path} for problem in denied.problems
    ]
    message = f'admission webhook "{hook.name}" denied the request: {denied.message}'
    about = {"group": review.resource.group, "kind": review.resource.kind, "name": review.name, "causes": causes}
    return failure(denied.code, denied.reason, message, about if causes else None)
