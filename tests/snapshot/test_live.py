"""A running cluster: pages, refusals, broken connections, credentials; always GET, never half of a list."""

from __future__ import annotations

import base64
import itertools
import json
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.kube.api.cluster_objects import GangSchedulingPolicy, PodGroup
from kubespread.kube.api.core import Service
from kubespread.snapshot.live.connection import RESOURCES, load_cluster, path_of
from kubespread.snapshot.live.kubeconfig import Access
from tests.api.client import read, refused
from tests.api.server import Answer, FakeApi, Fault, always, failing, recorded, serving, status
from tests.builders import Data, hosts, node, owner, pod

pytestmark = pytest.mark.usefixtures("outside_any_cluster")

PODS, NODES = "/api/v1/pods", "/api/v1/nodes"
GROUP = "/apis/scheduling.k8s.io"
PROBED = [f"{GROUP}/{version}/podgroups" for version in ("v1beta1", "v1alpha3", "v1alpha2")]
"""What only some servers serve."""
OBJECTS: list[Data] = [
    *hosts("a", "b"),
    *({**pod(f"p{copy}", "n0"), "status": {"phase": "Running"}} for copy in range(7)),
    owner("Service", "web", {"foo": "bar"}, api_version="v1"),
]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between attempts, which the tests do not sit out."""
    slept: list[float] = []
    monkeypatch.setattr("kubespread.snapshot.live.api.sleep", slept.append)
    return slept


@pytest.fixture
def server() -> Iterator[FakeApi]:
    with serving(FakeApi(objects=OBJECTS)) as api:
        yield api
        assert {request.method for request in api.requests} <= {"GET"}


@pytest.mark.parametrize("chunk_size", [1, 3, 7, 500])
def test_pages_of_any_size_give_the_same_cluster(chunk_size: int, server: FakeApi, tmp_path: Path) -> None:
    snapshot = read(server, tmp_path, chunk_size=chunk_size)
    from_file = kubespread.Snapshot.from_objects(OBJECTS)
    assert (snapshot.nodes, snapshot.pods, snapshot.objects.get(Service)) == (
        from_file.nodes,
        from_file.pods,
        from_file.objects.get(Service),
    )
    origin = snapshot.origin
    assert (origin.source, origin.server_version, origin.resource_version, origin.gaps) == (
        "context here",
        "v1.36.2",
        "254",
        (),
    )


def test_every_kind_is_listed_once_and_ended_pods_are_not_asked_for(server: FakeApi, tmp_path: Path) -> None:
    server.objects = [*OBJECTS, {**pod("ended"), "status": {"phase": "Succeeded"}}]
    assert len(read(server, tmp_path).pods) == 7
    assert sorted(request.path for request in server.requests) == sorted(
        ["/version", *map(path_of, RESOURCES), *PROBED]
    )
    selectors = {
        request.path: request.query.get("fieldSelector")
        for request in server.requests
        if "fieldSelector" in request.query
    }
    assert selectors == {PODS: "status.phase!=Succeeded,status.phase!=Failed"}


def test_a_real_servers_answers(tmp_path: Path) -> None:
    """Five pods in three pages, as kube-apiserver 1.36 sent them."""
    pages = [recorded("pods, page 1"), recorded("page 2"), recorded("page 3")]
    lists = (
        "all nodes",
        "namespaces",
        "services",
        "replicationcontrollers",
        "persistentvolumeclaims",
        "persistentvolumes",
        "replicasets",
        "statefulsets",
        "deployments",
        "storageclasses",
        "csinodes",
        "poddisruptionbudgets",
        "priorityclasses",
        "limitranges",
    )
    paths = {resource.plural: path_of(resource) for resource in RESOURCES}
    faults: list[Fault] = [
        failing(PODS, *pages),
        *(always(paths[note.removeprefix("all ")], recorded(note)) for note in lists),
    ]
    version = json.loads(recorded("server version").body)
    with serving(FakeApi(faults=faults, version=version)) as api:
        snapshot = read(api, tmp_path)
        tokens = [request.query.get("continue") for request in api.requests if request.path == PODS]
    assert tokens == [None, *(json.loads(page.body)["metadata"]["continue"] for page in pages[:2])]
    assert (len(snapshot.nodes), len(snapshot.pods), snapshot.origin.resource_version) == (4, 5, "254")
    assert (snapshot.origin.server_version, snapshot.origin.gaps) == ("v1.36", ())
    report = kubespread.explain(snapshot, "deploy/web")
    assert (report.kube_version, report.notes[0]) == (
        "1.36",
        "Deployment/web: evaluated as another pod of its ReplicaSet web-5ff74b457f",
    )
    assert [constraint.selector for constraint in report.constraints] == [
        "app=web,pod-template-hash=5ff74b457f",
        "app=web",
    ]


def _page(items: list[Data], token: str) -> Answer:
    return Answer(
        body=json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": token}, "items": items})
    )


def _endless(path: str, items: Callable[[int], list[Data]]) -> Fault:
    """Pages that each lead on to another one."""
    numbers = itertools.count()

    def fault(request: Any) -> Answer | None:
        number = next(numbers) if request.path == path else 0
        return _page(items(number), f"token {number}") if request.path == path else None

    return fault


REFUSALS: dict[str, tuple[Fault, str]] = {
    "401": (
        always("/version", recorded("unauthorized")),
        "SERVER/version: 401 Unauthorized; the credentials of context here are not accepted: log in again, or choose another "
        "--context",
    ),
    "403 on pods": (
        always(PODS, recorded("forbidden")),
        'SERVER/api/v1/pods: 403 pods is forbidden: User "nobody" cannot list resource "pods" in API group "" '
        "at the cluster scope; 'kubespread rbac' prints the ClusterRole that it takes",
    ),
    "404 on nodes": (
        always(NODES, recorded("unknown group")),
        "SERVER/api/v1/nodes: 404 404 page not found; check server in the kubeconfig: it may not be an API server",
    ),
    "400": (
        always(PODS, recorded("malformed continue")),
        "SERVER/api/v1/pods: 400 invalid continue token: continue key is not valid: invalid character '\\u0081' looking for beginning of "
        "value",
    ),
    "500 for ever": (
        always(NODES, status(500, "etcd is down")),
        "SERVER/api/v1/nodes: 500 etcd is down; try again later",
    ),
    "a redirect": (
        always(NODES, Answer(302, "", {"Location": "https://me:hunter2@login.example.com/sso?token=hunter2"})),
        "SERVER/api/v1/nodes: 302, a redirect to https://login.example.com/sso; check server in the kubeconfig: an API server does not "
        "redirect",
    ),
    "a server that always asks to wait longer than one may": (
        always(NODES, status(429, "slow down", Retry_After="20")),
        "SERVER/api/v1/nodes: 429 slow down; try again later",
    ),
    "a version that is a number of 5,000 digits": (
        always("/version", Answer(body='{"gitVersion": ' + "9" * 5000 + "}")),
        "SERVER/version: not what a Kubernetes API server answers: Number out of range - at `$.gitVersion`",
    ),
    "a resource version that is a number of 5,000 digits": (
        always(
            NODES, Answer(body='{"kind": "NodeList", "metadata": {"resourceVersion": ' + "9" * 5000 + '}, "items": []}')
        ),
        "SERVER/api/v1/nodes: not what a Kubernetes API server answers: ",
    ),
    "a continue token that repeats": (
        always(PODS, _page([pod("p", "n0")], "again")),
        "SERVER/api/v1/pods: the list does not end within 20 pages and 8 GiB; check server in the kubeconfig, or read a file with -S",
    ),
    "empty pages with ever new tokens": (
        _endless(PODS, lambda number: []),
        "SERVER/api/v1/pods: the list does not end within 20 pages and 8 GiB; check server in the kubeconfig, or read a file with -S",
    ),
    "one new object a page, for ever": (
        _endless(PODS, lambda number: [pod(f"p{number}", "n0")]),
        "SERVER/api/v1/pods: the list does not end within 20 pages and 8 GiB; check server in the kubeconfig, or read a file with -S",
    ),
    "the same page with ever new tokens": (
        _endless(PODS, lambda number: [pod("p", "n0")]),
        "SERVER/api/v1/pods: the list does not end within 20 pages and 8 GiB; check server in the kubeconfig, or read a file with -S",
    ),
    "a refusal with a byte that is not UTF-8": (
        always(PODS, Answer(400, '{"kind": "Status", "message": "\udcff"}')),
        'SERVER/api/v1/pods: 400 {"kind": "Status", "message": "\ufffd"}',
    ),
    "a page with a byte that is not UTF-8": (
        always(
            PODS, Answer(body='{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "\udcff"}}]}')
        ),
        "SERVER/api/v1/pods: not what a Kubernetes API server answers: JSON syntax: 'utf-8' codec can't decode byte 0xff",
    ),
    "a version with a byte that is not UTF-8": (
        always("/version", Answer(body='{"gitVersion": "\udcff"}')),
        "SERVER/version: not what a Kubernetes API server answers: 'utf-8' codec can't decode byte 0xff",
    ),
    "a page of HTML": (
        always(NODES, Answer(body="<html>log in</html>")),
        "SERVER/api/v1/nodes: not what a Kubernetes API server answers: expected a Kubernetes object, found the string "
        "'<html>log in</html>'",
    ),
    "another list": (
        always(NODES, Answer(body='{"kind": "PodList", "apiVersion": "v1", "items": []}')),
        "SERVER/api/v1/nodes: not what a Kubernetes API server answers: expected a NodeList",
    ),
    "a list whose items are an object": (
        always(NODES, Answer(body='{"kind": "NodeList", "apiVersion": "v1", "items": {}}')),
        "SERVER/api/v1/nodes: not what a Kubernetes API server answers: items: expected a list, found an object",
    ),
    "a list that always expires": (
        lambda request: recorded("expired continue") if "continue" in request.query and request.path == PODS else None,
        "SERVER/api/v1/pods: the list expired 3 times before its last page; try again when the server is less busy",
    ),
    "a connection that always dies": (
        always(NODES, Answer(body=json.dumps({"kind": "NodeList", "items": []}), cut=True)),
        "SERVER/api/v1/nodes: the connection broke off: ",
    ),
}


@pytest.mark.usefixtures("pauses")
@pytest.mark.parametrize("case", REFUSALS)
def test_an_answer_that_cannot_be_used(
    case: str, server: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubespread.snapshot.live.connection._MAX_PAGES", 20)
    fault, message = REFUSALS[case]
    server.faults.append(fault)
    assert refused(server, tmp_path, chunk_size=3).startswith(message)


PASSING: dict[str, tuple[Fault, list[float]]] = {
    "two 500s": (failing(NODES, status(500, "no leader"), status(503, "no leader")), [0.25, 0.5]),
    "429 with Retry-After": (failing(PODS, status(429, "slow down", Retry_After="7")), [7.0]),
    "429 that asks for an hour": (failing(PODS, status(429, "slow down", Retry_After="3600")), [30.0]),
    "a body cut in half": (
        failing(PODS, Answer(body=json.dumps({"kind": "PodList", "items": [pod("ghost", "n0")] * 50}), cut=True)),
        [0.25],
    ),
}


@pytest.mark.parametrize("case", PASSING)
def test_what_passes_is_tried_again(case: str, server: FakeApi, tmp_path: Path, pauses: list[float]) -> None:
    fault, expected = PASSING[case]
    server.faults.append(fault)
    snapshot = read(server, tmp_path, request_timeout=100.0)
    assert ([found.metadata.name for found in snapshot.pods], pauses) == ([f"p{copy}" for copy in range(7)], expected)


def test_a_list_that_expires_begins_anew_without_what_it_had(server: FakeApi, tmp_path: Path) -> None:
    gone = recorded("expired continue")

    def expire(request: Any) -> Answer | None:
        if request.query.get("continue") == "3" and request.path == PODS and server.objects is OBJECTS:
            # Meanwhile a pod of the first page was deleted.
            server.objects = [found for found in OBJECTS if found["metadata"]["name"] != "p0"]
            return gone
        return None

    server.faults.append(expire)
    assert [found.metadata.name for found in read(server, tmp_path, chunk_size=3).pods] == [
        f"p{copy}" for copy in range(1, 7)
    ]


UNREAD: dict[str, tuple[str, int, dict[str, str], tuple[str, ...]]] = {
    "claims that may not be read, for a pod without volumes": (
        "/api/v1/persistentvolumeclaims",
        403,
        {"PersistentVolumeClaim": "not allowed to list persistentvolumeclaims"},
        (),
    ),
    "limits that may not be read": (
        "/api/v1/limitranges",
        403,
        {"LimitRange": "not allowed to list limitranges"},
        ("not allowed to list limitranges: default requests and limits are not added",),
    ),
    "budgets of an old server, without preemption": (
        "/apis/policy/v1/poddisruptionbudgets",
        404,
        {"PodDisruptionBudget": "poddisruptionbudgets could not be read (not served as policy/v1)"},
        (),
    ),
    "device classes that may not be read": (
        "/apis/resource.k8s.io/v1/deviceclasses",
        403,
        {"DeviceClass": "not allowed to list deviceclasses"},
        (),
    ),
    "a server without device classes": ("/apis/resource.k8s.io/v1/deviceclasses", 404, {}, ()),
    "deployments, which decide nothing": (
        "/apis/apps/v1/deployments",
        403,
        {"Deployment": "not allowed to list deployments"},
        (),
    ),
    "the release": (
        "/version",
        403,
        {"Version": "not allowed to read /version"},
        ("not allowed to read /version: answers are those of 1.37",),
    ),
}


@pytest.mark.parametrize("case", UNREAD)
def test_what_may_not_be_read_is_a_gap_of_the_questions_that_need_it(
    case: str, server: FakeApi, tmp_path: Path
) -> None:
    path, code, unread, gaps = UNREAD[case]
    server.faults.append(always(path, status(code, "no")))
    snapshot = read(server, tmp_path)
    assert (snapshot.origin.unread, snapshot.origin.gaps) == (unread, tuple(unread.values()))
    assert kubespread.explain(snapshot, pod()).gaps == gaps


def test_a_release_that_is_given_need_not_be_read(server: FakeApi, tmp_path: Path) -> None:
    server.faults.append(always("/version", status(403, "no")))
    assert kubespread.explain(read(server, tmp_path), pod(), kubespread.Scheduler(kube_version="1.35")).gaps == ()


def test_a_workload_that_may_not_be_looked_up(server: FakeApi, tmp_path: Path) -> None:
    server.faults.append(always("/apis/apps/v1/deployments", status(403, "no")))
    with pytest.raises(kubespread.SnapshotError) as error:
        kubespread.explain(read(server, tmp_path), "deploy/web")
    assert str(error.value) == 'deployments.apps "web" cannot be looked up: not allowed to list deployments'


VERSIONS = {
    "a release": ({"major": "1", "minor": "34", "gitVersion": "v1.34.3-gke.1"}, "1.34.3", ()),
    "a build of master": ({"major": "1", "minor": "36+", "gitVersion": "v0.0.0-master+$Format:%H$"}, "1.36", ()),
    "a newer one": (
        {"major": "1", "minor": "39", "gitVersion": "v1.39.0"},
        "1.37",
        ("the cluster runs v1.39.0, which is not modeled: answers are those of 1.37",),
    ),
}


@pytest.mark.parametrize("case", VERSIONS)
def test_answers_are_those_of_the_servers_release(case: str, server: FakeApi, tmp_path: Path) -> None:
    server.version, expected, gaps = VERSIONS[case]
    report = kubespread.explain(read(server, tmp_path), pod())
    assert (report.kube_version, report.gaps) == (expected, gaps)


@pytest.mark.parametrize("version", ["v1.36.9999999999", "v1." + "9" * 5000, "nonsense"])
def test_a_version_that_is_none_is_a_gap(version: str, server: FakeApi, tmp_path: Path) -> None:
    server.version = {"gitVersion": version}
    report = kubespread.explain(read(server, tmp_path), pod())
    assert (report.kube_version, report.gaps) == ("1.37", ("/version names no release: answers are those of 1.37",))


def plugin(tmp_path: Path, program: str) -> Data:
    """A credential plugin that runs ``program``."""
    path = tmp_path / "plugin.py"
    path.write_text(program)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(path)],
            "installHint": "install it from example.com",
        }
    }


CREDENTIAL = """import json
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "right"}}))
"""
TOKENS: dict[str, Callable[[Path], Data]] = {
    "a token": lambda tmp_path: {"token": "right"},
    "a token file": lambda tmp_path: {"tokenFile": str(_written(tmp_path / "token", "right\n"))},
    "a credential plugin": lambda tmp_path: plugin(tmp_path, CREDENTIAL),
}


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("case", TOKENS)
def test_tokens(case: str, server: FakeApi, tmp_path: Path) -> None:
    server.token = "right"
    assert len(read(server, tmp_path, user=TOKENS[case](tmp_path)).nodes) == 2


@pytest.mark.parametrize("token", ["wrong", "right or wrong"])
def test_a_wrong_token(token: str, server: FakeApi, tmp_path: Path) -> None:
    server.token = "right"
    assert refused(server, tmp_path, user={"token": token}).startswith(
        "SERVER/version: 401 Unauthorized; the credentials of context here"
    )


def test_a_credential_plugin_that_fails_says_why(server: FakeApi, tmp_path: Path) -> None:
    user = plugin(tmp_path, "import sys\nsys.exit('please log in')\n")
    expected = f"credential plugin {sys.executable}: it ended with 1: please log in; install it from example.com"
    assert (refused(server, tmp_path, user=user), server.requests) == (expected, [])


def test_a_credential_plugin_that_is_not_there(server: FakeApi, tmp_path: Path) -> None:
    user = plugin(tmp_path, "")
    user["exec"]["command"] = "no-such-plugin"
    assert refused(server, tmp_path, user=user).startswith(
        "credential plugin no-such-plugin: No such file or directory"
    )


def test_client_certificates(tmp_path: Path) -> None:
    with serving(FakeApi(objects=OBJECTS), client_certificates=True) as api:
        user = {
            "client-certificate-data": base64.b64encode(api.client_cert).decode(),
            "client-key-data": base64.b64encode(api.client_key).decode(),
        }
        assert len(read(api, tmp_path, user=user).nodes) == 2
        assert api.requests[0].peer is not None
        assert "tester@example.com" in api.requests[0].peer


def test_an_unknown_authority(server: FakeApi, tmp_path: Path) -> None:
    cluster = {"server": server.url, "certificate-authority-data": base64.b64encode(server.other_ca).decode()}
    assert refused(server, tmp_path, cluster=cluster).startswith(
        "SERVER: TLS: unable to get local issuer certificate; check server in the kubeconfig, and its certificates"
    )


def test_a_certificate_for_another_name(server: FakeApi, tmp_path: Path) -> None:
    cluster = {
        "server": server.url,
        "certificate-authority-data": base64.b64encode(server.ca).decode(),
        "tls-server-name": "other.example.com",
    }
    assert "certificate is not valid for 'other.example.com'" in refused(server, tmp_path, cluster=cluster)


def test_no_verification_when_the_kubeconfig_says_so(
    server: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert len(read(server, tmp_path, cluster={"server": server.url, "insecure-skip-tls-verify": True}).nodes) == 2
    assert capfd.readouterr() == ("", "")


def test_impersonation(server: FakeApi, tmp_path: Path) -> None:
    read(server, tmp_path, user={"as": "joe", "as-groups": ["a", "b"]})
    for request in server.requests:
        assert (request.headers["impersonate-user"], request.headers["impersonate-group"]) == (["joe"], ["a", "b"])


def test_the_server_is_told_who_asks_and_in_which_version(server: FakeApi, tmp_path: Path) -> None:
    read(server, tmp_path)
    assert {tuple(request.headers["user-agent"]) for request in server.requests} == {
        (f"kubespread/{kubespread.__version__}",)
    }


def test_a_server_that_never_answers(server: FakeApi, tmp_path: Path) -> None:
    server.faults.append(always("/version", Answer(hang=True)))
    expected = "SERVER: no answer within 0.5s; check the network, or read a file with -S"
    assert refused(server, tmp_path, request_timeout=0.5) == expected


def test_nobody_there(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        api = FakeApi(url=f"https://127.0.0.1:{taken.getsockname()[1]}")
        cluster = {"server": api.url}
        expected = (
            "SERVER: connection refused; check that the cluster runs and --context is right, or read a file with -S"
        )
        assert refused(api, tmp_path, cluster=cluster) == expected


def test_a_proxy_that_is_not_there(server: FakeApi, tmp_path: Path) -> None:
    cluster = {"server": "https://cluster.example.com", "proxy-url": "http://127.0.0.1:9"}
    expected = "proxy http://127.0.0.1:9: connection refused; check proxy-url in the kubeconfig and HTTPS_PROXY"
    assert refused(server, tmp_path, cluster=cluster) == expected


def test_the_namespace_of_the_context_is_where_nameless_manifests_go(server: FakeApi, tmp_path: Path) -> None:
    path = server.kubeconfig(tmp_path, namespace="shop")
    snapshot = load_cluster(Access(str(path)))
    manifest = {key: value for key, value in pod().items() if key != "metadata"} | {"metadata": {"name": "web"}}
    assert [
        kubespread.explain(snapshot, manifest).pod.namespace,
        kubespread.explain(snapshot, manifest, namespace="other").pod.namespace,
        kubespread.explain(snapshot, pod(namespace="own")).pod.namespace,
    ] == ["shop", "other", "own"]


def test_claims_that_are_known_not_to_exist(server: FakeApi, tmp_path: Path) -> None:
    """Of a list that was read in full and is empty something can be said, unlike of one that nobody read."""
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]
    live, file = read(server, tmp_path), kubespread.Snapshot.from_objects(OBJECTS)
    messages = [kubespread.explain(snapshot, pod(volumes=volumes)).message for snapshot in (live, file)]
    assert messages == ['0/2 nodes are available: persistentvolumeclaim "gone" not found.', None]


def test_inside_a_cluster_the_service_account_is_used(
    server: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kubernetes.config import incluster_config

    host, port = server.url.removeprefix("https://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    with pytest.raises(kubespread.SnapshotError, match=r"^service account: Service token file does not exist\.$"):
        load_cluster(Access())
    (tmp_path / "ca.crt").write_bytes(server.ca)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(_written(tmp_path / "token", "mine")))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setattr("kubespread.snapshot.live.connection._NAMESPACE_FILE", _written(tmp_path / "namespace", "shop"))
    server.faults.append(
        lambda request: None if request.headers["authorization"] == ["bearer mine"] else status(401, "Unauthorized")
    )
    snapshot = load_cluster(Access())
    assert (len(snapshot.nodes), snapshot.origin.namespace, snapshot.origin.source) == (2, "shop", server.url)


def test_a_wrong_type_names_the_object(server: FakeApi, tmp_path: Path) -> None:
    broken = node("n9")
    broken["spec"]["unschedulable"] = "yes"
    server.objects = [*OBJECTS, broken]
    expected = "SERVER/api/v1/nodes: Node n9: spec.unschedulable: expected a boolean, found a string"
    assert refused(server, tmp_path).startswith(expected)


def _pod_group(version: str = "v1alpha2") -> Data:
    return {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}},
    }


def _groups_asked_for(server: FakeApi) -> list[str]:
    return [request.path for request in server.requests if request.path.endswith("podgroups")]


@pytest.mark.parametrize("versions", [("v1alpha2",), ("v1alpha3",), ("v1alpha3", "v1beta1")])
def test_pod_groups_are_listed_in_the_newest_version_that_is_served(
    versions: tuple[str, ...], server: FakeApi, tmp_path: Path
) -> None:
    server.objects = [*OBJECTS, *map(_pod_group, versions)]
    snapshot = read(server, tmp_path)
    assert [
        (each.metadata.name, each.spec.scheduling_policy and each.spec.scheduling_policy.gang)
        for each in snapshot.objects.get(PodGroup)
    ] == [("train", GangSchedulingPolicy(min_count=3))]
    assert _groups_asked_for(server) == PROBED[: PROBED.index(f"{GROUP}/{versions[-1]}/podgroups") + 1]
    assert "PodGroup" in snapshot.objects.listed


def test_a_cluster_that_serves_no_pod_groups_is_known_to_have_none(server: FakeApi, tmp_path: Path) -> None:
    snapshot = read(server, tmp_path)
    assert (sorted(_groups_asked_for(server)), dict(snapshot.objects.unread)) == (sorted(PROBED), {})
    assert "PodGroup" in snapshot.objects.listed


def test_pod_groups_that_may_not_be_read_are_a_gap_of_questions_about_them(server: FakeApi, tmp_path: Path) -> None:
    server.objects = [*OBJECTS, _pod_group(), pod("member", schedulingGroup={"podGroupName": "train"})]
    server.faults.append(always(PROBED[2], status(403, "no")))
    snapshot = read(server, tmp_path)
    assert dict(snapshot.objects.unread) == {"PodGroup": "not allowed to list podgroups"}
    asked = kubespread.Scheduler(feature_gates="GenericWorkload=true,GangScheduling=true")
    gap = "not allowed to list podgroups: pods of a group are placed one at a time"
    assert gap in kubespread.simulate(snapshot, "pod/member", scheduler=asked).gaps
    assert gap not in kubespread.simulate(snapshot, "pod/p0", scheduler=asked).gaps
