"""What a request is about: the resource and the subresource that answer it, or why none does.

Pure: server.py asks between knowing who asks and handing the `ServerCall` to a verb."""

from __future__ import annotations

from gangline.client.wire import Request, User
from gangline.cluster.server.call import PathParts, ServerCall, check_timeout, fits_scope
from gangline.cluster.server.catalogue import DEPRECATED, Catalogue, Resource, Subresource
from gangline.cluster.server.status import (
    bad_request,
    failure,
    method_not_allowed,
    no_such_resource,
    not_found,
    qualified,
)
from gangline.errors import ApiError

ACROSS = ("list", "watch")
"""Verbs that custom resources in namespaces have without one."""
UNNAMED = ("list", "watch", "deletecollection")
"""Verbs about many objects; a name in their path is that of the namespace."""


class PageNotFound(ApiError):
    """A group nobody serves: plain text, not a Status."""

    def __init__(self) -> None:
        super().__init__({"message": "404 page not found", "code": 404}, 404)


def understand(catalogue: Catalogue, request: Request, user: User, verb: str, parts: PathParts) -> ServerCall:
    """The call that a request stands for; raises what a kube-apiserver answers where nothing can be called."""
    resource = _resource(catalogue, parts)
    try:
        sub = _subresource(resource, parts)
        _check_verb(request, verb, parts, resource, sub)
    except PageNotFound:
        raise
    except ApiError as error:
        error.warnings = _warnings(resource) if resource.custom else ()
        raise
    namespace = parts.namespace if resource.namespaced else ""
    call = ServerCall(request, user, verb, resource, namespace, parts.name, parts.subresource, sub)
    if resource.custom and resource.custom.terminating and verb == "create" and not sub:
        raise failure(
            405,
            "MethodNotAllowed",
            "create not allowed while custom resource definition is terminating",
            {"group": resource.group, "kind": resource.plural},
        )
    if request.query:
        check_timeout(request)
    call.warnings.extend(_warnings(resource))
    return call


def _warnings(resource: Resource) -> tuple[str, ...]:
    """That a version is deprecated."""
    if resource.custom:
        return tuple(resource.custom.warnings)
    deprecated = DEPRECATED.get((resource.group, resource.plural))
    return (deprecated,) if deprecated else ()


def _resource(catalogue: Catalogue, parts: PathParts) -> Resource:
    group = parts.group or ""
    if group and not catalogue.group(group):
        raise PageNotFound()
    resource = catalogue.find(group, parts.version, parts.plural)
    if resource is None:
        raise PageNotFound() if catalogue.is_custom(group) else no_such_resource()
    if not resource.stored and parts.name and not parts.subresource:
        raise no_such_resource()
    if not fits_scope(resource, parts) or (parts.rest and parts.subresource != "proxy"):
        raise PageNotFound() if resource.custom else no_such_resource()
    return resource


def _subresource(resource: Resource, parts: PathParts) -> Subresource | None:
    if not parts.subresource:
        return None
    sub = resource.subresources.get(parts.subresource)
    if sub is None:
        raise not_found(parts.group or "", parts.plural, parts.name) if resource.custom else no_such_resource()
    return sub


def _check_verb(request: Request, verb: str, parts: PathParts, resource: Resource, sub: Subresource | None) -> None:
    """Whether the method is one that this path has."""
    if resource.custom:
        _check_custom_verb(verb, parts, resource, sub)
        return
    if not verb or request.method == "HEAD" or verb not in (sub.verbs if sub else resource.verbs):
        raise method_not_allowed()
    makes_new = verb == "create" and not parts.subresource
    if makes_new == bool(parts.name) and verb not in UNNAMED:
        raise method_not_allowed()
    if resource.namespaced and not parts.namespace and verb in ("create", "deletecollection"):
        raise method_not_allowed()


def _check_custom_verb(verb: str, parts: PathParts, resource: Resource, sub: Subresource | None) -> None:
    """Custom resources are served by what a method stands for; whether a path has a name is looked at later, if at
    all."""
    if resource.namespaced and not parts.namespace and verb not in ACROSS:
        raise PageNotFound()
    if verb not in (sub.verbs if sub else resource.verbs):
        message = f'{verb} is not supported on resources of kind "{qualified(resource.group, resource.plural)}"'
        raise failure(405, "MethodNotAllowed", message, {"group": resource.group, "kind": resource.plural})
    if verb == "update" and not parts.name:
        raise bad_request("name must be provided")
