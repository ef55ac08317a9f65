"""The annotation on a PodGroup that names the workload it stands for: five lines of YAML.

Written letter by letter as upstream's encoder does it, because the text is compared when a group is updated.
"""

from __future__ import annotations

import calendar
import math
import re

from gangline.api.meta import Raw
from gangline.grouper import owners

_WORD_OR_INTEGER = re.compile(
    r"|[-+]?[0-9][0-9_]*|[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
    r"|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF"
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")


def described(owner: Raw) -> str:
    group, _, version = str(owner["apiVersion"]).rpartition("/")
    lines = (
        ("name", owners.name_of(owner)),
        ("uid", owners.uid_of(owner)),
        ("group", group),
        ("version", version),
        ("kind", str(owner["kind"])),
    )
    return "".join(f"{key}: {_scalar(value)}\n" for key, value in lines)


def _scalar(value: str) -> str:
    return f'"{value}"' if _looks_like_another_type(value) else value


def _looks_like_another_type(value: str) -> bool:
    if _WORD_OR_INTEGER.fullmatch(value):
        return True
    if _FLOAT.fullmatch(value):
        return not math.isinf(float(value))
    date = _DATE.fullmatch(value)
    return date is not None and _is_day(*map(int, date.groups()))


def _is_day(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or 4, month)[1]
