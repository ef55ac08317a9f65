"""The page that asks for a token. It shows nothing of the cluster, and no script is needed. Pure."""

from __future__ import annotations

from gangline.dashboard.writing.html import Html, tag
from gangline.dashboard.writing.sheet import STYLE


def login_page(problem: str = "", to: str = "/") -> str:
    """`to`: the address that was asked for, and is shown after the login."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", "Log in · gangline"),
        tag("style", Html(STYLE)),
    )
    field = tag(
        "input", type="password", name="token", autocomplete="off", required=True, id="token", aria_describedby="how"
    )
    how = tag(
        "p",
        "For example that of a service account: ",
        tag("code", "kubectl create token NAME -n NAMESPACE"),
        ". You see what its own rights let it list, and can change nothing.",
        id="how",
        class_="more",
    )
    form = tag(
        "form",
        tag("label", "A token of this cluster", for_="token"),
        field,
        tag("input", type="hidden", name="to", value=to) if to != "/" else None,
        tag("button", "Log in"),
        how,
        method="post",
        action="/login",
        class_="login",
    )
    alarm = tag("p", problem, class_="alarm", role="alert") if problem else None
    main = tag("main", tag("h1", "gangline"), alarm, form, id="main")
    return "<!doctype html>\n" + tag("html", head, tag("body", main), lang="en")
