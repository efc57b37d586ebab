"""What connections can get wrong: each is one line that says what to check, in bounded time, with every credential left out."""

from __future__ import annotations

import base64
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import kubespread
from tests.api import client
from tests.api.client import SECRET, read
from tests.api.server import Answer, FakeApi, always, serving, status
from tests.builders import Data, hosts

pytestmark = pytest.mark.usefixtures("outside_any_cluster")

NODES = "/api/v1/nodes"
refused = partial(client.refused, error=kubespread.KubespreadError)


@pytest.fixture
def server() -> Iterator[FakeApi]:
    with serving(FakeApi(objects=hosts("a", "b"))) as api:
        yield api


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """HOST:PORT of something on loopback that is no API server."""
    with socket.create_server(("127.0.0.1", 0)) as taken:

        def serve() -> None:
            while True:
                try:
                    connection, _ = taken.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{taken.getsockname()[1]}"
        taken.shutdown(socket.SHUT_RDWR)


UNSENDABLE = "the credentials of context here: a line break, or another character in them that no header can carry"
USERS: dict[str, tuple[Data, str]] = {
    "a token with a line break": ({"token": f"{SECRET}\n{SECRET}"}, UNSENDABLE),
    "a token that is not Latin": ({"token": f"{SECRET}\u4e2d"}, UNSENDABLE),
    "a user to impersonate with a line break": ({"as": "a\nb"}, UNSENDABLE),
    "a group to impersonate with a line break": ({"as": "a", "as-groups": ["b\r\nc"]}, UNSENDABLE),
    "groups without a user": (
        {"as-groups": ["b"]},
        "groups can be impersonated only with a user: the kubeconfig has as-groups without as",
    ),
    "a certificate that is none": (
        {"client-certificate-data": base64.b64encode(SECRET.encode()).decode(), "client-key-data": "YQ=="},
        "SERVER: TLS: ",
    ),
    "a certificate that is not base64": (
        {"client-certificate-data": SECRET, "client-key-data": SECRET},
        "kubeconfig: ",
    ),
    "a certificate that is not there": (
        {"client-certificate": "/no/cert.pem", "client-key": "/no/key.pem"},
        "kubeconfig: File does not exist: /no/cert.pem",
    ),
    "a key without end": ({"client-key": "/dev/zero"}, "kubeconfig: File does not exist: /dev/zero"),
}


@pytest.mark.parametrize("case", USERS)
def test_users_that_cannot_work_are_refused_before_anything_is_sent(case: str, server: FakeApi, tmp_path: Path) -> None:
    user, message = USERS[case]
    said = refused(server, tmp_path, user=user)
    assert (said.startswith(message), server.requests) == (True, []), said


def test_a_certificate_without_its_key(server: FakeApi, tmp_path: Path) -> None:
    user = {"client-certificate-data": base64.b64encode(server.client_cert).decode()}
    assert refused(server, tmp_path, user=user).startswith("SERVER: TLS: ")


BROKEN_AUTHORITY = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n").decode()
CLUSTERS: dict[str, tuple[Data, str]] = {
    "authorities that are none": ({"certificate-authority-data": "YWJj"}, "SERVER: TLS: "),
    "authorities that cannot be read": ({"certificate-authority-data": BROKEN_AUTHORITY}, "SERVER: TLS: "),
    "a SOCKS proxy without the package": (
        {"proxy-url": f"socks5://me:{SECRET}@127.0.0.1:9"},
        "proxy socks5://127.0.0.1:9: it takes the package PySocks; check proxy-url in the kubeconfig and HTTPS_PROXY",
    ),
    "a proxy with a password that is not there": (
        {"proxy-url": f"http://me:{SECRET}@127.0.0.1:9"},
        "proxy http://127.0.0.1:9: connection refused; check proxy-url in the kubeconfig and HTTPS_PROXY",
    ),
    "a proxy of another protocol": (
        {"proxy-url": f"ftp://me:{SECRET}@proxy"},
        "proxy ftp://proxy: Proxy URL had unsupported scheme ftp, should use http:// or https://; check proxy-url",
    ),
    "a proxy that is no URL": ({"proxy-url": f"http://me:{SECRET}@proxy:99999"}, "proxy http://proxy:99999: "),
    "a server of another protocol": (
        {"server": f"ftp://me:{SECRET}@example.com"},
        "ftp://example.com: Not supported URL scheme ftp; check server in the kubeconfig",
    ),
    "a server whose port is none": (
        {"server": f"https://me:{SECRET}@example.com:99999"},
        "kubeconfig: Failed to parse: https://example.com:99999",
    ),
    "a server with a space": ({"server": "https://exa mple.com"}, "kubeconfig: Failed to parse: "),
    "a server without a host": ({"server": f"https://me:{SECRET}@:6443"}, "https://:6443: No host specified.; check"),
    "a server whose name no host has": ({"server": f"https://{'a' * 64}.com"}, f"https://{'a' * 64}.com: "),
}


@pytest.mark.parametrize("case", CLUSTERS)
def test_clusters_that_cannot_work(case: str, server: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socks", None)
    cluster, message = CLUSTERS[case]
    said = refused(server, tmp_path, cluster={"server": server.url, **cluster})
    assert said.startswith(message), said


def test_a_query_of_the_servers_url_is_not_sent(server: FakeApi, tmp_path: Path) -> None:
    cluster = {"server": f"{server.url}/?token={SECRET}#{SECRET}", "insecure-skip-tls-verify": True}
    snapshot = read(server, tmp_path, cluster=cluster)
    assert (snapshot.origin.server, server.requests[0].path) == (server.url, "/version")


def test_a_proxy_of_the_environment(server: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"ftp://me:{SECRET}@proxy")
    cluster = {"server": "https://cluster.example.com"}
    assert refused(server, tmp_path, cluster=cluster) == (
        "proxy ftp://proxy: Proxy URL had unsupported scheme ftp, should use http:// or https://; "
        "check proxy-url in the kubeconfig and HTTPS_PROXY"
    )


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_the_user_of_a_proxys_url_is_sent_to_the_proxy(scheme: str, server: FakeApi, tmp_path: Path) -> None:
    heard: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        with connection:
            heard.append(connection.recv(65536))
            connection.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    with listening(answer) as address:
        cluster = {"server": server.url, "proxy-url": f"{scheme}me:{SECRET}@{address}"}
        assert refused(server, tmp_path, cluster=cluster).startswith(
            f"proxy http://{address}: Tunnel connection failed"
        )
    sent = base64.b64encode(f"me:{SECRET}".encode())
    assert b"basic " + sent.lower() in heard[0].lower()


def _says(text: bytes) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        with connection:
            connection.recv(65536)
            connection.sendall(text)

    return answer


STRANGERS: dict[str, tuple[str, bytes, str]] = {
    "plain HTTP where TLS is": (
        "http",
        b"",
        "not plain HTTP: Remote end closed connection without response; check server in the kubeconfig",
    ),
    "another protocol": ("http", b"SSH-2.0-x\r\n", "not plain HTTP: SSH-2.0-x; check server in the kubeconfig"),
    "TLS where plain HTTP is": (
        "https",
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
        "TLS: [SSL: WRONG_VERSION_NUMBER] wrong version number",
    ),
}


@pytest.mark.parametrize("case", STRANGERS)
def test_what_is_no_api_server_is_refused_at_once(case: str, tmp_path: Path) -> None:
    scheme, text, message = STRANGERS[case]
    connections: list[socket.socket] = []

    def answer(connection: socket.socket) -> None:
        connections.append(connection)
        _says(text)(connection)

    with listening(answer) as address:
        api = FakeApi(url=f"{scheme}://{address}")
        assert refused(api, tmp_path, cluster={"server": api.url}).startswith(f"SERVER: {message}")
    assert len(connections) == 1


def _trickle_headers(connection: socket.socket) -> None:
    with connection:
        try:
            for _ in range(600):
                connection.sendall(b"H")
                time.sleep(0.1)
        except OSError:
            pass


def test_headers_that_trickle_end_in_time(tmp_path: Path) -> None:
    with listening(_trickle_headers) as address:
        api = FakeApi(url=f"http://{address}")
        expected = "SERVER: no answer within 1s; check the network, or read a file with -S"
        assert refused(api, tmp_path, cluster={"server": api.url}, request_timeout=1.0) == expected


def test_a_body_that_trickles_ends_in_time(server: FakeApi, tmp_path: Path) -> None:
    body = json.dumps({"kind": "NodeList", "items": []}) + " " * 600
    server.faults.append(always(NODES, Answer(body=body, trickle=True)))
    expected = "SERVER: no answer within 1.2s; check the network, or read a file with -S"
    assert refused(server, tmp_path, request_timeout=1.2) == expected


REPEATED: dict[str, tuple[Answer, str, list[float]]] = {
    "a server that asks to wait": (
        status(429, "slow down", Retry_After="25"),
        f"SERVER{NODES}: 429 slow down; try again later",
        [25.0, 25.0],
    ),
    "connections that always die": (
        Answer(body=json.dumps({"kind": "NodeList", "items": []}), cut=True),
        f"SERVER{NODES}: the connection broke off: ",
        [0.25, 0.5, 1.0, 2.0, 4.0],
    ),
}


@pytest.mark.parametrize("case", REPEATED)
def test_a_request_with_all_its_attempts_ends_in_time(
    case: str, server: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where time passes only between attempts."""
    answer, message, pauses = REPEATED[case]
    paused: list[float] = []
    monkeypatch.setattr("kubespread.snapshot.live.api.monotonic", lambda: sum(paused))
    monkeypatch.setattr("kubespread.snapshot.live.api.sleep", paused.append)
    server.faults.append(always(NODES, answer))
    assert refused(server, tmp_path, request_timeout=60.0).startswith(message)
    assert paused == pauses


def test_an_answer_without_end_is_not_kept(server: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.snapshot.live.api._MAX_BODY_MIB", 1)
    server.faults.append(always(NODES, Answer(body=" " * 2**21)))
    assert refused(server, tmp_path) == f"SERVER{NODES}: more than 1 MiB in one answer; read a file with -S"


def test_a_server_that_repeats_the_token(server: FakeApi, tmp_path: Path) -> None:
    server.faults.append(always(NODES, status(400, f"bad header Bearer {SECRET}")))
    assert refused(server, tmp_path, user={"token": SECRET}) == f"SERVER{NODES}: 400 bad header Bearer [redacted]"


def test_credentials_in_the_servers_url_are_sent_and_not_shown(server: FakeApi, tmp_path: Path) -> None:
    cluster = {
        "server": server.url.replace("https://", f"https://me:{SECRET}@"),
        "certificate-authority-data": base64.b64encode(server.ca).decode(),
    }
    server.faults.append(always(NODES, status(401, "Unauthorized")))
    assert refused(server, tmp_path, cluster=cluster).startswith(
        f"SERVER{NODES}: 401 Unauthorized; the credentials of context here"
    )
    sent = base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert {tuple(request.headers["authorization"]) for request in server.requests} == {(f"Basic {sent}",)}


def test_a_plugin_runs_once_a_command(server: FakeApi, tmp_path: Path) -> None:
    server.token = SECRET
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": SECRET, "expirationTimestamp": "2999-12-31T23:59:59Z"},
    }
    runs, program = tmp_path / "runs", tmp_path / "plugin.py"
    program.write_text(f"open({str(runs)!r}, 'a').write('.')\nprint({json.dumps(credential)!r})")
    user = {"exec": {"apiVersion": credential["apiVersion"], "command": sys.executable, "args": [str(program)]}}
    assert len(read(server, tmp_path, user=user).nodes) == 2
    assert runs.read_text() == "."
    server.token = "another"
    plugin = f"credential plugin {sys.executable}"
    assert f"the credentials from {plugin} of context here are not accepted" in refused(server, tmp_path, user=user)


def test_impersonated_names_go_out_as_utf_8(server: FakeApi, tmp_path: Path) -> None:
    read(server, tmp_path, user={"as": "jos\u00e9", "as-groups": ["\u4e2d"]})
    headers = server.requests[0].headers
    assert [headers[name][0].encode("latin-1").decode() for name in ("impersonate-user", "impersonate-group")] == [
        "jos\u00e9",
        "\u4e2d",
    ]
