"""Which cluster, as whom: kubeconfig files found, merged and overridden as kubectl does it. Nothing is ever written back.

Source of the rules: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.manifest.documents import describe, documents
from kubespread.manifest.events import MalformedError
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.reading import MAX_MANIFEST_BYTES, read_text_bytes

Data = dict[str, Any]

_TLS_KEYS = ("certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify", "tls-server-name")
_PLUGIN = "exec"
_TYPED = frozenset(
    {
        "server", "certificate-authority", "certificate-authority-data", "tls-server-name", "proxy-url", "client-certificate",
        "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile", "username", "password", "as", _PLUGIN,
        "cluster", "user", "namespace",
    }
)  # fmt: skip
_LISTS = {"clusters": "cluster", "contexts": "context", "users": "user"}
_PATHS = {"clusters": ("certificate-authority",), "users": ("client-certificate", "client-key", "tokenFile"), "contexts": ()}


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a cluster, as kubectl's flags of the same names say; None is what the kubeconfig says."""

    kubeconfig: str | None = None
    context: str | None = None
    cluster: str | None = None
    user: str | None = None
    as_user: str | None = None
    as_groups: tuple[str, ...] = ()
    request_timeout: float = 30.0
    """Seconds; 0 waits for ever."""
    chunk_size: int = 500
    """Objects a page; 0 asks for everything at once."""


@dataclass(frozen=True, slots=True)
class Target:
    """One cluster and one user, chosen: a kubeconfig with nothing else in it, its relative paths made absolute."""

    context: str
    namespace: str
    cluster: Data
    user: Data

    @property
    def server(self) -> str:
        return str(self.cluster.get("server") or "")

    def as_config(self) -> Data:
        """What a Kubernetes client loads."""
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "target", "cluster": self.cluster}],
            "users": [{"name": "target", "user": self.user}],
            "contexts": [{"name": "target", "context": {"cluster": "target", "user": "target"}}],
            "current-context": "target",
        }


def choose(access: Access, environment: Mapping[str, str]) -> Target | None:
    """What the kubeconfig and the flags say; None without any kubeconfig. Raises UsageError and ManifestError."""
    config = _merged(list(_files(access, environment)))
    if config is None:
        return None
    name = access.context or config["current-context"]
    if not name and not access.cluster:
        raise UsageError(
            f"no cluster chosen: the kubeconfig has no current-context; choose one of {_known(config, 'contexts')} with --context"
        )
    context = _named(config, "contexts", name) if name else {}
    cluster, user = access.cluster or context.get("cluster"), access.user or context.get("user")
    found = _named(config, "clusters", str(cluster or ""))
    if not found.get("server"):
        raise UsageError(f'cluster "{cluster}" of the kubeconfig has no server')
    found = {**found, "server": _server_url(str(found["server"]), found)}
    credentials = _with_token(_named(config, "users", user)) if user else {}
    return Target(name, str(context.get("namespace") or ""), found, credentials)


def _server_url(server: str, cluster: Data) -> str:
    """The server as a URL; a bare host and port is reached with TLS when anything is said about TLS, as kubectl does it."""
    scheme, separator, _ = server.partition("://")
    if not separator:
        return f"{'https' if any(key in cluster for key in _TLS_KEYS) else 'http'}://{server}"
    if scheme.lower() not in ("http", "https"):
        raise UsageError(f'server "{server}" of the kubeconfig is not an http or https URL')
    return server


def _with_token(user: Data) -> Data:
    """The user with what its tokenFile holds; the line break at the end of a file is not part of a token."""
    file = user.get("tokenFile")
    if not file:
        return user
    try:
        return {**user, "token": Path(str(file)).read_text().strip()}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: tokenFile of the kubeconfig: {getattr(error, 'strerror', None) or error}") from error


def _files(access: Access, environment: Mapping[str, str]) -> Iterator[Path]:
    if access.kubeconfig is not None:
        yield Path(access.kubeconfig).expanduser()
    elif named := environment.get("KUBECONFIG"):
        # Files that do not exist are skipped, as kubectl does.
        yield from (path for path in map(Path, filter(None, named.split(os.pathsep))) if path.exists())
    else:
        usual = Path.home() / ".kube" / "config"
        if usual.exists():
            yield usual


def _merged(files: list[Path]) -> Data | None:
    """One config of all files: whoever names something first decides what it is."""
    if not files:
        return None
    merged: Data = {"current-context": "", **{kind: {} for kind in _LISTS}}
    for file in files:
        config = _read(file)
        merged["current-context"] = merged["current-context"] or config.get("current-context") or ""
        for kind, singular in _LISTS.items():
            for entry in config.get(kind) or ():
                merged[kind].setdefault(entry["name"], _resolved(entry.get(singular) or {}, kind, file.absolute().parent))
    return merged


def _read(file: Path) -> Data:
    try:
        text = read_text_bytes(str(file), MAX_MANIFEST_BYTES)
        found = [document for document in documents(text) if document is not None]
    except OSError as error:
        raise ManifestError(str(file), [Fault(f"kubeconfig: {error.strerror or error}")]) from error
    except MalformedError as error:
        raise ManifestError(str(file), [error.fault]) from error
    config = found[0] if found else {}
    for field, message in _faults(config):
        raise ManifestError(str(file), [Fault(message, field, FieldLines(text).line(0, field))])
    return config


def _faults(config: Any) -> Iterator[tuple[str, str]]:
    """Fields of the wrong type, as far as they are read here or by the Kubernetes client."""
    if not isinstance(config, dict):
        yield "", f"expected a kubeconfig, found {describe(config)}"
        return
    for kind, singular in _LISTS.items():
        entries = config.get(kind) or []
        if not isinstance(entries, list):
            yield kind, f"expected a list, found {describe(entries)}"
            return
        for position, entry in enumerate(entries):
            place = f"{kind}[{position}]"
            if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not isinstance(entry.get(singular) or {}, dict):
                yield place, "expected an object with a name"
                return
            for key, value in (entry.get(singular) or {}).items():
                expected = dict if key == _PLUGIN else str
                if key in _TYPED and value is not None and not isinstance(value, expected):
                    wanted = "an object" if expected is dict else "a string"
                    yield f"{place}.{singular}.{key}", f"expected {wanted}, found {describe(value)}"


def _resolved(entry: Data, kind: str, directory: Path) -> Data:
    """Relative paths are relative to their own file."""
    paths = {key: str(directory / str(entry[key])) for key in _PATHS[kind] if entry.get(key)}
    plugin = entry.get("exec")
    command = plugin.get("command") if isinstance(plugin, dict) else None
    if isinstance(command, str) and os.sep in command:
        return {**entry, **paths, "exec": {**entry["exec"], "command": str(directory / command)}}
    return {**entry, **paths}


def _named(config: Data, kind: str, name: str) -> Data:
    found = config[kind].get(name)
    if found is None:
        raise UsageError(f'{_LISTS[kind]} "{name}" does not exist in the kubeconfig; it has {_known(config, kind)}')
    assert isinstance(found, dict)
    return found


def _known(config: Data, kind: str) -> str:
    return ", ".join(sorted(config[kind])) or "none"
