"""A snapshot of a running cluster, read with GET and nothing else."""

from __future__ import annotations

import logging
import os
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import msgspec

from kubespread.errors import ApiError, SnapshotError, UsageError
from kubespread.snapshot.api import Api, BrokenConnectionError, Response
from kubespread.snapshot.files import collector_paused
from kubespread.snapshot.kubeconfig import Access, Target, choose
from kubespread.snapshot.lists import Listed, list_all
from kubespread.snapshot.parallel import in_parallel
from kubespread.snapshot.resources import FORBIDDEN, NOT_FOUND, RESOURCES, Resource
from kubespread.snapshot.snapshot import Origin, Snapshot, SnapshotBuilder

_CONNECTIONS = 6
_NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_RELEASE = re.compile(r"v[1-9]\d*\.\d+\.\d+.*")
_NO_SUCH_CLUSTER = "no cluster given: name a file or directory with -S/--snapshot or KUBESPREAD_SNAPSHOT; there is no kubeconfig"
_INSTEAD = "or read a file with -S"


class Progress(Protocol):
    """Hears how a download goes on, from several threads."""

    def bytes_came(self, size: int) -> None: ...
    def objects_came(self, resource: str, count: int) -> None: ...


class NoProgress:
    """Tells nobody."""

    def bytes_came(self, size: int) -> None:
        pass

    def objects_came(self, resource: str, count: int) -> None:
        pass


def load_cluster(access: Access, progress: Progress | None = None) -> Snapshot:
    """What scheduling needs of the cluster that ``access`` leads to. Raises UsageError, ManifestError and SnapshotError."""
    heard = progress or NoProgress()
    target = choose(access, os.environ)
    transport = _Transport(access, target)
    api = Api(transport, access.request_timeout, heard.bytes_came)
    with collector_paused():
        version = _server_version(api)
        jobs = [partial(_list_or_gap, api, resource, access.chunk_size, heard.objects_came) for resource in RESOURCES]
        builder = SnapshotBuilder()
        builder.nodes_listed = True
        resource_version = ""
        complete = []
        for resource, listed in zip(RESOURCES, in_parallel(jobs, _CONNECTIONS), strict=True):
            if isinstance(listed, str):
                builder.note_gap(listed, resource.kind)
            elif listed is not None:
                for found in listed.objects:
                    builder.add(found)
                complete.append(resource.kind)
                if resource.kind == "Pod":
                    resource_version = listed.resource_version
        builder.came_from(
            Origin(
                source=f"context {target.context}" if target is not None and target.context else "",
                server_version=version,
                resource_version=resource_version,
                namespace=target.namespace if target is not None else _own_namespace(),
                listed=tuple(complete),
            )
        )
        return builder.build().stamped(transport.server)


def _list_or_gap(api: Api, resource: Resource, chunk_size: int, on_objects: Callable[[str, int], None]) -> Listed | str | None:
    """The list; what is missing without it when it may not be read; None when that does not matter."""
    try:
        return list_all(api, resource, chunk_size, on_objects)
    except ApiError as error:
        if resource.is_indispensable or error.status not in (FORBIDDEN, NOT_FOUND):
            raise
        why = "not allowed" if error.status == FORBIDDEN else f"not served as {resource.api_version}"
        return f"{resource.plural} could not be read ({why})" if resource.leaves_gap(error.status) else None


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""
    major: str = ""
    minor: str = ""


def _server_version(api: Api) -> str:
    """As the server says it, empty where it is not told; the first request, so it is the one that finds nobody at home."""
    try:
        version = msgspec.json.decode(api.get("/version"), type=_Version)
    except msgspec.MsgspecError as error:
        raise SnapshotError(f"{api.transport.server}/version: not what a Kubernetes API server answers: {error}") from error
    except ApiError as error:
        if error.status in (FORBIDDEN, NOT_FOUND):
            return ""
        raise
    return version.git_version if _RELEASE.fullmatch(version.git_version) else f"v{version.major}.{version.minor.rstrip('+')}"


def _own_namespace() -> str:
    """The namespace of the pod this runs in."""
    try:
        return _NAMESPACE_FILE.read_text().strip()
    except OSError:
        return ""


class _Transport:
    """Requests through the connection that the official Kubernetes client sets up: certificates, tokens, exec plugins, proxies."""

    def __init__(self, access: Access, target: Target | None) -> None:
        # A quarter of a second to import, which nobody with a file should wait for.
        import kubernetes
        import urllib3

        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._errors = urllib3.exceptions
        configuration = kubernetes.client.Configuration()
        config: Any = kubernetes.config  # its functions have no types
        with _complaints() as complaints:
            try:
                if target is not None:
                    config.load_kube_config_from_dict(target.as_config(), client_configuration=configuration, persist_config=False)
                elif "KUBERNETES_SERVICE_HOST" in os.environ:
                    config.load_incluster_config(client_configuration=configuration)
                else:
                    raise UsageError(_NO_SUCH_CLUSTER)
            except (config.ConfigException, OSError, ValueError) as error:
                raise SnapshotError(f"{'kubeconfig' if target is not None else 'service account'}: {_one_line(error)}") from error
        if complaints:
            raise SnapshotError(f"{_exec_name(target)}: {_one_line(complaints[0])}{_install_hint(target)}")
        self.server = configuration.host
        self._proxy = configuration.proxy
        self._configuration = configuration
        self._timeout = urllib3.Timeout
        configuration.connection_pool_maxsize = _CONNECTIONS
        try:
            self._pool: Any = kubernetes.client.ApiClient(configuration).rest_client.pool_manager
        except (OSError, ImportError, ValueError, self._errors.HTTPError) as error:
            # A SOCKS proxy takes a package that the Kubernetes client does not bring along.
            raise SnapshotError(f"{self._proxy or self.server}: {_one_line(error)}") from error
        self._headers = _headers(urllib3.HTTPHeaderDict(), access, target)
        self.advice: Mapping[int, str] = _advice(target)

    def get(self, path: str, timeout: float | None) -> Response:
        headers = self._headers.copy()
        settings: Any = self._configuration.auth_settings()
        for setting in settings.values():
            headers[setting["key"]] = setting["value"]
        response: Response = self._pool.request(
            "GET",
            f"{self.server}{path}",
            headers=headers,
            preload_content=False,
            redirect=False,
            retries=False,
            timeout=self._timeout(connect=timeout, read=timeout),
        )
        return response

    def translate(self, error: Exception, timeout: float) -> Exception:
        """What to tell the user of an exception on the way; or that it is worth another attempt."""
        errors, cause = self._errors, _innermost(error)
        if isinstance(error, ApiError):
            return error
        if isinstance(error, errors.ProxyError):
            return ApiError(f"proxy {self._proxy}: {_reason(cause)}; check proxy-url in the kubeconfig and HTTPS_PROXY")
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ApiError(f"{self.server}: TLS: {cause.verify_message}; check certificate-authority and server in the kubeconfig")
        if isinstance(error, errors.SSLError) or isinstance(cause, ssl.SSLError):
            return ApiError(f"{self.server}: TLS: {_one_line(cause)}; check server and the client certificate in the kubeconfig")
        if isinstance(error, errors.TimeoutError | TimeoutError) and not isinstance(error, errors.NewConnectionError):
            return ApiError(f"{self.server}: no answer within {timeout:g}s; check the network, raise --request-timeout, {_INSTEAD}")
        if isinstance(error, errors.NewConnectionError):
            return ApiError(f"{self.server}: {_reason(cause)}; check that the cluster runs and --context is right, {_INSTEAD}")
        if isinstance(error, errors.HTTPError | OSError):
            return BrokenConnectionError(f"the connection broke off: {_one_line(error)}")
        return error


def _headers(headers: Any, access: Access, target: Target | None) -> Any:
    """Impersonation of the flags, else of the kubeconfig's user."""
    user = target.user if target is not None else {}
    headers["Accept"] = "application/json"
    headers["Accept-Encoding"] = "gzip"
    headers["User-Agent"] = "kubespread"
    if name := access.as_user or user.get("as"):
        headers["Impersonate-User"] = name
    for group in access.as_groups or user.get("as-groups") or ():
        headers.add("Impersonate-Group", group)
    return headers


def _advice(target: Target | None) -> Mapping[int, str]:
    context = f" of context {target.context}" if target is not None and target.context else ""
    return {
        401: f"the credentials{context} are not accepted: log in again, or choose another --context or --user",
        FORBIDDEN: "it needs the rights that docs/rbac.yaml lists",
        NOT_FOUND: "check server in the kubeconfig: it may not be an API server",
    }


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """What the Kubernetes client only logs: a credential plugin that failed, after which it would go on without credentials."""
    heard: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: heard.append(record.getMessage())  # type: ignore[method-assign]  # shorter than a class
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield heard
    finally:
        root.removeHandler(handler)


def _exec_name(target: Target | None) -> str:
    command = (target.user.get("exec") or {}).get("command") if target is not None else None
    return f"credential plugin {command}" if command else "credentials"


def _install_hint(target: Target | None) -> str:
    hint = (target.user.get("exec") or {}).get("installHint") if target is not None else None
    return f"; {_one_line(hint)}" if hint else ""


def _innermost(error: BaseException) -> BaseException:
    while True:
        inner = error.__cause__ or error.__context__
        reason = getattr(error, "reason", None)
        following = inner if inner is not None else reason if isinstance(reason, BaseException) else None
        if following is None:
            return error
        error = following


def _reason(error: BaseException) -> str:
    if isinstance(error, socket.gaierror):
        return f"host not found ({error.strerror})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return _one_line(error)


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
