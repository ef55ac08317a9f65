"""What to do next after an error of an API server that says only what is wrong. Pure; `main` prints it."""

from __future__ import annotations

from gangline.errors import ApiError, Forbidden, GanglineError, Unauthorized, Unavailable, Unreadable, Untrusted

HINTS: dict[type[ApiError], str] = {
    Unauthorized: "the server does not know who you are: the token or certificate of your kubeconfig is missing, "
    "wrong or has expired. Log in again, or name another kubeconfig with --kubeconfig FILE",
    Forbidden: "you are known but not allowed to do this: `gangline doctor` lists what you may, `gangline rights` "
    "prints the roles that components need",
    Unreadable: "does the kubeconfig name the address of an API server, and not that of a page or a proxy?",
    Untrusted: "the certificate of the server is not signed by the authority that the kubeconfig names "
    "(certificate-authority, certificate-authority-data), is for another host, or has expired. Is this the kubeconfig "
    "of another cluster, or of one that was made anew?",
    Unavailable: "is the cluster running, and is this the right one? The kubeconfig is --kubeconfig, $KUBECONFIG, that "
    "of `gangline up` in this folder, or ~/.kube/config, in this order",
}


def hint(error: GanglineError) -> str:
    """One sentence, or nothing where the error says it all."""
    return next((text for kind, text in HINTS.items() if isinstance(error, kind)), "")
