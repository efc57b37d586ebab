"""NodeAffinity, TaintToleration, NodeUnschedulable, NodeName and NodeResourcesFit, and the messages they lead to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import node, pod, pods_on, taint
from tests.scheduler.asking import ask, fits, reasons, scores, with_args

Data = dict[str, Any]

ABC = [node("a", z="1"), node("b", z="2"), node("c")]
FIVE = [*ABC, node("d"), node("e")]
POD_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
EXCLUDED = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
UNTOLERATED = "node(s) had untolerated taint(s)"


def required(*terms: Data) -> Data:
    return {
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
        }
    }


def preferred(*weighted: tuple[int, Data]) -> Data:
    terms = [{"weight": weight, "preference": preference} for weight, preference in weighted]
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}}


def label(key: str, operator: str, *values: str) -> Data:
    expression: Data = {"key": key, "operator": operator}
    if values:
        expression["values"] = list(values)
    return {"matchExpressions": [expression]}


def named(*names: str, operator: str = "In") -> Data:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": [name]} for name in names]}


AFFINITY: dict[str, tuple[list[Data], Data, dict[str, str]]] = {
    "NotIn matches a missing key": (ABC, required(label("z", "NotIn", "1")), {"a": POD_AFFINITY}),
    "present but empty is not missing": (
        [node("c"), node("d", z="")],
        required(label("z", "In", "")),
        {"c": POD_AFFINITY},
    ),
    "DoesNotExist": (ABC, required(label("z", "DoesNotExist")), {"a": POD_AFFINITY, "b": POD_AFFINITY}),
    "Gt reads signs and leading zeros on the label side": (
        [node("a", n="+7"), node("b", n="007"), node("c", n="7x"), node("d")],
        required(label("n", "Gt", "6")),
        {"c": POD_AFFINITY, "d": POD_AFFINITY},
    ),
    "Lt is strict": ([node("a", n="6"), node("b", n="5")], required(label("n", "Lt", "6")), {"a": POD_AFFINITY}),
    "one term that matches is enough": (
        ABC,
        required(label("z", "In", "1"), label("z", "In", "2")),
        {"c": POD_AFFINITY},
    ),
    "an empty term matches nothing": (ABC, required({}, label("z", "In", "2")), {"a": POD_AFFINITY, "c": POD_AFFINITY}),
    "nodeSelector and affinity must both match": (
        ABC,
        {**required(label("z", "Exists")), "nodeSelector": {"z": "1"}},
        {"b": POD_AFFINITY, "c": POD_AFFINITY},
    ),
    "a term that names a node excludes all others beforehand": (
        ABC,
        required({**named("a"), **label("z", "In", "2")}),
        {"a": POD_AFFINITY, "b": EXCLUDED, "c": EXCLUDED},
    ),
    "a term that does not name one lifts the exclusion": (
        ABC,
        required(named("a"), label("z", "In", "2")),
        {"c": POD_AFFINITY},
    ),
    "an empty term lifts it too": (ABC, required({}, named("a")), {"b": POD_AFFINITY, "c": POD_AFFINITY}),
    "NotIn names never exclude": (ABC, required(named("a", operator="NotIn")), {"a": POD_AFFINITY}),
    "names that conflict in every term reject the pod": (
        ABC,
        required(named("a", "b")),
        dict.fromkeys("abc", "pod affinity terms conflict"),
    ),
    "names that conflict in one term only": (
        ABC,
        required(named("a", "b"), named("c")),
        {"a": EXCLUDED, "b": EXCLUDED},
    ),
}


@pytest.mark.parametrize("case", AFFINITY)
def test_required_node_affinity(case: str) -> None:
    nodes, spec, expected = AFFINITY[case]
    assert reasons(ask(nodes, pod(**spec))) == expected


PREFERRED: dict[str, tuple[list[Data], Data, dict[str, int]]] = {
    "the feasible maximum is 100": (
        ABC,
        preferred((3, label("z", "In", "1")), (7, label("z", "In", "2"))),
        {"a": 84, "b": 200, "c": 0},
    ),
    "an infeasible node does not raise the maximum": (
        [node("a", z="1", unschedulable=True), *ABC[1:]],
        preferred((50, label("z", "In", "1")), (10, label("z", "In", "2")), (3, label("z", "DoesNotExist"))),
        {"b": 200, "c": 60},
    ),
    "the minimum is not subtracted": (
        ABC[:2],
        preferred((4, label("z", "In", "1")), (1, label("z", "In", "2"))),
        {"a": 200, "b": 50},
    ),
    "an empty preference matches nothing": (ABC[:2], preferred((5, {})), {"a": 0, "b": 0}),
    "an empty list is not stored, so that nothing is scored": (ABC[:2], preferred(), {}),
    "no list is not scored": (ABC[:2], {}, {}),
}


@pytest.mark.parametrize("case", PREFERRED)
def test_preferred_node_affinity(case: str) -> None:
    nodes, spec, expected = PREFERRED[case]
    assert scores(ask(nodes, pod(**spec)), "NodeAffinity") == expected


def test_added_affinity_scores_with_the_pods_own() -> None:
    zone = {"weight": 10, "preference": label("z", "In", "1")}
    config = with_args("NodeAffinity", addedAffinity={"preferredDuringSchedulingIgnoredDuringExecution": [zone]})
    report = ask(ABC, pod(**preferred((3, label("z", "In", "2")))), config)
    assert scores(report, "NodeAffinity") == {"a": 200, "b": 60, "c": 0}


def test_a_malformed_preference_fails_scoring_as_soon_as_two_nodes_fit() -> None:
    spec = preferred((5, label("n", "Gt", "x")))
    text = "[0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"
    failed = ask(ABC, pod(**spec))
    assert (failed.schedulable, failed.message, failed.feasible) == (
        False,
        f'running PreScore plugin "NodeAffinity": {text}',
        (),
    )
    assert [entry.scores for entry in failed.nodes] == [{}, {}, {}]
    single = ask(ABC[:1], pod(**spec))
    assert (single.schedulable, single.message, scores(single, "NodeAffinity")) == (True, None, {})


TAINTS: dict[str, tuple[list[Data], list[Data], dict[str, str]]] = {
    "NoSchedule": ([taint("k")], [], {"n": UNTOLERATED}),
    "NoExecute": ([taint("k", "NoExecute")], [], {"n": UNTOLERATED}),
    "PreferNoSchedule does not reject": ([taint("k", "PreferNoSchedule")], [], {}),
    "an unknown effect does not reject": ([taint("k", "Weird")], [], {}),
    "Equal with the value": ([taint("k", value="v")], [{"key": "k", "value": "v"}], {}),
    "Equal without the value": ([taint("k", value="v")], [{"key": "k", "operator": "Equal"}], {"n": UNTOLERATED}),
    "Exists": ([taint("k", value="v")], [{"key": "k", "operator": "Exists"}], {}),
    "Exists without a key tolerates everything": ([taint("k"), taint("l", "NoExecute")], [{"operator": "Exists"}], {}),
    "another effect": ([taint("k")], [{"key": "k", "operator": "Exists", "effect": "NoExecute"}], {"n": UNTOLERATED}),
    "one of two taints": ([taint("k"), taint("l")], [{"key": "k", "operator": "Exists"}], {"n": UNTOLERATED}),
    "tolerationSeconds is not looked at": (
        [taint("k", "NoExecute")],
        [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
        {},
    ),
}


@pytest.mark.parametrize("case", TAINTS)
def test_taints(case: str) -> None:
    taints, tolerations, expected = TAINTS[case]
    assert reasons(ask([node("n", taints=taints)], pod(tolerations=tolerations))) == expected


def soft_taints(count: int) -> list[Data]:
    return [taint(f"k{at}", "PreferNoSchedule") for at in range(count)]


TAINT_SCORES: dict[str, tuple[list[int], list[Data], list[int]]] = {
    "no taints: all get everything": ([0, 0], [], [300, 300]),
    "truncated before subtracting": ([3, 2, 1, 0], [], [0, 102, 201, 300]),
    "seven, three, two": ([7, 3, 2], [], [0, 174, 216]),
    "all equally tainted: all get nothing": ([1, 1], [], [0, 0]),
    "a toleration of the effect helps": (
        [1, 0],
        [{"key": "k0", "operator": "Exists", "effect": "PreferNoSchedule"}],
        [300, 300],
    ),
    "a toleration of another effect does not": (
        [1, 0],
        [{"key": "k0", "operator": "Exists", "effect": "NoSchedule"}],
        [0, 300],
    ),
}


@pytest.mark.parametrize("case", TAINT_SCORES)
def test_taint_scores(case: str) -> None:
    counts, tolerations, expected = TAINT_SCORES[case]
    nodes = [node(f"n{at}", taints=soft_taints(count)) for at, count in enumerate(counts)]
    assert list(scores(ask(nodes, pod(tolerations=tolerations)), "TaintToleration").values()) == expected


CORDON = "node.kubernetes.io/unschedulable"
CORDONS: dict[str, tuple[list[Data], bool]] = {
    "nothing": ([], False),
    "the cordon's taint": ([{"key": CORDON, "operator": "Exists"}], True),
    "the taint with an empty value": ([{"key": CORDON, "operator": "Equal"}], True),
    "the taint with a value": ([{"key": CORDON, "value": "x"}], False),
    "another effect": ([{"key": CORDON, "operator": "Exists", "effect": "NoExecute"}], False),
    "everything": ([{"operator": "Exists"}], True),
}


@pytest.mark.parametrize("case", CORDONS)
def test_a_cordoned_node_takes_pods_that_tolerate(case: str) -> None:
    tolerations, expected = CORDONS[case]
    report = ask([node("n", unschedulable=True)], pod(tolerations=tolerations))
    assert reasons(report) == ({} if expected else {"n": "node(s) were unschedulable"})


def test_a_pod_that_names_its_node_fits_only_there() -> None:
    other = "node(s) didn't match the requested node name"
    assert reasons(ask(ABC, pod(nodeName="b"))) == {"a": other, "c": other}
    nodes = [node("n1", unschedulable=True), node("n2", unschedulable=True), node("n3"), node("n4")]
    assert (
        ask(nodes, pod(nodeName="zz")).message == f"0/4 nodes are available: 2 {other}, 2 node(s) were unschedulable."
    )


def sized(name: str, **allocatable: str) -> Data:
    return {
        **node(name),
        "status": {"allocatable": {key.replace("_", "-"): value for key, value in allocatable.items()}},
    }


RESOURCES: dict[str, tuple[list[Data], Data, dict[str, tuple[str, set[str]]]]] = {
    "three containers of 0.4 bytes ask for 2 bytes": (
        [sized("n", memory="2", pods="9")],
        {
            "containers": [
                {"name": f"c{at}", "image": "x", "resources": {"requests": {"memory": "0.4"}}} for at in range(3)
            ]
        },
        {},
    ),
    "but milli-rounding is per container": (
        [sized("n", cpu="1m", pods="9")],
        {
            "containers": [
                {"name": f"c{at}", "image": "x", "resources": {"requests": {"cpu": "100u"}}} for at in range(2)
            ]
        },
        {"n": ("UnschedulableAndUnresolvable", {"Insufficient cpu"})},
    ),
    "a node without pod slots": ([sized("n", cpu="1")], {}, {"n": ("Unschedulable", {"Too many pods"})}),
    "every shortage is a reason": (
        [sized("n", cpu="4", memory="8Gi", pods="1"), pod("p", "n")],
        {
            "containers": [
                {
                    "name": "c",
                    "image": "x",
                    "resources": {
                        "requests": {"cpu": "5", "memory": "9Gi", "ephemeral-storage": "1", "example.com/a": "1"},
                        "limits": {"example.com/a": "1"},
                    },
                }
            ]
        },
        {
            "n": (
                "UnschedulableAndUnresolvable",
                {
                    "Too many pods",
                    "Insufficient cpu",
                    "Insufficient memory",
                    "Insufficient ephemeral-storage",
                    "Insufficient example.com/a",
                },
            )
        },
    ),
    "what others use can be freed": (
        [sized("n", cpu="4", pods="9"), pod("p", "n", requests={"cpu": "3"})],
        {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "2"}}}]},
        {"n": ("Unschedulable", {"Insufficient cpu"})},
    ),
    "limits are requests where there is no request": (
        [sized("n", cpu="4", pods="9")],
        {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"cpu": "5"}}}]},
        {"n": ("UnschedulableAndUnresolvable", {"Insufficient cpu"})},
    ),
}


@pytest.mark.parametrize("case", RESOURCES)
def test_resources(case: str) -> None:
    objects, spec, expected = RESOURCES[case]
    report = ask(objects, pod(**spec))
    assert {
        entry.name: (entry.verdict.code, set(entry.verdict.reasons)) for entry in report.nodes if not entry.feasible
    } == expected


def sidecars(*containers: tuple[str, bool]) -> list[Data]:
    return [
        {"name": f"i{at}", "image": "x", "resources": {"requests": {"cpu": cpu}}}
        | ({"restartPolicy": "Always"} if sidecar else {})
        for at, (cpu, sidecar) in enumerate(containers)
    ]


@pytest.mark.parametrize(
    ("init", "needed"),
    [([("1", True), ("2", False)], 3), ([("2", False), ("1", True)], 2)],
    ids=["sidecar first", "sidecar last"],
)
def test_a_sidecar_counts_beside_what_follows_it(init: list[tuple[str, bool]], needed: int) -> None:
    candidate = pod(requests={"cpu": "1"}, initContainers=sidecars(*init))
    nodes = [sized(f"n{cpu}", cpu=str(cpu), pods="9") for cpu in (1, 2, 3)]
    assert fits(ask(nodes, candidate)) == [f"n{cpu}" for cpu in (1, 2, 3) if cpu >= needed]


MESSAGES: dict[str, tuple[list[Data], Data, str]] = {
    "a reason counts once on every node that has it": (
        [
            sized("n1", cpu="1", memory="1", pods="9"),
            sized("n2", cpu="1", memory="1", pods="9"),
            sized("n3", cpu="1", memory="9Gi", pods="9"),
        ],
        pod(requests={"cpu": "2", "memory": "1Gi"}),
        "0/3 nodes are available: 2 Insufficient memory, 3 Insufficient cpu.",
    ),
    "reasons are sorted as text": (
        [
            *(sized(f"n{at:02}", cpu="1", pods="9") for at in range(11)),
            node("t1", taints=[taint("k")]),
            node("t2", taints=[taint("k")]),
        ],
        pod(requests={"cpu": "2"}),
        "0/13 nodes are available: 11 Insufficient cpu, 2 node(s) had untolerated taint(s).",
    ),
    "pinning hides every other reason": (
        [node("a", unschedulable=True), node("b", taints=[taint("k")]), node("c")],
        pod(**required(named("a"))),
        f"0/3 nodes are available: 1 node(s) were unschedulable, 2 {EXCLUDED}.",
    ),
    "pinned to a node that is not there": (
        FIVE,
        pod(**required(named("zz"))),
        f"0/5 nodes are available: 5 {EXCLUDED}.",
    ),
    "a pod rejected as a whole": (
        FIVE,
        pod(**required(named("a", "b"))),
        "0/5 nodes are available: pod affinity terms conflict.",
    ),
    "the first plugin in profile order is the node's reason": (
        [node("a", unschedulable=True, taints=[taint(CORDON)]), *pods_on({"a": 1})],
        pod(requests={"cpu": "99"}),
        "0/1 nodes are available: 1 node(s) were unschedulable.",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_fit_error(case: str) -> None:
    objects, candidate, expected = MESSAGES[case]
    assert ask(objects, candidate).message == expected


def test_feasible_nodes_are_ordered_by_total_then_name() -> None:
    nodes = [node("b"), node("a"), node("c", z="1")]
    assert ask(nodes, pod(**preferred((1, label("z", "In", "1"))))).feasible == ("c", "a", "b")
