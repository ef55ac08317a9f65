"""The authorizer of admission expressions: may this user, or a service account, do that? Same form as kubernetes.py.

    authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()

Who answers is handed in (`Decide`); nothing here knows roles. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gangline.rules.cel.values import CelError

SIGNATURES = """
authorizer .path(string) -> pathcheck
authorizer .group(string) -> groupcheck
authorizer .serviceAccount(string, string) -> authorizer
groupcheck .resource(string) -> resourcecheck
resourcecheck .subresource(string) -> resourcecheck
resourcecheck .namespace(string) -> resourcecheck
resourcecheck .name(string) -> resourcecheck
resourcecheck .fieldSelector(string) -> resourcecheck
resourcecheck .labelSelector(string) -> resourcecheck
pathcheck .check(string) -> decision
resourcecheck .check(string) -> decision
decision .allowed() -> bool
decision .reason() -> string
decision .errored() -> bool
decision .error() -> string
"""


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """What is asked for; a path, or a resource."""

    decide: Decide
    account: tuple[str, str] | None = None
    """Namespace and name of the service account that is asked for, instead of who makes the request."""
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


Decide = Callable[["AccessQuestion", str], tuple[bool, str]]
"""From a question and a verb to whether it is allowed, and why."""


class CelAuthorizer(Mapping[str, AccessQuestion]):
    """The value `authorizer`; its one field is the resource of the request itself."""

    def __init__(self, question: AccessQuestion, own: AccessQuestion | None = None) -> None:
        self.question = question
        self._fields = {} if own is None else {"requestResource": own}

    def __getitem__(self, name: str) -> AccessQuestion:
        if name not in self._fields:
            raise CelError(f"no such key: {name}")
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


@dataclass(frozen=True, slots=True)
class AccessAnswer:
    allowed: bool
    reason: str


def _check(question: AccessQuestion, verb: str) -> AccessAnswer:
    return AccessAnswer(*question.decide(question, verb))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    ".path": lambda authority, path: replace(authority.question, path=path),
    ".group": lambda authority, group: replace(authority.question, group=group),
    ".serviceAccount": lambda authority, namespace, name: CelAuthorizer(
        replace(authority.question, account=(namespace, name))
    ),
    ".resource": lambda question, resource: replace(question, resource=resource),
    ".subresource": lambda question, subresource: replace(question, subresource=subresource),
    ".namespace": lambda question, namespace: replace(question, namespace=namespace),
    ".name": lambda question, name: replace(question, name=name),
    ".fieldSelector": lambda question, selector: question,
    ".labelSelector": lambda question, selector: question,
    ".check": _check,
    ".allowed": lambda verdict: verdict.allowed,
    ".reason": lambda verdict: verdict.reason,
    ".errored": lambda verdict: False,
    ".error": lambda verdict: "",
}
