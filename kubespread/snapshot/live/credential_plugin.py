"""Credential plugins: programs that print who the user is. Run once, without a terminal, in bounded time and memory.

Source of the rules:
https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

from __future__ import annotations

import datetime
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from time import monotonic
from types import FrameType
from typing import IO, Any

import msgspec
from msgspec import Struct

from kubespread.errors import SnapshotError
from kubespread.redaction import masked, remember_secret

TIME_LIMIT = 60.0
"""Seconds."""
_MAX_OUTPUT = 2**20
_MAX_COMPLAINT = 2**16
_MAX_LINE = 200
_NOTICED_WITHIN = 0.5
_LAST_WORDS = 1.0
"""Seconds for what a plugin that has ended wrote to standard error; a program it left behind may hold that open."""
_CHUNK = 2**16
_GROUP = "client.authentication.k8s.io/"
_VERSIONS = (f"{_GROUP}v1", f"{_GROUP}v1beta1")
_CLUSTER_INFO = (
    "server",
    "tls-server-name",
    "insecure-skip-tls-verify",
    "certificate-authority-data",
    "proxy-url",
    "disable-compression",
)
_EXTENSION = f"{_GROUP}exec"

Data = dict[str, Any]


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _ExecCredential(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: _Status | None = None


class PluginCredential(Struct, frozen=True):
    """What a plugin gave: a token, or a client certificate with its key as PEM text."""

    token: str
    certificate: str
    key: str


class _PluginError(Exception):
    """Why the plugin gave no credentials."""


def run_plugin(config: Data, cluster: Data, environment: Mapping[str, str]) -> PluginCredential:
    """What the plugin of a kubeconfig's ``exec`` says. Raises SnapshotError with one masked line of its words."""
    try:
        return _credential(config, _output(config, cluster, environment))
    except _PluginError as error:
        hint = " ".join(str(config.get("installHint") or "").split())
        raise SnapshotError(f"{plugin_name(config)}: {error}{f'; {hint}' if hint else ''}") from None


def plugin_name(config: Data) -> str:
    return f"credential plugin {config.get('command')}"


def _output(config: Data, cluster: Data, environment: Mapping[str, str]) -> bytes:
    version = config.get("apiVersion")
    if version not in _VERSIONS:
        raise _PluginError(f"apiVersion must be {' or '.join(_VERSIONS)}")
    if not config.get("command"):
        raise _PluginError("the kubeconfig names no command")
    if config.get("interactiveMode") == "Always":
        raise _PluginError("it wants a terminal (interactiveMode: Always), which kubespread does not give it")
    own = {str(variable["name"]): str(variable.get("value") or "") for variable in config.get("env") or ()}
    exec_info = {"apiVersion": version, "kind": "ExecCredential", "spec": _spec(config, cluster)}
    command = [config["command"], *(config.get("args") or ())]
    try:
        return _run(command, {**environment, **own, "KUBERNETES_EXEC_INFO": json.dumps(exec_info)})
    except (OSError, ValueError) as error:
        raise _PluginError(getattr(error, "strerror", None) or "it cannot be run with these arguments") from None


def _spec(config: Data, cluster: Data) -> Data:
    if not config.get("provideClusterInfo"):
        return {"interactive": False}
    info = {name: cluster[name] for name in _CLUSTER_INFO if cluster.get(name)}
    for extension in cluster.get("extensions") or ():
        if isinstance(extension, dict) and extension.get("name") == _EXTENSION:
            info["config"] = extension.get("extension")
    return {"interactive": False, "cluster": info}


def _run(command: list[str], environment: Mapping[str, str]) -> bytes:
    """What it prints. Whatever goes wrong, nothing of it is left running."""
    deadline = monotonic() + TIME_LIMIT
    process: subprocess.Popen[bytes] | None = None
    output, complaint = bytearray(), bytearray()
    ended: SimpleQueue[None] = SimpleQueue()
    try:
        with _interrupted_afterwards():
            # A new session, so that the processes it starts can be ended with it.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
            assert process.stdout is not None
            assert process.stderr is not None
            _drain(process.stdout, output, _MAX_OUTPUT + 1, lambda: ended.put(None), until_full=True)
            complaining = _drain(process.stderr, complaint, _MAX_COMPLAINT, lambda: None, until_full=False)
        _wait(ended, deadline)
        if len(output) > _MAX_OUTPUT:
            raise _PluginError(f"it prints more than {_MAX_OUTPUT // 2**20} MiB")
        code = process.wait(timeout=max(0.0, deadline - monotonic()))
    except BaseException as error:
        if process is not None:
            _kill(process)
        if not isinstance(error, (Empty, subprocess.TimeoutExpired)):
            raise
        raise _PluginError(
            f"no credentials within {TIME_LIMIT:g}s{_complaint(complaint)}; if it waits for a login, log in with "
            "kubectl first"
        ) from None
    if code != 0:
        complaining.join(_LAST_WORDS)
        raise _PluginError(f"it ended with {code}{_complaint(complaint)}")
    return bytes(output)


def _wait(ended: SimpleQueue[None], deadline: float) -> None:
    """Until it is ended. In short waits: a signal that comes just before one is only noticed after it. Raises Empty."""
    while True:
        left = max(0.0, deadline - monotonic())
        try:
            return ended.get(timeout=min(_NOTICED_WITHIN, left))
        except Empty:
            if left <= _NOTICED_WITHIN:
                raise


@contextmanager
def _interrupted_afterwards() -> Iterator[None]:
    """Delay signals that would raise an exception to the end: raised during a start they would leave an unknown process
    behind.
    """
    kept = {}
    came: list[tuple[int, FrameType | None]] = []
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
        kept = {number: handler for number, handler in handlers.items() if callable(handler)}
    for signal_number in kept:
        signal.signal(signal_number, lambda *arrived: came.append(arrived))
    try:
        yield
    finally:
        for signal_number, handler in kept.items():
            signal.signal(signal_number, handler)
    for number, frame in came:
        kept[signal.Signals(number)](number, frame)


def _drain(
    pipe: IO[bytes], into: bytearray, limit: int, ended: Callable[[], None], *, until_full: bool
) -> threading.Thread:
    """Read a pipe in a separate thread and keep at most ``limit`` bytes."""

    def work() -> None:
        with pipe:
            while chunk := os.read(pipe.fileno(), _CHUNK):
                into.extend(chunk[: limit - len(into)])
                if until_full and len(into) == limit:
                    break
        ended()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The plugin, and what it has started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _complaint(complaint: bytearray) -> str:
    """The first line of what it complains, without what could be a credential."""
    lines = (" ".join(line.split()) for line in bytes(complaint).decode(errors="replace").splitlines())
    first = next(filter(None, lines), "")
    return f": {masked(first)[:_MAX_LINE]}" if first else ""


def _credential(config: Data, output: bytes) -> PluginCredential:
    try:
        answer = msgspec.json.decode(output, type=_ExecCredential)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _PluginError("what it prints is not an ExecCredential") from None
    if answer.kind != "ExecCredential":
        raise _PluginError("what it prints is not an ExecCredential")
    if answer.api_version != config["apiVersion"]:
        raise _PluginError(f"its answer is not of the apiVersion {config['apiVersion']} that the kubeconfig names")
    status = answer.status or _Status()
    remember_secret(status.token, status.client_key_data)
    if not status.token and not (status.client_certificate_data and status.client_key_data):
        raise _PluginError("it gave neither a token nor a client certificate with its key")
    _check_expiry(status)
    return PluginCredential(status.token, status.client_certificate_data, status.client_key_data)


def _check_expiry(status: _Status) -> None:
    if not status.expiration_timestamp:
        return
    try:
        written = datetime.datetime.fromisoformat(status.expiration_timestamp)
        expiry = written.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise _PluginError("its expirationTimestamp is not a time as in RFC 3339") from None
    if written.tzinfo is None:
        raise _PluginError("its expirationTimestamp has no time zone")
    if expiry <= datetime.datetime.now(datetime.UTC):
        what = "token" if status.token else "client certificate"
        raise _PluginError(f"the {what} it gave expired at {expiry:%Y-%m-%dT%H:%M:%SZ}; log in again")
