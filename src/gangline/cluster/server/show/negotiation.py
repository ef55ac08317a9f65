"""What the Accept header asks for: the object itself, its metadata only, or rows of a Table; in JSON, YAML or protobuf.

Clauses are tried in the order a caller prefers them, as kube-apiserver does. A Table is never protobuf, and neither is
a custom resource, because protobuf needs a table of field numbers; a refusal and the answer to a review are plain
objects. answer_shapes.py makes what is found here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from gangline.client.wire import JSON
from gangline.cluster.server.show.tables import META
from gangline.cluster.server.status import failure, not_acceptable
from gangline.cluster.server.wire.codec import PROTOBUF, YAML, media_type
from gangline.errors import ApiError

OFFERED = (JSON, YAML, PROTOBUF)
_EVERY = "*/*"
_KNOWN = ", ".join(OFFERED)
_STREAMS = f"{JSON};stream=watch, {PROTOBUF};stream=watch"
_KINDS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
_AGGREGATED = ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")
_KEPT = 512
"""Characters of a header whose reading is remembered: clients repeat themselves."""


@dataclass(frozen=True, slots=True)
class AnswerShape:
    kind: str = ""
    """Empty for the object as it is."""
    version: str = "v1"
    media: str = JSON


PLAIN = AnswerShape()


class _Clause(NamedTuple):
    media: str
    parameters: Mapping[str, str]


def read_accept(accept: str, streams: bool = True, custom: bool = False) -> AnswerShape:
    """The first acceptable clause. `streams`: this path can be watched; `custom`: it is that of a custom resource."""
    if accept in ("", JSON, _EVERY):
        return PLAIN
    clauses = _clauses(accept)
    for clause in clauses:
        for media in _meant(clause.media, custom):
            shape = _shape(media, clause.parameters, custom)
            if shape is not None:
                return shape
    if custom or any(clause.media in (*OFFERED, _EVERY) for clause in clauses):
        raise not_acceptable(f"only the following media types are accepted: {_KNOWN}")
    raise not_acceptable(
        f"406: Not Acceptable\n\nAvailable representations: {f'{_KNOWN}, {_STREAMS}' if streams else _KNOWN}", {}
    )


def read_watch_accept(accept: str, custom: bool = False) -> AnswerShape:
    """The same for a watch, which is never sent in YAML."""
    shape = read_accept(accept, custom=custom)
    if shape.media == YAML:
        raise not_acceptable(f"only the following media types are accepted: {_STREAMS}")
    return shape


def plain_media(accept: str) -> str:
    """In which form a plain object is sent, whatever was asked for: a refusal, or the outcome of a deletion."""
    if accept in ("", JSON, _EVERY):
        return JSON
    wanted = (_meant(clause.media, False) for clause in _clauses(accept) if _target(clause.parameters) is None)
    return next((media for offered in wanted for media in offered), JSON)


def read_plain_accept(accept: str, by_route: bool) -> str:
    """In which form something is told that has one shape only; whoever asks for another cannot be answered. `by_route`:
    what nobody offers by its name is refused before anything is looked at."""
    if accept in ("", JSON, _EVERY):
        return JSON
    for clause in _clauses(accept):
        offered = _meant(clause.media, not by_route) if _target(clause.parameters) is None else ()
        if offered:
            return offered[0]
    raise _refused(accept, by_route)


def _refused(accept: str, by_route: bool) -> ApiError:
    if by_route and not any(clause.media in (*OFFERED, _EVERY) for clause in _clauses(accept)):
        return not_acceptable(f"406: Not Acceptable\n\nAvailable representations: {_KNOWN}", {})
    return not_acceptable(f"only the following media types are accepted: {_KNOWN}")


def read_discovery_accept(accept: str, by_route: bool) -> AnswerShape:
    """How groups are listed: one by one, or (with a kind) all in one document, which there is not in protobuf."""
    if accept in ("", JSON, _EVERY):
        return PLAIN
    for clause in _clauses(accept):
        target, offered = _target(clause.parameters), _meant(clause.media, True)
        if offered and target is None:
            return AnswerShape(media=offered[0])
        if target == _AGGREGATED and offered and offered[0] != PROTOBUF:
            return AnswerShape(target[0], target[2], offered[0])
    raise _refused(accept, by_route)


def takes_json(accept: str) -> bool:
    return not accept or any(clause.media in (JSON, _EVERY, "application/*") for clause in _clauses(accept))


def check_takes_json(accept: str) -> None:
    """For what there is in JSON only."""
    if accept and not any(clause.media in (JSON, _EVERY) for clause in _clauses(accept)):
        raise not_acceptable(f"406: Not Acceptable\n\nAvailable representations: {JSON}", {})


def check_consumed(content_type: str, known: tuple[str, ...]) -> None:
    """A route refuses a body of another type, whether or not there is one."""
    named = (media_type(part) for part in content_type.split(","))
    if content_type and not any(media in known for media in named):
        raise failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def _meant(media: str, custom: bool) -> tuple[str, ...]:
    if media in OFFERED:
        return (media,)
    return OFFERED if media == _EVERY or (custom and media == "application/*") else ()


def _target(parameters: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Which kind an object is to be sent as, with its group and version."""
    if not {"as", "g", "v"} & parameters.keys():
        return None
    return parameters.get("as", ""), parameters.get("g", ""), parameters.get("v", "")


def _shape(media: str, parameters: Mapping[str, str], custom: bool) -> AnswerShape | None:
    if parameters.get("stream", "watch") not in ("", "watch") or (media == YAML and parameters.get("stream")):
        return None
    target = _target(parameters)
    if target is None:
        return None if custom and media == PROTOBUF else AnswerShape(media=media)
    kind, group, version = target
    if kind not in _KINDS or group != META or version not in ("v1", "v1beta1") or (kind, media) == ("Table", PROTOBUF):
        return None
    return AnswerShape(kind, version, media)


def _clauses(accept: str) -> tuple[_Clause, ...]:
    return _remembered(accept) if len(accept) <= _KEPT else _parsed(accept)


def _parsed(accept: str) -> tuple[_Clause, ...]:
    """What is preferred most comes first, and wildcards last."""
    weighed = [_clause(text) for text in accept.split(",")]
    weighed.sort(key=lambda item: (-item[1], item[0].media == _EVERY, item[0].media.endswith("/*")))
    return tuple(clause for clause, _ in weighed)


_remembered = lru_cache(maxsize=256)(_parsed)


def _clause(text: str) -> tuple[_Clause, float]:
    media, *parts = [part.strip() for part in text.split(";")]
    parameters = dict(part.split("=", 1) for part in parts if part.count("=") == 1)
    return _Clause(_EVERY if media == "*" else media, parameters), _weight(parameters.pop("q", "1"))


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
