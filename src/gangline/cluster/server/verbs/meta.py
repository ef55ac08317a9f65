"""The metadata every object has: filled in at creation, kept on update, and checked on both.

Pure: the time, new uids and random suffixes are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gangline.cluster.schema.labels import check_annotations, check_labels, invalid
from gangline.errors import Problem
from gangline.rules.values.names import qualified_name_problems
from gangline.rules.values.problems import MOST_TOLD

Obj = dict[str, Any]
MANAGER_LIMIT = 128
"""Bytes of a field manager's name."""
NameCheck = Callable[[str], list[str]]
SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def metadata(obj: Mapping[str, Any]) -> Obj:
    about = obj.get("metadata")
    return about if isinstance(about, dict) else {}


def fill_new(obj: Obj, namespace: str, uid: str, now: str, suffix: Callable[[], str]) -> None:
    """Stamp a new object: what the server decides, whatever was sent."""
    meta = obj.setdefault("metadata", {})
    if meta is None:
        meta = obj["metadata"] = {}
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        meta.pop(key, None)
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = meta["generateName"][:58] + suffix()
    if namespace:
        meta["namespace"] = namespace
    else:
        meta.pop("namespace", None)
    meta["uid"] = uid
    meta["creationTimestamp"] = now


def keep_identity(new: Obj, old: Obj) -> None:
    """An update cannot change what the server decided at creation, nor end or put off a deletion; what else it gives
    another value is refused by `check_update`."""
    meta, before = new.setdefault("metadata", {}), old["metadata"]
    if meta.get("uid") in ("", None):
        _copy(meta, before, "uid")
    if before.get("deletionTimestamp"):
        meta["deletionTimestamp"] = before["deletionTimestamp"]
    for key in _DELETION:
        if meta.get(key) is None:
            _copy(meta, before, key)
    for key in ("creationTimestamp", "generation", "selfLink"):
        _copy(meta, before, key)


def _copy(target: Obj, source: Obj, key: str) -> None:
    if key in source:
        target[key] = source[key]
    else:
        target.pop(key, None)


def tidy(obj: Obj) -> None:
    """Empty maps and lists of metadata are not kept."""
    meta = obj["metadata"]
    for key in ("labels", "annotations", "finalizers", "ownerReferences", "managedFields", "generateName"):
        if key in meta and not meta[key]:
            del meta[key]
    if not meta.get("generation", 1):
        del meta["generation"]


def check(obj: Obj, name_problems: NameCheck, standard: bool = True) -> list[Problem]:
    """Everything that is wrong with a new object's metadata; `standard`: finalizers must be qualified or one of the
    known ones."""
    meta = metadata(obj)
    problems: list[Problem] = []
    if meta.get("generateName"):
        prefix = meta["generateName"]
        masked = prefix[:-1] + "a" if prefix.endswith("-") else prefix
        problems += [invalid("metadata.generateName", prefix, why) for why in name_problems(masked)]
    if not meta.get("name"):
        problems.append(
            Problem("metadata.name", "Required value: name or generateName is required", "FieldValueRequired")
        )
    else:
        problems += [invalid("metadata.name", meta["name"], why) for why in name_problems(meta["name"])]
    return problems + _parts(meta) + _finalizers(meta) + (_standard_finalizers(meta) if standard else [])


def _parts(meta: Obj) -> list[Problem]:
    return [
        *check_labels(meta.get("labels") or {}, "metadata.labels"),
        *check_annotations(meta.get("annotations") or {}, "metadata.annotations"),
        *_check_owners(meta.get("ownerReferences") or []),
        *_check_managers(meta.get("managedFields") or []),
    ]


def _check_managers(entries: list[Obj]) -> list[Problem]:
    message = f"Too long: may not be more than {MANAGER_LIMIT} bytes"
    return [
        Problem(f"metadata.managedFields[{index}].manager", message, "FieldValueTooLong")
        for index, entry in enumerate(entries)
        if len((entry.get("manager") or "").encode()) > MANAGER_LIMIT
    ]


def _check_owners(owners: list[Obj]) -> list[Problem]:
    problems: list[Problem] = []
    path = "metadata.ownerReferences"
    controller, reported = "", 0
    for owner in owners:
        group, _, version = (owner.get("apiVersion") or "").rpartition("/")
        if not version or "/" in group:
            problems.append(invalid(path + ".apiVersion", owner.get("apiVersion", ""), "version must not be empty"))
        missing = [key for key in ("kind", "name", "uid") if not owner.get(key)]
        problems += [invalid(f"{path}.{key}", owner.get(key, ""), "must not be empty") for key in missing]
        if (group, version, owner.get("kind")) == ("", "v1", "Event"):
            problems.append(invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"))
        if owner.get("controller"):
            this = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller and reported < MOST_TOLD:
                reported += 1
                problems.append(
                    invalid(
                        path,
                        owners,
                        "Only one reference can have Controller set to true. "
                        f'Found "true" in references for {controller} and {this}',
                    )
                )
            controller = controller or this
    return problems


def _finalizers(meta: Obj) -> list[Problem]:
    names, path = meta.get("finalizers") or [], "metadata.finalizers"
    problems = [invalid(path, name, why) for name in names for why in qualified_name_problems(name)]
    if "orphan" in names and "foregroundDeletion" in names:
        problems.append(invalid(path, names, "finalizer orphan and foregroundDeletion cannot be both set"))
    return problems


def _standard_finalizers(meta: Obj) -> list[Problem]:
    return [
        invalid(
            f"metadata.finalizers[{index}]", name, "name is neither a standard finalizer name nor is it fully qualified"
        )
        for index, name in enumerate(meta.get("finalizers") or [])
        if "/" not in name and name not in _STANDARD_FINALIZERS
    ]


def check_update(new: Obj, old: Obj, asked: str = "UC") -> list[Problem]:
    """What an update may not do to metadata, as often as a kube-apiserver reports it.

    A kube-apiserver asks once for every kind, and each kind may ask again: `asked` is U for its question about updates,
    C for the one about whole objects, in small letters without the rule on finalizers' names."""
    meta, before = metadata(new), metadata(old)
    changes = _changes(meta, before)
    if _same_parts(meta, before) and not _check_managers(meta.get("managedFields") or []):
        return changes * (1 + sum(letter in "Uu" for letter in asked))
    parts, finalizers, standard = _parts(meta), _finalizers(meta), _standard_finalizers(meta)
    questions = {
        "U": changes + parts + standard,
        "u": changes + parts,
        "C": parts + finalizers + standard,
        "c": parts + finalizers,
    }
    return parts + finalizers + changes + parts + [problem for letter in asked for problem in questions[letter]]


def _changes(meta: Obj, before: Obj) -> list[Problem]:
    """Parts of an object's identity that cannot change, and finalizers that come too late."""
    problems: list[Problem] = []
    if before.get("deletionTimestamp"):
        present = set(before.get("finalizers") or [])
        added = [name for name in meta.get("finalizers") or [] if name not in present]
        if added:
            shown = "[]string{" + ", ".join(f'"{name}"' for name in sorted(added)) + "}"
            problems.append(
                Problem(
                    "metadata.finalizers",
                    "Forbidden: no new finalizers can be added if the object is being "
                    f"deleted, found new finalizers {shown}",
                    "FieldValueForbidden",
                )
            )
    return problems + [
        invalid(f"metadata.{key}", meta.get(key, ""), "field is immutable")
        for key in ("name", "namespace", "uid", *_DELETION)
        if meta.get(key, "") != before.get(key, "")
    ]


def _same_parts(meta: Obj, before: Obj) -> bool:
    """Nothing changed that a valid object could have made wrong."""
    return all(meta.get(key) == before.get(key) for key in ("labels", "annotations", "ownerReferences", "finalizers"))
