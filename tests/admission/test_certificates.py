"""The webhook's certificate over time: renewed before it runs out, taken up when somebody else replaces it, read where
it is mounted."""

from __future__ import annotations

import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from embedded import admin, embedded, until
from gangline.admission.certificates import GOOD_FOR, WebhookKeyPair, authority_of, self_signed, still_good
from gangline.admission.component import LOOK_AGAIN, TLS_SECRET, WebhookSettings, component, mounted
from gangline.admission.registration import WebhookAddress
from gangline.admission.scheduling import kai
from gangline.api import names
from gangline.api.kinds import NAMESPACE, SECRET, VALIDATING_WEBHOOK
from gangline.client import Client
from gangline.errors import ConfigError, NotFound
from gangline.runtime import Manager, ManualClock

HOST = "127.0.0.1"


@asynccontextmanager
async def served(port: int, clock: ManualClock, folder: str = "", register: bool = True) -> AsyncIterator[Client]:
    async with embedded(kinds=True) as server:
        client = admin(server)
        await client.create(NAMESPACE, {"metadata": {"name": names.SYSTEM_NAMESPACE}})
        settings = WebhookSettings(
            WebhookAddress(url=f"https://{HOST}:{port}"), HOST, port, folder=folder, register=register
        )
        manager = Manager(component(lambda read: kai.hooks(), settings), client, clock)
        await manager.start()
        try:
            yield client
        finally:
            await manager.stop()


async def bundle(client: Client) -> bytes:
    """Whom the cluster was told to trust."""
    found = await client.list_raw(VALIDATING_WEBHOOK)
    return base64.b64decode(found[0]["webhooks"][0]["clientConfig"]["caBundle"]) if found else b""


async def registered(client: Client) -> bool:
    return bool(await bundle(client))


async def shown(port: int, trust: bytes) -> bool:
    """Whether the server shows a certificate that this one vouches for."""
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(
                f"https://{HOST}:{port}/healthz", ssl=ssl.create_default_context(cadata=trust.decode())
            ) as response,
        ):
            return response.status == 200
    except aiohttp.ClientError:
        return False


def a_clock() -> ManualClock:
    return ManualClock(datetime.now(UTC).timestamp())


async def test_a_certificate_about_to_run_out_is_replaced_while_the_server_answers(unused_tcp_port: int) -> None:
    clock = a_clock()
    async with served(unused_tcp_port, clock) as client:
        await until(lambda: registered(client), "the registration")
        first = await bundle(client)
        assert await shown(unused_tcp_port, first)
        clock.advance((GOOD_FOR - timedelta(days=89)).total_seconds())

        async def renewed() -> bool:
            return await bundle(client) != first

        await until(renewed, "the new certificate")
        kept = (await client.get_raw(SECRET, TLS_SECRET, names.SYSTEM_NAMESPACE))["data"]
        assert base64.b64decode(kept["tls.crt"]) == await bundle(client) == base64.b64decode(kept["ca.crt"])


async def test_a_certificate_that_another_replica_made_is_taken_up(unused_tcp_port: int) -> None:
    clock = a_clock()
    async with served(unused_tcp_port, clock) as client:
        await until(lambda: registered(client), "the registration")
        theirs = self_signed([HOST], datetime.now(UTC))
        data = {"tls.crt": theirs.certificate, "tls.key": theirs.key, "ca.crt": theirs.authority}
        await client.patch(
            SECRET,
            TLS_SECRET,
            names.SYSTEM_NAMESPACE,
            {"data": {name: base64.b64encode(value).decode() for name, value in data.items()}},
        )
        clock.advance(LOOK_AGAIN)

        async def taken_up() -> bool:
            return await bundle(client) == theirs.certificate and await shown(unused_tcp_port, theirs.certificate)

        await until(taken_up, "the other certificate")


def put(folder: Path, pair: WebhookKeyPair) -> None:
    for name, value in (("tls.crt", pair.certificate), ("tls.key", pair.key), ("ca.crt", pair.authority)):
        (folder / name).write_bytes(value)


async def test_a_mounted_certificate_is_used_and_its_successor_too_and_none_is_made(
    unused_tcp_port: int, tmp_path: Path
) -> None:
    clock, one, two = a_clock(), self_signed([HOST], datetime.now(UTC)), self_signed([HOST], datetime.now(UTC))
    put(tmp_path, one)
    async with served(unused_tcp_port, clock, folder=str(tmp_path), register=False) as client:

        async def answers() -> bool:
            return await shown(unused_tcp_port, one.certificate)

        await until(answers, "the server")
        put(tmp_path, two)
        clock.advance(LOOK_AGAIN)

        async def follows() -> bool:
            return await shown(unused_tcp_port, two.certificate)

        await until(follows, "the second certificate")
        assert await client.list_raw(VALIDATING_WEBHOOK) == []
        with pytest.raises(NotFound):
            await client.get_raw(SECRET, TLS_SECRET, names.SYSTEM_NAMESPACE)


def test_a_folder_without_a_certificate_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        mounted(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path} has no tls.crt and no tls.key: mount the Secret with the certificate there, or let admission "
        f"make its own "
        "(server.webhooks.certProvisionMode: auto, and no --cert-dir)"
    )


def test_a_leftover_authority_that_did_not_issue_the_certificate_is_not_trusted() -> None:
    one, two = self_signed([HOST], datetime.now(UTC)), self_signed(["other"], datetime.now(UTC))
    assert authority_of(one.certificate, one.authority) == one.authority
    assert authority_of(one.certificate, two.authority) == one.certificate == authority_of(one.certificate, b"")


def test_no_changed_byte_of_a_certificate_ends_who_reads_it() -> None:
    """A Secret may hold anything: what cannot be read is made anew, and is no authority."""
    now = datetime.now(UTC)
    pair = self_signed([HOST], now)
    whole = ssl.PEM_cert_to_DER_cert(pair.certificate.decode())
    assert still_good(pair, [HOST], now)
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        odd = ssl.DER_cert_to_PEM_cert(bytes(changed)).encode()
        still_good(WebhookKeyPair(odd, pair.key, odd), [HOST], now)
        assert authority_of(odd, pair.authority) in (odd, pair.authority)
