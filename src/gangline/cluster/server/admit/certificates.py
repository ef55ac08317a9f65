"""Who may ask for certificates, approve them and sign them: the admission steps of CertificateSigningRequests.

A request says who made it, and the server writes that. Approving and signing need a right of their own on the signer
that is asked, and nobody asks for a certificate of the administrators' group. Nothing here signs.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from cryptography import x509
from cryptography.x509.oid import NameOID

from gangline.cluster.server.access.rbac import MASTERS, Action
from gangline.cluster.server.admit.chain import CREATE, UPDATE, WriteReview
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import forbidden
from gangline.errors import Problem

GROUP, PLURAL = "certificates.k8s.io", "certificatesigningrequests"
CLIENTS = "kubernetes.io/kube-apiserver-client"
"""The signer of certificates by which one is somebody for the API server."""
Obj = dict[str, Any]


class Certificates:
    def __init__(self, core: Core) -> None:
        self._core = core
        add = core.admission.add
        add(GROUP, PLURAL, (CREATE,), mutate=note_requester, name="CertificateRequester")
        add(GROUP, PLURAL, (CREATE,), validate=restrict_subject, name="CertificateSubjectRestriction")
        add(GROUP, PLURAL, (UPDATE,), validate=self.approval, name="CertificateApproval", subresources=("approval",))
        add(GROUP, PLURAL, (UPDATE,), validate=self.signing, name="CertificateSigning", subresources=("status",))

    def approval(self, review: WriteReview) -> Iterable[Problem]:
        self._check(review, "approve")
        return ()

    def signing(self, review: WriteReview) -> Iterable[Problem]:
        if _part(review.object, "status").get("certificate") != _part(review.old, "status").get("certificate"):
            self._check(review, "sign")
        return ()

    def _check(self, review: WriteReview, verb: str) -> None:
        """The right on a signer is on its name, or on all of its domain."""
        signer = str(_part(review.old, "spec").get("signerName") or "")
        names = (signer, f"{signer.partition('/')[0]}/*")
        if not any(self._core.may(review.user, Action(verb, GROUP, "signers", name=name)) for name in names):
            raise _refuse(review, f'user not permitted to {verb} requests with signerName "{signer}"')


def note_requester(review: WriteReview) -> None:
    """Whoever asks is written down by the server, whatever he wrote."""
    assert review.object is not None
    user, asked = review.user, _part(review.object, "spec")
    extra = {key: list(values) for key, values in user.extra.items()}
    requester = {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
    kept = {key: value for key, value in asked.items() if key not in requester}
    review.object["spec"] = kept | {key: value for key, value in requester.items() if value}


def restrict_subject(review: WriteReview) -> Iterable[Problem]:
    asked = _part(review.object, "spec")
    if asked.get("signerName") != CLIENTS:
        return ()
    try:
        request = x509.load_pem_x509_csr(base64.b64decode(str(asked.get("request") or "")))
        groups = [name.value for name in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    except Exception:  # errors of cryptography have no parent of their own
        raise _refuse(review, "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST") from None
    if MASTERS in groups:
        raise _refuse(review, f"use of {CLIENTS} signer with {MASTERS} group is not allowed")
    return ()


def _part(obj: Obj | None, name: str) -> Obj:
    """The spec or the status, which nothing has checked yet."""
    part = (obj or {}).get(name)
    return part if isinstance(part, dict) else {}


def _refuse(review: WriteReview, why: str) -> Exception:
    return forbidden(GROUP, PLURAL, review.told_name, why)
