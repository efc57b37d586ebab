"""The data behind rejections: each kind of reason by example, and that its numbers are those the filter used."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.kube.quantity import parse, rounded
from kubespread.scheduler.causes import Cause, Causes, PodCountDetail, ResourceDetail
from kubespread.scheduler.evaluation import evaluate, evaluated
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from tests.builders import hosts, node, pod, taint
from tests.scheduler.asking import ask, with_args
from tests.scheduler.random_clusters import Question, World, changes, profiles, questions, visitors
from tests.scheduler.test_interpodaffinity import away, near, term
from tests.scheduler.test_node_plugins import label, named, required
from tests.scheduler.test_ports_and_features import declaring, ports, used
from tests.scheduler.test_volumes import CSI, HOSTS, WAIT, claim, csi_node, on_host, storage_class, uses, volume

Data = dict[str, Any]
FOO = {"foo": "bar"}
ZONES = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), node("x")]


def details(report: kubespread.ExplainReport) -> dict[str, list[Data]]:
    """Of every node that has any, as JSON has them, by plugin in the profile's order."""
    plain = report.to_dict()["nodes"]
    told = {each["name"]: [detail for one in each["rejections"] for detail in one["details"]] for each in plain}
    return {name: listed for name, listed in sorted(told.items()) if listed}


def short(report: kubespread.ExplainReport) -> dict[str, list[str]]:
    """The same in a few words each."""
    told = {each.name: [detail.short for one in each.rejections for detail in one.details] for each in report.nodes}
    return {name: listed for name, listed in sorted(told.items()) if listed}


def small(name: str = "n", *, pods: str = "110", **allocatable: str) -> Data:
    plain = node(name)
    return {**plain, "status": {"allocatable": {"cpu": "7910m", "memory": "16Gi", "pods": pods, **allocatable}}}


def asking(**requests: str) -> Data:
    return pod(requests=requests)


SHORT: dict[str, tuple[list[Data], Data, dict[str, list[str]]]] = {
    "a cordoned node": ([node("n", unschedulable=True)], pod(), {"n": ["cordoned"]}),
    "every taint that is not tolerated, and not the first one only": (
        [
            node(
                "n", taints=[taint("dedicated", value="gpu"), taint("old", "NoExecute"), taint("s", "PreferNoSchedule")]
            )
        ],
        pod(),
        {"n": ["taint dedicated=gpu:NoSchedule", "taint old:NoExecute"]},
    ),
    "a tolerated taint is no reason": (
        [node("n", taints=[taint("a"), taint("b")])],
        pod(tolerations=[{"key": "a", "operator": "Exists"}]),
        {"n": ["taint b:NoSchedule"]},
    ),
    "another node's name": ([node("n"), node("m")], pod(on="m"), {"n": ["nodeName is m"]}),
    "cpu in cores": (
        [small(), pod("p", "n", requests={"cpu": "7710m"})],
        asking(cpu="1"),
        {"n": ["cpu needs 1, free 0.2 of 7.91"]},
    ),
    "memory in the greatest unit, what is needed rounded up and what is free down": (
        [small(), pod("p", "n", requests={"memory": "14850Mi"})],
        asking(memory="1535Mi"),
        {"n": ["memory needs 1.5Gi, free 1.4Gi of 16Gi"]},
    ),
    "each short resource": (
        [small()],
        asking(cpu="8", memory="17Gi"),
        {"n": ["cpu needs 8, free 7.91 of 7.91", "memory needs 17Gi, free 16Gi of 16Gi"]},
    ),
    "a resource nobody offers": (
        [small()],
        pod(containers=[{"name": "c", "image": "x", "resources": {"limits": {"example.com/gpu": "2"}}}]),
        {"n": ["example.com/gpu needs 2, free 0 of 0"]},
    ),
    "more requested than there is leaves less than nothing": (
        [small(), pod("p", "n", requests={"cpu": "8410m", "memory": "20Gi"})],
        asking(cpu="100m", memory="1Mi"),
        {"n": ["cpu needs 0.1, free -0.5 of 7.91", "memory needs 1Mi, free -4Gi of 16Gi"]},
    ),
    "as many pods as the node may run": ([small(pods="1"), pod("p", "n")], pod(), {"n": ["runs 1 of 1 pods"]}),
    "a nodeSelector, label by label": (
        [node("n", disk="hdd", tier="db"), node("m", disk="ssd", tier="web"), node("x")],
        pod(nodeSelector={"disk": "ssd", "tier": "web"}),
        {
            "n": ["needs disk=ssd, has hdd", "needs tier=web, has db"],
            "x": ["needs disk=ssd, has none", "needs tier=web, has none"],
        },
    ),
    "a label that is there and empty": (
        [node("n", disk="")],
        pod(nodeSelector={"disk": "ssd"}),
        {"n": ["needs disk=ssd, has (empty)"]},
    ),
    "of terms that are alternatives, all": (
        [node("n", z="3"), node("m", z="2")],
        pod(**required(label("z", "In", "1", "2"), label("z", "Gt", "7"))),
        {"n": ["needs z in (1,2), has 3", "needs z Gt 7, has 3"]},
    ),
    "a term that names a node": (
        [node("n"), node("m")],
        pod(**required(named("m"))),
        {"n": ["needs metadata.name=m, has n"]},
    ),
    "an empty term has nothing to tell": ([node("n")], pod(**required({})), {}),
    "a port, and who holds it": (
        [node("n"), used({"hostPort": 80}, namespace="shop")],
        ports({"hostPort": 80}),
        {"n": ["port 80/TCP held by shop/p"]},
    ),
    "a port on one address of a node": (
        [node("n"), used({"hostPort": 80, "hostIP": "1.1.1.1"}, {"hostPort": 81})],
        ports({"hostPort": 80}),
        {"n": ["port 80/TCP held by default/p"]},
    ),
    "anti-affinity, with the first pod that counts and how many": (
        [*ZONES, pod("p", "a1"), pod("q", "a2"), pod("r", "b1", labels={"foo": "other"})],
        pod(affinity=away(term(match=FOO))),
        {name: ["anti-affinity to default/p and 1 more in zone a"] for name in ("a1", "a2")},
    ),
    "anti-affinity on a host": (
        [*hosts("a"), pod("p", "n0")],
        pod(affinity=away(term("kubernetes.io/hostname", FOO))),
        {"n0": ["anti-affinity to default/p on this host"]},
    ),
    "the anti-affinity of a pod that is there": (
        [*ZONES, pod("p", "a1", labels={"foo": "other"}, affinity=away(term(match=FOO)))],
        pod(),
        {name: ["anti-affinity of default/p in zone a"] for name in ("a1", "a2")},
    ),
    "affinity to a pod that is elsewhere, and a node without a domain": (
        [*ZONES, pod("p", "b1")],
        pod(labels={}, affinity=near(term(match=FOO))),
        {"a1": ["no pod foo=bar in zone a"], "a2": ["no pod foo=bar in zone a"], "x": ["no label zone"]},
    ),
    "the first of a group lacks only the label": (ZONES, pod(affinity=near(term(match=FOO))), {"x": ["no label zone"]}),
    "a volume of another host": (
        [*HOSTS, claim(volume="pv1"), volume(only=on_host("n2"))],
        uses("c"),
        {"n1": ["volume pv1 needs host=n2, has n1"]},
    ),
    "a volume of another zone": (
        [*hosts("a"), claim(volume="pv1"), volume(labels={"topology.kubernetes.io/zone": "b__c"})],
        uses("c"),
        {"n0": ["volume pv1 is in b or c, node has a"]},
    ),
    "a volume that does not exist": (
        [node("n"), claim(volume="pv1")],
        uses("c"),
        {"n": ["claim default/c is bound to missing volume pv1"]},
    ),
    "a claim that finds no volume": (
        [node("n"), claim(storage_class="local"), storage_class("local", "kubernetes.io/no-provisioner")],
        uses("c"),
        {"n": ["no volume for claim default/c (10Gi)"]},
    ),
    "a claim promised to another node": (
        [*HOSTS, WAIT, claim(storage_class="wait", annotations={"volume.kubernetes.io/selected-node": "n2"})],
        uses("c"),
        {"n1": ["claim default/c is to be bound on n2"]},
    ),
    "a driver with too little storage left": (
        [
            node("n"),
            WAIT,
            claim(storage_class="wait"),
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIDriver",
                "metadata": {"name": "d.csi"},
                "spec": {"storageCapacity": True},
            },
        ],
        uses("c"),
        {"n": ["wait has no 10Gi free for claim default/c"]},
    ),
    "a driver that can attach no more": (
        [
            node("n"),
            claim("c", "pv1"),
            claim("d", "pv2"),
            volume("pv1", csi=CSI),
            volume("pv2", csi={**CSI, "volumeHandle": "h2"}),
            csi_node("n", d_csi=1),
            uses("d", name="p", on="n"),
        ],
        uses("c"),
        {"n": ["d.csi needs 1 more, 1 of 1 volumes attached"]},
    ),
    "a disk that a pod has for itself": (
        [*HOSTS, pod("p", "n1", volumes=[{"name": "x", "gcePersistentDisk": {"pdName": "d"}}])],
        pod(volumes=[{"name": "data", "gcePersistentDisk": {"pdName": "d"}}]),
        {"n1": ["disk data used by default/p"]},
    ),
    "a claim for one pod only": (
        [*HOSTS, claim(volume="pv1", accessModes=["ReadWriteOncePod"]), volume(), uses("c", name="p", on="n1")],
        uses("c"),
        {name: ["claim default/c used by default/p"] for name in ("n1", "n2")},
    ),
    "a feature the kubelet does not declare": (
        [declaring("n"), declaring("m", "RestartAllContainersOnContainerExits")],
        pod(
            containers=[
                {
                    "name": "c",
                    "image": "x",
                    "restartPolicy": "Never",
                    "restartPolicyRules": [
                        {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
                    ],
                }
            ]
        ),
        {"n": ["kubelet lacks RestartAllContainersOnContainerExits"]},
    ),
    "several plugins, each with its own": (
        [node("n", cpu="1", unschedulable=True)],
        pod(nodeSelector={"disk": "ssd"}, requests={"cpu": "2"}),
        {"n": ["cordoned", "needs disk=ssd, has none", "cpu needs 2, free 1 of 1"]},
    ),
    "a pod rejected as a whole has none": ([node("n")], pod(**required(named("n", "m"))), {}),
    "a node that rejects for a pod that waits with it nominated has none": (
        [small(), {**pod("p", requests={"cpu": "7"}, priority=9), "status": {"nominatedNodeName": "n"}}],
        asking(cpu="1"),
        {},
    ),
}


@pytest.mark.parametrize("case", SHORT)
def test_a_rejection_in_a_few_words(case: str) -> None:
    objects, candidate, expected = SHORT[case]
    assert short(ask(objects, candidate)) == expected


JSON: dict[str, tuple[list[Data], Data, str | None, dict[str, list[Data]]]] = {
    "amounts are canonical quantities": (
        [small(memory="16777217Ki"), pod("p", "n", requests={"cpu": "7.7", "memory": "1Gi"})],
        asking(cpu="1000m", memory="15361Mi"),
        None,
        {
            "n": [
                {"type": "resource", "resource": "cpu", "requested": "1", "free": "210m", "allocatable": "7910m"},
                {
                    "type": "resource",
                    "resource": "memory",
                    "requested": "15361Mi",
                    "free": "15728641Ki",
                    "allocatable": "16777217Ki",
                },
            ]
        },
    ),
    "the term of an affinity, and what the node has": (
        [node("n", z="3")],
        pod(**required({}, {**label("z", "NotIn", "3"), **named("m")})),
        None,
        {
            "n": [
                {
                    "type": "nodeLabel",
                    "source": "nodeAffinity",
                    "term": 1,
                    "key": "z",
                    "operator": "NotIn",
                    "values": ["3"],
                    "actual": "3",
                },
                {
                    "type": "nodeLabel",
                    "source": "nodeAffinity",
                    "term": 1,
                    "key": "metadata.name",
                    "operator": "In",
                    "values": ["m"],
                    "actual": "n",
                },
            ]
        },
    ),
    "the profile's affinity hides the pod's own, as its reason does": (
        [node("n", z="3")],
        pod(nodeSelector={"disk": "ssd"}),
        with_args(
            "NodeAffinity",
            addedAffinity={
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [label("q", "Exists"), label("y", "Exists")]
                }
            },
        ),
        {
            "n": [
                {
                    "type": "nodeLabel",
                    "source": "addedAffinity",
                    "term": position,
                    "key": key,
                    "operator": "Exists",
                    "values": [],
                    "actual": None,
                }
                for position, key in enumerate("qy")
            ]
        },
    ),
    "a term over several namespaces": (
        [*ZONES, pod("p", "a1", namespace="shop")],
        pod(affinity=away(term(match=FOO, namespaces=["web", "shop"], namespaceSelector={}))),
        None,
        {
            name: [
                {
                    "type": "podAntiAffinity",
                    "topologyKey": "zone",
                    "domain": "a",
                    "selector": "foo=bar",
                    "namespaces": ["web", "shop"],
                    "namespaceSelector": "<empty>",
                    "pod": "shop/p",
                    "node": "a1",
                    "pods": 1,
                    "ofExistingPod": False,
                }
            ]
            for name in ("a1", "a2")
        },
    ),
}


@pytest.mark.parametrize("case", JSON)
def test_the_same_as_data(case: str) -> None:
    objects, candidate, config, expected = JSON[case]
    assert details(ask(objects, candidate, config)) == expected


@pytest.mark.parametrize(
    ("quantity", "down", "up"),
    [
        ("0", "0", "0"),
        ("1", "1", "1"),
        ("250m", "0.25", "0.25"),
        ("-500m", "-0.5", "-0.5"),
        ("12k", "12000", "12000"),
        ("1023", "1023", "1023"),
        ("1Ki", "1Ki", "1Ki"),
        ("1025Ki", "1Mi", "1.1Mi"),
        ("1535Mi", "1.4Gi", "1.5Gi"),
        ("-42380Ki", "-41.4Mi", "-41.3Mi"),
        ("1234567890", "1.2G", "1.3G"),
        ("2Ti", "2Ti", "2Ti"),
    ],
)
def test_amounts_for_people_never_flatter(quantity: str, down: str, up: str) -> None:
    assert (rounded(quantity), rounded(quantity, up=True)) == (down, up)


WITHOUT_DETAILS = {"PodTopologySpread"}


@given(profiles(), questions())
@settings(max_examples=150, deadline=None)
def test_details_say_what_the_reasons_say(plugins: Framework, question: Question) -> None:
    try:
        evaluation = evaluate(plugins, question.cluster, question.candidate)
    except SchedulingError:
        return
    told, cluster = evaluation.causes(), evaluation.cluster
    for place in range(len(cluster)):
        for status in evaluation.rejections(place):
            state = evaluation.states.get(status.plugin)
            behind = told[status.plugin].get(place, ())
            if state is None or status.plugin in WITHOUT_DETAILS or place in evaluation.prepared.nominated:
                assert behind == ()
                continue
            assert behind
            assert [msgspec.convert(msgspec.to_builtins(each), type=Cause) for each in behind] == list(behind)
            if status.plugin == "NodeResourcesFit":
                assert reasons_of(behind) == set(status.reasons)
    for name, of_nodes in told.items():
        rejecting = {
            place for place in range(len(cluster)) for each in evaluation.rejections(place) if each.plugin == name
        }
        assert set(of_nodes) <= rejecting


@given(profiles(), questions(), st.data())
@settings(max_examples=80, deadline=None)
def test_causes_follow_changes_and_do_not_depend_on_which_nodes_are_asked_about(
    plugins: Framework, question: Question, data: st.DataObject
) -> None:
    world, cluster = World(question), question.cluster
    change = data.draw(changes(world, visitors(question), 0))
    after = cluster.after(change)
    try:
        followed = plugins.prepare(cluster, question.candidate).after(after, cluster.moves(change))
        evaluation = evaluate(plugins, after, question.candidate)
    except SchedulingError:
        return
    assert evaluated(followed).causes() == evaluation.causes()
    for name, by_node in evaluation.causes().items():
        some = data.draw(st.permutations(sorted(by_node)))[:2]
        if some:
            asked = evaluation.states[name].causes(after, np.array(some, dtype=np.intp))
            assert list(asked) == [by_node[node] for node in some]


def reasons_of(shortages: Causes) -> set[str]:
    """kube-scheduler's reasons for what is short, each of which has to be short by its own numbers."""
    reasons = set()
    for each in shortages:
        match each:
            case ResourceDetail(resource=resource, requested=requested, free=free, allocatable=allocatable):
                assert parse(free).nano < parse(requested).nano
                assert parse(free).nano <= parse(allocatable).nano
                reasons.add(f"Insufficient {resource}")
            case PodCountDetail(running=running, allowed=allowed):
                assert running >= allowed
                reasons.add("Too many pods")
    return reasons
