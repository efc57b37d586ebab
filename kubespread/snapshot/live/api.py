"""GET requests to an API server: bounded in time, repeated where that helps, and every failure as one line with advice."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, Protocol
from urllib.parse import urlencode

import msgspec

from kubespread.errors import ApiError

_ATTEMPTS = 6
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0
_CHUNK = 2**18
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _TOO_MANY, _OK = 401, 403, 404, 429, 200
_SERVER_ERROR = 500


class Response(Protocol):
    """As much of urllib3's response as is used."""

    status: int
    headers: Mapping[str, str]

    def read(self, amt: int, decode_content: bool) -> bytes: ...
    def release_conn(self) -> None: ...
    def close(self) -> None: ...


class BrokenConnectionError(Exception):
    """The connection died on the way; asking again may help."""


class Transport(Protocol):
    """Sends one GET. Raises ApiError, or BrokenConnectionError where another attempt makes sense."""

    server: str
    advice: Mapping[int, str]

    def get(self, path: str, timeout: float | None) -> Response: ...
    def translate(self, error: Exception, timeout: float) -> Exception:
        """What to raise instead; the error itself where it is nothing a user can mend."""
        ...


class _Status(msgspec.Struct):
    """The Kubernetes Status object that explains a refusal."""

    message: str = ""


@dataclass
class Api:
    """One API server. ``on_bytes`` hears of every piece of a body that arrives."""

    transport: Transport
    timeout: float
    on_bytes: Callable[[int], None] = lambda size: None

    def get(self, path: str, **query: str | int | None) -> bytes:
        """The whole body of the answer to GET ``path``. Raises ApiError."""
        given = {name: value for name, value in query.items() if value is not None}
        target = f"{path}?{urlencode(given)}" if given else path
        for attempt in range(_ATTEMPTS):
            last = attempt == _ATTEMPTS - 1
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
            try:
                status, headers, body = self._exchange(target)
            except BrokenConnectionError as error:
                if last:
                    raise ApiError(f"{self.transport.server}{path}: {error} ({_ATTEMPTS} attempts); try again") from error
            else:
                if status == _OK:
                    return body
                if last or not (status == _TOO_MANY or status >= _SERVER_ERROR):
                    raise self._refusal(path, status, body)
                pause = _retry_after(headers, pause)
            sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _exchange(self, target: str) -> tuple[int, Mapping[str, str], bytes]:
        deadline = monotonic() + self.timeout if self.timeout else None
        try:
            response = self.transport.get(target, self.timeout or None)
            with contextlib.closing(response):
                body = bytearray()
                while chunk := response.read(_CHUNK, decode_content=True):
                    body += chunk
                    self.on_bytes(len(chunk))
                    if deadline is not None and monotonic() > deadline:
                        raise TimeoutError
                response.release_conn()
        except Exception as error:  # whatever the transport raises, it knows best what to tell of it
            told = self.transport.translate(error, self.timeout)
            if told is error:
                raise
            raise told from error
        return response.status, response.headers, bytes(body)

    def _refusal(self, path: str, status: int, body: bytes) -> ApiError:
        advice = self.transport.advice.get(status, "try again later" if status >= _SERVER_ERROR or status == _TOO_MANY else "")
        said = f"{self.transport.server}{path}: {status} {_message(body)}".rstrip()
        return ApiError(f"{said}; {advice}" if advice else said, status)


def _message(body: bytes) -> str:
    try:
        message = msgspec.json.decode(body, type=_Status).message
    except (msgspec.DecodeError, RecursionError):
        message = body[:200].decode(errors="replace")
    return " ".join(message.split())


def _retry_after(headers: Mapping[str, str], otherwise: float) -> float:
    """Seconds the server asks to wait; a date, which Kubernetes never sends, is not understood."""
    given: Any = headers.get("Retry-After")
    return min(_LONGEST_PAUSE, float(given)) if given and given.isdecimal() else otherwise
