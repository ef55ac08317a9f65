"""Kinds that we have no code for, described by a Karta object: where its components keep their size, and how a pod
shows its component.

Asked only for kinds without a grouper of their own. A Karta describes the workload as a tree of components. Its
instruction is either `podGroup` (one group, a leaf per listed component) or the older `podGroups` (one group per set of
key values of the pods)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gangline.api.core import Pod
from gangline.api.kinds import POD
from gangline.api.meta import Raw
from gangline.errors import ApiError
from gangline.grouper import jq, owners
from gangline.grouper.groupers.base import base
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping, GroupPart, GroupTopology, Ungroupable
from gangline.grouper.jq.values import JqError, Unsupported, whole
from gangline.grouper.look import GrouperView
from gangline.rules.values.names import is_subdomain

API, KIND = "run.ai/v1alpha1", "Karta"
LABELS = ("run.ai/karta-group", "run.ai/karta-version", "run.ai/karta-kind")
_POD_PATHS = ("podTemplateSpecPath", "podSpecPath", "fragmentedPodSpecDefinition")


def describing(owner: Raw, read: GrouperView) -> KartaGrouper | None:
    """The one valid Karta with a gang instruction for a kind. Several of them contradict each other: then none
    counts."""
    group, _, version = str(owner["apiVersion"]).rpartition("/")
    wanted = {"group": group, "version": version, "kind": owner["kind"]}
    try:
        listed = read.objects(API, KIND, dict(zip(LABELS, wanted.values(), strict=True)))
    except ApiError:
        return None
    kartas = [karta for karta in map(KartaGrouper, listed) if _describes(karta, wanted)]
    return kartas[0] if len(kartas) == 1 else None


def _describes(karta: KartaGrouper, wanted: Raw) -> bool:
    """A Karta that is not even shaped like one describes nothing."""
    try:
        return karta.describes(wanted)
    except (AttributeError, TypeError, KeyError):
        return False


@dataclass(frozen=True)
class KartaGrouper(Grouper):
    obj: Raw

    kinds = ()
    reads = (f"{API} {KIND}",)

    # --- what it says -------------------------------------------------------------------------------------------------

    @cached_property
    def root(self) -> Raw:
        return dict(self._structure.get("rootComponent") or {})

    @cached_property
    def _structure(self) -> Raw:
        return dict((self.obj.get("spec") or {}).get("structureDefinition") or {})

    @cached_property
    def components(self) -> list[Raw]:
        return [self.root, *(self._structure.get("childComponents") or ())]

    @cached_property
    def gang(self) -> Raw:
        instructions = (self.obj.get("spec") or {}).get("optimizationInstructions") or {}
        return dict(instructions.get("gangScheduling") or {})

    def component(self, name: str) -> Raw:
        component = next((item for item in self.components if item.get("name") == name), None)
        if not name or component is None:
            raise Ungroupable(f"Karta {self.obj['metadata']['name']} has no component {name!r}")
        return component

    def children(self, name: str) -> list[str]:
        return [component["name"] for component in self.components if component.get("ownerRef") == name]

    def describes(self, kind: Raw) -> bool:
        says = self.root.get("kind") or {}
        same = {key: says.get(key, "") for key in ("group", "version", "kind")} == kind
        going = self.obj["metadata"].get("deletionTimestamp") is not None
        instructed = self.gang.get("podGroup") is not None or bool(self.gang.get("podGroups"))
        return same and not going and instructed and self._is_valid()

    def _is_valid(self) -> bool:
        names = [component.get("name") for component in self.components]
        known = set(names)
        sound = (
            all(names) and len(known) == len(names) and self._has_sound_root() and all(map(_is_sound, self.components))
        )
        owned = all(component.get("ownerRef") in known and self._ends(component) for component in self.components[1:])
        return (
            sound
            and owned
            and self._members_known(known)
            and all(_compiles(path) for path in _expressions(self.obj.get("spec")))
        )

    def _has_sound_root(self) -> bool:
        kind = self.root["kind"]
        complete = kind.get("version") and kind.get("kind") and (kind.get("group") or kind["kind"] == POD.kind)
        return bool(complete) and self.root.get("ownerRef") is None and self.root.get("statusDefinition") is not None

    def _ends(self, component: Raw) -> bool:
        """Does its chain of owners reach the root?"""
        seen: list[str] = []
        name = component["name"]
        while name not in seen and (above := self.component(name).get("ownerRef")):
            seen.append(name)
            name = above
        return name not in seen

    def _members_known(self, known: set[Any]) -> bool:
        return all(
            member.get("componentName") in known
            for group in self.gang.get("podGroups") or ()
            for member in group.get("members") or ()
        )

    # --- grouping -----------------------------------------------------------------------------------------------------

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        shown = read.get(POD.api_version, POD.kind, pod.namespace, pod.name)
        try:
            if self.gang.get("podGroup") is not None:
                return self._one_group(pod, shown, owner, read)
            return self._group_by_keys(pod, shown, owner, read)
        except JqError as error:
            raise Ungroupable(
                f"Karta {self.obj['metadata']['name']} does not fit {owners.title(owner)}: {error}"
            ) from error

    def _one_group(self, pod: Pod, shown: Raw, owner: Raw, read: GrouperView) -> Grouping:
        pod_group = self.gang["podGroup"]
        grouping = base(pod, owner, read)
        grouping = replace(
            grouping,
            name=f"pg-{owners.uid_of(owner)}-{pod_group.get('name', '')}",
            placement=_placement(pod_group.get("topology")) or grouping.placement,
        )
        listed = pod_group.get("subGroups") or []
        if not listed:
            return replace(grouping, minimum=self.scale(self.root["name"], owner))
        parts = tuple(self._part(item, owner) for item in listed)
        leaf = next((part.name for part in parts if self._holds(part.name, shown)), "")
        return replace(grouping, minimum=0, children=len(parts), parts=parts, leaf=leaf)

    def _part(self, mapping: Raw, owner: Raw) -> GroupPart:
        name = self.component(mapping.get("componentName", ""))["name"]
        size = self.scale(name, owner)
        if size == 0:
            raise Ungroupable(
                f"component {name} of Karta {self.obj['metadata']['name']} does not say how many replicas it has"
            )
        return GroupPart(name, size, placement=_placement(mapping.get("topology")))

    def _group_by_keys(self, pod: Pod, shown: Raw, owner: Raw, read: GrouperView) -> Grouping:
        its = self._component_of(pod, shown)
        effective, member = self._member(its, pod, shown)
        instance = self._instance(its, shown, owner) if effective == its else None
        keys = [_single(path, shown) for path in member.get("groupByKeyPaths") or ()]
        name = "-".join(["pg", owners.uid_of(owner), *(_printed(key) for key in keys)])
        if keys and (not is_subdomain(name) or len(name) > 253):
            raise Ungroupable(
                f"the grouping keys {keys} of pod {pod.namespace}/{pod.name} make {name!r}, which is no valid name"
            )
        return replace(base(pod, owner, read), name=name, minimum=self.scale(effective, owner, instance))

    # --- which component a pod belongs to -----------------------------------------------------------------------------

    def _leaves(self) -> list[str]:
        return [component["name"] for component in self.components if _has_pods(component)]

    def _component_of(self, pod: Pod, shown: Raw) -> str:
        leaves = self._leaves()
        if len(leaves) == 1:
            return leaves[0]
        component = next((name for name in leaves if _selects(self.component(name), shown)), None)
        if component is None:
            raise Ungroupable(
                f"pod {pod.namespace}/{pod.name} belongs to no component of Karta {self.obj['metadata']['name']}"
            )
        return component

    def _member(self, component: str, pod: Pod, shown: Raw) -> tuple[str, Raw]:
        """The member definition that counts for a pod: of its component first, then of those above it."""
        for name in self._upwards(component):
            for group in self.gang.get("podGroups") or ():
                for member in group.get("members") or ():
                    if member.get("componentName") == name and _passes(member, shown):
                        return name, member
        raise Ungroupable(f"pod {pod.namespace}/{pod.name} matches no member of Karta {self.obj['metadata']['name']}")

    def _upwards(self, name: str) -> Iterator[str]:
        while name:
            yield name
            name = self.component(name).get("ownerRef") or ""

    def _holds(self, name: str, shown: Raw) -> bool:
        return _selects(self.component(name), shown) or any(self._holds(child, shown) for child in self.children(name))

    def _instance(self, name: str, shown: Raw, owner: Raw) -> str | None:
        selector = ((self.component(name).get("podSelector") or {}).get("componentInstanceSelector") or {}).get(
            "idPath"
        )
        known = self._instances(name, owner)
        if known in ([], [""]):
            return None
        instance = _printed(_single(selector, shown)) if selector else ""
        if instance not in known:
            raise Ungroupable(
                f"the pod says it belongs to instance {instance!r} of {name}, but there are only {', '.join(known)}"
            )
        return instance

    # --- how many pods a component has --------------------------------------------------------------------------------

    def scale(self, name: str, owner: Raw, instance: str | None = None) -> int:
        """Pods of a component and those below it; of one instance only, if it is named."""
        if any(component.get("scaleDefinition") is not None for component in self.components):
            return self._by_definition(name, owner, instance)
        return self._by_leaves(name, owner, instance)

    def _by_definition(self, name: str, owner: Raw, instance: str | None = None) -> int:
        sizes = self._sizes(name, owner)
        if instance is not None and instance not in sizes:
            raise Ungroupable(f"component {name} has no instance {instance!r}")
        own = sizes[instance] if instance is not None else sum(sizes.values())
        below = sum(self._by_definition(child, owner) for child in self.children(name))
        return own * below if own and below else own or below

    def _by_leaves(self, name: str, owner: Raw, instance: str | None = None) -> int:
        if not _has_pods(self.component(name)):
            return sum(self._by_leaves(child, owner) for child in self.children(name))
        known = self._instances(name, owner)
        if instance is not None and instance not in known:
            raise Ungroupable(f"component {name} has no instance {instance!r}")
        return 1 if instance is not None else len(known)

    def _instances(self, name: str, owner: Raw) -> list[str]:
        path = self.component(name).get("instanceIdPath")
        if path is None:
            return [""]
        instances = _evaluated(path, owner)
        if not all(isinstance(instance, str) and instance for instance in instances):
            raise Ungroupable(
                f"{path} of {owners.title(owner)} must give the names of instances of component {name}, not {instances}"
            )
        return instances

    def _sizes(self, name: str, owner: Raw) -> dict[str, int]:
        definition = self.component(name).get("scaleDefinition")
        if definition is None:
            return {}
        columns = [
            _counts(definition.get(path), owner) for path in ("minReplicasPath", "replicasPath", "maxReplicasPath")
        ]
        least, usual, _ = columns
        rows = max(map(len, columns))
        instances = self._instances(name, owner)
        if rows != len(instances):
            raise Ungroupable(f"component {name} has {len(instances)} instances but {rows} sizes")
        return {instance: _first_positive(least, usual, at) for at, instance in enumerate(instances)}


def _first_positive(least: list[int | None], usual: list[int | None], at: int) -> int:
    given = [column[at] for column in (least, usual) if at < len(column)]
    return next((count for count in given if count is not None and count > 0), 0)


def _counts(path: str | None, owner: Raw) -> list[int | None]:
    counts = [whole(item) for item in _evaluated(path, owner)] if path is not None else []
    for item in counts:
        if item is not None and (isinstance(item, bool) or not isinstance(item, int)):
            raise Ungroupable(f"{path} of {owners.title(owner)} must be a whole number, not {item!r}")
    return counts


def _has_pods(component: Raw) -> bool:
    return any((component.get("specDefinition") or {}).get(path) is not None for path in _POD_PATHS)


def _is_sound(component: Raw) -> bool:
    """At most one place for its pods, and both or none of the two that tell its instances apart."""
    places = [path for path in _POD_PATHS if (component.get("specDefinition") or {}).get(path) is not None]
    selector = (component.get("podSelector") or {}).get("componentInstanceSelector")
    return len(places) <= 1 and (selector is None) == (component.get("instanceIdPath") is None)


def _selects(component: Raw, shown: Raw) -> bool:
    selector = (component.get("podSelector") or {}).get("componentTypeSelector")
    if selector is None:
        return False
    values = _evaluated(selector.get("keyPath", ""), shown)
    return any(item is not None if selector.get("value") is None else item == selector["value"] for item in values)


def _passes(member: Raw, shown: Raw) -> bool:
    return all(_single(text, shown) is True for text in member.get("filters") or ())


def _evaluated(path: str, obj: Raw) -> list[Any]:
    return jq.compile(path)(obj)


def _single(path: str, obj: Raw) -> Any:
    values = _evaluated(path, obj)
    if len(values) != 1 or values[0] is None or values[0] == "":
        raise Ungroupable(
            f"{path} of {owners.title(obj)} gives {len(values)} values, or an empty one; it must give one"
        )
    return values[0]


def _printed(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(whole(value))


def _placement(constraint: Raw | None) -> GroupTopology | None:
    if constraint is None:
        return None
    placed = GroupTopology(
        constraint.get("topologyName", ""),
        constraint.get("requiredTopologyLevel", ""),
        constraint.get("preferredTopologyLevel", ""),
    )
    if not placed.topology or not (placed.required or placed.preferred):
        raise Ungroupable(
            "a topology in a Karta needs topologyName and at least one of requiredTopologyLevel and "
            "preferredTopologyLevel"
        )
    return placed


def _expressions(part: Any, key: str = "") -> Iterator[str]:
    """Every jq expression of a Karta."""
    if isinstance(part, dict):
        for name, item in part.items():
            yield from _expressions(item, name)
    elif isinstance(part, list):
        for item in part:
            yield from _expressions(item, key)
    elif (
        isinstance(part, str)
        and part
        and (key.endswith(("Path", "KeyPaths")) or key in ("filters", "expression", "path"))
    ):
        yield part


def _compiles(expression: str) -> bool:
    """What is jq, but none that we know, makes a Karta unusable, not invalid: its pods are refused and say so."""
    try:
        jq.compile(expression)
    except Unsupported:
        return True
    except JqError:
        return False
    return True
