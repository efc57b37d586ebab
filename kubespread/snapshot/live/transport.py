"""Requests as the official Kubernetes client sets them up: certificates, service accounts, proxies."""

from __future__ import annotations

import base64
import http.client
import os
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from kubespread import __version__
from kubespread.errors import ApiError, NoClusterError, SnapshotError, UsageError
from kubespread.manifest.text import within
from kubespread.redaction import masked, remember_secret, shown_url
from kubespread.snapshot.live.api import FORBIDDEN, NOT_FOUND, UNAUTHORIZED, BrokenConnectionError, Response
from kubespread.snapshot.live.credential_plugin import TIME_LIMIT, plugin_name, run_plugin
from kubespread.snapshot.live.kubeconfig import PROXY_SCHEMES, Target, read_small, url_fault

# Who asks: what of a kubeconfig's user goes into requests, checked before anything is sent.


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


def impersonation(target: Target | None) -> tuple[str, tuple[str, ...]]:
    """User and groups of the kubeconfig's user, as headers carry them. Raises UsageError."""
    user = target.user if target is not None else {}
    name, groups = user.get("as") or "", tuple(user.get("as-groups") or ())
    if groups and not name:
        raise UsageError("groups can be impersonated only with a user: the kubeconfig has as-groups without as")
    for what, value in (("user", name), *(("group", group) for group in groups)):
        if _CONTROL.search(value):
            raise UsageError(
                f"the {what} to impersonate holds a line break or control character, which no header can carry"
            )
    return _header(name), tuple(map(_header, groups))


def _header(text: str) -> str:
    """As kubectl sends it: UTF-8, each byte of which Python's HTTP client treats as a Latin-1 character."""
    return text.encode(errors="surrogateescape").decode("latin-1")


_NO_SUCH_CLUSTER = (
    "no cluster given: name a file or directory with -S/--snapshot or KUBESPREAD_SNAPSHOT; there is no kubeconfig"
)
_NO_CLIENT = (
    "a running cluster takes the package kubernetes, which was left out: pip install kubernetes; "
    "a file or directory (-S/--snapshot) does without"
)
_PEM = {
    "certificate-authority": b"-----BEGIN CERTIFICATE-----",
    "client-certificate": b"-----BEGIN CERTIFICATE-----",
    "client-key": b"PRIVATE KEY-----",
}


class ClientTransport:
    """One API server, asked as one user. Raises UsageError and SnapshotError before the first request."""

    def __init__(self, target: Target | None, connections: int) -> None:
        if target is None and "KUBERNETES_SERVICE_HOST" not in os.environ:
            raise NoClusterError(_NO_SUCH_CLUSTER)
        kubernetes, urllib3 = _client()
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._timeout = urllib3.Timeout
        configuration = kubernetes.client.Configuration()
        login = self._log_in(configuration, kubernetes.config, target)
        self._url = _without_user_info(configuration.host)
        self.server = shown_url(configuration.host)
        self._configuration = configuration
        configuration.connection_pool_maxsize = connections
        self._proxy = _prepare_proxy(configuration, urllib3)
        try:
            self._pool: Any = kubernetes.client.ApiClient(configuration).rest_client.pool_manager
        except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:
            raise SnapshotError(f"{self.server}: {masked(_one_line(error))}") from None
        self._closed = False
        self._headers = _headers(urllib3.HTTPHeaderDict(), target, login)
        self.advice: Mapping[int, str] = _advice(target, login)

    def get(self, path: str, timeout: float) -> Response:
        if self._closed:
            raise ApiError(f"{self.server}: hung up")
        headers = self._headers.copy()
        settings: Any = self._configuration.auth_settings()
        for setting in settings.values():
            headers[setting["key"]] = setting["value"]
        response: Response = self._pool.request(
            "GET",
            f"{self._url}{path}",
            headers=headers,
            preload_content=False,
            redirect=False,
            retries=False,
            timeout=self._timeout(connect=timeout, read=timeout),
        )
        if self._closed:
            # It began just before close(), on a connection that nothing else would close.
            response.close()
            self._pool.clear()
            raise ApiError(f"{self.server}: hung up")
        return response

    def close(self) -> None:
        """Close the connection; later requests raise an error."""
        self._closed = True
        self._pool.clear()

    def translate(self, error: Exception) -> Exception:
        return translated(error, self.server, self._proxy)

    def _log_in(self, configuration: Any, config: Any, target: Target | None) -> Credentials:
        """Fill the client's ``configuration``. Whatever the client says may hold credentials."""
        try:
            if target is None:
                config.load_incluster_config(client_configuration=configuration)
                remember_secret(*configuration.api_key.get("BearerToken", "").split()[1:])
                return Credentials()
            remember_secrets(target)
            _check_certificates(target)
            login = credentials(target, os.environ)
            for_client = _config(target.cluster, login.user)
            # An authentication provider may ask its own server.
            within(
                TIME_LIMIT,
                lambda: config.load_kube_config_from_dict(
                    for_client, client_configuration=configuration, persist_config=False
                ),
            )
        except TimeoutError:
            raise SnapshotError(
                f"kubeconfig: no credentials within {TIME_LIMIT:g}s; log in with kubectl first"
            ) from None
        except (config.ConfigException, OSError, ValueError, KeyError) as error:
            raise SnapshotError(
                f"{'kubeconfig' if target is not None else 'service account'}: {masked(_one_line(error))}"
            ) from None
        return login


def _client() -> tuple[Any, Any]:
    """The official client and what its connections are made of: a quarter of a second to import, and an extra to
    install, which nobody who reads a file should need. Raises UsageError if it is not installed.
    """
    try:
        import kubernetes
        import urllib3
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("kubernetes", "urllib3"):
            raise
        raise UsageError(_NO_CLIENT) from None
    return kubernetes, urllib3


def _config(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> dict[str, Any]:
    """A kubeconfig with nothing else in it, for the client to load."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "target", "cluster": {**cluster, "server": _without_user_info(cluster["server"])}}],
        "users": [{"name": "target", "user": user}],
        "contexts": [{"name": "target", "context": {"cluster": "target", "user": "target"}}],
        "current-context": "target",
    }


def _check_certificates(target: Target) -> None:
    """Find files that are missing, endless or no certificates; the client would only say that TLS failed."""
    for key, marker in _PEM.items():
        holder = target.cluster if key == "certificate-authority" else target.user
        data, file = holder.get(f"{key}-data"), holder.get(key)
        if data:
            content = base64.b64decode(data)
        elif file:
            content = read_small(file, key)
        else:
            continue
        name = f"{key}-data of the kubeconfig" if data else f"{file}: {key} of the kubeconfig"
        if marker not in content:
            raise UsageError(
                f"{name}: no {'private key' if 'KEY' in marker.decode() else 'certificate'} in PEM format in it"
            )
        if key == "certificate-authority":
            _check_authority(content, name)
    has = {
        kind: bool(target.user.get(kind) or target.user.get(f"{kind}-data"))
        for kind in ("client-certificate", "client-key")
    }
    if has["client-certificate"] != has["client-key"]:
        present, missing = sorted(has, key=lambda kind: not has[kind])
        raise UsageError(f'user "{target.user_name}" of the kubeconfig has a {present} without a {missing}')


def _check_authority(content: bytes, name: str) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=content.decode("ascii", errors="replace"))
    except (ssl.SSLError, ValueError):
        raise UsageError(f"{name}: its certificates cannot be read") from None


def _prepare_proxy(configuration: Any, urllib3: Any) -> str:
    """Check the proxy of the kubeconfig or the environment; returns it as it may be shown, empty without one."""
    proxy: str = configuration.proxy or ""
    if not proxy:
        return ""
    remember_user_info(proxy)
    shown = shown_url(proxy)
    if "://" not in proxy:
        # As in HTTPS_PROXY=proxy:3128.
        proxy = f"http://{proxy}"
    if fault := url_fault(proxy, PROXY_SCHEMES):
        raise UsageError(
            f"proxy {shown}: not a proxy that can be used: {fault}; check proxy-url in the kubeconfig and HTTPS_PROXY"
        )
    if proxy.lower().startswith("socks"):
        try:
            import socks  # type: ignore[import-untyped,import-not-found,unused-ignore]  # noqa: F401 - whether it is there
        except ImportError:
            raise UsageError(
                f"proxy {shown}: a SOCKS proxy needs a package that is not installed: pip install PySocks"
            ) from None
        configuration.proxy = proxy
        return shown
    parsed = urllib3.util.parse_url(proxy)
    if parsed.auth:
        name, _, password = parsed.auth.partition(":")
        configuration.proxy_headers = {"Proxy-Authorization": basic(unquote(name), unquote(password))}
    configuration.proxy = _without_user_info(proxy)
    return shown


def _without_user_info(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}".rstrip("/")


def _headers(headers: Any, target: Target | None, login: Credentials) -> Any:
    """What every request carries."""
    headers["Accept"] = "application/json"
    headers["Accept-Encoding"] = "gzip"
    headers["User-Agent"] = f"kubespread/{__version__}"
    if login.authorization:
        headers["Authorization"] = login.authorization
    user, groups = impersonation(target)
    if user:
        headers["Impersonate-User"] = user
    for group in groups:
        headers.add("Impersonate-Group", group)
    return headers


def _advice(target: Target | None, login: Credentials) -> Mapping[int, str]:
    context = f" of context {target.context}" if target is not None else ""
    return {
        UNAUTHORIZED: f"{login.source}{context} are not accepted: log in again, or choose another --context",
        FORBIDDEN: "it takes a right that this user does not have",
        NOT_FOUND: "check server in the kubeconfig: it may not be an API server",
    }


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


_INSTEAD = "or read a file with -S"
_PLAIN_HTTP = "WRONG_VERSION_NUMBER"


def translated(error: Exception, server: str, proxy: str) -> Exception:
    """``error`` of a request to ``server`` through ``proxy``, both as they may be shown: see `Transport.translate`."""
    from urllib3 import exceptions as urllib3_errors

    if isinstance(error, ApiError):
        return error
    cause = _innermost(error)
    if isinstance(error, urllib3_errors.ProxyError):
        return ApiError(f"proxy {proxy}: {_reason(cause)}; check proxy-url in the kubeconfig and HTTPS_PROXY")
    if isinstance(error, urllib3_errors.SSLError) or isinstance(cause, ssl.SSLError):
        return ApiError(f"{server}: TLS: {_tls_reason(cause)}")
    if isinstance(error, urllib3_errors.NewConnectionError):
        return ApiError(f"{server}: {_reason(cause)}; check that the cluster runs and --context is right, {_INSTEAD}")
    if isinstance(error, urllib3_errors.TimeoutError | TimeoutError):
        return TimeoutError()
    if isinstance(error, urllib3_errors.LocationValueError | http.client.InvalidURL | UnicodeError):
        return ApiError(f"{server}: not a URL that can be asked; check server in the kubeconfig")
    if isinstance(cause, http.client.RemoteDisconnected) and server.startswith("http:"):
        return ApiError(
            f"{server}: closed without an answer; an API server wants https, and this is http: check server in the "
            "kubeconfig"
        )
    if isinstance(cause, http.client.BadStatusLine) and not isinstance(cause, http.client.RemoteDisconnected):
        return ApiError(f"{server}: what answers there does not speak HTTP; check server in the kubeconfig")
    if isinstance(error, urllib3_errors.HTTPError | OSError | http.client.HTTPException):
        return BrokenConnectionError(f"the connection broke off: {_reason(cause)}")
    return error


def _tls_reason(cause: BaseException) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"{cause.verify_message}; check certificate-authority and server in the kubeconfig"
    if _PLAIN_HTTP in str(cause):
        return "what answers there does not speak TLS, but perhaps plain HTTP; check server in the kubeconfig"
    return f"{_reason(cause)}; check server and the client certificate in the kubeconfig"


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
    if isinstance(error, OSError) and error.strerror and not isinstance(error, ssl.SSLError):
        return error.strerror.lower()
    return masked(" ".join(str(error).split())) or type(error).__name__
