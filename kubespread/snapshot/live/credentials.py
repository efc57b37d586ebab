"""Who asks: what of a kubeconfig's user goes into requests, checked before anything is sent."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from kubespread.errors import UsageError
from kubespread.redaction import remember_secret
from kubespread.snapshot.live.credential_plugin import plugin_name, run_plugin
from kubespread.snapshot.live.kubeconfig import Access, Target

Data = dict[str, Any]

_CERTIFICATE_FIELDS: tuple[str, ...] = (
    "client-certificate",
    "client-certificate-data",
    "client-key",
    "client-key-data",
)
_TOKEN = re.compile(r"[\x21-\x7e]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SECRET_NAME = re.compile(r"(?i)token|secret|passw|key|credential")


@dataclass(frozen=True, slots=True)
class Credentials:
    """One user: the Authorization header (empty if there is none), and what is left to the Kubernetes client."""

    authorization: str = field(default="", repr=False)
    user: Data = field(default_factory=dict, repr=False)
    source: str = "the credentials"
    """What a refusal should be said of."""


def remember_secrets(target: Target) -> None:
    """Everything in the kubeconfig's chosen parts that no message may repeat."""
    user, plugin = target.user, target.user.get("exec") or {}
    provider = (user.get("auth-provider") or {}).get("config") or {}
    remember_secret(*(str(user.get(name) or "") for name in ("token", "password", "client-key-data")))
    remember_secret(*(str(value) for name, value in provider.items() if _SECRET_NAME.search(str(name))))
    remember_secret(
        *(
            str(variable.get("value") or "")
            for variable in plugin.get("env") or ()
            if _SECRET_NAME.search(str(variable["name"]))
        )
    )
    for url in (target.server, str(target.cluster.get("proxy-url") or "")):
        remember_user_info(url)


def remember_user_info(url: str) -> None:
    """The user info of a URL is not shown again."""
    before, separator, _ = url.rpartition("@")
    if separator:
        _, _, password = before.rpartition("//")[2].partition(":")
        remember_secret(password, unquote(password))


def credentials(target: Target, environment: Mapping[str, str]) -> Credentials:
    """What ``target``'s user sends. Runs its credential plugin, once. Raises UsageError and SnapshotError."""
    user = target.user
    kept = {name: user[name] for name in _CERTIFICATE_FIELDS if name in user}
    of_user = f'user "{target.user_name}" of the kubeconfig'
    if user.get("auth-provider"):
        return Credentials(user={**kept, "auth-provider": user["auth-provider"]})
    if token := user.get("token"):
        return Credentials(_bearer(token, of_user), kept)
    if plugin := user.get("exec"):
        output = run_plugin(plugin, target.cluster, environment)
        name = plugin_name(plugin)
        if output.token:
            return Credentials(_bearer(output.token, name), kept, f"the credentials from {name}")
        data = {"client-certificate-data": output.certificate, "client-key-data": output.key}
        return Credentials(
            user={key: base64.b64encode(text.encode()).decode() for key, text in data.items()},
            source=f"the credentials from {name}",
        )
    if user.get("username"):
        return Credentials(basic(user["username"], user.get("password") or ""), kept)
    info = urlsplit(target.server)
    if info.username:
        return Credentials(basic(unquote(info.username), unquote(info.password or "")), kept)
    return Credentials(user=kept)


def _bearer(token: str, of: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise UsageError(f"{of}: the token holds {_what_is_wrong(token)}, which no token has")
    return f"Bearer {token}"


def _what_is_wrong(token: str) -> str:
    if len(token.splitlines()) > 1 or token[-1:] in "\r\n":
        return "a line break"
    return "a character that is not ASCII" if not token.isascii() else "a space or control character"


def basic(name: str, password: str) -> str:
    """The header's value for a name and a password."""
    encoded = base64.b64encode(f"{name}:{password}".encode(errors="surrogateescape")).decode()
    remember_secret(encoded)
    return f"Basic {encoded}"


def impersonation(access: Access, target: Target | None) -> tuple[str, tuple[str, ...]]:
    """User and groups of the flags, else of the kubeconfig's user, as headers carry them. Raises UsageError."""
    user = target.user if target is not None else {}
    name = access.as_user or user.get("as") or ""
    groups = tuple(access.as_groups or user.get("as-groups") or ())
    if groups and not name:
        raise UsageError("groups can be impersonated only with a user: give --as too")
    for what, value in (("user", name), *(("group", group) for group in groups)):
        if _CONTROL.search(value):
            raise UsageError(
                f"the {what} to impersonate holds a line break or control character, which no header can carry"
            )
    return _header(name), tuple(map(_header, groups))


def _header(text: str) -> str:
    """As kubectl sends it: UTF-8, each byte of which Python's HTTP client treats as a Latin-1 character."""
    return text.encode(errors="surrogateescape").decode("latin-1")
