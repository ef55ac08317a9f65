"""A certificate that signs itself, for the webhook: the cluster trusts exactly this one.

Kept in a Secret by component.py, so that every replica and every restart shows the same. Made anew only when there is
none, or when it no longer names the host or is about to run out."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

GOOD_FOR, RENEWED_BEFORE = timedelta(days=3650), timedelta(days=90)


@dataclass(frozen=True, slots=True)
class WebhookKeyPair:
    """Certificate and private key, and the certificate that vouches for them, in PEM."""

    certificate: bytes
    key: bytes
    authority: bytes = b""


def self_signed(hosts: Sequence[str], now: datetime) -> WebhookKeyPair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0][:64])])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + GOOD_FOR)
        .add_extension(x509.BasicConstraints(True, None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_named(host) for host in hosts]), critical=False)
    )
    written = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return WebhookKeyPair(written, secret, written)


def still_good(pair: WebhookKeyPair, hosts: Sequence[str], now: datetime) -> bool:
    """Does a kept certificate name these hosts, and for long enough?"""
    try:
        read = x509.load_pem_x509_certificate(pair.certificate)
        named = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return all(_named(host) in named for host in hosts) and now + RENEWED_BEFORE < read.not_valid_after_utc
    except Exception:  # errors of cryptography have no parent of their own
        return False


def authority_of(certificate: bytes, given: bytes) -> bytes:
    """Whom to trust for a certificate: who issued it, where that is given, else the certificate itself."""
    try:
        x509.load_pem_x509_certificate(certificate).verify_directly_issued_by(x509.load_pem_x509_certificate(given))
    except Exception:  # errors of cryptography have no parent of their own
        return certificate
    return given


def _named(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
