"""GET requests to an API server, bounded in time and size; a failure is one line of advice without credentials.

The official client logs in, finds certificates and proxies, and connects. What it cannot do is done here: impersonate;
send the user of a server's or a proxy's URL; repeat a request whose body broke off; end all attempts, or a login, in
time: tests/snapshot/test_live.py, tests/snapshot/test_connection.py. Its models decode a list forty times slower.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlencode

import msgspec

from kubespread import __version__
from kubespread.errors import ApiError, KubespreadError, NoClusterError, SnapshotError, UsageError
from kubespread.manifest.text import within
from kubespread.redaction import masked, remember_secret, shown_url, without_secrets
from kubespread.snapshot.live.credential_plugin import plugin_name, run_plugin
from kubespread.snapshot.live.kubeconfig import AuthInfo, Target

if TYPE_CHECKING:
    from urllib3 import HTTPResponse

T = TypeVar("T")


def in_parallel(jobs: Sequence[Callable[[], T]], workers: int) -> list[T]:
    """The results of ``jobs``, in order. The first error ends it, and the other jobs are abandoned.

    An executor would wait for its threads at exit, even after an interrupt.
    """
    waiting = iter(enumerate(jobs))
    results: list[Any] = [None] * len(jobs)
    done: SimpleQueue[BaseException | None] = SimpleQueue()

    def work() -> None:
        for position, job in waiting:
            try:
                results[position] = job()
            except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
                done.put(error)
                return
            done.put(None)

    for _ in range(min(workers, len(jobs))):
        threading.Thread(target=work, daemon=True).start()
    for _ in jobs:
        if (error := done.get()) is not None:
            raise error
    return results


_ATTEMPTS = 6
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0
_CHUNK = 2**18
_MAX_BODY_MIB = 512
_MAX_MESSAGE = 500
_OK, FORBIDDEN, NOT_FOUND, _TOO_MANY, _SERVER_ERROR = 200, 403, 404, 429, 500
_REDIRECTS = range(300, 400)
_CHECK_PROXY = "check proxy-url in the kubeconfig and HTTPS_PROXY"
_CHECK_CLUSTER = "check that the cluster runs and --context is right, or read a file with -S"
# UTF-8 goes out as kubectl sends it; each of its bytes is a Latin-1 character to Python's HTTP client.
_SENDABLE = re.compile(r"[\x20-\x7e\x80-\xff]*")
_SECRET_NAME = re.compile(r"(?i)token|secret|passw|key|credential")


class _BrokenConnectionError(Exception):
    """The connection died on the way; asking again may help."""


class _Status(msgspec.Struct):
    """The Kubernetes Status object that explains a refusal."""

    message: str = ""


class Api:
    """One API server, asked as one user. ``timeout`` bounds a request with all its attempts, in seconds.

    Raises UsageError and SnapshotError before the first request.
    """

    def __init__(self, target: Target | None, connections: int, timeout: float) -> None:
        if target is None and "KUBERNETES_SERVICE_HOST" not in os.environ:
            raise NoClusterError(
                "no cluster given: name a file or directory with -S/--snapshot or KUBESPREAD_SNAPSHOT; there is no "
                "kubeconfig"
            )
        kubernetes, self._urllib3 = _client()
        self._urllib3.disable_warnings()
        self.timeout = timeout
        self._configuration = kubernetes.client.Configuration()
        self._configuration.connection_pool_maxsize = connections
        self._headers = self._urllib3.HTTPHeaderDict(
            {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"kubespread/{__version__}"}
        )
        self._login = "the credentials"
        self._log_in(kubernetes.config, target)
        self.server = shown_url(self._configuration.host)
        self._pool = self._connections(kubernetes.client)

    def get(self, path: str, **query: str | int | None) -> bytes:
        """The whole body of the answer to GET ``path``. Raises ApiError."""
        target = _target(path, query)
        deadline = monotonic() + self.timeout
        attempt = 0
        while True:
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
            attempt += 1
            try:
                status, headers, body = self._exchange(target, deadline)
            except _BrokenConnectionError as error:
                failure = ApiError(f"{self.server}{path}: {error} (attempt {attempt}); try again")
            else:
                if status == _OK:
                    return body
                failure = self._refusal(path, status, headers, body)
                if not (status == _TOO_MANY or status >= _SERVER_ERROR):
                    raise failure
                # A date, which Kubernetes never sends, is not understood.
                asked = headers.get("Retry-After", "")
                pause = min(_LONGEST_PAUSE, float(asked)) if asked.isdecimal() else pause
            if attempt == _ATTEMPTS or monotonic() + pause >= deadline:
                raise failure
            sleep(pause)

    def lines(self, path: str, patience: float, **query: str | int | None) -> Iterator[bytes]:
        """What the server says line by line until it ends that, as it does with a watch. Raises ApiError, TimeoutError
        if it says nothing for ``patience`` seconds, and whatever the connection fails with.
        """
        with contextlib.closing(self._request(_target(path, query), patience)) as response:
            if response.status != _OK:
                raise self._refusal(path, response.status, response.headers, response.read1(_CHUNK, True))
            rest = b""
            while chunk := response.read1(_CHUNK, decode_content=True):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines

    def close(self) -> None:
        self._pool.clear()

    def _exchange(self, target: str, deadline: float) -> tuple[int, Mapping[str, str], bytes]:
        # On a machine that stood still meanwhile the time may be up, which is no timeout that a socket takes.
        seconds = max(0.001, deadline - monotonic())
        try:
            # A socket's timeout restarts with every byte, and does not cover looking up a host's name.
            return within(seconds, lambda: self._receive(target, seconds, deadline))
        except Exception as error:  # noqa: BLE001 - which kinds there are only the client knows
            # What it was raised from may hold the headers, with the token in them.
            raise self._failure(error) from None

    def _receive(self, target: str, seconds: float, deadline: float) -> tuple[int, Mapping[str, str], bytes]:
        with contextlib.closing(self._request(target, seconds)) as response:
            body = bytearray()
            while chunk := response.read1(_CHUNK, decode_content=True):
                body += chunk
                if len(body) > _MAX_BODY_MIB * 2**20:
                    path = target.partition("?")[0]
                    raise ApiError(
                        f"{self.server}{path}: more than {_MAX_BODY_MIB} MiB in one answer; read a file with -S"
                    )
                if monotonic() > deadline:
                    raise TimeoutError
            response.release_conn()
        return response.status, response.headers, bytes(body)

    def _request(self, target: str, timeout: float) -> HTTPResponse:
        headers = self._headers.copy()
        # The client reads a service account's token anew now and then.
        for setting in self._configuration.auth_settings().values():
            headers[setting["key"]] = setting["value"]
        if not all(map(_SENDABLE.fullmatch, headers.values())):
            raise UsageError(f"{self._login}: a line break, or another character in them that no header can carry")
        response: HTTPResponse = self._pool.request(
            "GET",
            f"{self._configuration.host}{target}",
            headers=headers,
            preload_content=False,
            redirect=False,
            retries=False,
            timeout=self._urllib3.Timeout(connect=timeout, read=timeout),
        )
        return response

    def _refusal(self, path: str, status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
        said = f" {_message(body)}".rstrip()
        advice = {
            401: f"{self._login} are not accepted: log in again, or choose another --context",
            FORBIDDEN: "'kubespread rbac' prints the ClusterRole that it takes",
            NOT_FOUND: "check server in the kubeconfig: it may not be an API server",
        }.get(status, "")
        if status in _REDIRECTS:
            said = f", a redirect to {without_secrets(shown_url(_one_line(headers.get('Location', 'nowhere'))))}"
            advice = "check server in the kubeconfig: an API server does not redirect"
        elif status == _TOO_MANY or status >= _SERVER_ERROR:
            advice = "try again later"
        return ApiError(f"{self.server}{path}: {status}{said}{f'; {advice}' if advice else ''}", status)

    def _failure(self, error: Exception) -> Exception:
        """What to raise instead: an error that names the cause, or the error itself where no user can mend it."""
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
            (isinstance(error, ValueError), self.server, check),
        ):
            if is_it:
                return ApiError(f"{place}: {reason}; {advice}")
        if isinstance(error, errors.TimeoutError | TimeoutError):
            reason = f"no answer within {self.timeout:g}s; check the network, or read a file with -S"
            return ApiError(f"{self.server}: {reason}")
        if isinstance(error, errors.HTTPError | OSError | http.client.HTTPException):
            return _BrokenConnectionError(f"the connection broke off: {reason}")
        return error

    def _log_in(self, config: Any, target: Target | None) -> None:
        """Fill the client's configuration. Whatever the client says may hold credentials."""
        try:
            if target is None:
                config.load_incluster_config(client_configuration=self._configuration)
            else:
                self._login = f"the credentials of context {target.context}"
                self._impersonate(target.user)
                config.load_kube_config_from_dict(
                    self._chosen(target), client_configuration=self._configuration, persist_config=False
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

    def _chosen(self, target: Target) -> dict[str, Any]:
        """A kubeconfig with nothing else in it, for the client to load. Runs the credential plugin, once."""
        user, url = target.user, self._urllib3.util.parse_url(target.cluster.server)
        if not user.username:
            user.username, _, user.password = map(unquote, (url.auth or "").partition(":"))
        remember_secret(user.token, user.password, user.client_key_data)
        if user.exec is not None:
            remember_secret(*(each.value for each in user.exec.env if _SECRET_NAME.search(each.name)))
            if not user.token:
                run_plugin(user, user.exec, target.cluster, os.environ)
                self._login = f"the credentials from {plugin_name(user.exec)} of context {target.context}"
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
        """What the client connects with. What is wrong with it before the first request is the proxy's fault."""
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


def _client() -> tuple[Any, Any]:
    """The official client and what its connections are made of: a quarter of a second to import, and an extra to
    install, which nobody who reads a file should need. Raises UsageError if it is not installed.
    """
    try:
        import kubernetes
        import urllib3
    except ModuleNotFoundError:
        raise UsageError(
            "a running cluster takes the package kubernetes, which was left out: pip install kubernetes; "
            "a file or directory (-S/--snapshot) does without"
        ) from None
    return kubernetes, urllib3


def _target(path: str, query: Mapping[str, str | int | None]) -> str:
    parameters = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(parameters)}" if parameters else path


def _message(body: bytes) -> str:
    try:
        message = msgspec.json.decode(body, type=_Status).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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
    return masked(_one_line(str(error))) or type(error).__name__
