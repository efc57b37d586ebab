"""Files that a repository does not keep: links that lead nowhere, pipes, what is large. Each is answered or refused in a line."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import Data, hard, hosts, pod
from tests.cli.support import run

EXPLAIN = "explain pod.json -S cluster.json"
LOOP = "loop: Too many levels of symbolic links"
PIPE = "pipe.json: a named pipe that no program has opened for writing"
NOTHING = "sparse: not a text file (NUL byte at offset 0): expected YAML or JSON"


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * 10**9)


def _written(made: Data) -> Callable[[Path], object]:
    return lambda path: path.write_text(json.dumps(made))


def _of_many_containers() -> Data:
    made = pod()
    asking = {"image": "x", "resources": {"requests": {"cpu": "1"}}}
    made["spec"]["containers"] = [{"name": f"c{at}", **asking} for at in range(2_000)]
    return made


MADE: dict[str, Callable[[Path], object]] = {
    "loop": lambda path: path.symlink_to("loop"),
    "d/loop.json": lambda path: path.symlink_to("loop.json"),
    "page.html": lambda path: path.symlink_to("nowhere/page.html"),
    "pipe.json": os.mkfifo,
    "sparse": _sparse,
    "containers.json": _written(_of_many_containers()),
    "constraints.json": _written(pod(constraints=[hard(f"k{at}", match={"app": "web"}) for at in range(500)])),
    "pod.json": _written(pod(constraints=[hard("topology.kubernetes.io/zone")])),
    "cluster.json": _written({"apiVersion": "v1", "kind": "List", "items": hosts("a", "b", "c")}),
}
ENDINGS = (
    ("explain loop -S cluster.json", 2, LOOP),
    ("explain pod.json -S loop", 3, LOOP),
    (f"{EXPLAIN} --scheduler-config loop", 2, LOOP),
    ("plan loop -S cluster.json", 2, LOOP),
    ("compare pod.json -S cluster.json --to-snapshot loop", 3, LOOP),
    ("explain pod.json -S d", 3, "Too many levels of symbolic links"),
    ("plan d -S cluster.json", 2, "d: Is a directory"),
    ("explain pipe.json -S cluster.json", 2, PIPE),
    ("explain -f pipe.json -S cluster.json", 2, PIPE),
    ("explain pod.json -S pipe.json", 3, PIPE),
    ("explain pod.json -S cluster.json -S pipe.json", 3, PIPE),
    (f"{EXPLAIN} --scheduler-config pipe.json", 2, PIPE),
    ("plan pipe.json -S cluster.json", 2, PIPE),
    ("compare pod.json -S cluster.json --to-snapshot pipe.json", 3, PIPE),
    (f"{EXPLAIN} --add-node pipe.json", 2, PIPE),
    ("verify pipe.json -S cluster.json", 2, PIPE),
    ("simulate pod.json -S cluster.json --autoscaler ca --node-groups pipe.json", 2, PIPE),
    ("rebalance -A --descheduler pipe.json -S cluster.json", 2, PIPE),
    ("explain pod.json --kubeconfig pipe.json", 2, PIPE),
    ("explain sparse -S cluster.json", 2, NOTHING),
    ("explain pod.json -S sparse", 3, NOTHING),
    ("explain containers.json -S cluster.json", 1, "all 3 nodes have too little cpu"),
    (
        "explain --fix constraints.json -S cluster.json",
        0,
        "the pod fits with label n0 k0=new-1 (an invented k0) k1=new-1 (an invented k1)",
    ),
)


@pytest.mark.parametrize(("command", "code", "said"), ENDINGS, ids=[command for command, _, _ in ENDINGS])
def test_it_is_answered_or_refused(
    command: str, code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubespread.manifest.text.PATIENCE", 0.05)
    (tmp_path / "d").mkdir()
    for name, make in MADE.items():
        make(tmp_path / name)
    before = sorted(tmp_path.iterdir())
    result = run(*shlex.split(command), cwd=tmp_path)
    assert (result.code, said in result.err) == (code, True), result.err
    assert (result.out + result.err).replace("\n", "").isprintable()
    assert sorted(tmp_path.iterdir()) == before
