"""Which cluster, as whom: kubeconfig files merged as kubectl does it, and never written to.

Faults are reported field by field without ever repeating a value: it may be a credential.

Source of the rules: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.manifest.objects import describe, read_documents
from kubespread.manifest.text import FieldLines, MalformedError, open_binary, read_file
from kubespread.redaction import shown_url

Data = dict[str, Any]

_TLS_KEYS = ("certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify", "tls-server-name")
_MAX_SMALL = 2**20
_QUOTED = re.compile(r"'[^']*'")
_PATHS = {
    "clusters": ("certificate-authority",),
    "users": ("client-certificate", "client-key", "tokenFile"),
    "contexts": (),
}


class Access(Struct, frozen=True):
    """How to reach a cluster; None is what the environment and the kubeconfig say."""

    kubeconfig: str | None = None
    context: str | None = None


class Target(Struct, frozen=True):
    """One cluster and one user, chosen: a kubeconfig with nothing else in it, its relative paths made absolute."""

    context: str
    namespace: str
    cluster: Data
    user: Data
    user_name: str = ""

    @property
    def server(self) -> str:
        return str(self.cluster.get("server") or "")


def choose(access: Access, environment: Mapping[str, str]) -> Target | None:
    """What the kubeconfig says; None without any. Raises UsageError and ManifestError."""
    files = list(_files(access, environment))
    config = _merged(files)
    if config is None:
        return None
    if not config["clusters"]:
        raise UsageError(
            f"{', '.join(map(str, files))}: a kubeconfig without clusters; choose another with --kubeconfig or "
            "KUBECONFIG, or read a file with -S"
        )
    name = access.context or config["current-context"]
    if not name:
        raise UsageError(
            f"no cluster chosen: the kubeconfig has no current-context; choose one of {_names(config, 'contexts')} "
            "with --context"
        )
    context = _named(config, "contexts", name)
    cluster, user = str(context.get("cluster") or ""), str(context.get("user") or "")
    reached = _named(config, "clusters", cluster)
    if not reached.get("server"):
        raise UsageError(f'cluster "{cluster}" of the kubeconfig has no server')
    reached = {**reached, "server": _with_scheme(str(reached["server"]), reached)}
    for key, schemes in (("server", SERVER_SCHEMES), ("proxy-url", PROXY_SCHEMES)):
        if reached.get(key) and (fault := url_fault(reached[key], schemes)):
            url = shown_url(reached[key])
            raise UsageError(f'{key} "{url}" of the kubeconfig is not a URL that can be asked: {fault}')
    credentials = _with_token(_named(config, "users", user) if user else {})
    return Target(name, str(context.get("namespace") or ""), reached, credentials, user)


def names(kind: str, access: Access, environment: Mapping[str, str]) -> list[str]:
    """The names of its ``clusters``, ``users`` or ``contexts``. Raises UsageError and ManifestError."""
    config = _merged(list(_files(access, environment)))
    return sorted(config[kind]) if config is not None else []


def all_names(kind: str, access: Access, environment: Mapping[str, str]) -> list[str]:
    """With those that other entries of the same name hide. Raises UsageError and ManifestError."""
    return [entry["name"] for file in _files(access, environment) for entry in _read(file).get(kind) or ()]


def namespaces_of_contexts(access: Access, environment: Mapping[str, str]) -> list[str]:
    """The namespaces that its contexts name. Raises UsageError and ManifestError."""
    config = _merged(list(_files(access, environment))) or {"contexts": {}}
    return sorted({str(context["namespace"]) for context in config["contexts"].values() if context.get("namespace")})


def _with_scheme(server: str, cluster: Data) -> str:
    """A bare host and port is reached with TLS if any TLS field is set, as in kubectl."""
    scheme = "https" if any(key in cluster for key in _TLS_KEYS) else "http"
    return server if "://" in server else f"{scheme}://{server}"


def _with_token(user: Data) -> Data:
    """The user with what its tokenFile holds; the line break at the end of a file is not part of a token."""
    file = user.get("tokenFile")
    return {**user, "token": read_small(file, "tokenFile").decode(errors="replace").strip()} if file else user


def read_small(file: str, field: str) -> bytes:
    """A file that ``field`` names and that no one makes large. Raises UsageError."""
    try:
        with open_binary(file) as opened:
            content = opened.read(_MAX_SMALL + 1)
    except (OSError, MalformedError) as error:
        raise UsageError(f"{file}: {field} of the kubeconfig: {getattr(error, 'strerror', None) or error}") from error
    if len(content) > _MAX_SMALL:
        raise UsageError(f"{file}: {field} of the kubeconfig: more than {_MAX_SMALL // 2**20} MiB")
    return content


def _files(access: Access, environment: Mapping[str, str]) -> Iterator[Path]:
    if access.kubeconfig is not None:
        yield _expanded(access.kubeconfig)
    elif named := environment.get("KUBECONFIG"):
        # Files that do not exist are skipped, as kubectl does.
        yield from (path for path in map(Path, filter(None, named.split(os.pathsep))) if _exists(path))
    else:
        # A user without a home, as containers have them, has none there either.
        usual = Path(os.path.expanduser("~/.kube/config"))  # noqa: PTH111 - keeps the ~ if there is no home
        if usual.is_absolute() and _exists(usual):
            yield usual


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UsageError(f"{path}: no home directory is known for {Path(path).parts[0]}") from error


def _merged(files: list[Path]) -> Data | None:
    """One config from all files; the first file that names something wins."""
    if not files:
        return None
    merged: Data = {"current-context": "", **{kind: {} for kind in ENTRIES}}
    for file in files:
        config = _read(file)
        merged["current-context"] = merged["current-context"] or config.get("current-context") or ""
        for kind, singular in ENTRIES.items():
            for entry in config.get(kind) or ():
                merged[kind].setdefault(
                    entry["name"], _resolved(entry.get(singular) or {}, kind, file.absolute().parent)
                )
    return merged


def _read(file: Path) -> Data:
    text = read_file(str(file))
    try:
        documents = read_documents(text)
    except MalformedError as error:
        # What the parser quotes could be a credential.
        quoted = _QUOTED.sub("'...'", error.fault.message)
        raise ManifestError(str(file), [replace(error.fault, message=quoted)]) from None
    config = documents[0] if documents else {}
    for field, message in faults(config):
        raise ManifestError(str(file), [Fault(message, field, FieldLines(text).line(0, field))])
    return config


def _resolved(entry: Data, kind: str, directory: Path) -> Data:
    """Relative paths are relative to their own file."""
    paths = {key: str(directory / str(entry[key])) for key in _PATHS[kind] if entry.get(key)}
    plugin = entry.get("exec")
    command = plugin.get("command") if isinstance(plugin, dict) else None
    if isinstance(command, str) and os.sep in command:
        return {**entry, **paths, "exec": {**entry["exec"], "command": str(directory / command)}}
    return {**entry, **paths}


def _named(config: Data, kind: str, name: str) -> Data:
    entry = config[kind].get(name)
    if entry is None:
        raise UsageError(f'{ENTRIES[kind]} "{name}" does not exist in the kubeconfig; it has {_names(config, kind)}')
    assert isinstance(entry, dict)
    return entry


def _names(config: Data, kind: str) -> str:
    return ", ".join(sorted(config[kind])) or "none"


SERVER_SCHEMES = ("http", "https")
PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")
_HOST = re.compile(r"[0-9a-z_-]{1,63}(?:\.[0-9a-z_-]{1,63})*\.?|[0-9a-f:.]+(?:%[0-9a-z_.-]+)?", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[^\x21-\x7e]")


def url_fault(url: str, schemes: Collection[str]) -> str:
    """Why nothing can be asked at ``url``, without any part of it that may be secret; empty when it can."""
    if _UNPRINTABLE.search(url):
        return "it holds a space, a control character or one that is not ASCII"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "its host or port is invalid"
    if parts.scheme.lower() not in schemes:
        return f"expected {' or '.join(f'{scheme}://' for scheme in schemes)}"
    if not host or not _HOST.fullmatch(host):
        return "it names no host" if not host else "its host is invalid"
    if port == 0:
        return "its port is 0"
    return "it has a query or fragment" if parts.query or parts.fragment else ""


ENTRIES = {"clusters": "cluster", "contexts": "context", "users": "user"}
"""The lists of a kubeconfig, and what each of their entries holds under."""

Check = Callable[[Any], str]


def faults(config: Any) -> Iterator[tuple[str, str]]:
    """The path and message of each faulty field among those that are read."""
    if not isinstance(config, dict):
        yield "", f"expected a kubeconfig, found {_type_of(config)}"
        return
    yield from _fields(config, "", {"current-context": _string})
    for kind, singular in ENTRIES.items():
        entries = config.get(kind) or []
        if not isinstance(entries, list):
            yield kind, f"expected a list, found {_type_of(entries)}"
            continue
        for position, entry in enumerate(entries):
            place = f"{kind}[{position}]"
            if (
                not isinstance(entry, dict)
                or not isinstance(entry.get("name"), str)
                or not isinstance(entry.get(singular) or {}, dict)
            ):
                yield place, "expected an object with a name"
                continue
            content = entry.get(singular) or {}
            yield from _fields(content, f"{place}.{singular}.", _CHECKS[kind])
            if isinstance(content.get("exec"), dict):
                yield from _fields(content["exec"], f"{place}.{singular}.exec.", _PLUGIN_CHECKS)


def _fields(content: dict[str, Any], place: str, checks: dict[str, Check]) -> Iterator[tuple[str, str]]:
    for field, check in checks.items():
        value = content.get(field)
        if value is not None and (fault := check(value)):
            yield f"{place}{field}", fault


def _of_type(form: type, words: str) -> Check:
    return lambda value: "" if isinstance(value, form) else f"expected {words}, found {_type_of(value)}"


_string, _boolean, _object = _of_type(str, "a string"), _of_type(bool, "true or false"), _of_type(dict, "an object")


def _strings(value: Any) -> str:
    if not isinstance(value, list):
        return f"expected a list of strings, found {_type_of(value)}"
    others = (item for item in value if not isinstance(item, str))
    return next((f"expected a list of strings, found {_type_of(item)} in it" for item in others), "")


def _variables(value: Any) -> str:
    def is_variable(item: Any) -> bool:
        return isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("value") or "", str)

    is_valid = isinstance(value, list) and all(map(is_variable, value))
    return "" if is_valid else "expected a list of objects with name and value"


def _base64(value: Any) -> str:
    if fault := _string(value):
        return fault
    try:
        # Line breaks are skipped, as Go's decoder does.
        base64.b64decode("".join(value.split("\n")).replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return "not base64"
    return ""


def _type_of(value: Any) -> str:
    """Strings are never shown."""
    return "a string" if isinstance(value, str) else describe(value)


_CHECKS: dict[str, dict[str, Check]] = {
    "clusters": {
        **dict.fromkeys(("server", "certificate-authority", "tls-server-name", "proxy-url"), _string),
        "certificate-authority-data": _base64,
        "insecure-skip-tls-verify": _boolean,
    },
    "contexts": dict.fromkeys(("cluster", "user", "namespace"), _string),
    "users": {
        **dict.fromkeys(("client-certificate", "client-key", "token", "tokenFile"), _string),
        **dict.fromkeys(("username", "password", "as"), _string),
        **dict.fromkeys(("client-certificate-data", "client-key-data"), _base64),
        "as-groups": _strings,
        "exec": _object,
        "auth-provider": _object,
    },
}
_PLUGIN_CHECKS: dict[str, Check] = {
    **dict.fromkeys(("apiVersion", "command", "installHint", "interactiveMode"), _string),
    "args": _strings,
    "env": _variables,
    "provideClusterInfo": _boolean,
}
