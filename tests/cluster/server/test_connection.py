"""HTTP as it is spoken to the server, byte for byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from cluster.server.conftest import MAPS, TOKEN, Api, config_map, in_process
from gangline.client.wire import Response
from gangline.cluster.server.server import Server
from gangline.cluster.server.wire.http import ServerListener, serve
from gangline.cluster.server.wire.response_head import print_head


class Wire:
    """A socket, and answers read from it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> None:
        lines = {"Host": "x", "Authorization": f"Bearer {TOKEN}", "Content-Length": str(len(body))} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        text = (
            f"{method} {path} HTTP/1.1\r\n"
            + "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
            + "\r\n"
        )
        self.writer.write(text.encode() + body)

    async def head(self) -> tuple[int, dict[str, str]]:
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        return int(lines[0].split(" ")[1]), {
            name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:] if line)
        }

    async def answer(self) -> tuple[int, bytes]:
        status, headers = await self.head()
        return status, await self.reader.readexactly(int(headers["content-length"]))

    async def chunk(self) -> bytes:
        size = int((await self.reader.readline()).strip(), 16)
        return (await self.reader.readexactly(size + 2))[:-2]


@pytest.fixture
async def listener(server: Server) -> AsyncIterator[ServerListener]:
    found = await serve(server, tls=False)
    yield found
    await found.close()


@pytest.fixture
async def wire(listener: ServerListener) -> AsyncIterator[Wire]:
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    yield Wire(reader, writer)
    writer.close()


@pytest.fixture
def api(server: Server) -> Api:
    return in_process(server)


def body(name: str, text: str = "x") -> bytes:
    return json.dumps(config_map(name, {"text": text})).encode()


async def test_requests_sent_together_are_answered_in_their_order(wire: Wire) -> None:
    wire.send("POST", MAPS, body("a"))
    wire.send("GET", f"{MAPS}/a")
    wire.send("GET", f"{MAPS}/b")
    answers = [await wire.answer() for _ in range(3)]
    assert [status for status, _ in answers] == [201, 200, 404]
    assert json.loads(answers[1][1])["metadata"]["name"] == "a"


async def test_a_body_may_come_in_chunks_and_in_pieces(wire: Wire) -> None:
    data = body("a", "y" * 1000)
    chunks = (
        b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (data[:10], data[10:500], data[500:])) + b"0\r\n\r\n"
    )
    wire.send("POST", MAPS, Content_Length="", Transfer_Encoding="chunked")
    for start in range(0, len(chunks), 300):
        wire.writer.write(chunks[start : start + 300])
        await wire.writer.drain()
        await asyncio.sleep(0)
    assert (await wire.answer())[0] == 201


async def test_who_asks_whether_to_go_on_is_told_to(wire: Wire) -> None:
    data = body("a")
    wire.send("POST", MAPS, Content_Length=str(len(data)), Expect="100-continue")
    assert (await wire.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
    wire.writer.write(data)
    assert (await wire.answer())[0] == 201


async def test_a_body_beyond_the_limit_is_refused_and_the_connection_closed(wire: Wire, server: Server) -> None:
    wire.send("POST", MAPS, Content_Length=str(server.settings.body_limit + 1))
    status, headers = await wire.head()
    assert (status, headers["connection"]) == (413, "close")


async def test_a_chunked_body_beyond_the_limit_is_refused(wire: Wire, server: Server) -> None:
    wire.send("POST", MAPS, Content_Length="", Transfer_Encoding="chunked")
    size = server.settings.body_limit + 1
    wire.writer.write(b"%x\r\n%b" % (size, bytes(size)))
    assert (await wire.head())[0] == 413


@pytest.mark.parametrize(
    "text",
    [
        "nonsense\r\n\r\n",
        "GET / HTTP/3\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_answered_400(wire: Wire, text: str) -> None:
    wire.writer.write(text.encode())
    assert (await wire.head())[0] == 400


async def test_a_head_without_end_is_refused(wire: Wire) -> None:
    wire.writer.write(b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000)
    assert (await wire.head())[0] == 431


async def test_a_head_request_gets_no_body(wire: Wire) -> None:
    wire.send("HEAD", "/version")
    status, headers = await wire.head()
    wire.send("GET", "/healthz")
    assert (status, int(headers["content-length"]) > 0, await wire.answer()) == (405, True, (200, b"ok"))


async def test_a_client_that_wants_to_close_is_closed(wire: Wire) -> None:
    wire.send("GET", "/healthz", Connection="close")
    assert await wire.answer() == (200, b"ok")
    assert await wire.reader.read() == b""


async def test_a_long_answer_arrives_whole(wire: Wire, api: Api) -> None:
    for number in range(20):
        await api.post(MAPS, config_map(f"m{number}", {"text": "z" * 100_000}))
    wire.send("GET", MAPS)
    wire.send("GET", "/healthz")
    status, found = await wire.answer()
    assert (status, len(json.loads(found)["items"])) == (200, 20)
    assert await wire.answer() == (200, b"ok")


async def test_a_watch_goes_on_beside_writes_and_ends_with_its_connection(wire: Wire, api: Api, server: Server) -> None:
    wire.send("GET", f"{MAPS}?watch=true&resourceVersion={server.revision}")
    assert (await wire.head())[1]["transfer-encoding"] == "chunked"
    await api.post(MAPS, config_map("a"))
    await api.post(MAPS, config_map("b"))
    seen = b""
    while seen.count(b"\n") < 2:
        seen += await wire.chunk()
    assert [json.loads(line)["object"]["metadata"]["name"] for line in seen.splitlines()] == ["a", "b"]


async def test_a_watch_that_ends_leaves_its_connection_usable(wire: Wire, server: Server) -> None:
    wire.send("GET", f"{MAPS}?watch=true&resourceVersion={server.revision}&timeoutSeconds=1")
    await wire.head()
    assert await wire.chunk() == b""
    wire.send("GET", "/healthz")
    assert await wire.answer() == (200, b"ok")


async def test_closing_the_listener_ends_watches_and_connections(
    wire: Wire, listener: ServerListener, server: Server
) -> None:
    wire.send("GET", f"{MAPS}?watch=true&resourceVersion={server.revision}")
    await wire.head()
    await listener.close()
    assert await wire.reader.read() == b"0\r\n\r\n"


async def test_who_asks_whether_to_go_on_is_refused_before_it_sends_what_would_be_refused(
    wire: Wire, server: Server
) -> None:
    wire.send("POST", MAPS, Content_Length=str(server.settings.body_limit + 1), Expect="100-continue")
    assert (await wire.answer())[0] == 413


async def test_a_stranger_is_refused_before_its_large_body_is_read(wire: Wire) -> None:
    wire.send("POST", MAPS, Content_Length="1000000", Authorization="Bearer wrong", Expect="100-continue")
    status, found = await wire.answer()
    assert (status, json.loads(found)["reason"]) == (401, "Unauthorized")


async def test_a_body_in_very_many_chunks_does_not_keep_others_waiting(wire: Wire, listener: ServerListener) -> None:
    data = body("a", "y" * 200_000)
    wire.send("POST", MAPS, Content_Length="", Transfer_Encoding="chunked")
    wire.writer.write(b"".join(b"1\r\n%c\r\n" % byte for byte in data))
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    other = Wire(reader, writer)
    other.send("GET", "/healthz")
    assert await other.answer() == (200, b"ok")
    wire.writer.write(b"0\r\n\r\n")
    assert (await wire.answer())[0] == 201
    writer.close()


async def test_a_chunk_of_minus_six_bytes_is_refused_and_the_server_goes_on(
    wire: Wire, listener: ServerListener
) -> None:
    wire.send("POST", MAPS, Content_Length="", Transfer_Encoding="chunked")
    wire.writer.write(b"-6\r\nab\r\n0\r\n\r\n")
    assert await wire.answer() == (400, b"400 Bad Request: Invalid character in chunk size")
    assert await wire.reader.read() == b""


async def test_very_many_requests_sent_together_are_all_answered_in_their_order(wire: Wire) -> None:
    for number in range(1000):
        wire.send("GET", f"{MAPS}/m{number}")
    answers = [json.loads((await wire.answer())[1])["details"]["name"] for _ in range(1000)]
    assert answers == [f"m{number}" for number in range(1000)]


async def test_an_answer_to_the_last_request_comes_whole_although_more_was_sent(wire: Wire) -> None:
    wire.send("GET", "/healthz", Connection="close")
    wire.writer.write(b"x" * 1000)
    assert await wire.answer() == (200, b"ok")


async def test_nobody_is_upgraded(wire: Wire) -> None:
    wire.send("GET", "/healthz", Content_Length="", Connection="Upgrade", Upgrade="websocket")
    assert await wire.answer() == (200, b"ok")
    assert await wire.reader.read() == b""


def test_warnings_that_are_long_together_are_cut_and_told_as_far_as_they_fit() -> None:
    few = print_head(Response(200, warnings=("a" * 3000, "b")), True).decode()
    assert few.count("Warning: ") == 2 and "a" * 3000 in few
    many = print_head(Response(200, warnings=("a" * 100_000,) * 1000), True).decode()
    assert many.count(f'Warning: 299 - "{"a" * 256}"') == many.count("Warning: ") == 16
