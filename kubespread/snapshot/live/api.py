"""GET requests to an API server, bounded in time and size, repeated where that helps; a failure is a line of advice.

Several at once where there are many; none keeps the program from exiting.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Protocol, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from kubespread.errors import ApiError
from kubespread.manifest.text import within
from kubespread.redaction import shown_url, without_secrets

T = TypeVar("T")


def in_parallel(jobs: Sequence[Callable[[], T]], workers: int) -> list[T]:
    """The results of ``jobs``, in order. The first error ends it, and the other jobs are abandoned.

    An executor would wait for its threads at exit, even after an interrupt.
    """
    waiting: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, T | None, BaseException | None]] = SimpleQueue()
    for position in range(len(jobs)):
        waiting.put(position)

    def work() -> None:
        while True:
            try:
                position = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((position, jobs[position](), None))
            except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
                done.put((position, None, error))
                return

    for _ in range(min(workers, len(jobs))):
        threading.Thread(target=work, daemon=True).start()
    results: dict[int, T] = {}
    while len(results) < len(jobs):
        position, result, error = done.get()
        if error is not None:
            raise error
        results[position] = result  # type: ignore[assignment]  # a job without error has a result
    return [results[position] for position in range(len(jobs))]


_ATTEMPTS = 6
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0
_CHUNK = 2**18
_MAX_BODY_MIB = 512
_MAX_REFUSAL = 2**16
_MAX_MESSAGE = 500
_OK, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, _TOO_MANY = 200, 401, 403, 404, 429
_REDIRECTS = range(300, 400)
_SERVER_ERROR = 500


class Response(Protocol):
    """As much of urllib3's response as is used."""

    status: int
    headers: Mapping[str, str]

    def read1(self, amt: int, decode_content: bool) -> bytes: ...
    def release_conn(self) -> None: ...
    def close(self) -> None: ...


class BrokenConnectionError(Exception):
    """The connection died on the way; asking again may help."""


class Transport(Protocol):
    """Sends one GET. Raises ApiError, or BrokenConnectionError where another attempt makes sense."""

    server: str
    """Its URL, as it may be shown."""
    advice: Mapping[int, str]

    def get(self, path: str, timeout: float) -> Response: ...
    def translate(self, error: Exception) -> Exception:
        """What to raise instead: TimeoutError where time ran out, the error itself where no user can mend it."""
        ...


class _Status(msgspec.Struct):
    """The Kubernetes Status object that explains a refusal."""

    message: str = ""


_statuses = msgspec.json.Decoder(_Status)


class Api(Struct):
    """One API server. ``timeout`` bounds a request with all its attempts, in seconds.

    ``on_bytes`` is called for every piece of a body that arrives.
    """

    transport: Transport
    timeout: float
    on_bytes: Callable[[int], None] = lambda size: None

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
            except BrokenConnectionError as error:
                failure = ApiError(f"{self.transport.server}{path}: {error} (attempt {attempt}); try again")
            else:
                if status == _OK:
                    return body
                failure = self._refusal(path, status, headers, body)
                if not (status == _TOO_MANY or status >= _SERVER_ERROR):
                    raise failure
                pause = _retry_after(headers, pause)
            if attempt == _ATTEMPTS or monotonic() + pause >= deadline:
                raise failure
            sleep(pause)

    def lines(self, path: str, patience: float, **query: str | int | None) -> Iterator[bytes]:
        """What the server says line by line until it ends that, as it does with a watch. Raises ApiError, TimeoutError
        if it says nothing for ``patience`` seconds, and whatever the transport's connection fails with.
        """
        response = self.transport.get(_target(path, query), patience)
        with contextlib.closing(response):
            if response.status != _OK:
                raise self._refusal(path, response.status, response.headers, response.read1(_MAX_REFUSAL, True))
            rest = b""
            while chunk := response.read1(_CHUNK, decode_content=True):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines

    def _exchange(self, target: str, deadline: float) -> tuple[int, Mapping[str, str], bytes]:
        # On a machine that stood still meanwhile the time may be up, which is no timeout that a socket takes.
        seconds = max(0.001, deadline - monotonic())
        try:
            # A socket's timeout restarts with every byte, and does not cover looking up a host's name.
            return within(seconds, lambda: self._receive(target, seconds, deadline))
        except Exception as error:  # which kinds there are only the transport knows; what it does not, is raised on
            translated = self.transport.translate(error)
            if isinstance(translated, TimeoutError):
                translated = ApiError(
                    f"{self.transport.server}: no answer within {self.timeout:g}s; check the network, or read a "
                    "file with -S"
                )
            if translated is error:
                raise
            # What it was raised from may hold the headers, with the token in them.
            raise translated from None

    def _receive(self, target: str, seconds: float, deadline: float) -> tuple[int, Mapping[str, str], bytes]:
        response = self.transport.get(target, seconds)
        with contextlib.closing(response):
            body = bytearray()
            while chunk := response.read1(_CHUNK, decode_content=True):
                body += chunk
                self.on_bytes(len(chunk))
                if response.status != _OK and len(body) > _MAX_REFUSAL:
                    return response.status, response.headers, bytes(body)
                if len(body) > _MAX_BODY_MIB * 2**20:
                    path = target.partition("?")[0]
                    raise ApiError(
                        f"{self.transport.server}{path}: more than {_MAX_BODY_MIB} MiB in one answer; "
                        "read a file with -S"
                    )
                if monotonic() > deadline:
                    raise TimeoutError
            response.release_conn()
        return response.status, response.headers, bytes(body)

    def _refusal(self, path: str, status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
        place = f"{self.transport.server}{path}"
        if status in _REDIRECTS:
            to = shown_url(without_secrets(_one_line(headers.get("Location") or "nowhere")))
            return ApiError(
                f"{place}: {status}, a redirect to {to}; check server in the kubeconfig: an API server does not "
                "redirect",
                status,
            )
        advice = self.transport.advice.get(
            status, "try again later" if status >= _SERVER_ERROR or status == _TOO_MANY else ""
        )
        refusal = f"{place}: {status} {_message(body)}".rstrip()
        return ApiError(f"{refusal}; {advice}" if advice else refusal, status)


def _target(path: str, query: Mapping[str, str | int | None]) -> str:
    parameters = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(parameters)}" if parameters else path


def _message(body: bytes) -> str:
    try:
        message = _statuses.decode(body).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        message = body[:200].decode(errors="replace")
    return without_secrets(_one_line(message))


def _one_line(text: str) -> str:
    return " ".join(text[:_MAX_MESSAGE].split())


def _retry_after(headers: Mapping[str, str], otherwise: float) -> float:
    """Seconds the server asks to wait; a date, which Kubernetes never sends, is not understood."""
    seconds = headers.get("Retry-After")
    return min(_LONGEST_PAUSE, float(seconds)) if seconds and seconds.isdecimal() else otherwise
