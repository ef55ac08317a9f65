"""Files of manifests → plain objects, with errors that name the file and the document.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from gangline.api.meta import Raw
from gangline.errors import BadInput

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(sources: Iterable[str]) -> list[Raw]:
    """All objects of the files, folders or `-` (standard input), in order."""
    return [obj for source in sources for name, text in _texts(source) for obj in parse(text, name)]


def _texts(source: str) -> Iterator[tuple[str, str]]:
    if source == "-":
        yield "standard input", sys.stdin.read()
        return
    path = Path(source)
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.suffix in (".yaml", ".yml", ".json"))
        if not files:
            raise BadInput(f"{path} holds no .yaml, .yml or .json file")
    elif path.exists():
        files = [path]
    else:
        raise BadInput(f"there is no file {path}")
    for file in files:
        yield str(file), file.read_text()


def parse(text: str, name: str) -> list[Raw]:
    """The documents of one text; a List is taken apart."""
    try:
        documents = [each for each in yaml.load_all(text, Loader=_LOADER) if each is not None]
    except yaml.YAMLError as error:
        raise BadInput(f"{name} is not YAML: {error}") from None
    objects: list[Raw] = []
    for number, document in enumerate(documents, 1):
        where = f"{name}, document {number}"
        if not isinstance(document, dict):
            raise BadInput(f"{where}: expected an object with apiVersion and kind, found {type(document).__name__}")
        if str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list):
            objects += document["items"]
            continue
        missing = [key for key in ("apiVersion", "kind", "metadata") if not document.get(key)]
        if missing:
            raise BadInput(f"{where}: {' and '.join(missing)} missing")
        objects.append(document)
    return objects
