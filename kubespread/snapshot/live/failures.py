"""What went wrong on the way to an API server, in words that say what to check."""

from __future__ import annotations

import http.client
import socket
import ssl

from kubespread.errors import ApiError
from kubespread.snapshot.live.api import BrokenConnectionError
from kubespread.snapshot.live.redaction import masked

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
