"""Credential plugins: programs that print who the user is. Run once, without a terminal, in bounded time and memory.

The client runs them without limits, again when a token expires, gives them the terminal, shows their complaints, and
only logs a failure: tests/snapshot/test_credential_plugin.py.

Source of the rules:
https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, Annotated, Any

import msgspec

from kubespread.deadline import run_within
from kubespread.errors import SnapshotError
from kubespread.redaction import mask, remember_secret
from kubespread.snapshot.live.kubeconfig import AuthInfo, Cluster, ExecConfig

TIME_LIMIT = 60.0
"""Seconds."""
_MAX_OUTPUT = 2**20
_MAX_COMPLAINT = 2**16
_MAX_LINE = 200
_LAST_WORDS = 1.0
_GROUP = "client.authentication.k8s.io/"
_VERSIONS = (f"{_GROUP}v1", f"{_GROUP}v1beta1")


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _ExecCredential(msgspec.Struct, rename="camel", tag_field="kind", tag="ExecCredential"):
    api_version: str
    status: _Status = msgspec.field(default_factory=_Status)


class _PluginError(Exception):
    """Reason why the plugin gave no credentials."""


def run_plugin(user: AuthInfo, config: ExecConfig, cluster: Cluster, environment: Mapping[str, str]) -> None:
    """Set the credentials of ``user`` from the plugin. Raises SnapshotError with one masked line of its output."""
    try:
        status = _status(config, _output(config, cluster, environment))
    except _PluginError as error:
        hint = " ".join(config.install_hint.split())
        raise SnapshotError(f"{plugin_name(config)}: {error}{f'; {hint}' if hint else ''}") from None
    user.token = status.token
    if not status.token:
        user.client_certificate_data = base64.b64encode(status.client_certificate_data.encode()).decode()
        user.client_key_data = base64.b64encode(status.client_key_data.encode()).decode()


def plugin_name(config: ExecConfig) -> str:
    return f"credential plugin {config.command}"


def _output(config: ExecConfig, cluster: Cluster, environment: Mapping[str, str]) -> bytes:
    if config.api_version not in _VERSIONS:
        raise _PluginError(f"apiVersion must be {' or '.join(_VERSIONS)}")
    if config.interactive_mode == "Always":
        raise _PluginError("it wants a terminal (interactiveMode: Always), which kubespread does not give it")
    exec_info = {"apiVersion": config.api_version, "kind": "ExecCredential", "spec": _spec(config, cluster)}
    own = {variable.name: variable.value for variable in config.env}
    return _run([config.command, *config.args], {**environment, **own, "KUBERNETES_EXEC_INFO": json.dumps(exec_info)})


def _spec(config: ExecConfig, cluster: Cluster) -> dict[str, Any]:
    if not config.provide_cluster_info:
        return {"interactive": False}
    info = msgspec.to_builtins(cluster)
    for extension in info.pop("extensions", ()):
        if extension["name"] == f"{_GROUP}exec":
            info["config"] = extension.get("extension")
    return {"interactive": False, "cluster": info}


def _run(command: list[str], environment: Mapping[str, str]) -> bytes:
    """Output of the plugin, which is run; whatever goes wrong, none of its processes is left running."""
    plugin = _Plugin()
    try:
        return run_within(TIME_LIMIT, lambda: plugin.run(command, environment))
    except BaseException as error:
        plugin.end()
        if not isinstance(error, TimeoutError):
            raise
        raise _PluginError(
            f"no credentials within {TIME_LIMIT:g}s{plugin.complaint()}; if it waits for a login, log in with kubectl "
            "first"
        ) from None


class _Plugin:
    """One that runs; it is started in a thread that no signal interrupts."""

    def __init__(self) -> None:
        self._has_started = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._complaint = bytearray()

    def run(self, command: list[str], environment: Mapping[str, str]) -> bytes:
        try:
            # A new session, so that the processes it starts can be ended with it.
            process = self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _PluginError(getattr(error, "strerror", "") or "it cannot be run with these arguments") from None
        finally:
            self._has_started.set()
        assert process.stdout is not None
        listener = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
        listener.start()
        with process.stdout:
            output = process.stdout.read(_MAX_OUTPUT + 1)
        if len(output) > _MAX_OUTPUT:
            raise _PluginError(f"it prints more than {_MAX_OUTPUT // 2**20} MiB")
        if code := process.wait():
            # A program that it left behind may hold its standard error open.
            listener.join(_LAST_WORDS)
            raise _PluginError(f"it ended with {code}{self.complaint()}")
        return output

    def _listen(self, pipe: IO[bytes]) -> None:
        with pipe:
            while chunk := os.read(pipe.fileno(), _MAX_COMPLAINT):
                self._complaint += chunk[: _MAX_COMPLAINT - len(self._complaint)]

    def end(self) -> None:
        self._has_started.wait(_LAST_WORDS)
        if self._process is not None:
            if hasattr(os, "killpg"):
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()

    def complaint(self) -> str:
        """The first line that it complained with, without anything that could be a credential."""
        lines = (" ".join(line.split()) for line in bytes(self._complaint).decode(errors="replace").splitlines())
        first = next(filter(None, lines), "")
        return f": {mask(first)[:_MAX_LINE]}" if first else ""


def _status(config: ExecConfig, output: bytes) -> _Status:
    try:
        answer = msgspec.json.decode(output, type=_ExecCredential)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _PluginError("what it prints is not an ExecCredential") from None
    status = answer.status
    remember_secret(status.token, status.client_key_data)
    if answer.api_version != config.api_version:
        raise _PluginError(f"its answer is not of the apiVersion {config.api_version} that the kubeconfig names")
    if not status.token and not (status.client_certificate_data and status.client_key_data):
        raise _PluginError("it gave neither a token nor a client certificate with its key")
    if status.expiration_timestamp is not None and status.expiration_timestamp <= datetime.now(UTC):
        raise _PluginError(f"what it gave expired at {status.expiration_timestamp.isoformat()}; log in again")
    return status
