"""Requests read from bytes: what is one, what is none, and how much of it there may be."""

from __future__ import annotations

import tracemalloc

import pytest

from gangline.client.wire import Response
from gangline.cluster.server.status import unauthorized
from gangline.cluster.server.wire import request_reader as limits
from gangline.cluster.server.wire.request_reader import RequestReader, WholeRequest

LIMIT = 3 * 1024 * 1024
POST = b"POST /api/v1/pods HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


def reader(known: bool = True) -> RequestReader:
    def identify(asked: WholeRequest) -> None:
        if not known:
            raise unauthorized()

    return RequestReader(LIMIT, identify)


def read(data: bytes, found: RequestReader | None = None, step: int = 0) -> list[WholeRequest | Response]:
    """All that a reader makes of some bytes, given in steps of a size."""
    found = found or reader()
    all_: list[WholeRequest | Response] = []
    for start in range(0, len(data), step or len(data)):
        view = memoryview(data)[start : start + (step or len(data))]
        while len(view) and not (all_ and isinstance(all_[-1], Response)):
            view = view[found.feed(view) :]
            all_ += found.ready
            found.ready.clear()
    return all_


def asked(data: bytes) -> WholeRequest:
    [one] = read(data)
    assert isinstance(one, WholeRequest), one
    return one


def refused(data: bytes) -> tuple[int, str]:
    found = read(data)[-1]
    assert isinstance(found, Response), found
    return found.status, found.body.decode()


# --- requests ----------------------------------------------------------------------------------------------


def test_repeated_headers_are_kept_as_lines() -> None:
    one = asked(
        b"GET / HTTP/1.1\r\nHost: x\r\nImpersonate-Group: a\r\nimpersonate-group:b\r\nConnection: close\r\n\r\n"
    )
    assert (one.head.headers["impersonate-group"], one.stays) == ("a\nb", False)


def test_http_1_0_closes_unless_it_asks_to_stay() -> None:
    assert not asked(b"GET / HTTP/1.0\r\n\r\n").stays
    assert asked(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").stays


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/api?watch=1&watch=2&x", "/api", (("watch", "1"), ("watch", "2"), ("x", ""))),
        ("http://server/api/v1/pods?limit=1", "/api/v1/pods", (("limit", "1"),)),
        ("http://server", "/", ()),
        ("//api", "//api", ()),
    ],
)
def test_a_target_is_a_path_with_arguments_or_an_absolute_url(target: str, path: str, query: limits.Query) -> None:
    one = asked(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert (one.path, one.query) == (path, query)


@pytest.mark.parametrize("step", [1, 3, 0])
def test_a_chunked_body_is_read_in_any_pieces_with_extensions_and_trailers(step: int) -> None:
    data = CHUNKED + b'3;x=y;z="1"\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: z\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n'
    first, second = read(data, step=step)
    assert isinstance(first, WholeRequest) and isinstance(second, WholeRequest)
    assert (first.body, "trailer" in first.head.headers, second.path) == (b"abcde", False, "/next")


def test_a_body_of_very_many_chunks_is_read_once() -> None:
    """Each byte is looked at once, whatever pieces it comes in: to read from the start each time takes minutes."""
    data = CHUNKED + b"1\r\nx\r\n" * 300_000 + b"0\r\n\r\n"
    [one] = read(data, step=4096)
    assert isinstance(one, WholeRequest) and one.body == b"x" * 300_000


def test_a_get_may_have_a_body() -> None:
    one = asked(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
    assert (one.method, one.body) == ("GET", b"abc")


def test_who_wants_another_protocol_is_answered_in_this_one_and_not_read_further() -> None:
    [one] = read(
        b"GET /exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        b"GET /smuggled HTTP/1.1\r\n\r\n"
    )
    assert isinstance(one, WholeRequest) and (one.path, one.stays) == ("/exec", False)


@pytest.mark.parametrize("step", [0, 1, 7, 50])
@pytest.mark.parametrize("last", [b"HTTP/1.1\r\nHost: x\r\nConnection: close", b"HTTP/1.0\r\nHost: x"])
def test_nothing_is_read_after_the_last_request_in_whatever_pieces_it_comes(last: bytes, step: int) -> None:
    [request] = read(b"GET /a " + last + b"\r\n\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n", step=step)
    assert isinstance(request, WholeRequest) and request.path == "/a"


def test_requests_before_one_that_is_none_are_answered() -> None:
    first, second = read(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n")
    assert isinstance(first, WholeRequest) and isinstance(second, Response) and second.status == 400


def test_few_of_the_requests_that_are_sent_together_are_read_ahead() -> None:
    found, view, ahead = reader(), memoryview(b"GET /a HTTP/1.1\r\nHost:\r\n\r\n" * 50_000), 0
    while len(view):
        view = view[found.feed(view) :]
        ahead = max(ahead, len(found.ready))
        found.ready.clear()
    assert ahead <= limits.PIECE // 26 + 1


# --- what is none ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["-6", "+2", "0x2", "1_0", " 2", "2 ", "", "2,2", "g", "\x002", "1" * 17, "-", "½"])
def test_a_chunk_has_a_size_in_hexadecimal_digits_and_nothing_else(size: str) -> None:
    assert refused(CHUNKED + size.encode() + b"\r\nab\r\n0\r\n\r\n")[0] == 400


@pytest.mark.parametrize(
    "rest",
    [
        b"2\r\nabc\r\n",
        b"2\nab\n0\n\n",
        b"2;\nab\r\n0\r\n\r\n",
        b"2\r\nab\r\n0\r\nno colon\r\n\r\n",
        b"2\r\nab\r\n0\r\nContent-Length: 1\r\n\r\n",
        b'2;x="\r\nab\r\n',
    ],
)
def test_a_chunked_body_is_framed_by_the_letter(rest: bytes) -> None:
    assert refused(CHUNKED + rest)[0] == 400


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Length: 2\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 2",
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: 2\r\nContent-Length: 2",
        "Content-Length: 2, 3",
        "Content-Length: -1",
        "Content-Length: +2",
        "Content-Length: 0x2",
        "Content-Length: 1_0",
        "Content-Length: 2 2",
        "Content-Length:",
        "Content-Length: 99999999999999999999999",
        "Content-Length: ²",
        "Content-Length : 2",
        "Content-Length\t: 2",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding:",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: \x0bchunked",
        "A: b\r\n c",
        "A: b\r\n\tc",
        "A: b\nC: d",
        "A: b\rC: d",
        "A: \x00",
        "A: \x7f",
        "A\x00: b",
        "A b: c",
        ": c",
        "no colon",
        "Host: y",
        "Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2",
    ],
)
def test_a_head_that_two_readers_could_read_differently_is_refused(headers: str) -> None:
    status, text = refused(POST + headers.encode() + b"\r\n\r\nab")
    assert status == 400 and text.startswith("400 Bad Request: ")


def test_a_length_may_begin_with_any_number_of_zeros() -> None:
    assert asked(POST + b"Content-Length: " + b"0" * 5000 + b"2\r\n\r\nab").body == b"ab"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("GET / HTTP/1.1\r\n\r\n", "missing required Host header"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "too many Host headers"),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "unsupported transfer encoding"),
        ("GET /\r\n\r\n", "unsupported protocol version HTTP/0.9"),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\n",
            "another protocol with a body",
        ),
        ("GET /?" + "a&" * 1001 + " HTTP/1.1\r\nHost: a\r\n\r\n", "more than 1000 arguments in the query"),
    ],
)
def test_a_refusal_says_why(text: str, why: str) -> None:
    status, told = refused(text.encode())
    assert status == 400 and why in told


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "GET / HTTP/3",
        "GET / HTTP/2.0",
        "GET / HTTP/1.2",
        "PRI * HTTP/2.0",
        "GET / HTTP/1.1 ",
        "GET",
        "GET /\x00 HTTP/1.1",
        "GET /a b HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "get / HTTP/1.1",
        "GET a HTTP/1.1",
        "\x16\x03\x01\x02\x00\x01",
        "SSH-2.0-OpenSSH_9",
    ],
)
def test_what_begins_as_no_request_is_refused(line: str) -> None:
    assert refused(line.encode() + b"\r\nHost: x\r\n\r\n")[0] == 400


def test_only_one_thing_can_be_expected() -> None:
    assert refused(POST + b"Expect: miracles\r\nContent-Length: 1\r\n\r\n")[0] == 417


# --- how much ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "endless",
    [
        b"GET /" + b"a" * limits.HEAD_LIMIT,
        b"GET / HTTP/1.1\r\nX: " + b"y" * 2 * limits.HEAD_LIMIT,
        b"\r\n" * limits.HEAD_LIMIT,
        b"GET / HTTP/1.1\r\n" + b"y" * 2 * limits.HEAD_LIMIT,
        b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * (limits.HEADERS_LIMIT + 2),
        b"GET / HTTP/1.1\r\nX:" + b" " * 2 * limits.HEAD_LIMIT,
        b"GET /" + b"a" * limits.TARGET_LIMIT + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        CHUNKED + b"0\r\n" + b"a:b\r\n" * (limits.HEADERS_LIMIT + 2),
    ],
)
@pytest.mark.parametrize("step", [997, 0])
def test_a_head_without_end_is_refused(endless: bytes, step: int) -> None:
    found = read(endless, step=step)[-1]
    assert isinstance(found, Response) and found.status == 431


@pytest.mark.parametrize(
    "endless",
    [
        b"2;" + b"x" * 2 * limits.FRAMING_LIMIT,
        b"0\r\nT: " + b"x" * 2 * limits.FRAMING_LIMIT,
        b"1;" + b"x" * 100 + b"\r\n",
        b"0" * 2 * limits.FRAMING_LIMIT,
    ],
)
def test_a_chunked_body_that_is_mostly_none_is_refused(endless: bytes) -> None:
    if endless.endswith(b"\r\n"):
        endless = (endless + b"y\r\n") * 2000
    status, text = refused(CHUNKED + endless)
    assert (status, text) == (400, "400 Bad Request: a chunked body holds too much that is no data")


def test_what_is_announced_takes_no_memory() -> None:
    tracemalloc.start()
    try:
        waiting = [reader() for _ in range(20)]
        for item in waiting:
            item.feed(memoryview(POST + b"Content-Length: 3000000\r\n\r\nx"))
        chunked = [reader() for _ in range(20)]
        for item in chunked:
            item.feed(memoryview(CHUNKED + b"30000000\r\nx"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000 and all(item.head is not None and not item.ready for item in (*waiting, *chunked))


def test_a_body_is_refused_when_it_is_too_large_by_announcement_or_by_what_came() -> None:
    for data in (POST + b"Content-Length: %d\r\n\r\n" % (LIMIT + 1), CHUNKED + b"fffffff\r\n" + bytes(LIMIT + 1)):
        status, text = refused(data)
        assert status == 413 and f"Request entity too large: limit is {LIMIT}" in text and '"kind":"Status"' in text


def test_little_is_kept_of_a_body_whose_sender_nobody_knows() -> None:
    for head in (POST + b"Content-Length: %d\r\n\r\n" % LIMIT, CHUNKED + b"%x\r\n" % LIMIT):
        found = reader(known=False)
        all_ = read(head + bytes(limits.STRANGER_LIMIT + 1), found)
        assert isinstance(all_[-1], Response) and all_[-1].status == 401 and b'"reason":"Unauthorized"' in all_[-1].body
    [small] = read(POST + b"Content-Length: 9\r\n\r\n" + bytes(9), reader(known=False))
    assert isinstance(small, WholeRequest), "whether it may be answered is for the server to say"
