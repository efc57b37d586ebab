"""The recorder without Go: its cases, where it is laid over a checkout, and what it does with answers."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.recorder import recording
from tools.recorder.__main__ import _again
from tools.recorder.building import (
    DESCHEDULER,
    KUBERNETES,
    Checkout,
    CheckoutError,
    Project,
    checkout,
    inserted,
    overlay,
)
from tools.recorder.cases.controllers import CONTROLLERS
from tools.recorder.cases.descheduling import DESCHEDULING
from tools.recorder.cases.families import FAMILIES, cases
from tools.recorder.recording import answers, program_of, record
from tools.recorder.shrinking import shrunk
from tools.replay.cases import FIXTURES, Recorded, recorded, release_of
from tools.replay.families import differences

SMALL = sorted(FAMILIES.keys() - {"large", "samples"})
COUNTS = dict.fromkeys(FAMILIES, 6) | {"defaults": 40, "large": 1, "samples": 2}


def digest(seed: int) -> str:
    drawn = {family: list(cases(family, seed, 2)) for family in SMALL}
    return hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()


def test_a_seed_draws_the_same_cases_in_every_process() -> None:
    program = "from tests.recorder.test_recorder import digest; print(digest(7))"
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(7)
    assert digest(8) != digest(7)


def test_a_case_does_not_depend_on_how_many_are_drawn() -> None:
    assert list(cases("kitchen", 3, 4))[:2] == list(cases("kitchen", 3, 2))


def test_families_ask_in_every_way_and_about_every_kind() -> None:
    drawn = [
        case
        for family, count in COUNTS.items()
        if family not in CONTROLLERS | DESCHEDULING
        for case in cases(family, 1, count)
    ]
    assert {key for case in drawn for key in case} == {
        "name",
        "nodes",
        "pods",
        "objects",
        "pod",
        "admission",
        "preempt",
        "stored",
        "config",
        "gates",
        "replicas",
        "mode",
        "sample",
        "queue",
        "gang",
    }
    assert {each["kind"] for case in drawn for each in case["objects"]} == {
        "CSIDriver",
        "CSINode",
        "CSIStorageCapacity",
        "DeviceClass",
        "LimitRange",
        "Namespace",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "PodDisruptionBudget",
        "PriorityClass",
        "ReplicaSet",
        "ReplicationController",
        "ResourceClaim",
        "ResourceSlice",
        "RuntimeClass",
        "Service",
        "StatefulSet",
        "StorageClass",
        "VolumeAttachment",
    }


@pytest.mark.parametrize("family", SMALL)
def test_a_case_of_each_family_is_answered(family: str) -> None:
    """Our side runs on it; with nothing recorded all of it differs, but nothing crashes."""
    (case,) = cases(family, 5, 1)
    found = list(differences(f"{family}.jsonl.gz", Recorded(case, {"nodes": {}, "gang": {"placed": {}}}), "1.36.2"))
    assert [each for each in found if each.what == "crash" and "KeyError" not in str(each.ours)] == []


def test_resources_that_devices_back_are_not_balanced_as_that_crashes_kube_scheduler() -> None:
    balanced: set[str] = set()
    for case in cases("backed", 1, 60):
        backed = {each["spec"].get("extendedResourceName") for each in case["objects"] if each["kind"] == "DeviceClass"}
        profiles = json.loads(case["config"])["profiles"] if "config" in case else []
        for arguments in profiles[0]["pluginConfig"] if profiles else ():
            if arguments["name"] == "NodeResourcesBalancedAllocation":
                names = {resource["name"] for resource in arguments["args"]["resources"]}
                assert not names & backed
                balanced |= names
    assert {"cpu", "nvidia.com/gpu"} <= balanced


def test_lines_are_added_to_the_only_place_where_they_belong() -> None:
    for insertion in (*KUBERNETES.insertions, *DESCHEDULER.insertions):
        assert inserted(f"a\n{insertion.after}b\n", insertion) == f"a\n{insertion.after}{insertion.lines}b\n"


@pytest.mark.parametrize(("times", "text"), [(0, "there 0 times"), (2, "there 2 times")])
def test_a_checkout_without_the_place_is_refused_by_name(times: int, text: str) -> None:
    first = KUBERNETES.insertions[0]
    with pytest.raises(CheckoutError, match=text) as refused:
        inserted(first.after * times, first)
    assert str(refused.value).startswith("pkg/scheduler/framework/preemption/preemption.go: the lines after which")


@pytest.mark.parametrize("project", [KUBERNETES, DESCHEDULER], ids=lambda project: project.name)
def test_only_copies_of_the_checkouts_files_are_changed(project: Project, tmp_path: Path) -> None:
    changed = {insertion.file for insertion in project.insertions}
    for name in changed:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("".join(each.after for each in project.insertions if each.file == name))
    build = tmp_path / "build"
    build.mkdir()
    table = {str(place.relative_to(tmp_path)): path for place, path in overlay(project, tmp_path, build)}
    assert table.keys() == changed | project.overlay().keys()
    for insertion in project.insertions:
        assert insertion.lines in table[insertion.file].read_text()
        assert insertion.lines not in (tmp_path / insertion.file).read_text()


def test_what_a_checkout_is(tmp_path: Path) -> None:
    with pytest.raises(CheckoutError, match="not a checkout of kubernetes with vendor/"):
        checkout(KUBERNETES, tmp_path)
    (tmp_path / "vendor").mkdir()
    version = tmp_path / "staging/src/k8s.io/component-base/version/base.go"
    version.parent.mkdir(parents=True)
    version.write_text('\tDefaultKubeBinaryVersion = "1.38"\n')
    assert checkout(KUBERNETES, tmp_path) == Checkout(KUBERNETES, tmp_path.resolve(), "1.38", "unknown")
    assert checkout(KUBERNETES, tmp_path, "1.38.1", "abc")[2:] == ("1.38.1", "abc")
    chart = tmp_path / "charts/descheduler/Chart.yaml"
    chart.parent.mkdir(parents=True)
    chart.write_text("name: descheduler\nversion: 0.36.1\nappVersion: 0.36.0\n")
    assert checkout(DESCHEDULER, tmp_path).release == "0.36.0"


SPREAD = FIXTURES / "spread.jsonl.gz"


def changed_total(expect: dict[str, Any]) -> None:
    next(node for node in expect["nodes"].values() if "total" in node)["total"] += 1


def changed_plugin(expect: dict[str, Any]) -> None:
    next(node for node in expect["nodes"].values() if "plugins" in node)["plugins"] = {}


def changed_verdict(expect: dict[str, Any]) -> None:
    next(iter(expect["nodes"].values()))["filter"] = {"code": "Error", "reasons": ["x"]}


@pytest.mark.parametrize(
    ("change", "what"), [(changed_total, ".total"), (changed_plugin, ".plugins."), (changed_verdict, ".filter")]
)
def test_a_recorded_answer_that_is_changed_is_named(change: Any, what: str) -> None:
    case = next(each for each in recorded(SPREAD) if "0/" not in str(each.expect) and "plugins" in str(each.expect))
    assert list(differences(SPREAD.name, case, "1.36.2")) == []
    change(case.expect)
    found = list(differences(SPREAD.name, case, "1.36.2"))
    assert found
    assert all(each.case == case.name and what in each.what for each in found)


STAND_IN = """#!{python}
import json, random, sys
for line in sys.stdin:
    case = json.loads(line)
    if case.get("gates") == "Locked=false":
        sys.exit("cannot set feature gate Locked to false, feature is locked to true")
    if "crash" in case["pod"]["metadata"]["labels"]:
        sys.exit("panic: in kube-scheduler")
    answer = {{"configError": "a reason that nobody gives"}}
    if "chance" in case["pod"]["metadata"]["labels"]:
        answer["configError"] = str(random.random())
    if "app" not in case["pod"]["metadata"]["labels"]:
        answer = {{"fitError": "no nodes available to schedule pods", "nodes": {{}}}}
    print(json.dumps({{"name": case["name"], "answer": answer}}))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Stands in for kube-scheduler: refuses pods of an app, crashes on some, and gives some another answer each time."""
    path = tmp_path / "recorder"
    path.write_text(STAND_IN.format(python=sys.executable))
    path.chmod(0o755)
    return path


def asked(name: str, **labels: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeSelector": {"a": "b"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": labels}, "spec": spec}
    service = {"apiVersion": "v1", "kind": "Service", "spec": {"selector": {"a": "b"}}}
    services = [service | {"metadata": {"name": each}} for each in "xyz"]
    return {"name": name, "nodes": [], "pods": [], "objects": services, "pod": pod}


def test_a_case_that_crashes_kube_scheduler_does_not_hide_the_others(program: Path) -> None:
    found = answers(program, [asked("a"), asked("b", crash="x"), asked("c", app="x"), asked("d")])
    assert [answer and next(iter(answer)) for answer in found] == ["fitError", None, "configError", "fitError"]


def test_nor_does_a_case_with_a_gate_that_is_locked(program: Path) -> None:
    found = answers(program, [asked("a"), {**asked("b"), "gates": "Locked=false"}, asked("c", app="x")])
    assert [answer and next(iter(answer)) for answer in found] == ["fitError", None, "configError"]


def test_a_recording_says_where_it_is_from_and_leaves_out_chance(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = [asked("same"), asked("other", app="x"), asked("crash", crash="x"), asked("chance", app="x", chance="x")]
    monkeypatch.setattr(recording, "BUILD", tmp_path)
    tally = record(program, Checkout(KUBERNETES, tmp_path, "1.34.1", "abc"), "spread", "seed 7", drawn)
    assert (tally.recorded, tally.chance, tally.lost) == (
        ["same", "other"],
        ["chance: recorder answers in several ways"],
        ["crash: recorder crashes, or refuses its gates"],
    )
    assert [(each.case, each.what, each.ours) for each in tally.found] == [("other", "refusal", "none")]
    path = tmp_path / "spread.jsonl.gz"
    assert release_of(path) == "1.34.1"
    assert [case.name for case in recorded(path)] == ["same", "other"]


DRAINING = """#!{python}
import json, sys
for line in sys.stdin:
    case = json.loads(line)
    pods = [pod["metadata"] for pod in case["pods"]]
    answer = {{"evict": [f"{{pod['namespace']}}/{{pod['name']}}" for pod in pods], "warnings": [], "errors": ["never"] * bool(pods)}}
    print(json.dumps({{"name": case["name"], "answer": answer}}))
"""


def test_a_case_of_controllers_that_differs_is_made_small(tmp_path: Path) -> None:
    path = tmp_path / "record-controllers"
    path.write_text(DRAINING.format(python=sys.executable))
    path.chmod(0o755)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "u", "controller": True}
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": "n1"}, "status": {"phase": "Running"}}
    names = [{"name": name, "namespace": "default", "ownerReferences": [owner]} for name in "ab"]
    case = {"name": "x", "node": "n1", "daemonSets": [], "flags": {"ignore-daemonsets": True}}
    small, left = shrunk(
        path, "drain.jsonl.gz", case | {"pods": [pod | {"metadata": each} for each in names]}, "1.36.2"
    )
    left_over = {"apiVersion": "v1", "kind": "Pod", "metadata": names[1], "spec": {"nodeName": "n1"}}
    assert small.case == case | {"flags": {}, "pods": [left_over]}
    assert [(each.what, each.recorded, each.ours) for each in left] == [("errors", ["never"], [])]


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("spread", "recorder"),
        ("defaults-golden", "recorder"),
        ("pdb", "record-controllers"),
        ("rollout-worked-controllers", "record-controllers"),
        ("descheduler-table-controllers", "record-descheduler"),
    ],
)
def test_which_program_answers_a_file(name: str, program: str) -> None:
    assert program_of(name) == program


@pytest.mark.parametrize(
    ("file", "why"),
    [("live/placements.jsonl.gz", "no program here answers its cases"), ("none.jsonl.gz", "no such file")],
)
def test_a_file_that_no_program_answers_is_refused_by_name(file: str, why: str) -> None:
    with pytest.raises(CheckoutError, match=f"{file}: {why}"):
        next(_again([FIXTURES / file]))


def test_families_of_controllers_meet_what_decides() -> None:
    drawn = {family: [str(each) for each in cases(family, 1, 60)] for family in CONTROLLERS}
    meant = {
        "scaledown": ("pod-deletion-cost", "initContainerStatuses", "'elsewhere'", "'Job'", "'api-1'"),
        "deploystep": ("'Recreate'", "'paused': True", "statusLag", "'pods'", "max-replicas"),
        "rollout": ("'stuck'", "'unready'", "'paused'", "maxPasses", "'events'"),
        "statefulset": ("'Parallel'", "'OnDelete'", "'partition'", "'ordinals'", "maxUnavailable", "deletionTimestamp"),
        "pdb": ("'Widget'", "'Gadget'", "'Rollout'", "disruptedPods", "AlwaysAllow", "'Node'", "'resync': True"),
        "drain": ("config.mirror", "'emptyDir'", "'gone'", "pod-selector", "2099-01-01"),
        "daemonset": ("tolerationSeconds", "matchFields", "'nodeName'", "preferredDuring", "'Gt'"),
        "job": ("'Indexed'", "'suspend': True", "podFailurePolicy", "TerminatingOrFailed", "finishedAt"),
    }
    missing = [
        (family, word) for family, words in meant.items() for word in words if word not in "".join(drawn[family])
    ]
    assert missing == []


def test_a_case_that_differs_is_made_small(program: Path) -> None:
    case = asked("other", app="x", tier="y")
    small, left = shrunk(program, "spread.jsonl.gz", case, "1.36.2")
    assert small.case["objects"] == [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "z"}}]
    assert small.case["pod"] == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"app": "x"}}}
    assert [each.what for each in left] == ["refusal"]
    assert case == asked("other", app="x", tier="y")
