"""What must hold for any cluster and any pod."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from tests.builders import hard, node, pod, soft, taint

Data = dict[str, Any]

ZONES = st.sampled_from([None, "", "a", "b", "c"])
RACKS = st.sampled_from([None, "r1", "r2"])
LABELS = st.sampled_from([{"foo": "bar"}, {"foo": "bar", "rev": "1"}, {"foo": "bar", "rev": "2"}, {"foo": "other"}, {}])
TAINTS = st.lists(
    st.sampled_from([taint("gpu"), taint("slow", "PreferNoSchedule"), taint("bad", "NoExecute")]), max_size=2
)


@st.composite
def nodes(draw: st.DrawFn) -> list[Data]:
    made = []
    for position in range(draw(st.integers(1, 8))):
        rack = draw(RACKS)
        labels = {} if rack is None else {"rack": rack}
        unschedulable = draw(st.sampled_from([False, False, False, True]))
        made.append(node(f"n{position}", zone=draw(ZONES), taints=draw(TAINTS), unschedulable=unschedulable, **labels))
    return made


@st.composite
def constraints(draw: st.DrawFn) -> list[Data]:
    policies = st.sampled_from(["Honor", "Ignore", None])
    made = []
    for key in ("zone", "rack"):
        for build in (hard, soft):
            if draw(st.booleans()):
                optional: Data = {
                    "nodeTaintsPolicy": draw(policies),
                    "nodeAffinityPolicy": draw(policies),
                    "matchLabelKeys": draw(st.sampled_from([None, ["rev"]])),
                    "minDomains": draw(st.sampled_from([None, 1, 3])) if build is hard else None,
                }
                made.append(
                    build(
                        key,
                        draw(st.integers(1, 3)),
                        **{field: value for field, value in optional.items() if value is not None},
                    )
                )
    return made


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[Data], list[Data], Data]:
    """Nodes, the pods on them, and a candidate."""
    placed = draw(nodes())
    names = [entry["metadata"]["name"] for entry in placed]
    namespaces = st.sampled_from(["default", "default", "other"])
    pods = [
        pod(f"p{position}", draw(st.sampled_from(names)), labels=draw(LABELS), namespace=draw(namespaces))
        for position in range(draw(st.integers(0, 12)))
    ]
    selector = draw(st.sampled_from([{}, {}, {"zone": "a"}]))
    candidate = pod(labels=draw(LABELS), constraints=draw(constraints()), nodeSelector=selector)
    return placed, pods, candidate


def answer(objects: list[Data], candidate: Data) -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects(objects), candidate)


def by_name(report: kubespread.ExplainReport) -> dict[str, Data]:
    return {entry["name"]: entry for entry in report.to_dict()["nodes"]}


@given(questions(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_the_order_of_nodes_and_pods_changes_nothing(
    question: tuple[list[Data], list[Data], Data], random: Any
) -> None:
    placed, pods, candidate = question
    before = answer(placed + pods, candidate)
    shuffled = placed + pods
    random.shuffle(shuffled)
    after = answer(shuffled, candidate)
    assert by_name(after) == by_name(before)
    assert (after.message, after.feasible, after.constraints) == (before.message, before.feasible, before.constraints)


@given(questions())
@settings(max_examples=60, deadline=None)
def test_pods_of_another_namespace_change_no_count(question: tuple[list[Data], list[Data], Data]) -> None:
    placed, pods, candidate = question
    strangers = [
        pod(f"s{position}", entry["metadata"]["name"], namespace="strange") for position, entry in enumerate(placed)
    ]
    assert answer(placed + pods + strangers, candidate).constraints == answer(placed + pods, candidate).constraints


@given(questions())
@settings(max_examples=80, deadline=None)
def test_the_report_agrees_with_its_own_arithmetic(question: tuple[list[Data], list[Data], Data]) -> None:
    placed, pods, candidate = question
    report = answer(placed + pods, candidate)
    assert report.schedulable == (report.message is None) == bool(report.feasible)
    for entry in report.nodes:
        assert (
            entry.feasible
            == (not entry.rejections)
            == (entry.verdict.code == "Success")
            == (entry.name in report.feasible)
        )
        assert entry.total == (sum(entry.scores.values()) if entry.feasible else None)
        failed = [
            about
            for row, about in zip(entry.constraints, report.constraints, strict=True)
            if about.is_hard and not row.satisfied
        ]
        assert bool(failed) == any(rejection.plugin == "PodTopologySpread" for rejection in entry.rejections)
        for row in entry.constraints:
            if row.matching is not None:
                assert row.skew == row.matching + row.self_match - (row.global_minimum or 0)


@given(questions())
@settings(max_examples=60, deadline=None)
def test_the_filter_is_the_definition_written_down_naively(question: tuple[list[Data], list[Data], Data]) -> None:
    """Hard constraints with default policies and selector foo=bar, counted with plain loops."""
    placed, pods, candidate = question
    plain = [
        {key: constraint[key] for key in ("maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector")}
        for constraint in candidate["spec"]["topologySpreadConstraints"]
        if constraint["whenUnsatisfiable"] == "DoNotSchedule"
    ]
    candidate = {**candidate, "spec": {**candidate["spec"], "topologySpreadConstraints": plain, "nodeSelector": {}}}
    labels = {entry["metadata"]["name"]: entry["metadata"]["labels"] for entry in placed}
    keys = [constraint["topologyKey"] for constraint in plain]
    eligible = [name for name, own in labels.items() if all(key in own for key in keys)]
    counted = [
        p["spec"]["nodeName"]
        for p in pods
        if p["metadata"]["namespace"] == "default" and p["metadata"]["labels"].get("foo") == "bar"
    ]
    itself = int(candidate["metadata"]["labels"].get("foo") == "bar")

    def passes(name: str) -> bool:
        for constraint in plain:
            key = constraint["topologyKey"]
            if key not in labels[name]:
                return False
            counts = {labels[other][key]: 0 for other in eligible}
            for other in counted:
                if other in eligible:
                    counts[labels[other][key]] += 1
            minimum = min(counts.values(), default=0)
            if counts.get(labels[name][key], 0) + itself - minimum > constraint["maxSkew"]:
                return False
        return True

    report = answer(placed + pods, candidate)
    rejected = {
        entry.name for entry in report.nodes if any(found.plugin == "PodTopologySpread" for found in entry.rejections)
    }
    assert rejected == {name for name in labels if not passes(name)}


ALONE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      disabled: [{name: "*"}]
      enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: PodTopologySpread}]
"""


@given(questions())
@settings(max_examples=60, deadline=None)
def test_spreading_alone_judges_as_it_does_among_the_others(question: tuple[list[Data], list[Data], Data]) -> None:
    placed, pods, candidate = question
    snapshot = kubespread.Snapshot.from_objects(placed + pods)
    alone, among = (
        kubespread.explain(snapshot, candidate, kubespread.Scheduler(config=ALONE)),
        kubespread.explain(snapshot, candidate),
    )

    def spread(report: kubespread.ExplainReport) -> dict[str, list[Any]]:
        return {
            entry.name: [found for found in entry.rejections if found.plugin == "PodTopologySpread"]
            for entry in report.nodes
        }

    assert spread(alone) == spread(among)
    assert [row.domains for row in alone.constraints if row.is_hard] == [
        row.domains for row in among.constraints if row.is_hard
    ]


@given(questions())
@settings(max_examples=40, deadline=None)
def test_scheduling_gates_change_the_verdict_and_nothing_else(question: tuple[list[Data], list[Data], Data]) -> None:
    placed, pods, candidate = question
    gated = {**candidate, "spec": {**candidate["spec"], "schedulingGates": [{"name": "a"}]}}
    plain, held = answer(placed + pods, candidate), answer(placed + pods, gated)
    waits = "waits behind scheduling gates: a"
    assert (held.verdict, held.schedulable, held.feasible, held.nodes) == ("no", False, plain.feasible, plain.nodes)
    assert held.answer == (f"{waits}; without them, {plain.answer[0]}", *plain.answer[1:])
    pending = kubespread.pending(kubespread.Snapshot.from_objects([*placed, *pods, gated]))
    assert [(group.cause, group.why) for group in pending.groups] == [("gated", waits)]
