"""HTTP by hand, against a server that says what a test tells it to: whole answers, pieces, streams, and lines that
break."""

from __future__ import annotations

import asyncio
import contextlib
import re
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from embedded import until
from gangline.api.kinds import POD
from gangline.client import Client, Request
from gangline.client.http import Http
from gangline.errors import ConfigError, Unavailable

Says = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
WATCH = Request("GET", "/pods", (("watch", "true"),))


class Other:
    """The other side of the line."""

    def __init__(self, says: Says) -> None:
        self._says = says
        self.connections = 0
        self.heads: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                length = next(
                    (int(line.partition(":")[2]) for line in head.splitlines() if line.startswith("Content-Length")), 0
                )
                self.heads[-1] += (await reader.readexactly(length)).decode()
                await self._says(reader, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


@asynccontextmanager
async def line(says: Says, **options: str) -> AsyncIterator[tuple[Http, Other]]:
    other = Other(says)
    server = await asyncio.start_server(other.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = Http(f"http://127.0.0.1:{port}/prefix/", **options)  # type: ignore[arg-type]
    try:
        yield client, other
    finally:
        await client.close()
        server.close()


def text(body: str, *headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join(
        (
            f"HTTP/1.1 {status}",
            "Content-Type: application/json; charset=x",
            f"Content-Length: {len(body)}",
            *headers,
            "",
            body,
        )
    ).encode()


async def test_one_request_after_the_other_uses_the_same_connection() -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(text('{"a":1}', "Warning: 299 - first", "Warning: 299 - second", "Audit-Id: x"))

    async with line(says) as (client, other):
        for _ in range(3):
            answer = await client.send(Request("POST", "/pods/a b", (("fieldManager", "a/b"),), b"{}"))
        assert (answer.status, answer.body, answer.content_type) == (200, b'{"a":1}', "application/json")
        assert answer.warnings == ("299 - first", "299 - second") and answer.headers["audit-id"] == "x"
        assert other.connections == 1 and len(other.heads) == 3
        assert other.heads[0].startswith("POST /prefix/pods/a%20b?fieldManager=a%2Fb HTTP/1.1\r\nHost: 127.0.0.1:")
        assert "Content-Type: application/json\r\n" in other.heads[0] and other.heads[0].endswith("\r\n\r\n{}")


async def test_requests_at_the_same_time_each_have_a_connection() -> None:
    waiting: list[asyncio.StreamWriter] = []

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting.append(writer)
        if len(waiting) == 3:
            for item in waiting:
                item.write(text("{}"))

    async with line(says) as (client, other):
        answers = await asyncio.gather(*(client.send(Request("GET", "/pods")) for _ in range(3)))
        assert [answer.body for answer in answers] == [b"{}"] * 3 and other.connections == 3


async def test_an_answer_may_come_in_any_pieces() -> None:
    whole = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: "
        b'chunked\r\n\r\n4;x=y\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n'
    )

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for at in range(len(whole)):
            writer.write(whole[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0)

    async with line(says) as (client, other):
        for _ in range(2):
            answer = await client.send(Request("GET", "/pods"))
            assert (answer.status, answer.body) == (201, b'{"a":1}')
        assert other.connections == 1


async def test_the_length_of_an_answer_may_begin_with_any_number_of_zeros() -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"0" * 5000 + b"2\r\n\r\nab")

    async with line(says) as (client, _):
        assert (await client.send(Request("GET", "/pods"))).body == b"ab"


async def test_an_answer_without_length_ends_with_its_connection_and_a_closing_server_is_asked_anew() -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nall of it")
        writer.close()

    async with line(says) as (client, other):
        for _ in range(2):
            assert (await client.send(Request("GET", "/version"))).body == b"all of it"
        assert other.connections == 2


async def test_a_stream_gives_what_came_and_ends_with_its_last_chunk() -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntw")
        await writer.drain()
        writer.write(b"o\r\n0\r\n\r\n")

    async with line(says) as (client, _):
        answer = await client.send(WATCH)
        assert answer.stream is not None
        assert b"".join([chunk async for chunk in answer.stream]) == b"onetwo"


async def test_a_stream_that_is_cut_says_so_after_what_came() -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntw")
        await writer.drain()
        writer.close()

    async with line(says) as (client, _):
        answer = await client.send(WATCH)
        assert answer.stream is not None
        assert await anext(answer.stream) == b"onetw"
        with pytest.raises(Unavailable, match="the watch was cut off: the server ended the connection"):
            await anext(answer.stream)


async def test_a_watch_that_is_refused_is_an_answer_like_others() -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(text('{"code":410}', status="410 Gone"))

    async with line(says) as (client, _):
        answer = await client.send(WATCH)
        assert (answer.status, answer.body, answer.stream) == (410, b'{"code":410}', None)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "the server ended the connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "the server ended the connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhalf\r\n", "not understood"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "not understood: an answer that begins with 'SSH-2.0-OpenSSH' is not HTTP/1"),
    ],
)
async def test_what_is_no_answer_is_unavailable_and_the_request_is_not_sent_again(said: bytes, why: str) -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()
        writer.close()

    async with line(says) as (client, other):
        with pytest.raises(Unavailable, match=f"no answer from http://127.0.0.1:[0-9]+/prefix: .*{why}"):
            await client.send(Request("POST", "/pods", (), b"{}"))
        assert len(other.heads) == 1


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with line(lambda reader, writer: asyncio.sleep(0)) as (client, _):
        pass
    with pytest.raises(Unavailable, match="no answer from"):
        await client.send(Request("GET", "/pods"))


async def test_a_request_that_was_given_up_leaves_no_connection_for_the_next() -> None:
    asked = asyncio.Event()

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if asked.is_set():
            writer.write(text("{}"))
        asked.set()

    async with line(says) as (client, other):
        first = asyncio.create_task(client.send(Request("GET", "/slow")))
        await asked.wait()
        first.cancel()
        assert (await client.send(Request("GET", "/quick"))).body == b"{}"
        assert other.connections == 2


async def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.client.http.PATIENCE", 0.01)
    async with line(lambda reader, writer: asyncio.sleep(0)) as (client, _):
        with pytest.raises(Unavailable, match=r"nothing came for 0\.01 s"):
            await client.send(Request("GET", "/pods"))


async def test_a_line_break_never_becomes_a_header() -> None:
    async with line(lambda reader, writer: asyncio.sleep(0)) as (client, other):
        with pytest.raises(ConfigError, match="line break"):
            await client.send(
                Request("GET", "/pods", headers={"impersonate-user": "a\r\nimpersonate-group: system:masters"})
            )
        assert other.heads == []


# --- servers that mean harm, or none at all ----------------------------------------------------------------

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
FULL = 300 * 1024


@pytest.mark.parametrize(
    ("said", "why"),
    [
        *(
            (CHUNKED + size + b"\r\nab\r\n0\r\n\r\n", "Invalid character in chunk size")
            for size in (b"-6", b"+2", b"0x2", b"1_0", b" 2", b"")
        ),
        (CHUNKED + b"1" * 17 + b"\r\n", "Chunk size overflow"),
        (CHUNKED + b"2\r\nabc\r\n", "Expected LF after chunk data"),
        (CHUNKED + b"1;" + b"x" * FULL, "a chunked answer holds too much that is no data"),
        (CHUNKED + b"0\r\nT: " + b"x" * FULL, "a chunked answer holds too much that is no data"),
        (CHUNKED + b"0\r\n" + b"a: b\r\n" * 1000, "an answer has more than 512 headers"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * FULL, "the head of an answer does not end"),
        (b"HTTP/1.1 200 " + b"y" * FULL, "the head of an answer does not end"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000, "the head of an answer does not end"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 1000 + b"\r\n", "an answer has more than 512 headers"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n",
            "an answer of 999999999999 bytes is larger than 536870912",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Invalid character in Content-Length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab", "Duplicate Content-Length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "can't be present"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
            "an answer is encoded as 'gzip', which nobody asked for",
        ),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
            "the server asks for another protocol",
        ),
        (b"HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n", "an answer in HTTP/0.9 is not HTTP/1"),
        (b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", "an answer in HTTP/2.0 is not HTTP/1"),
        (b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", "Missing expected CR"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "Unexpected whitespace after header value"),
        (b"HTTP/1.1 200 OK\r\nA: \x00\r\n\r\n", "Invalid header value char"),
    ],
)
async def test_an_answer_that_is_none_or_has_no_end_is_given_up(said: bytes, why: str) -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)  # and the connection stays open

    async with line(says) as (client, other):
        for request in (Request("GET", "/pods"), WATCH):
            with pytest.raises(
                Unavailable, match=f"(no answer|the watch was cut off).*: not understood: .*{re.escape(why)}"
            ):
                answer = await client.send(request)
                assert answer.stream is not None, answer
                async for _ in answer.stream:
                    pass
        assert other.connections == 2, "neither was used again"


async def test_a_crowd_of_requests_goes_over_the_few_connections_that_answer_first() -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(text("{}"))

    async with line(says) as (client, other):
        answers = await asyncio.gather(*(client.send(Request("GET", f"/pods/{number}")) for number in range(200)))
        assert [answer.status for answer in answers] == [200] * 200
        assert other.connections < 50, "most requests were sent over a connection that had served another"


async def test_requests_that_are_not_answered_keep_no_other_from_being_sent() -> None:
    answer = asyncio.Event()

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await answer.wait()
        writer.write(text("{}"))

    async with line(says) as (client, other):
        asked = [asyncio.create_task(client.send(Request("GET", f"/pods/{number}"))) for number in range(40)]
        await until(lambda: len(other.heads) == 40)
        answer.set()
        await asyncio.gather(*asked)


async def test_who_gives_up_while_waiting_for_a_connection_takes_none_from_others() -> None:
    hold = asyncio.Event()

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await hold.wait()
        writer.write(text("{}"))

    async with line(says) as (client, _):
        asked = [asyncio.create_task(client.send(Request("GET", f"/pods/{number}"))) for number in range(30)]
        await asyncio.sleep(0)
        for task in asked[3:27]:
            task.cancel()
        hold.set()
        ended = await asyncio.gather(*asked, return_exceptions=True)
        assert sum(not isinstance(end, BaseException) for end in ended) == 6
        assert (await client.send(Request("GET", "/pods"))).status == 200


async def test_a_server_that_refuses_connections_refuses_every_request() -> None:
    client = Http("http://127.0.0.1:9")
    asked = (client.send(Request("GET", f"/pods/{number}")) for number in range(20))
    ended = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(end, Unavailable) for end in ended)


async def test_a_body_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.client.connections.response_reader.LONGEST_BODY", 1_000_000)

    for head in (b"HTTP/1.1 200 OK\r\n\r\n", CHUNKED + b"fffffff\r\n"):

        async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes = head) -> None:
            writer.write(head)
            while not writer.is_closing():
                writer.write(bytes(100_000))
                await writer.drain()

        async with line(says) as (client, _):
            with pytest.raises(Unavailable, match="not understood: answers hold more than 1000000 bytes"):
                await client.send(Request("GET", "/pods"))


async def test_bodies_that_come_together_have_one_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them alone is too long; what a client holds of all of them is."""
    monkeypatch.setattr("gangline.client.connections.response_reader.LONGEST_BODY", 1_000_000)
    asked: list[int] = []

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(1)
        writer.write(CHUNKED + b"61a80\r\n" + bytes(400_000) + b"\r\n")
        await until(lambda: len(asked) >= 4)
        writer.write(b"0\r\n\r\n")

    async with line(says) as (client, _):
        ended = await asyncio.gather(
            *(client.send(Request("GET", f"/pods/{number}")) for number in range(4)), return_exceptions=True
        )
        refused = [str(end) for end in ended if isinstance(end, Unavailable)]
        assert refused and all("answers hold more than 1000000 bytes" in text for text in refused)
        assert len((await client.send(Request("GET", "/pods"))).body) == 400_000


@pytest.mark.parametrize("proxy", ["socks9://x", "x:3128", "http://", "http://[::1", "http://x:99999"])
def test_a_proxy_that_is_none_is_told(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "the proxy .* is none that is understood; one is written http://host:port"
    with pytest.raises(ConfigError, match=told):
        Http("http://elsewhere", proxy=proxy)
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ConfigError, match=told):
        Http("http://elsewhere")


async def test_what_a_server_announces_takes_no_memory() -> None:
    asked = asyncio.Event()

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"30000000\r\nab")
        asked.set()

    async with line(says) as (client, _):
        tracemalloc.start()
        try:
            asking = asyncio.create_task(client.send(Request("GET", "/pods")))
            await asked.wait()
            [connection] = client._line._connections  # type: ignore[union-attr]
            await until(lambda: connection._reader.held == 2)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        asking.cancel()
    assert peak < 2_000_000


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"H", "the head of an answer did not come within 0.5 s"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "an answer did not end within 1 s"),
    ],
)
async def test_an_answer_that_comes_drop_by_drop_is_given_up(
    said: bytes, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gangline.client.http.PATIENCE", 0.5)  # the first byte comes sooner, also on a busy machine
    monkeypatch.setattr("gangline.client.connections.connection.LONGEST_ANSWER", 2)

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        while not writer.is_closing() and said != b"H":
            writer.write(b"x")
            await asyncio.sleep(0)

    async with line(says) as (client, _):
        with pytest.raises(Unavailable, match=re.escape(why)):
            await client.send(Request("GET", "/pods"))


async def test_what_a_server_says_unasked_is_no_answer_to_the_next_request() -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(text('{"a":1}') + text('{"stolen":1}'))

    async with line(says) as (client, other):
        for _ in range(2):
            assert (await client.send(Request("GET", "/pods"))).body == b'{"a":1}'
        assert other.connections == 2


async def test_an_event_without_end_ends_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.client.watch_events.LONGEST_EVENT", 1_000_000)

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        while not writer.is_closing():
            writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            await writer.drain()

    async with line(says) as (transport, _):
        with pytest.raises(Unavailable, match="an event of a watch is larger than 1000000 bytes"):
            async for _ in Client(transport, manager="test").watch(POD, "1"):
                pass


async def test_through_a_proxy_a_body_has_an_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangline.client.connections.proxied.LONGEST_BODY", 1_000_000)

    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(bytes(100_000))
            await writer.drain()

    async with line(says) as (direct, _):
        client = Http("http://elsewhere", proxy=direct.server.removesuffix("/prefix"))
        with pytest.raises(Unavailable, match="an answer is larger than 1000000 bytes"):
            await client.send(Request("GET", "/pods"))
        await client.close()


async def test_whoever_is_cancelled_while_a_connection_fails_ends() -> None:
    async def asks_for_ever(http: Http) -> None:
        while True:
            with contextlib.suppress(Unavailable):
                await http.send(Request("GET", "/"))

    http = Http("http://127.0.0.1:1")
    for steps in range(300):
        asking = asyncio.create_task(asks_for_ever(http))
        for _ in range(steps % 30):
            await asyncio.sleep(0)
        asking.cancel()
        done, _ = await asyncio.wait({asking}, timeout=5)
        assert done and asking.cancelled()
    await http.close()
