"""Answers as YAML, written as a kube-apiserver writes them: keys sorted, and in double quotes what would be read as
something else than text. The way in is rules/values/documents.py. Pure."""

from __future__ import annotations

import re
from typing import Any

import yaml

from gangline.api.yaml_text import FAST_DUMPER
from gangline.rules.values.documents import reads_as_text

_TEXT = "tag:yaml.org,2002:str"
_WORDS = frozenset(("y", "Y", "n", "N"))
"""Words that old YAML reads as something else."""
_TIME = re.compile(r"\d{4}-\d\d?-\d\d?(?:[Tt ]\d\d?:\d\d?:\d\d?(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)?)?")
_SIXTIES = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")


class _Dumper(FAST_DUMPER):  # type: ignore[misc]
    """PyYAML, with Kubernetes' choice of quotes."""


def _text(dumper: Any, text: str) -> Any:
    if "\n" in text:
        return dumper.represent_scalar(_TEXT, text, style="|")
    return dumper.represent_scalar(_TEXT, text, style=None if _plain(text) else '"')


def _plain(text: str) -> bool:
    if text in _WORDS or _TIME.fullmatch(text) or _SIXTIES.fullmatch(text):
        return False
    return reads_as_text(text)


_Dumper.add_representer(str, _text)
_Dumper.yaml_implicit_resolvers = {
    mark: known for mark, known in FAST_DUMPER.yaml_implicit_resolvers.items() if mark not in ("=", "<")
}


def yaml_answer(data: Any) -> bytes:
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=True, allow_unicode=True, default_flow_style=False)
    return text.encode()
