"""GET requests to an API server, bounded in time and size; a failure is one line of advice without credentials.

The official client logs in, finds certificates and proxies, and connects. This module adds impersonation, the
user of a server's or a proxy's URL, retries of a broken-off body, a time limit on all attempts, and errors without
credentials: tests/snapshot/test_live.py, tests/snapshot/test_connection.py. The client's models decode a list forty
times slower.
"""

from __future__ import annotations

import contextlib
import http.client
import math
import os
import ssl
from collections.abc import Mapping
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from kubespread import __version__
from kubespread.deadline import run_within
from kubespread.errors import ApiError, KubespreadError, NoClusterError, SnapshotError, UsageError
from kubespread.redaction import mask, remember_secret, shown_url, without_secrets
from kubespread.regex import regex
from kubespread.snapshot.live.credential_plugin import plugin_name, run_plugin
from kubespread.snapshot.live.kubeconfig import AuthInfo, NamedEntry

if TYPE_CHECKING:
    from urllib3 import HTTPResponse

_Query = Mapping[str, str | int | None]
_PAUSES = (0.25, 0.5, 1.0, 2.0, 4.0)
_LONGEST_PAUSE = 30.0
_CHUNK = 2**18
_MAX_BODY_MIB = 512
_MAX_MESSAGE = 500
_OK, FORBIDDEN, NOT_FOUND, _TOO_MANY, _SERVER_ERROR = 200, 403, 404, 429, 500
_REDIRECTS = range(300, 400)
_CHECK_PROXY = "check proxy-url in the kubeconfig and HTTPS_PROXY"
_CHECK_CLUSTER = "check that the cluster runs and --context is right, or read a file with -S"
# UTF-8 goes out as kubectl sends it; each of its bytes is a Latin-1 character to Python's HTTP client.
_SENDABLE = regex(r"[\x20-\x7e\x80-\xff]*")
_SECRET_NAME = regex(r"(?i)token|secret|passw|key|credential")


class _PassingError(ApiError):
    """Failure that another attempt may mend, after ``pause`` seconds at least."""

    def __init__(self, message: str, status: int = 0, pause: float = 0.0) -> None:
        super().__init__(message, status)
        self.pause = pause


class Api:
    """Client of one API server for one user. ``timeout`` bounds a request with all its attempts, in seconds.

    Raises UsageError and SnapshotError before the first request.
    """

    def __init__(self, target: NamedEntry | None, connections: int, timeout: float) -> None:
        if target is None and "KUBERNETES_SERVICE_HOST" not in os.environ:
            raise NoClusterError(
                "no cluster given: name a file or directory with -S/--snapshot or KUBESPREAD_SNAPSHOT; there is no "
                "kubeconfig"
            )
        try:
            # A quarter of a second to import, and left out by who reads only files.
            import kubernetes
            import urllib3
        except ModuleNotFoundError:
            raise UsageError(
                "a running cluster takes the package kubernetes, which was left out: pip install kubernetes; "
                "a file or directory (-S/--snapshot) does without"
            ) from None
        urllib3.disable_warnings()
        self._urllib3: Any = urllib3
        self.timeout = timeout
        self._configuration: Any = kubernetes.client.Configuration()
        self._configuration.connection_pool_maxsize = connections
        self._headers = self._urllib3.HTTPHeaderDict(
            {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"kubespread/{__version__}"}
        )
        self._login = "the credentials"
        self._log_in(kubernetes.config, target)
        self.server = shown_url(self._configuration.host)
        self._pool = self._connections(kubernetes.client)

    def get(self, path: str, **query: str | int | None) -> bytes:
        """Body of the answer to GET ``path``. Raises ApiError."""
        deadline = monotonic() + self.timeout
        pauses = iter(_PAUSES)
        while True:
            # On a machine that stood still meanwhile the time may be up, which is no timeout that a socket takes.
            seconds = max(0.001, deadline - monotonic())
            try:
                # A socket's timeout restarts with every byte, and does not cover looking up a host's name.
                return run_within(seconds, partial(self._receive, path, query, seconds, deadline))
            except Exception as error:  # noqa: BLE001 - which kinds there are only the client knows
                failure = self._failure(error, path)
            pause = max(next(pauses, math.inf), failure.pause) if isinstance(failure, _PassingError) else math.inf
            if monotonic() + pause >= deadline:
                raise failure
            sleep(pause)

    def close(self) -> None:
        self._pool.clear()

    def _receive(self, path: str, query: _Query, seconds: float, deadline: float) -> bytes:
        with contextlib.closing(self._request(path, query, seconds)) as response:
            body = bytearray()
            while chunk := response.read1(_CHUNK, decode_content=True):
                body += chunk
                if len(body) > _MAX_BODY_MIB * 2**20:
                    raise ApiError(
                        f"{self.server}{path}: more than {_MAX_BODY_MIB} MiB in one answer; read a file with -S"
                    )
                if monotonic() > deadline:
                    raise TimeoutError
            response.release_conn()
        if response.status != _OK:
            raise self._refusal(path, response, bytes(body))
        return bytes(body)

    def _request(self, path: str, query: _Query, timeout: float) -> HTTPResponse:
        headers = self._headers.copy()
        # The client reads a service account's token anew now and then.
        for setting in self._configuration.auth_settings().values():
            headers[setting["key"]] = setting["value"]
        if not all(map(_SENDABLE.fullmatch, headers.values())):
            raise UsageError(f"{self._login}: a line break, or another character in them that no header can carry")
        response: HTTPResponse = self._pool.request(
            "GET",
            f"{self._configuration.host}{path}",
            fields={name: value for name, value in query.items() if value is not None},
            headers=headers,
            preload_content=False,
            redirect=False,
            retries=False,
            timeout=self._urllib3.Timeout(connect=timeout, read=timeout),
        )
        return response

    def _refusal(self, path: str, response: HTTPResponse, body: bytes) -> ApiError:
        status, headers = response.status, response.headers
        detail = f" {_message(body)}".rstrip()
        advice = {
            401: f"{self._login} are not accepted: log in again, or choose another --context",
            FORBIDDEN: "'kubespread rbac' prints the ClusterRole that it takes",
            NOT_FOUND: "check server in the kubeconfig: it may not be an API server",
        }.get(status, "")
        if status in _REDIRECTS:
            detail = f", a redirect to {without_secrets(shown_url(_one_line(headers.get('Location', 'nowhere'))))}"
            advice = "check server in the kubeconfig: an API server does not redirect"
        refusal = f"{self.server}{path}: {status}{detail}"
        if status == _TOO_MANY or status >= _SERVER_ERROR:
            # A date, which Kubernetes never sends, is not understood.
            retry_after = headers.get("Retry-After", "")
            pause = min(_LONGEST_PAUSE, float(retry_after)) if retry_after.isdecimal() else 0.0
            return _PassingError(f"{refusal}; try again later", status, pause)
        return ApiError(f"{refusal}; {advice}" if advice else refusal, status)

    def _failure(self, error: Exception, path: str) -> Exception:
        """The error to raise: one that names the cause, or ``error`` itself if no user can fix it."""
        if isinstance(error, KubespreadError):
            return error
        errors, cause, check = self._urllib3.exceptions, _innermost(error), "check server in the kubeconfig"
        reason = _reason(cause)
        is_refusal = isinstance(cause, http.client.RemoteDisconnected) and self.server.startswith("http:")
        is_unknown = is_refusal or type(cause) is http.client.BadStatusLine
        for is_it, place, advice in (
            (isinstance(error, errors.ProxyError), f"proxy {self._proxy}", _CHECK_PROXY),
            (isinstance(cause, ssl.SSLError), f"{self.server}: TLS", f"{check}, and its certificates"),
            (isinstance(error, errors.NewConnectionError), self.server, _CHECK_CLUSTER),
            (is_unknown, f"{self.server}: not plain HTTP", check),
            (isinstance(error, errors.LocationValueError | UnicodeError), self.server, check),
        ):
            if is_it:
                return ApiError(f"{place}: {reason}; {advice}")
        if isinstance(error, errors.TimeoutError | TimeoutError):
            reason = f"no answer within {self.timeout:g}s; check the network, or read a file with -S"
            return ApiError(f"{self.server}: {reason}")
        if isinstance(error, errors.HTTPError | OSError | http.client.HTTPException):
            return _PassingError(f"{self.server}{path}: the connection broke off: {reason}; try again")
        return error

    def _log_in(self, config: Any, target: NamedEntry | None) -> None:
        """Fill the client's configuration. Whatever the client says may hold credentials."""
        try:
            if target is None:
                config.load_incluster_config(client_configuration=self._configuration)
            else:
                self._login = f"the credentials of context {target.name}"
                self._impersonate(target.user)
                config.load_kube_config_from_dict(
                    self._kubeconfig_for(target), client_configuration=self._configuration, persist_config=False
                )
        except (config.ConfigException, OSError, ValueError) as error:
            place = "service account" if target is None else "kubeconfig"
            raise SnapshotError(f"{place}: {_reason(error)}") from None
        remember_secret(*self._configuration.api_key.get("BearerToken", "").split()[1:])

    def _impersonate(self, user: AuthInfo) -> None:
        if user.impersonate_groups and not user.impersonate:
            raise UsageError("groups can be impersonated only with a user: the kubeconfig has as-groups without as")
        for header, names in (("User", [user.impersonate]), ("Group", user.impersonate_groups)):
            for name in filter(None, names):
                sent = name.encode(errors="surrogateescape").decode("latin-1")
                self._headers.add(f"Impersonate-{header}", sent)

    def _kubeconfig_for(self, target: NamedEntry) -> dict[str, Any]:
        """A kubeconfig with nothing else in it, for the client to load. Runs the credential plugin, once."""
        user, url = target.user, self._urllib3.util.parse_url(target.cluster.server)
        if not user.username:
            user.username, _, user.password = map(unquote, (url.auth or "").partition(":"))
        remember_secret(user.token, user.password, user.client_key_data)
        if user.exec is not None:
            remember_secret(*(variable.value for variable in user.exec.env if _SECRET_NAME.search(variable.name)))
            if not user.token:
                run_plugin(user, user.exec, target.cluster, os.environ)
                self._login = f"the credentials from {plugin_name(user.exec)} of context {target.name}"
        user.exec = None
        target.cluster.server = url._replace(auth=None, query=None, fragment=None).url
        name = {"name": "target"}
        return {
            "clusters": [{**name, "cluster": msgspec.to_builtins(target.cluster)}],
            "users": [{**name, "user": {"password": "", **msgspec.to_builtins(user)}}],
            "contexts": [{**name, "context": {"cluster": "target", "user": "target"}}],
            "current-context": "target",
        }

    def _connections(self, client: Any) -> Any:
        """Make the pool that the client connects with. An error in it before the first request is the proxy's fault."""
        configuration = self._configuration
        proxy: str = configuration.proxy or ""
        if proxy and "://" not in proxy:
            # As in HTTPS_PROXY=proxy:3128.
            proxy = configuration.proxy = f"http://{proxy}"
        self._proxy = shown_url(proxy)
        try:
            url = self._urllib3.util.parse_url(proxy)
            if url.auth and url.scheme in ("http", "https"):
                configuration.proxy_headers = self._urllib3.make_headers(proxy_basic_auth=unquote(url.auth))
                remember_secret(*configuration.proxy_headers["proxy-authorization"].split()[1:])
            return client.ApiClient(configuration).rest_client.pool_manager
        except (ImportError, ValueError) as error:
            reason = "it takes the package PySocks" if isinstance(error, ImportError) else _reason(error)
            raise UsageError(f"proxy {self._proxy}: {reason}; {_CHECK_PROXY}") from None


def _message(body: bytes) -> str:
    try:
        message = str(msgspec.json.decode(body)["message"])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError, KeyError):
        message = body[:200].decode(errors="replace")
    return without_secrets(_one_line(message))


def _one_line(text: str) -> str:
    return " ".join(text[:_MAX_MESSAGE].split())


def _innermost(error: BaseException) -> BaseException:
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error


def _reason(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, OSError) and error.strerror and not isinstance(error, ssl.SSLError):
        return error.strerror.lower()
    return mask(_one_line(str(error))) or type(error).__name__
