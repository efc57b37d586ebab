"""Inputs that no mutation makes: each is answered as kube-scheduler would, or refused in a line that says what is wrong."""

from __future__ import annotations

import gzip
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import Data, hard, hosts, owned_by, pod
from tests.cli.support import run
from tests.world.clusters import deployment, stateful_set

ZONE = "topology.kubernetes.io/zone"
WEB = {"app": "web"}
EXPLAIN = "explain pod.json -S cluster.json"
PROMISES = {
    "apiVersion": "kubespread.dev/v1alpha1",
    "kind": "Promises",
    "promises": [{"cluster": True, "room": {"cpu": "0%"}}],
}
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: x}]\n"


def listed(*objects: Data) -> Data:
    return {"apiVersion": "v1", "kind": "List", "items": [*objects]}


def cluster(*more: Data) -> Data:
    return listed(*hosts("a", "b", "c"), *more)


def with_many(**fields: Any) -> Data:
    made = pod()
    made["spec"] |= fields
    return made


def asking(cpu: Any) -> Data:
    return with_many(containers=[{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}])


def created(text: str) -> Data:
    made = pod("old", "n0")
    made["metadata"]["creationTimestamp"] = text
    return made


def constrained(**fields: Any) -> Data:
    return pod(constraints=[{**hard(ZONE, match=WEB), **fields}])


def in_a_circle() -> list[Data]:
    """A Deployment whose ReplicaSet owns it."""
    made: list[Data] = json.loads(json.dumps(deployment("web", ("n0", None))))
    first, second = made[0]["metadata"], made[1]["metadata"]
    first["ownerReferences"] = [{**second["ownerReferences"][0], "kind": "ReplicaSet", "name": second["name"]}]
    return made


def of_a_pod() -> Data:
    made = pod("web", "n0")
    made["metadata"]["ownerReferences"] = owned_by("Pod", "absent", api_version="v1")
    return made


def of_another(name: str) -> list[Data]:
    """A StatefulSet whose only pod names another as its owner."""
    made = stateful_set(name, ("n0",))
    made[-1]["metadata"]["ownerReferences"][0]["name"] = "absent"
    return made


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * 10**9)


CONTAINERS = [{"name": f"c{at}", "image": "x", "resources": {"requests": {"cpu": "1"}}} for at in range(2_000)]
LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{chr(ord(name) - 1)}'] * 9)}]\n" for name in "bcdefghij"
)

Content = Data | str | bytes | Callable[[Path], object]
"""A file: JSON, text, bytes, or what makes it."""
CASES: dict[str, tuple[str, dict[str, Content], int, str]] = {
    # Numbers and amounts
    "1e-400 of a cpu is the least there is": (EXPLAIN, {"pod.json": asking("1e-400")}, 0, "3 of 3 nodes fit"),
    "an exponent of ten digits": (EXPLAIN, {"pod.json": asking("1e1000000000")}, 2, "quantity out of range"),
    "20,000 zeros behind the point": (EXPLAIN, {"pod.json": asking(f"0.{'0' * 20_000}1")}, 2, "quantity out of range"),
    "a hexadecimal amount": (EXPLAIN, {"pod.json": asking("0x10")}, 2, "quantities must match"),
    "a digit of Arabic": (EXPLAIN, {"pod.json": asking("١")}, 2, "quantities must match"),
    "a digit of full width": (EXPLAIN, {"pod.json": asking("１")}, 2, "quantities must match"),
    "a number with an underscore": (EXPLAIN, {"pod.json": asking("1_0")}, 2, "quantities must match"),
    "a YAML number in base 60": (
        "explain p.yaml -S cluster.json",
        {"p.yaml": POD.replace("image: x", "image: x, resources: {requests: {cpu: 1:30}}")},
        2,
        "quantities must match",
    ),
    "a maxSkew of Arabic digits": (EXPLAIN, {"pod.json": constrained(maxSkew="١")}, 2, "maxSkew"),
    "a maxSkew beyond 32 bits": (EXPLAIN, {"pod.json": constrained(maxSkew=2**31)}, 2, "maxSkew"),
    "replicas in Arabic": (f"simulate {EXPLAIN[8:]} --replicas ١", {}, 2, "--replicas"),
    "more runs than any number type holds": (f"simulate {EXPLAIN[8:]} --runs {'9' * 25}", {}, 2, "runs"),
    "a seed of 26 digits": (f"simulate {EXPLAIN[8:]} --runs 2 --seed {'9' * 26}", {}, 0, ""),
    "a release of Arabic digits": (f"{EXPLAIN} --kube-version 1.3٦", {}, 2, "1.3"),
    # Moments
    **{
        f"a pod made at {text!r}": (
            EXPLAIN,
            {"cluster.json": cluster(created(text))},
            3,
            f'metadata.creationTimestamp: "{text}" is not a time',
        )
        for text in (
            "0000-01-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-01-01t00:00:00z",
            "2026-12-31T23:59:60Z",
            "2026-01-01",
            "٢٠٢٦-01-01T00:00:00Z",
        )
    },
    "a pod made in the last second of 9999": (
        EXPLAIN,
        {"cluster.json": cluster(created("9999-12-31T23:59:59Z"))},
        0,
        "2 of 3",
    ),
    # Names and words
    "a name with a zero-width space": (
        EXPLAIN,
        {"pod.json": pod("a\u200bb")},
        2,
        'metadata.name: Invalid value: "a\\u200bb"',
    ),
    "a label value of letters that are not normalised": (
        EXPLAIN,
        {"pod.json": with_many(nodeSelector={"a": "e\u0301"})},
        2,
        "a valid label must be",
    ),
    "a misspelt field of a constraint": (EXPLAIN, {"pod.json": constrained(maxskew=3)}, 2, "maxskew"),
    "a word that whenUnsatisfiable does not know": (
        EXPLAIN,
        {"pod.json": constrained(whenUnsatisfiable="Maybe")},
        2,
        'Unsupported value: "Maybe"',
    ),
    # Texts
    "a key twice in JSON": (
        EXPLAIN,
        {"pod.json": json.dumps(constrained()).replace('"maxSkew": 1', '"maxSkew": 1, "maxSkew": 5')},
        2,
        "pod.json:1: key 'maxSkew' is given twice in one object",
    ),
    "a key twice in JSON, once escaped": (
        EXPLAIN,
        {"pod.json": json.dumps(pod()).replace('"kind"', '"kind": "Pod", "k\\u0069nd"')},
        2,
        "key 'kind' is given twice",
    ),
    "a key twice in a scenario": (
        "play s.json -S cluster.json",
        {"s.json": '{"kind": "Scenario", "kind": "Scenario"}'},
        2,
        "key 'kind' is given twice",
    ),
    "a key twice in YAML": (
        "explain p.yaml -S cluster.json",
        {"p.yaml": f"{POD}kind: Pod\n"},
        2,
        "p.yaml:6: key 'kind' is given twice in one mapping",
    ),
    "lines that end as on Windows": (
        "explain p.yaml -S cluster.json",
        {"p.yaml": POD.replace("\n", "\r\n").encode()},
        0,
        "3 of 3 nodes fit",
    ),
    "lines that end as on old Macs": (
        "explain p.yaml -S cluster.json",
        {"p.yaml": POD.replace("\n", "\r").encode()},
        0,
        "3 of 3 nodes fit",
    ),
    "UTF-16 without its mark": (
        "explain p.yaml -S cluster.json",
        {"p.yaml": POD.encode("utf-16-le")},
        2,
        "not a text file (NUL byte at offset 1)",
    ),
    "a byte order mark in the middle": (
        "explain p.yaml -S cluster.json",
        {"p.yaml": POD.replace("metadata", "\ufeffmetadata")},
        2,
        "p.yaml:3: YAML syntax",
    ),
    "a space that does not break": (
        "explain p.yaml -S cluster.json",
        {"p.yaml": POD.replace("kind: Pod", "kind:\u00a0Pod")},
        2,
        "YAML syntax",
    ),
    "nothing but NUL": ("explain p.yaml -S cluster.json", {"p.yaml": bytes(100)}, 2, "not a text file"),
    "a tag that runs a program": (
        "explain p.yaml -S cluster.json",
        {"p.yaml": POD.replace("{name: p}", "!!python/object/apply:os.system ['touch pwned']")},
        2,
        "metadata",
    ),
    "a list that holds itself": (
        "play s.yaml -S cluster.json",
        {"s.yaml": "&a [*a]"},
        2,
        "s.yaml:1: anchor 'a' value contains itself",
    ),
    "a billion laughs": (f"{EXPLAIN} --scheduler-config laughs", {"laughs": LAUGHS}, 2, "aliases expand to more than"),
    "500 lists in one another": (
        "explain pod.json -S deep",
        {"deep": '{"apiVersion":"v1","kind":"List","items":[' * 500 + "]}" * 500},
        3,
        "nested deeper than 200 levels",
    ),
    "gzip that ends early": (
        "explain pod.json -S c.gz",
        {"c.gz": gzip.compress(json.dumps(cluster()).encode())[:100]},
        3,
        "gzip data ends early",
    ),
    "text behind gzip": (
        "explain pod.json -S c.gz",
        {"c.gz": gzip.compress(json.dumps(cluster()).encode()) + b'{"kind": "Node"}'},
        3,
        "c.gz: something else follows the gzip data",
    ),
    "zeros behind gzip, and more of it": (
        "explain pod.json -S c.gz",
        {"c.gz": gzip.compress(json.dumps(cluster()).encode()) + bytes(512) + gzip.compress(b"\n") + bytes(7)},
        0,
        "3 of 3 nodes fit",
    ),
    "gzip in gzip": ("explain pod.json -S c.gz", {"c.gz": gzip.compress(gzip.compress(b"{}"))}, 3, "not a text file"),
    # Paths
    **{
        f"a link to itself as {option}": (
            command,
            {"loop": lambda path: path.symlink_to("loop")},
            code,
            "loop: Too many levels of symbolic links",
        )
        for option, (command, code) in {
            "POD": ("explain loop -S cluster.json", 2),
            "-S": ("explain pod.json -S loop", 3),
            "--html": (f"{EXPLAIN} --html loop", 2),
            "--scheduler-config": (f"{EXPLAIN} --scheduler-config loop", 2),
            "SCENARIO": ("play loop -S cluster.json", 2),
            "--to-snapshot": (f"compare {EXPLAIN[8:]} --to-snapshot loop", 3),
            "--baseline": ("check pod.json --baseline loop", 2),
            "--write-baseline": ("check pod.json --write-baseline loop", 2),
        }.items()
    },
    **{
        f"a pipe that nobody writes to as {option}": (
            command,
            {"pipe.json": os.mkfifo},
            3 if "-S pipe.json" in command or "snapshot" in option else 2,
            "pipe.json: a named pipe that no program has opened for writing",
        )
        for option, command in {
            "POD": "explain pipe.json -S cluster.json",
            "-f": "explain -f pipe.json -S cluster.json",
            "-S": "explain pod.json -S pipe.json",
            "one of many -S": "explain pod.json -S cluster.json -S pipe.json",
            "--scheduler-config": f"{EXPLAIN} --scheduler-config pipe.json",
            "SCENARIO": "play pipe.json -S cluster.json",
            "--to-snapshot": f"compare {EXPLAIN[8:]} --to-snapshot pipe.json",
            "--baseline": "check pod.json --baseline pipe.json",
            "--since": "report -A --since pipe.json -S cluster.json",
            "--add-node": f"{EXPLAIN} --add-node pipe.json",
            "PROMISES": "verify pipe.json -S cluster.json",
            "--prices": "removable --prices pipe.json -S cluster.json",
            "--node-groups": f"simulate {EXPLAIN[8:]} --autoscaler ca --node-groups pipe.json",
            "--descheduler": "rebalance -A --descheduler pipe.json -S cluster.json",
            "--kubeconfig": "explain pod.json --kubeconfig pipe.json",
        }.items()
    },
    **{
        f"3 GB of nothing as {option}": (
            command,
            {"sparse": _sparse},
            code,
            "sparse: not a text file (NUL byte at offset 0): expected YAML or JSON",
        )
        for option, (command, code) in {
            "POD": ("explain sparse -S cluster.json", 2),
            "-S": ("explain pod.json -S sparse", 3),
            "--since": ("report -A --since sparse -S cluster.json", 2),
        }.items()
    },
    "a page through a link that leads nowhere": (
        f"{EXPLAIN} --html page.html",
        {"page.html": lambda path: path.symlink_to("nowhere/page.html")},
        2,
        "page.html: No such file or directory",
    ),
    # Options
    "an option twice, with two values": (
        f"{EXPLAIN} -n a --namespace b",
        {},
        2,
        "-n/--namespace is given as 'a' and as 'b': leave one out",
    ),
    "an option twice, with one value": (f"{EXPLAIN} -o name --output name -q -q", {}, 0, ""),
    "--name beside -f": (
        "simulate -f pod.json -f other.json --name other -S cluster.json -v",
        {"other.json": pod("other")},
        0,
        "1 of 1 placed",
    ),
    "a baseline that is read and one that is written": (
        "check pod.json --baseline b.json --write-baseline b.json",
        {},
        2,
        "--write-baseline and --baseline do not go together: all findings are recorded, known ones too",
    ),
    "promises to verify, and promises to print": (
        "verify p.json -o promises -S cluster.json",
        {"p.json": PROMISES},
        2,
        "PROMISES and -o promises do not go together: promises are looked for, not verified",
    ),
    "a directory as SCENARIO": ("play d -S cluster.json", {"d": Path.mkdir}, 2, "d: Is a directory"),
    "a link to itself in a directory of clusters": (
        "explain pod.json -S .",
        {"loop.json": lambda path: path.symlink_to("loop.json")},
        3,
        "Too many levels of symbolic links",
    ),
    # Size
    "2,000 containers": (
        "explain pod.json -S cluster.json",
        {"pod.json": with_many(containers=CONTAINERS)},
        1,
        "all 3 nodes have too little cpu",
    ),
    "advice on 500 constraints with keys of no node": (
        "advise pod.json -S cluster.json",
        {"pod.json": pod(constraints=[hard(f"k{at}", match=WEB) for at in range(500)])},
        0,
        "the pod fits with label n0 k0=new-1 k1=new-1",
    ),
    # Owners
    **{
        f"owners in a circle: {command}": (
            f"{command} -S cluster.json",
            {"cluster.json": cluster(*in_a_circle())},
            code,
            "",
        )
        for command, code in {
            "audit -A": 0,
            "pending -A": 1,
            "explain deploy/web": 0,
            "survive -A": 0,
            "rebalance -A": 0,
            "simulate deploy/web --then rollout": 0,
        }.items()
    },
    **{
        f"a Pod that is not there as the owner: {command}": (
            f"{command} -S cluster.json",
            {"cluster.json": cluster(of_a_pod())},
            code,
            said,
        )
        for command, code, said in (
            ("rebalance -A", 0, "no hard constraint is in force"),
            ("verify --suggest -o json", 0, ""),
        )
    },
    "a pod with the name that a StatefulSet gives, of one that is not there": (
        "audit -A -S cluster.json",
        {"cluster.json": cluster(*of_another("db"))},
        0,
        'pods "db-0" already exists',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_input_is_answered_or_refused(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.manifest.text.PATIENCE", 0.05)
    command, files, code, said = CASES[case]
    for name, content in {"cluster.json": cluster(), "pod.json": pod(constraints=[hard(ZONE)]), **files}.items():
        if callable(content):
            content(tmp_path / name)
        elif isinstance(content, bytes):
            (tmp_path / name).write_bytes(content)
        else:
            (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    before = sorted(tmp_path.iterdir())
    result = run(*shlex.split(command), cwd=tmp_path)
    assert (result.code, said in result.err) == (code, True), result.err
    assert (result.out + result.err).replace("\n", "").isprintable()
    assert sorted(tmp_path.iterdir()) == before
