"""Who asks: the server's own certificate authority, client certificates, bearer tokens, and kubeconfig text.

Certificates are made once and kept in the data folder (or in memory). Service-account tokens are signed here and are
good as long as the account they speak for exists with the uid they name."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import secrets
import ssl
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gangline.api.yaml_text import yaml_text
from gangline.client.wire import Request, User
from gangline.cluster.server.access.rbac import ANONYMOUS, AUTHENTICATED, MASTERS
from gangline.cluster.server.status import unauthorized
from gangline.cluster.server.store.private_files import alone, private_folder, read_private, write_private
from gangline.errors import DataFolderError

ISSUER = "https://kubernetes.default.svc"
_YEARS = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class ServerKeyPair:
    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class CertificateAuthority:
    """A certificate authority of our own, in PEM."""

    pair: ServerKeyPair

    @classmethod
    def make(cls, name: str = "gangline") -> CertificateAuthority:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(subject, subject, key.public_key()).add_extension(
            x509.BasicConstraints(True, None), critical=True
        )
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        builder = builder.add_extension(_usage(signs=True), critical=True)
        return cls(_pair(builder.sign(key, hashes.SHA256()), key))

    def serving(self, hosts: Sequence[str]) -> ServerKeyPair:
        """A certificate for a server that answers under these names and addresses."""
        return self._issue("kube-apiserver", (), hosts, ExtendedKeyUsageOID.SERVER_AUTH)

    def client(self, user: str, groups: Sequence[str] = ()) -> ServerKeyPair:
        return self._issue(user, groups, (), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self, name: str, groups: Sequence[str], hosts: Sequence[str], use: x509.ObjectIdentifier
    ) -> ServerKeyPair:
        authority = x509.load_pem_x509_certificate(self.pair.certificate)
        signer = serialization.load_pem_private_key(self.pair.key, None)
        assert isinstance(signer, ec.EllipticCurvePrivateKey)
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(subject, authority.subject, key.public_key())
        builder = builder.add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        builder = builder.add_extension(_usage(signs=False), critical=True)
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False
            )
        return _pair(builder.sign(signer, hashes.SHA256()), key)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    return (
        builder.serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + _YEARS)
    )


def _usage(signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not signs,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> ServerKeyPair:
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return ServerKeyPair(certificate.public_bytes(serialization.Encoding.PEM), private)


def server_context(authority: CertificateAuthority, hosts: Sequence[str]) -> ssl.SSLContext:
    """TLS for a listener: our certificate, and client certificates asked for but not demanded."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair = authority.serving(hosts)
    with tempfile.NamedTemporaryFile() as file:
        file.write(pair.certificate + pair.key)
        file.flush()
        context.load_cert_chain(file.name)
    context.load_verify_locations(cadata=authority.pair.certificate.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    context.set_alpn_protocols(["http/1.1"])
    return context


def certificate_user(certificate: Mapping[str, Any] | None) -> User | None:
    """Whom a verified client certificate names: CN is the user, each O a group."""
    if not certificate:
        return None
    parts = [pair for group in certificate.get("subject", ()) for pair in group]
    name = next((value for key, value in parts if key == "commonName"), "")
    groups = tuple(value for key, value in parts if key == "organizationName")
    return User(name, (*groups, AUTHENTICATED)) if name else None


class Secrets:
    """What must survive a restart: the authority and the key that signs tokens. It is checked before it is trusted."""

    def __init__(self, folder: Path | None) -> None:
        if folder is None:
            self.authority, self.signing_key = CertificateAuthority.make(), secrets.token_bytes(_KEY_BYTES)
            return
        home = private_folder(private_folder(folder) / "identity")
        with alone(home):
            kept = [read_private(home / name) for name in _KEPT]
            if not kept[-1] and (not any(kept) or not _has_objects(folder)):
                kept = _made(home)
        certificate, key, self.signing_key = kept
        self.authority = CertificateAuthority(ServerKeyPair(certificate, key))
        for problem in (*_authority_problems(certificate, key), *_key_problems(self.signing_key)):
            raise DataFolderError(
                f"{home}/{problem}: restore the folder from a copy, or move it away and start again, "
                "which makes new secrets; tokens and kubeconfigs given out before are then void."
            )


_KEPT = ("ca.crt", "ca.key", "token.key")
"""In the order they are written: with the last one all are there."""
_KEY_BYTES = 32


def _made(home: Path) -> list[bytes]:
    pair = CertificateAuthority.make().pair
    made = [pair.certificate, pair.key, secrets.token_bytes(_KEY_BYTES)]
    for name, content in zip(_KEPT, made, strict=True):
        write_private(home / name, content)
    return made


def _has_objects(folder: Path) -> bool:
    """A first start makes its secrets before anything else."""
    return (folder / "objects.sqlite").exists()


def _authority_problems(certificate: bytes, key: bytes) -> Iterator[str]:
    for name, content in zip(_KEPT, (certificate, key), strict=False):
        if not content:
            yield f"{name} is missing or empty"
            return
    try:
        authority = x509.load_pem_x509_certificate(certificate)
    except Exception:  # errors of cryptography have no parent of their own
        yield "ca.crt holds no certificate in PEM"
        return
    try:
        authority.verify_directly_issued_by(authority)
    except Exception:
        yield "ca.crt is damaged: it is not signed by its own key"
        return
    try:
        signer = serialization.load_pem_private_key(key, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        yield "ca.key holds no private key in PEM"
        return
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        yield "ca.key holds a key of another kind than this program makes"
    elif signer.public_key() != authority.public_key():
        yield "ca.key is not the key of ca.crt"
    elif authority.not_valid_after_utc < datetime.now(UTC):
        yield f"ca.crt was valid until {authority.not_valid_after_utc:%Y-%m-%d} only"


def _key_problems(key: bytes) -> Iterator[str]:
    if len(key) != _KEY_BYTES:
        yield f"token.key is {f'{len(key)} bytes long, not {_KEY_BYTES}' if key else 'missing or empty'}"
    elif len(set(key)) == 1:
        yield "token.key is the same byte all over, which a disk leaves and nobody draws"


@dataclass(frozen=True, slots=True)
class TokenClaims:
    namespace: str
    account: str
    uid: str
    audiences: tuple[str, ...]
    expires: float


AccountUid = Callable[[str, str], str | None]
"""The uid of a service account, None if there is none."""
ObjectUid = Callable[[str, str, str], str | None]
"""The uid of an object by kind, namespace and name."""
BINDABLE = ("pod", "secret", "node")
"""What a token can be bound to: it ends with that."""


class TokenIssuer:
    """Bearer tokens: fixed ones for people, signed ones for service accounts."""

    def __init__(
        self,
        key: bytes,
        fixed: Mapping[str, User],
        account_uid: AccountUid,
        clock: Callable[[], float],
        object_uid: ObjectUid = lambda kind, namespace, name: None,
    ) -> None:
        self._key = key
        self.fixed = dict(fixed)
        self._account_uid = account_uid
        self._object_uid = object_uid
        self._clock = clock

    def issue(
        self,
        namespace: str,
        account: str,
        uid: str,
        seconds: int,
        audiences: Sequence[str] = (ISSUER,),
        bound: tuple[str, str] | None = None,
    ) -> str:
        """`bound`: kind (pod, secret, node) and name of what the token ends with."""
        now = int(self._clock())
        tied = {bound[0]: {"name": bound[1], "uid": self._object_uid(bound[0], namespace, bound[1])}} if bound else {}
        claims = {
            "iss": ISSUER,
            "sub": f"system:serviceaccount:{namespace}:{account}",
            "aud": list(audiences),
            "iat": now,
            "nbf": now,
            "exp": now + seconds,
            "jti": secrets.token_hex(8),
            "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": account, "uid": uid}, **tied},
        }
        head = _b64(b'{"alg":"HS256","typ":"JWT"}')
        text = head + "." + _b64(msgspec.json.encode(claims))
        return text + "." + _b64(self._sign(text))

    def _sign(self, text: str) -> bytes:
        return hmac.new(self._key, text.encode(), hashlib.sha256).digest()

    def read(self, token: str) -> TokenClaims | None:
        """What a token of ours says, if it is genuine, in time, and its account still exists."""
        text, _, signature = token.rpartition(".")
        try:
            if not text or not hmac.compare_digest(_unb64(signature), self._sign(text)):
                return None
            body = msgspec.json.decode(_unb64(text.split(".")[1]))
        except (ValueError, IndexError, msgspec.MsgspecError):
            return None
        about = body["kubernetes.io"]
        claims = TokenClaims(
            about["namespace"],
            about["serviceaccount"]["name"],
            about["serviceaccount"]["uid"],
            tuple(body["aud"]),
            body["exp"],
        )
        alive = claims.expires > self._clock() and self._account_uid(claims.namespace, claims.account) == claims.uid
        tied = [(kind, about[kind]) for kind in BINDABLE if kind in about]
        held = all(self._object_uid(kind, claims.namespace, item["name"]) == item["uid"] for kind, item in tied)
        return claims if alive and held else None

    def user(self, token: str, audience: str = ISSUER) -> User | None:
        fixed_user = self.fixed.get(token)
        if fixed_user is not None:
            return fixed_user if audience == ISSUER else None
        claims = self.read(token)
        if claims is None or audience not in claims.audiences:
            return None
        return account_user(claims.namespace, claims.account, claims.uid)


def account_user(namespace: str, name: str, uid: str = "") -> User:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return User(f"system:serviceaccount:{namespace}:{name}", groups, uid)


def administrator(name: str = "admin") -> User:
    return User(name, (MASTERS, AUTHENTICATED), name)


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def bearer(request: Request) -> str | None:
    """The bearer token of a request; None when it has none, whatever else it has."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def authenticate(request: Request, tokens: TokenIssuer, anonymous: bool) -> User:
    """The user of a request: stated in process or by certificate, named by a token, or nobody."""
    if request.user is not None:
        return request.user
    token = bearer(request)
    if token is None:
        if anonymous:
            return ANONYMOUS
        raise unauthorized()
    user = tokens.user(token)
    if user is None:
        raise unauthorized()
    return user


def kubeconfig(url: str, authority: bytes | None, token: str, name: str = "gangline") -> str:
    """The text of a kubeconfig for one server and one user."""
    cluster: dict[str, Any] = {"server": url}
    if authority:
        cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    return yaml_text(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        }
    )
