"""What is saved reads back as the same cluster, holds nothing else, and is there whole or not at all."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import kubespread
from kubespread.kube.api.workloads import Deployment
from kubespread.snapshot.save import save
from kubespread.snapshot.snapshot import Origin
from tests.builders import Data, hosts, node, owned_by, owner, pod
from tests.cli.support import CLUSTER, FIXTURES, PROGRAM, run, shell, started

ORIGIN = Origin(
    source="context here",
    time="2026-11-20T12:00:00Z",
    server_version="v1.35.1",
    resource_version="254",
    namespace="shop",
    listed=("Service",),
    gaps=("limitranges could not be read (not allowed)",),
)
FORMS = ["json", "json.gz", "yaml"]
CLUSTERS = sorted((FIXTURES / "clusters").glob("*.yaml"))


def saved(snapshot: kubespread.Snapshot, path: Path) -> kubespread.Snapshot:
    save(snapshot, str(path))
    return kubespread.load(path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda path: path.stem)
def test_a_saved_snapshot_reads_back_as_it_was(cluster: Path, form: str, tmp_path: Path) -> None:
    known = kubespread.load(cluster)
    snapshot = replace(known, origin=msgspec.structs.replace(ORIGIN, listed=(*known.origin.listed, *ORIGIN.listed)))
    again = saved(snapshot, tmp_path / f"saved.{form}")
    kinds = snapshot.objects.listed | {"Service"}
    listed = replace(snapshot.objects, listed=kinds)
    origin = msgspec.structs.replace(ORIGIN, listed=tuple(sorted(kinds)))
    assert again == replace(snapshot, objects=listed, origin=origin, skipped={})


AMBIGUOUS = [
    "6e10",
    "1e3",
    "y",
    "n",
    "0o7",
    "08",
    "null",
    "~",
    "true",
    "12:30",
    "2026-05-01",
    "=",
    "",
    "0x10",
    "1_000",
    ".5",
    "on",
]


@pytest.mark.parametrize("form", FORMS)
def test_strings_that_look_like_something_else_stay_strings(form: str, tmp_path: Path) -> None:
    labels = {f"key-{position}": text for position, text in enumerate(AMBIGUOUS)}
    snapshot = kubespread.Snapshot.from_objects([node("n"), pod("p", "n", labels=labels)])
    assert saved(snapshot, tmp_path / f"saved.{form}").pods == snapshot.pods


SECRETIVE: Data = {
    **pod("p", "n"),
    "metadata": {
        "name": "p",
        "namespace": "default",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "SECRET"},
        "managedFields": [{"manager": "SECRET"}],
    },
    "spec": {
        "nodeName": "n",
        "serviceAccountName": "SECRET",
        "imagePullSecrets": [{"name": "SECRET"}],
        "containers": [
            {
                "name": "c",
                "image": "x",
                "args": ["SECRET"],
                "command": ["SECRET"],
                "env": [{"name": "PASSWORD", "value": "SECRET"}],
                "envFrom": [{"secretRef": {"name": "SECRET"}}],
                "volumeMounts": [{"name": "v", "mountPath": "/SECRET"}],
                "livenessProbe": {"exec": {"command": ["SECRET"]}},
            }
        ],
        "volumes": [{"name": "v", "secret": {"secretName": "SECRET"}}, {"name": "w", "hostPath": {"path": "/SECRET"}}],
    },
}
SECRETS: list[Data] = [
    SECRETIVE,
    {
        **SECRETIVE,
        "metadata": {"name": "q", "namespace": "default"},
        "status": {"phase": "Succeeded", "message": "SECRET"},
    },
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "SECRET"}, "data": {"x": "SECRET"}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "SECRET"}, "data": {"x": "SECRET"}},
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "default", "annotations": {"note": "SECRET"}},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": SECRETIVE["spec"]},
        },
    },
]


@pytest.mark.parametrize("anonymous", [[], ["--anonymize"]], ids=["plain", "anonymous"])
def test_nothing_but_what_scheduling_reads_is_saved(anonymous: list[str], tmp_path: Path) -> None:
    cluster = tmp_path / "cluster.json"
    cluster.write_text(json.dumps([node("n"), *SECRETS]))
    result = run("snapshot", "-S", cluster, *anonymous)
    assert (result.code, "SECRET" in result.out, len(json.loads(result.out)["items"])) == (0, False, 3)


def test_that_a_drain_would_lose_local_data_is_saved_and_nothing_more(tmp_path: Path) -> None:
    volumes = [
        {"name": "token", "projected": {"sources": []}},
        {"name": "cache", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
    ]
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "x"}], "volumes": volumes},
    }
    workload = owner("Deployment", "d", {"matchLabels": {"a": "b"}})
    workload["spec"]["template"] = template
    snapshot = kubespread.Snapshot.from_objects([node("n"), pod("p", "n", volumes=volumes), workload])
    again = saved(snapshot, tmp_path / "saved.json")
    found = again.objects.get(Deployment)[0].spec.template
    assert found is not None
    kept = [{"name": "cache", "emptyDir": {}}]
    specs = [*(each.spec for each in (*snapshot.pods, *again.pods)), found.spec]
    assert [msgspec.to_builtins(spec.volumes) for spec in specs] == [kept] * 3


def test_pods_that_have_ended_are_not_saved(tmp_path: Path) -> None:
    ended = [
        {**pod(name), "status": {"phase": phase}}
        for name, phase in (("s", "Succeeded"), ("f", "Failed"), ("r", "Running"))
    ]
    snapshot = kubespread.Snapshot.from_objects([node("n"), *ended])
    assert [found.metadata.name for found in saved(snapshot, tmp_path / "s.json").pods] == ["r"]


def test_the_same_snapshot_is_the_same_file(tmp_path: Path) -> None:
    for name in ("a.json.gz", "b.json.gz"):
        save(replace(kubespread.load(CLUSTER), origin=ORIGIN), str(tmp_path / name))
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_the_file_says_where_it_comes_from(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.yaml"
    assert run("snapshot", "-S", CLUSTER, "-o", first).err == f"{first}: 4 nodes, 3 pods\n"
    assert run("snapshot", "-S", first, "-o", second, "-q").err == ""
    stamp = json.loads(first.read_text())["kubespread"]
    assert (stamp["source"], kubespread.load(second).origin) == (CLUSTER, kubespread.load(first).origin)


BAD_TARGETS = {
    "cluster.txt": (2, "{path}: expected a name that ends with .json, .json.gz, .yaml, .yml, or - for standard output"),
    "missing/cluster.json": (2, "{path}: No such file or directory"),
}


@pytest.mark.parametrize("name", BAD_TARGETS)
def test_where_nothing_can_be_written(name: str, tmp_path: Path) -> None:
    code, message = BAD_TARGETS[name]
    path = tmp_path / name
    assert run("snapshot", "-S", CLUSTER, "-o", path) == (code, "", f"error: {message.format(path=path)}\n")


def test_a_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.touch(mode=0o600)
    link.symlink_to(target)
    assert run("snapshot", "-S", CLUSTER, "-o", link, "-q").code == 0
    assert (link.is_symlink(), target.stat().st_mode & 0o777, target.stat().st_size > 0) == (True, 0o600, True)


def test_a_kill_leaves_the_old_file(tmp_path: Path) -> None:
    cluster, target = tmp_path / "cluster.json", tmp_path / "saved.yaml"
    target.write_text("old")
    cluster.write_text(
        json.dumps([*hosts(*["a"] * 20), *(pod(f"p{copy}", "n0", labels={"x": str(copy)}) for copy in range(20_000))])
    )
    with started(PROGRAM, "snapshot", "-S", cluster, "-o", target) as process:
        while process.poll() is None and not is_writing(process.pid, tmp_path):
            time.sleep(0.01)
    assert (process.returncode, target.read_text()) == (-signal.SIGKILL, "old")
    assert sorted(path for path in tmp_path.iterdir() if not path.name.startswith(".saved.yaml.")) == [cluster, target]


def is_writing(process: int, directory: Path) -> bool:
    """Whether it has a hidden file open there that holds something."""
    for link in Path(f"/proc/{process}/fd").iterdir():
        try:
            if str(link.readlink()).startswith(f"{directory}/.") and link.stat().st_size:
                return True
        except OSError:
            # Closed in between.
            continue
    return False


@pytest.mark.parametrize("failing", ["fsync", "fchmod", "replace"])
def test_what_cannot_be_finished_leaves_the_old_file(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(*((Path, "replace", full) if failing == "replace" else (os, failing, full)))
    target = tmp_path / "saved.json"
    target.write_text("old")
    with pytest.raises(kubespread.UsageError, match="saved.json: No space left on device"):
        save(kubespread.load(CLUSTER), str(target))
    assert ([path.name for path in tmp_path.iterdir()], target.read_text()) == (["saved.json"], "old")


def test_a_disk_that_fills_while_it_is_written_to(tmp_path: Path) -> None:
    target = tmp_path / "saved.json"
    target.write_text("old")
    # What coverage would write at the end counts, too.
    result = shell(
        f'unset COVERAGE_PROCESS_CONFIG; ulimit -f 1; kubespread snapshot -S "$CLUSTER" -o {target}', tmp_path
    )
    assert (result.err, target.read_text()) == (f"error: {target}: File too large\n", "old")
    assert [path.name for path in tmp_path.iterdir()] == ["saved.json"]


STREAMS = {
    "a full standard output": ("> /dev/full", 2, "error: standard output: No space left on device\n"),
    "a closed standard output": (">&-", 2, "error: standard output is closed\n"),
    "a closed standard error": ("> /dev/null 2>&-", 0, ""),
    "a full standard error": ("> /dev/null 2> /dev/full", 0, ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", STREAMS)
@pytest.mark.parametrize("command", ["snapshot", 'explain "$POD" -q'], ids=["snapshot", "explain"])
def test_streams_that_take_nothing(command: str, case: str) -> None:
    redirection, code, said = STREAMS[case]
    result = shell(f'kubespread {command} -S "$CLUSTER" {redirection}')
    assert (result.code, result.out, result.err) == (code, "", said)


def test_an_empty_cluster_stays_one(tmp_path: Path) -> None:
    cluster, saved_file = tmp_path / "cluster.json", tmp_path / "saved.json.gz"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "NodeList", "items": []}))
    assert run("snapshot", "-S", cluster, "-o", saved_file).code == 0
    assert json.loads(gzip.decompress(saved_file.read_bytes()))["items"] == []
    result = run("explain", FIXTURES / "manifests" / "two-constraints.yaml", "-S", saved_file, "-o", "json")
    assert (result.code, result.report["message"]) == (1, "no nodes available to schedule pods")


def test_workloads_keep_their_templates(tmp_path: Path) -> None:
    template = {"metadata": {"labels": {"foo": "bar"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    selector = {"matchLabels": {"foo": "bar"}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 2, "selector": selector, "template": template},
    }
    replica_set = owner("ReplicaSet", "web-1", selector)
    replica_set["metadata"]["ownerReferences"] = owned_by("Deployment", "web")
    replica_set["spec"]["template"] = template
    snapshot = kubespread.Snapshot.from_objects([node("n"), deployment, replica_set])
    assert saved(snapshot, tmp_path / "s.yaml").objects == snapshot.objects


def test_a_terminal_is_asked_for_a_file() -> None:
    shown = run("snapshot", "-S", CLUSTER, terminal=80)
    text = "a snapshot is too long for a terminal: name a file with -o, or -o - for standard output"
    assert shown == (2, "", f"error: {text}\n")
    assert run("snapshot", "-S", CLUSTER, "-o", "-", terminal=80) == run("snapshot", "-S", CLUSTER)
