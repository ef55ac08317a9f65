"""Sets of fields: which manager owns what.

A set is a tree of path elements in the spelling of `fieldsV1`: `f:name` a field, `k:{…}` an item of a keyed list, `v:…`
a value of a set. `members` are owned themselves, `children` hold what is owned below and are never empty. Sets are
values: no operation changes one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Tree = dict[str, Any]


class FieldSet:
    __slots__ = ("children", "members")

    def __init__(self, members: set[str] | None = None, children: dict[str, FieldSet] | None = None) -> None:
        self.members: set[str] = members if members is not None else set()
        self.children: dict[str, FieldSet] = children if children is not None else {}

    def __bool__(self) -> bool:
        return bool(self.members or self.children)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldSet) and self.encode() == other.encode()

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: FieldSet) -> FieldSet:
        if not other:
            return self
        if not self:
            return other
        children = dict(self.children)
        for element, child in other.children.items():
            mine = children.get(element)
            children[element] = child if mine is None else mine | child
        return FieldSet(self.members | other.members, children)

    def __sub__(self, other: FieldSet) -> FieldSet:
        children = {}
        for element, child in self.children.items():
            theirs = other.children.get(element)
            rest = child if theirs is None else child - theirs
            if rest:
                children[element] = rest
        return FieldSet(self.members - other.members, children)

    def __and__(self, other: FieldSet) -> FieldSet:
        children = {}
        for element, child in self.children.items():
            theirs = other.children.get(element)
            common = child & theirs if theirs is not None else None
            if common:
                children[element] = common
        return FieldSet(self.members & other.members, children)

    def without_below(self, other: FieldSet) -> FieldSet:
        """What is left when every member of `other` goes with everything below it."""
        children = {}
        for element, child in self.children.items():
            if element in other.members:
                continue
            theirs = other.children.get(element)
            rest = child if theirs is None else child.without_below(theirs)
            if rest:
                children[element] = rest
        return FieldSet(self.members - other.members, children)

    def encode(self) -> Tree:
        """As fieldsV1; keys sorted so that equal sets are equal texts."""
        tree: Tree = {}
        for element in sorted(self.members | self.children.keys()):
            below = self.children[element].encode() if element in self.children else {}
            if element in self.members and below:
                below = {".": {}, **below}
            if element in self.members or below:
                tree[element] = below
        return tree

    def paths(self) -> Iterator[tuple[str, ...]]:
        """Every member, in order."""
        for element in sorted(self.members | self.children.keys()):
            if element in self.members:
                yield (element,)
            if element in self.children:
                yield from ((element, *rest) for rest in self.children[element].paths())


def common(tree: Tree, others: FieldSet) -> FieldSet:
    """What fieldsV1 and a set have in common, looking only where the set does."""
    members = {
        element
        for element in others.members
        if (below := tree.get(element)) is not None and (not below or "." in below)
    }
    children = {}
    for element, child in others.children.items():
        below = tree.get(element)
        inner = common(below, child) if below else None
        if inner:
            children[element] = inner
    return FieldSet(members, children)


def decode(tree: Tree) -> FieldSet:
    """Read fieldsV1; elements of a sort that nobody knows yet are passed over. Raises ValueError when it is none."""
    field_set = FieldSet()
    for element, below in tree.items():
        if element == ".":
            continue
        if not isinstance(below, dict) or element[1:2] != ":":
            raise ValueError(f"{element!r} is not a path element")
        if element[0] not in "fkvi":
            continue
        child = decode(below)
        if child:
            field_set.children[element] = child
        if "." in below or not below:
            field_set.members.add(element)
    return field_set
