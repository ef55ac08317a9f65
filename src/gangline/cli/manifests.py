"""Files of manifests → plain objects, with errors that name the file and the document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangline.bounded_input import given_text
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.api.meta import Raw


def read(sources: Iterable[str]) -> list[Raw]:
    """All objects of the files, folders or `-` (standard input), in order."""
    return [obj for source in sources for name, text in texts(source) for obj in parse(text, name)]


def texts(source: str) -> Iterator[tuple[str, str]]:
    """Each text of a file, a folder or `-`, with what to call it."""
    if source == "-":
        yield "standard input", given_text(source)
        return
    path = Path(source)
    if path.is_dir():
        files = sorted(item for item in path.iterdir() if item.suffix in (".yaml", ".yml", ".json"))
        if not files:
            raise BadInput(f"{path} holds no .yaml, .yml or .json file")
    elif path.exists():
        files = [path]
    elif "://" in source:
        raise BadInput(f"{source} is an address, and only files are read: curl -sSL {source} | gangline … -f -")
    else:
        raise BadInput(f"there is no file {path}")
    for file in files:
        yield str(file), given_text(str(file))


def _called(document: Any) -> str:
    return {list: "list", str: "text", bool: "boolean"}.get(type(document), "number")


def parse(text: str, name: str) -> list[Raw]:
    """The documents of one text; a List is taken apart."""
    from gangline.rules.values.documents import DocumentUnreadable, read_documents

    try:
        documents = [read_document for read_document in read_documents(text) if read_document is not None]
    except DocumentUnreadable as error:
        raise BadInput(f"{name} is not YAML: {error}") from None
    objects: list[Raw] = []
    for number, document in enumerate(documents, 1):
        where = f"{name}, document {number}"
        if not isinstance(document, dict):
            raise BadInput(f"{where}: expected an object with apiVersion and kind, found {_called(document)}")
        if str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list):
            objects += document["items"]
            continue
        missing = [key for key in ("apiVersion", "kind", "metadata") if not document.get(key)]
        if missing:
            raise BadInput(f"{where}: {' and '.join(missing)} missing")
        objects.append(document)
    for obj in objects:
        if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
            raise BadInput(f"{name}: metadata of {obj.get('kind') if isinstance(obj, dict) else obj} must be a map")
    return objects
