"""The shape of an admission hook: a plain function that completes or refuses an object.

The same Hook is registered in the embedded server (in process) and served as a webhook to real clusters, so both say
the same. Hooks themselves live in admission/; nothing here decides anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gangline.api.meta import Raw
from gangline.errors import Problem, list_problems


@dataclass(frozen=True, slots=True)
class HookReview:
    """One write that asks to be admitted."""

    operation: str
    """CREATE, UPDATE or DELETE."""
    obj: Raw
    """The object as it would be stored; on DELETE the one that is stored."""
    old: Raw | None = None
    namespace: str = ""
    name: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    subresource: str = ""
    dry_run: bool = False

    @property
    def leaving(self) -> bool:
        """An update of an object that is being deleted: a finalizer comes off, or a last word is written."""
        return self.operation == "UPDATE" and bool((self.obj.get("metadata") or {}).get("deletionTimestamp"))

    @property
    def same_spec(self) -> bool:
        """An update that leaves the spec as it is stored."""
        return self.operation == "UPDATE" and self.old is not None and self.obj.get("spec") == self.old.get("spec")


@dataclass(frozen=True, slots=True)
class Denied:
    """A refusal. Problems, where given, become the causes of the answer."""

    message: str
    problems: tuple[Problem, ...] = ()
    code: int = 403
    reason: str = "Forbidden"


def denied(problems: list[Problem], code: int = 422, reason: str = "Invalid") -> Denied | None:
    """A refusal that lists every problem, or None where there is none."""
    return Denied(list_problems(problems), tuple(problems), code, reason) if problems else None


@dataclass(frozen=True, slots=True)
class Hook:
    name: str
    group: str
    plural: str
    versions: tuple[str, ...] = ("*",)
    operations: tuple[str, ...] = ("CREATE", "UPDATE")
    subresources: tuple[str, ...] = ("",)
    mutate: Callable[[HookReview], Raw | Denied] | None = None
    validate: Callable[[HookReview], Denied | None] | None = None
    warn: Callable[[HookReview], list[str]] = field(default=lambda review: [])
    matches: Callable[[HookReview], bool] = field(default=lambda review: True)
    """Only objects that are ours: a hook that matches everything would hurt bystanders."""
    condition: str = ""
    """What `matches` says, in CEL, so that a cluster does not even ask us about objects that are not ours; empty:
    nothing more."""
    exempt: tuple[str, ...] = ()
    """Namespaces whose objects are never ours."""
    where: Raw | None = None
    """A term of a namespace selector that `matches` implies, so that a cluster does not ask about other namespaces;
    None: every one."""

    def asks(self, review: HookReview) -> bool:
        """Whether this write is judged. One of an object that is being deleted never is: whatever became of the rules
        since, it can go."""
        return not review.leaving and self.matches(review)
