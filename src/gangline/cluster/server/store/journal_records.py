"""What a journal kept, made into records again, and refused where it cannot be what this program wrote.

Between journal.py, which knows rows, and the store, which knows records. A folder with a row that says nothing
sensible, or nothing its kind can say, is damaged: better no start than a cluster that lost an object without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gangline.cluster.schema import BadForm, WrongType
from gangline.cluster.server import custom
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.selectors import selectable_values
from gangline.cluster.server.store.journal import Row, SqliteJournal, damaged
from gangline.cluster.server.store.shelf import Record, ShelfKey
from gangline.cluster.server.verbs.kind_rules import rules_for


def read_records(
    folder: Path, journal: SqliteJournal, known: Mapping[ShelfKey, Resource]
) -> Iterator[tuple[ShelfKey, Record]]:
    """Every stored record; definitions first, so that the fields by which custom resources are selected are known."""
    latest, selectable = journal.revision(), dict(known)
    for row in sorted(journal.rows(), key=lambda row: row[0] != custom.SHELF):
        try:
            record = _record(row, selectable)
        except (
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
            RecursionError,
            msgspec.MsgspecError,
            WrongType,
            BadForm,
        ) as error:
            raise damaged(folder, f"{_named(row)} cannot be read: {error!r}") from None
        if record.revision > latest:
            why = f"{_named(row)} has revision {record.revision}, but the latest should be {latest}"
            raise damaged(folder, why)
        yield row[0], record


def _record(row: Row, selectable: dict[ShelfKey, Resource]) -> Record:
    key, place, body = row
    obj: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
    if key == custom.SHELF:
        selectable |= {resource.shelf: resource for resource in custom.served(obj)}
    about = msgspec.convert(obj["metadata"], _About)
    if (about.namespace, about.name) != place:
        raise ValueError(f"it calls itself {about.namespace}/{about.name}")
    resource = selectable.get(key)
    if resource is not None and resource.custom is None:
        rules_for(resource).schema.admit(obj)
    fields = selectable_values(resource, obj) if resource is not None else ()
    if int(about.revision) < 1:
        raise ValueError(f"its revision is {about.revision}")
    return Record(place, int(about.revision), about.uid, bytes(body), about.labels or {}, fields)


class _About(msgspec.Struct, rename={"revision": "resourceVersion"}):
    """The metadata that every stored object has."""

    name: str
    uid: str
    revision: str
    namespace: str = ""
    labels: dict[str, str] | None = None


def _named(row: Row) -> str:
    (group, plural), (namespace, name), _ = row
    return " ".join((".".join(filter(None, (plural, group))), "/".join(filter(None, (namespace, name)))))
