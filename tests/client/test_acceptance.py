"""A server that will never take us ends a component with a sentence; one that is away, or refuses once, does not."""

from __future__ import annotations

import asyncio
import base64
import sys
from pathlib import Path

import pytest
import yaml

from embedded import embedded
from gangline.client import Request, Response
from gangline.client.acceptance import REFUSED_SECONDS, WatchedTransport
from gangline.cluster.server.access.identity import CertificateAuthority
from gangline.cluster.server.server import ServerSettings
from gangline.cluster.server.wire.http import serve
from gangline.errors import Unavailable

AWAY = 0


class Answering:
    """A line that answers with these codes, one after the other."""

    def __init__(self) -> None:
        self.code = 200

    async def send(self, request: Request) -> Response:
        if self.code == AWAY:
            raise Unavailable({"message": "nobody there", "code": 503})
        return Response(self.code)

    async def close(self) -> None:
        return None


@pytest.mark.parametrize(
    ("answers", "ends"),
    [
        ([(0, 401), (30, 401), (REFUSED_SECONDS, 401)], True),
        ([(0, 200), (5, 401), (5 + REFUSED_SECONDS, 401)], True),
        ([(0, 401), (REFUSED_SECONDS - 1, 401)], False),
        ([(0, 401), (30, 200), (REFUSED_SECONDS, 401)], False),
        ([(0, 401), (30, 403), (REFUSED_SECONDS, 401)], False),
        ([(0, 401), (30, AWAY), (REFUSED_SECONDS, 401)], False),
        ([(0, AWAY), (1000, AWAY), (2000, AWAY)], False),
    ],
)
async def test_only_a_token_that_stays_refused_is_given_up(answers: list[tuple[float, int]], ends: bool) -> None:
    inner, now = Answering(), 0.0
    watched = WatchedTransport(inner, "https://x", lambda: now)
    for moment, code in answers:
        now, inner.code = moment, code
        try:
            await watched.send(Request("GET", "/api"))
        except Unavailable:
            assert inner.code == AWAY
    assert watched.ending.done() == ends
    if ends:
        assert "https://x has answered nothing but 401 Unauthorized for 60 s" in str(watched.ending.result())


def kubeconfig(folder: Path, server: str, authority: bytes) -> Path:
    path = folder / "kubeconfig"
    cluster = {"server": server, "certificate-authority-data": base64.b64encode(authority).decode()}
    content = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "wrong"}}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


async def component(name: str, path: Path) -> tuple[int | None, str, str]:
    """As a process whose patience with 401 is short; its code, and what it said."""
    script = "from gangline.client import acceptance\nacceptance.REFUSED_SECONDS = 0.1\nfrom gangline.cli import main\n"
    words = ["-c", f"{script}main()", "run", name, "--kubeconfig", str(path), "--namespace", "default"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=pipe, stderr=pipe)
    out, error = await process.communicate()
    return process.returncode, out.decode(), error.decode()


@pytest.mark.parametrize("name", ["operator", "admission"])
@pytest.mark.parametrize("trusted", [True, False])
async def test_a_component_ends_when_the_server_will_never_take_it(tmp_path: Path, name: str, trusted: bool) -> None:
    async with embedded(settings=ServerSettings(tokens={"right": "admin"}, anonymous=False)) as server:
        listener = await serve(server)
        ours, other = server.secrets.authority, CertificateAuthority.make()
        path = kubeconfig(tmp_path, listener.url, (ours if trusted else other).pair.certificate)
        code, out, error = await component(name, path)
        await listener.close()
    why = "has answered nothing but 401 Unauthorized" if trusted else "shows a certificate that is not to be trusted"
    assert code == 1 and why in error.splitlines()[-1] and "Traceback" not in error
    assert "ready" not in out.split()
