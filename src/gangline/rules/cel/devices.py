"""Which devices a selector of a DeviceClass or a device request means: CEL over one device.

The server checks expressions with `DEVICE_ENV` when they are written; the scheduler evaluates them with `selects` when
it chooses devices. Compiled expressions are kept. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangline.api.kept import kept
from gangline.rules import cel
from gangline.rules.cel.functions import kubernetes
from gangline.rules.values.schema_node import SchemaNode

_TEXT = SchemaNode("scalar", "string", "str")
_DEVICE = SchemaNode(
    "struct",
    fields={
        "driver": _TEXT,
        "attributes": SchemaNode("map", values=SchemaNode("map", values=SchemaNode("intstr"))),
        "capacity": SchemaNode("map", values=SchemaNode("map", values=SchemaNode("intstr"))),
        "allowMultipleAllocations": SchemaNode("scalar", "boolean", "bool"),
    },
)
DEVICE_ENV = cel.Env({"device": cel.kind_of(_DEVICE)})
"""What a selector may speak of: `device.driver`, `device.attributes[domain].name`, `device.capacity[domain].name`."""


STEPS = 10_000
"""Of one selector for one device: a hundred times what any needs. A cluster has thousands of devices, and whoever may
make a claim may write a selector."""


class AttributeDomains(dict[str, dict[str, Any]]):
    """Values by domain; a domain that nobody wrote is empty, so that `has(device.attributes["x"].y)` can be asked of
    any device."""

    def __missing__(self, domain: str) -> dict[str, Any]:
        return {}


def device_value(
    driver: str, attributes: Mapping[str, Mapping[str, Any]], capacity: Mapping[str, str]
) -> dict[str, Any]:
    """A device as expressions see it; names are `domain/name`, an attribute is {type: value}."""
    return {
        "driver": driver,
        "allowMultipleAllocations": False,
        "attributes": _by_domain({name: _attribute(attribute) for name, attribute in attributes.items()}),
        "capacity": _by_domain({name: kubernetes.quantity(text) for name, text in capacity.items()}),
    }


def _attribute(value: Mapping[str, Any]) -> Any:
    kind, plain = next(iter(value.items()))
    return kubernetes.semver(plain) if kind == "version" else plain


def _by_domain(values: Mapping[str, Any]) -> AttributeDomains:
    attribute_domains = AttributeDomains()
    for name, value in values.items():
        domain, _, rest = name.partition("/")
        attribute_domains.setdefault(domain, {})[rest] = value
    return attribute_domains


@kept(1024, 16 * 1024)
def _compiled(expression: str) -> cel.CelProgram:
    return cel.compile(expression, DEVICE_ENV)


def selects(expression: str, device: Mapping[str, Any]) -> bool:
    """Whether the expression holds for the device. Raises CelError when it cannot be decided, CelSyntaxError when it is
    no expression."""
    return _compiled(expression).evaluate({"device": device}, STEPS) is True
