"""The annotation that tells whoever sees a PodGroup which workload it stands for: five lines of YAML.

Written letter by letter as upstream's encoder does it, because the text is compared when a group is updated.
"""

from __future__ import annotations

import re

from gangline.api.meta import Raw
from gangline.grouper import owners

_LOOKS_LIKE_ANOTHER_TYPE = re.compile(
    r"|[-+]?[0-9][0-9_]*|[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?0x[0-9a-fA-F_]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
    r"|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF"
    r"|[0-9]{4}-(0?[1-9]|1[0-2])-(0?[1-9]|[12][0-9]|3[01])")


def described(owner: Raw) -> str:
    group, _, version = str(owner["apiVersion"]).rpartition("/")
    lines = (("name", owners.name_of(owner)), ("uid", owners.uid_of(owner)), ("group", group), ("version", version),
             ("kind", str(owner["kind"])))
    return "".join(f"{key}: {_scalar(value)}\n" for key, value in lines)


def _scalar(value: str) -> str:
    return f'"{value}"' if _LOOKS_LIKE_ANOTHER_TYPE.fullmatch(value) else value
