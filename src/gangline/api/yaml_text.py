"""Objects as YAML texts, as commands and files show them: keys stay in their order.

    yaml_text(data) -> text              one document
    yaml_documents([data, …]) -> text    several, with `---` between them

The way back is rules/values/documents.py. libyaml writes where PyYAML has it: the same text, in a quarter of the time.
Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

FAST_DUMPER: type[Any] = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper


def yaml_text(data: Any, *, width: int = 80, unicode: bool = False) -> str:
    """`width`: where long texts are broken into lines; `unicode`: letters beyond ASCII as they are."""
    return str(yaml.dump(data, Dumper=FAST_DUMPER, sort_keys=False, width=width, allow_unicode=unicode))


def yaml_documents(documents: Iterable[Any]) -> str:
    return str(yaml.dump_all(documents, Dumper=FAST_DUMPER, sort_keys=False))
