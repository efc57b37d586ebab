"""Cluster and user to connect with: kubeconfig files merged as kubectl does it, and never written to.

The client's own merger lets the last current-context win, not the first, names no field that is faulty, and takes too
long to import for completion: tests/snapshot/test_kubeconfig.py. No message repeats a value: it may be a credential.

Source of the rules: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.api.decoding import DecodingError, decode
from kubespread.kube.api.meta import KubeObject
from kubespread.manifest.objects import read_documents
from kubespread.manifest.text import FieldLines, MalformedError, read_file
from kubespread.regex import regex

_MAX_TOKEN = 2**20
_QUOTED = regex(r"'[^']*'")


class Access(Struct, frozen=True):
    """Way to reach a cluster; None defers to the environment and the kubeconfig."""

    kubeconfig: str | None = None
    context: str | None = None


class NamedExtension(KubeObject):
    name: str = ""
    extension: Any = None


class Cluster(KubeObject, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: list[NamedExtension] = field(default_factory=list)


class ExecEnvVar(KubeObject):
    name: str = ""
    value: str = ""


class ExecConfig(KubeObject):
    api_version: str = ""
    command: str = ""
    args: list[str] = field(default_factory=list)
    env: list[ExecEnvVar] = field(default_factory=list)
    install_hint: str = ""
    interactive_mode: str = ""
    provide_cluster_info: bool = False


class AuthInfo(KubeObject, rename="kebab"):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = field(name="tokenFile", default="")
    username: str = ""
    password: str = ""
    impersonate: str = field(name="as", default="")
    impersonate_groups: list[str] = field(name="as-groups", default_factory=list)
    auth_provider: Any = None
    exec: ExecConfig | None = None


class Context(KubeObject):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class NamedEntry(KubeObject):
    """A named entry of a list, or a context with its cluster and user."""

    name: str = ""
    cluster: Cluster = field(default_factory=Cluster)
    context: Context = field(default_factory=Context)
    user: AuthInfo = field(default_factory=AuthInfo)


class Config(KubeObject, rename="kebab"):
    """Content of several files in order: the first to name something wins."""

    current_context: str = ""
    clusters: list[NamedEntry] = field(default_factory=list)
    contexts: list[NamedEntry] = field(default_factory=list)
    users: list[NamedEntry] = field(default_factory=list)


def choose(access: Access, environment: Mapping[str, str]) -> NamedEntry | None:
    """Context of the kubeconfig, with its cluster and user; None without a kubeconfig. Raises UsageError and
    ManifestError.
    """
    files = list(_files(access, environment))
    if not files:
        return None
    config = _merge(files)
    name = access.context or config.current_context
    if not name:
        raise UsageError(
            f"{', '.join(map(str, files))}: no current-context in the kubeconfig; choose one of "
            f"{_names(config.contexts)} with --context, or another kubeconfig with --kubeconfig or KUBECONFIG"
        )
    context = _find("context", config.contexts, name).context
    cluster = _find("cluster", config.clusters, context.cluster).cluster
    user = _find("user", config.users, context.user).user if context.user else AuthInfo()
    if not cluster.server:
        raise UsageError(f'cluster "{context.cluster}" of the kubeconfig has no server')
    if user.auth_provider is not None:
        # When it refreshes a token, the client does not verify the server.
        raise UsageError(f'auth-provider of user "{context.user}" in the kubeconfig: use a credential plugin (exec)')
    if "://" not in cluster.server:
        tls = (cluster.certificate_authority, cluster.certificate_authority_data, cluster.tls_server_name)
        cluster.server = f"http{'s' if any(tls) or cluster.insecure_skip_tls_verify else ''}://{cluster.server}"
    if user.token_file:
        # The line break at the end of a file is not part of a token.
        user.token = read_file(user.token_file, _MAX_TOKEN).decode().strip()
    return NamedEntry(name=name, cluster=cluster, context=context, user=user)


def contexts(access: Access, environment: Mapping[str, str]) -> Sequence[NamedEntry]:
    """Contexts of all files, including hidden namesakes. Raises UsageError and ManifestError."""
    return _merge(_files(access, environment)).contexts


def _files(access: Access, environment: Mapping[str, str]) -> Iterator[Path]:
    if access.kubeconfig is not None:
        yield Path(os.path.expanduser(access.kubeconfig))  # noqa: PTH111 - keeps the ~ of a user without a home
        return
    # A user without a home, as containers have them, has no usual file either.
    named = environment.get("KUBECONFIG") or os.path.expanduser("~/.kube/config")  # noqa: PTH111
    for path in map(Path, filter(None, named.split(os.pathsep))):
        try:
            # Files that do not exist are skipped, as kubectl does.
            if path.exists():
                yield path
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error


def _merge(files: Iterable[Path]) -> Config:
    merged = Config()
    for config in map(_read, files):
        merged.current_context = merged.current_context or config.current_context
        merged.clusters += config.clusters
        merged.contexts += config.contexts
        merged.users += config.users
    return merged


def _read(file: Path) -> Config:
    text = read_file(str(file))
    try:
        documents = read_documents(text)
        config = decode(documents[0] if documents else {}, Config)
    except MalformedError as error:
        # What the parser quotes could be a credential.
        quoted = _QUOTED.sub("'...'", error.fault.message)
        raise ManifestError(str(file), [error.fault._replace(message=quoted)]) from None
    except DecodingError as error:
        fault = Fault(str(error), error.path, FieldLines(text).line(0, error.path))
        raise ManifestError(str(file), [fault]) from None
    _resolve(config, file.absolute().parent)
    return config


def _resolve(config: Config, directory: Path) -> None:
    """Make paths absolute: they are relative to their own file."""

    def absolute(path: str) -> str:
        return str(directory / path) if path else ""

    for cluster in (entry.cluster for entry in config.clusters):
        cluster.certificate_authority = absolute(cluster.certificate_authority)
    for user in (entry.user for entry in config.users):
        user.client_certificate, user.client_key = absolute(user.client_certificate), absolute(user.client_key)
        user.token_file = absolute(user.token_file)
        if user.exec is not None and os.sep in user.exec.command:
            user.exec.command = absolute(user.exec.command)


def _find(kind: str, entries: Sequence[NamedEntry], name: str) -> NamedEntry:
    match = next((entry for entry in entries if entry.name == name), None)
    if match is None:
        raise UsageError(f'{kind} "{name}" does not exist in the kubeconfig; it has {_names(entries)}')
    return match


def _names(entries: Sequence[NamedEntry]) -> str:
    return ", ".join(sorted({entry.name for entry in entries})) or "none"
