"""Audits recomputed by hand on clusters in mid-rollout: what is there, what constraints count, how bad it is; and causes
undone by hand.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import AuditReport, Scheduler
from kubespread.questions.audit import AuditedConstraint, AuditedWorkload, AuditFinding
from kubespread.questions.worlds import world_of
from tests.builders import Data
from tests.property.rolling import HOSTNAME, ZONE, clusters
from tests.property.workloads_on_nodes import snapshot_of

RACK = "example.com/rack"
HASH, REVISION = "pod-template-hash", "deployment.kubernetes.io/revision"


def audited(objects: list[Data]) -> AuditReport:
    assume(any(is_active(each) for each in of_kind(objects, "Pod")))
    return kubespread.audit(snapshot_of(objects))


def of_kind(objects: list[Data], kind: str) -> list[Data]:
    return [each for each in objects if each["kind"] == kind]


def is_active(pod: Data) -> bool:
    return "deletionTimestamp" not in pod["metadata"] and pod["status"]["phase"] != "Succeeded"


def is_ready(pod: Data) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions", ()))


def pods_of(objects: list[Data], workload: str) -> list[Data]:
    """All pods of a workload, in whatever state; of one by itself those that share its labels."""
    _, kind, name = workload.split("/")
    pods = of_kind(objects, "Pod")
    if kind == "Pod":
        labels = next(each["metadata"]["labels"] for each in pods if each["metadata"]["name"] == name)
        return [each for each in pods if each["metadata"]["labels"] == labels and not owner_of(each)]
    return [each for each in pods if owner_of(each) and owner_of(each).split("-")[0] == name]


def owner_of(pod: Data) -> str:
    """The name of a pod's controller."""
    return next((str(each["name"]) for each in pod["metadata"].get("ownerReferences", ())), "")


def named(objects: list[Data], kind: str, name: str) -> Data | None:
    return next((each for each in of_kind(objects, kind) if each["metadata"]["name"] == name), None)


@given(clusters())
@settings(max_examples=40, deadline=None)
def test_pods_skews_levels_and_the_verdict_are_those_counted_by_hand(objects: list[Data]) -> None:
    report = audited(objects)
    for row in report.workloads:
        check_pods(objects, row)
        check_skews(objects, row)
        assert row.level == level_of(objects, row)
    assert (report.verdict == "yes") is all(row.level == "ok" for row in report.workloads)


@given(clusters(), st.data())
@settings(max_examples=30, deadline=None)
def test_the_domains_of_any_key_are_counted_and_lost_as_by_hand(objects: list[Data], data: st.DataObject) -> None:
    for each in of_kind(objects, "Node"):
        if rack := data.draw(st.sampled_from(["r1", "r2", "r3", None])):
            each["metadata"]["labels"][RACK] = rack
    assume(values(objects, RACK))
    assume(any(is_active(each) for each in of_kind(objects, "Pod")))
    report = kubespread.audit(snapshot_of(objects), key=RACK)
    bare = sum(RACK not in each["metadata"]["labels"] for each in of_kind(objects, "Node"))
    assert any(f"without the label {RACK}" in note for note in report.notes) is (bare > 0)
    for row in report.workloads:
        placed = [each for each in pods_of(objects, row.workload) if is_active(each) and "nodeName" in each["spec"]]
        racks = Counter(labels_of(objects, each).get(RACK) for each in placed)
        assert {each.value: each.pods for each in row.domains} == {rack: racks[rack] for rack in values(objects, RACK)}
        most = max((count for rack, count in racks.items() if rack), default=None)
        assert row.left == (None if most is None else len(placed) - most)
        is_lost_with_one = len(racks) == 1 and None not in racks and len(values(objects, RACK)) > 1
        about = [each for each in row.findings if each.topology_key == RACK]
        assert [each.level for each in about] == ["risk"] * is_lost_with_one or newest(objects, row) is None


def check_pods(objects: list[Data], row: AuditedWorkload) -> None:
    _, kind, name = row.workload.split("/")
    every = pods_of(objects, row.workload)
    active = [each for each in every if is_active(each)]
    placed = [each for each in active if "nodeName" in each["spec"]]
    going = [each for each in every if "deletionTimestamp" in each["metadata"]]
    counted = row.placed, row.ready, row.pending, row.terminating
    assert counted == (len(placed), sum(map(is_ready, placed)), len(active) - len(placed), len(going))
    if kind == "Pod":
        assert row.replicas == len(active)
    elif stated := named(objects, kind, name):
        assert row.replicas == stated["spec"]["replicas"]
    zones = Counter(labels_of(objects, each).get(ZONE) for each in placed)
    assert {zone.value: zone.pods for zone in row.zones} == {zone: zones[zone] for zone in values(objects, ZONE)}
    most = max((count for zone, count in zones.items() if zone), default=None)
    assert row.left == (None if most is None else len(placed) - most)


def values(objects: list[Data], key: str) -> set[str]:
    return {each["metadata"]["labels"][key] for each in of_kind(objects, "Node") if key in each["metadata"]["labels"]}


def labels_of(objects: list[Data], pod: Data) -> Data:
    """Those of the pod's node."""
    node = named(objects, "Node", pod["spec"]["nodeName"])
    assert node is not None
    labels: Data = node["metadata"]["labels"]
    return labels


def newest(objects: list[Data], row: AuditedWorkload) -> tuple[Data, Data] | None:
    """The spec and the labels of the pods of a workload's newest revision; None where only pods tell of it."""
    _, kind, name = row.workload.split("/")
    if kind == "Pod":
        first = next(each for each in pods_of(objects, row.workload) if is_active(each))
        return first["spec"], first["metadata"]["labels"]
    stated = named(objects, kind, name)
    if stated is None:
        return None
    template = stated["spec"]["template"]
    if kind == "StatefulSet":
        return template["spec"], {**template["metadata"]["labels"], "controller-revision-hash": "r2"}
    sets = [each for each in of_kind(objects, "ReplicaSet") if owner_of(each) == name]
    alike = [each for each in sets if each["spec"]["template"]["spec"] == template["spec"]]
    # Of several that look alike the one that the Deployment names.
    alike.sort(
        key=lambda each: each["metadata"]["annotations"][REVISION] != stated["metadata"]["annotations"][REVISION]
    )
    if not alike:
        return None
    return template["spec"], alike[0]["spec"]["template"]["metadata"]["labels"]


def counts(objects: list[Data], spec: Data, labels: Data, constraint: Data) -> Counter[str]:
    """Matching pods by domain that counts, own counting: nodes need all keys of constraints like it."""
    alike = [
        each["topologyKey"]
        for each in spec["topologySpreadConstraints"]
        if each["whenUnsatisfiable"] == constraint["whenUnsatisfiable"]
    ]
    match = {**constraint["labelSelector"]["matchLabels"]}
    match |= {key: labels[key] for key in constraint.get("matchLabelKeys", ()) if key in labels}
    found: Counter[str] = Counter()
    for node in of_kind(objects, "Node"):
        own = node["metadata"]["labels"]
        is_let_in = own.items() >= spec.get("nodeSelector", {}).items()
        is_tainted = constraint.get("nodeTaintsPolicy") == "Honor" and node["spec"]["taints"]
        if not is_let_in or is_tainted or any(key not in own for key in alike):
            continue
        found[own[constraint["topologyKey"]]] += sum(
            "deletionTimestamp" not in pod["metadata"]
            and pod["spec"].get("nodeName") == node["metadata"]["name"]
            and pod["status"]["phase"] != "Succeeded"
            and pod["metadata"]["labels"].items() >= match.items()
            for pod in of_kind(objects, "Pod")
        )
    return found


def skew_of(found: Counter[str], constraint: Data) -> int:
    if not found:
        return 0
    is_short = len(found) < constraint.get("minDomains", 1)
    return max(found.values()) - (0 if is_short else min(found.values()))


def check_skews(objects: list[Data], row: AuditedWorkload) -> None:
    made = newest(objects, row)
    if made is None or not made[0]["topologySpreadConstraints"]:
        return
    spec, labels = made
    expected = []
    for constraint in spec["topologySpreadConstraints"]:
        found = counts(objects, spec, labels, constraint)
        expected.append((constraint["topologyKey"], dict(found), skew_of(found, constraint)))
    said = [
        (each.topology_key, {domain.value: domain.pods for domain in each.counts or ()}, each.skew)
        for each in row.constraints
    ]
    assert said == expected


def level_of(objects: list[Data], row: AuditedWorkload) -> str:
    """By the rule of docs/cookbook/audit.md."""
    exceeded = [each for each in row.constraints if each.skew > each.max_skew]
    if any(each.when_unsatisfiable == "DoNotSchedule" for each in exceeded):
        return "violated"
    if exceeded:
        return "uneven"
    is_missing = row.pending or row.placed + row.pending < row.replicas
    is_unready = row.ready < min(row.placed, row.replicas)
    # Whether a rollout under way is stuck is found by playing it, not by counting.
    is_stuck = row.rollout is not None and row.rollout.state == "stuck"
    is_at_risk = is_missing or is_unready or is_stuck or row.next_fits is False or is_in_one_domain(objects, row)
    return "risk" if is_at_risk or any(lacks_nodes(objects, row, each) for each in row.constraints) else "ok"


def is_in_one_domain(objects: list[Data], row: AuditedWorkload) -> bool:
    key = ZONE if len(values(objects, ZONE)) > 1 else HOSTNAME
    placed = [each for each in pods_of(objects, row.workload) if is_active(each) and "nodeName" in each["spec"]]
    domains = {labels_of(objects, each).get(key) for each in placed}
    return len(domains) == 1 and None not in domains and len(values(objects, key)) > 1


def lacks_nodes(objects: list[Data], row: AuditedWorkload, constraint: AuditedConstraint) -> bool:
    """Whether pods are on nodes without its key, or it is hard and lets none come to such nodes."""
    lacking = [
        each["metadata"]["name"]
        for each in of_kind(objects, "Node")
        if constraint.topology_key not in each["metadata"]["labels"]
    ]
    on = {each["spec"].get("nodeName") for each in pods_of(objects, row.workload) if is_active(each)}
    is_hard = constraint.when_unsatisfiable == "DoNotSchedule"
    return constraint.source != "system" and bool(lacking) and (is_hard or bool(on.intersection(lacking)))


@given(clusters())
@settings(max_examples=25, deadline=None)
def test_each_number_in_the_answer_is_one_of_a_field(objects: list[Data]) -> None:
    report = audited(objects)
    plain = report.to_dict()
    assert plain["answer"] == list(report.answer)
    fields = set(numbers(json.dumps({**plain, "answer": [], "trials": list(lengths(plain))})))
    for said in report.answer:
        assert set(numbers(re.sub(r" and \d+ more", "", said))) <= fields
    (total,) = re.findall(r"([\d,]+) workloads?\b", report.answer[0])
    assert sum(report.levels.values()) == len(report.workloads) == next(numbers(total))


def numbers(text: str) -> Iterator[int]:
    return map(int, re.findall(r"(?<![\w.-])\d+(?![\w-])", text))


def lengths(plain: Data) -> Iterator[int]:
    """How many workloads there are, and of each finding how many trials."""
    yield len(plain["workloads"])
    yield from (len(each["trials"]) for row in plain["workloads"] for each in row["findings"])


@given(clusters())
@settings(max_examples=30, deadline=None)
def test_a_cause_undone_by_hand_ends_the_violation(objects: list[Data]) -> None:
    for row in audited(objects).workloads:
        for each in row.findings:
            made = newest(objects, row)
            if each.constraint is not None and each.code in UNDONE and made is not None and is_one_revision(row):
                assert is_over(objects, row, each, *made), (row.workload, each)


def is_one_revision(row: AuditedWorkload) -> bool:
    return row.rollout is None


def is_over(objects: list[Data], row: AuditedWorkload, found: AuditFinding, spec: Data, labels: Data) -> bool:
    """Whether the workload's pods, waiting for nodes after the cause was undone, are placed evenly."""
    kept: list[Data] = deepcopy([*of_kind(objects, "Node"), *of_kind(objects, "Pod")])
    own = [each["metadata"]["name"] for each in pods_of(objects, row.workload) if is_active(each)]
    kept = [each for each in kept if each["kind"] == "Node" or "nodeName" in each["spec"]]
    at = found.constraint or 0
    constraint = deepcopy(spec["topologySpreadConstraints"][at])
    UNDONE[found.code](kept, own, constraint, row.constraints[at])
    moved = [each for each in kept if each["kind"] == "Pod" and each["metadata"]["name"] in own]
    for each in moved:
        each["spec"] = {key: value for key, value in each["spec"].items() if key != "nodeName"}
        each["status"] = {"phase": "Pending"}
    for each in of_kind(kept, "Pod"):
        # Nobody but the scheduler is at work.
        each["metadata"].pop("ownerReferences", None)
    world = world_of(snapshot_of(kept), Scheduler())
    world.settle()
    after = [
        {**each, "spec": {**each["spec"], "nodeName": world.book["default", each["metadata"]["name"]].spec.node_name}}
        if each in moved
        else each
        for each in kept
    ]
    changed = {**spec, "topologySpreadConstraints": [*spec["topologySpreadConstraints"]]}
    changed["topologySpreadConstraints"][at] = constraint
    if any(not each["spec"]["nodeName"] for each in after if each["kind"] == "Pod"):
        return False
    return bool(skew_of(counts(after, changed, labels, constraint), constraint) <= constraint["maxSkew"])


def _without_terminating(kept: list[Data], *_: Any) -> None:
    kept[:] = [each for each in kept if "deletionTimestamp" not in each["metadata"]]


def _uncounted(kept: list[Data], own: list[str], _: Data, __: Any) -> None:
    for each in of_kind(kept, "Pod"):
        if each["metadata"]["name"] not in own:
            each["metadata"]["labels"] = {"other": "app"}


def _without_min_domains(kept: list[Data], own: list[str], constraint: Data, row: AuditedConstraint) -> None:
    constraint.pop("minDomains")
    for each in of_kind(kept, "Pod"):
        for other in each["spec"]["topologySpreadConstraints"] if each["metadata"]["name"] in own else ():
            if other["topologyKey"] == row.topology_key:
                other.pop("minDomains", None)


def _asking_for_nothing(kept: list[Data], own: list[str], _: Data, __: Any) -> None:
    for each in of_kind(kept, "Pod"):
        for container in each["spec"]["containers"] if each["metadata"]["name"] in own else ():
            container.pop("resources", None)


UNDONE: dict[str, Callable[[list[Data], list[str], Data, Any], None]] = {
    "drift": lambda *_: None,
    "terminating": _without_terminating,
    "otherPods": _uncounted,
    "minDomains": _without_min_domains,
    "capacity": _asking_for_nothing,
}
