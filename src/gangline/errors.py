"""The error family, and the two other ways of saying no.

    GanglineError                     anything we raise on purpose; its text is for people
    ├── ConfigError                   a setting is unknown, contradictory or unreadable
    ├── BadInput                      a file or argument given by a user cannot be used
    ├── DataFolderError               the data folder is damaged, newer than this program, or in use
    └── ApiError                      an API server answered with a Status that is not success
        ├── NotFound           404
        ├── AlreadyExists      409, reason AlreadyExists
        ├── Conflict           409
        ├── Gone               410   the revision asked for is no longer kept
        ├── Invalid            422
        ├── Forbidden          403
        ├── Unauthorized       401
        ├── TooManyRequests    429
        ├── Unreadable         an answer that is none: no JSON, or of another shape
        └── Unavailable        5xx, or no answer at all
            └── Untrusted      the certificate of the server is not one that we trust

`Refusal` and `Problem` are values, not exceptions: a Refusal is a scheduling "no" (it ends in a condition, an event and
`gangline explain`), a Problem is one entry of a complete list of what is wrong with an object. Nothing here knows where
either is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST_RETRY = 30.0
"""Seconds that a server can make us wait before we ask again, whatever it says."""


class GanglineError(Exception):
    """Raised on purpose; the text says what happened and what to do next."""

    exit_code = 1
    """Of a command that ends with it."""


class ConfigError(GanglineError):
    pass


class BadInput(GanglineError):
    pass


class DataFolderError(GanglineError):
    pass


class ApiError(GanglineError):
    """A Status answer. `status` is the whole object as the server sent it; `warnings` come with it."""

    code = 500
    warnings: tuple[str, ...] = ()

    def __init__(self, status: Mapping[str, Any], code: int | None = None) -> None:
        self.status = status
        self.code = int(code or status.get("code") or type(self).code)
        super().__init__(str(status.get("message") or status.get("reason") or f"{self.code}, and no reason given"))

    @property
    def reason(self) -> str:
        return str(self.status.get("reason") or "")

    @property
    def retry_after(self) -> float | None:
        details = self.status.get("details")
        seconds = details.get("retryAfterSeconds") if isinstance(details, Mapping) else None
        return min(float(seconds), LONGEST_RETRY) if isinstance(seconds, int | float) and seconds > 0 else None


class NotFound(ApiError):
    code = 404


class Conflict(ApiError):
    code = 409


class AlreadyExists(Conflict):
    code = 409


class Gone(ApiError):
    code = 410


class Invalid(ApiError):
    code = 422


class Forbidden(ApiError):
    code = 403


class Unauthorized(ApiError):
    code = 401


class TooManyRequests(ApiError):
    code = 429


class Unreadable(ApiError):
    code = 502


class Unavailable(ApiError):
    code = 503


class Untrusted(Unavailable):
    """Somebody answers there, with a certificate that we do not trust."""


_BY_CODE: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def api_error(status: Mapping[str, Any], code: int | None = None) -> ApiError:
    """The member of the family that fits a Status object."""
    in_body = status.get("code")
    number = code or (in_body if isinstance(in_body, int) and in_body > 0 else 500)
    if number == 409 and status.get("reason") == "AlreadyExists":
        return AlreadyExists(status, number)
    return _BY_CODE.get(number, Unavailable if number >= 500 else ApiError)(status, number)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A scheduling "no": its plugin, why in words for people, and whether an eviction could help."""

    plugin: str
    reason: str
    resolvable: bool = True


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an object. `kind` is the reason code Kubernetes uses for causes."""

    path: str
    message: str
    kind: str = "FieldValueInvalid"
    value: Any = None
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" + (f" ({self.hint})" if self.hint else "")


def list_problems(problems: Iterable[Problem]) -> str:
    """All problems as the text of one answer."""
    return "; ".join(str(problem) for problem in problems)
