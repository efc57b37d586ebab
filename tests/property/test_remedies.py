"""Remedies of `explain --fix` and `pending` on random clusters: done by hand they help as far as they are said to, and
nothing that is said not to help does.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

import kubespread
from kubespread import ExplainReport, Snapshot
from kubespread.errors import KubespreadError
from tests.builders import Data, hard, node, pod, taint
from tests.world.clusters import budget, daemon_set, deployment, stateful_set

OPTION = re.compile(r"--(?P<verb>\S+) (?:'(?P<quoted>[^']*)'|(?P<plain>\S+))")
SETTING = re.compile(r"(?P<field>\w+)(?:\[(?P<key>[^\]]*)\])?=(?P<value>.+)")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
LETS_THE_QUEUE_RUN = "label n0 seen=yes"
SEEDS = range(1, 8)


@cache
def cluster(seed: int) -> list[Data]:
    """Nodes in up to three zones, some of them closed, and workloads of which some pods wait."""
    chance = random.Random(seed)
    nodes = [f"n{number}" for number in range(chance.randint(2, 5))]
    made = [_node(chance, name) for name in nodes]
    for app in ("web", "api"):
        on = tuple(chance.choice([None, *nodes]) for _ in range(chance.randint(1, 4)))
        made += deployment(app, on, cpu=chance.choice(["500m", "1", "2"]), spec=_spec(chance, app))
    if chance.random() < 0.4:
        made += stateful_set("db", tuple(chance.choice([None, *nodes]) for _ in range(2)), parallel=True)
    if chance.random() < 0.3:
        made += daemon_set("agent", tuple(nodes), cpu="100m", tolerations=[{"operator": "Exists"}])
    if chance.random() < 0.4:
        made.append(budget(chance.choice(["web", "api"]), maxUnavailable=1))
    return made


def _node(chance: random.Random, name: str) -> Data:
    labels = {"rack": chance.choice("xy")} if chance.random() < 0.7 else {}
    return node(
        name,
        zone=chance.choice("aabc"),
        host=name,
        pool=chance.choice(["gen", "gen", "mem"]),
        cpu=chance.choice(["1", "2", "4"]),
        taints=[taint("gpu")] if chance.random() < 0.2 else [],
        unschedulable=chance.random() < 0.2,
        **labels,
    )


def _spec(chance: random.Random, app: str) -> Data:
    """What keeps pods from nodes; none preempts another."""
    constraints = [
        hard(key, match={"app": app}) for key in chance.sample(["zone", "rack", "host"], chance.randint(0, 2))
    ]
    for each in constraints:
        if each["topologyKey"] == "zone" and chance.random() < 0.3:
            each["minDomains"] = 3
    spec: Data = {"topologySpreadConstraints": constraints}
    if chance.random() < 0.25:
        spec["nodeSelector"] = {"pool": chance.choice(["mem", "ssd"])}
    if chance.random() < 0.2:
        term = {"topologyKey": "host", "labelSelector": {"matchLabels": {"app": app}}}
        spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}}
    return spec


def waiting(objects: list[Data]) -> list[Data]:
    return [each for each in objects if each["kind"] == "Pod" and "nodeName" not in each["spec"]]


def copied(objects: list[Data]) -> list[Data]:
    """Pods of one workload share their specs."""
    made: list[Data] = json.loads(json.dumps(objects))
    return made


def snapshot_of(objects: list[Data], *edits: str) -> Snapshot:
    return Snapshot.from_objects(copied(objects)).edited(*edits)


def key(each: Data) -> str:
    return f"{each['metadata']['namespace']}/{each['metadata']['name']}"


def by_hand(objects: list[Data], options: tuple[str, ...], pods: set[str]) -> tuple[list[Data], list[str]]:
    """The objects with what can be done in them itself, to ``pods`` and to nodes, and the edits that are left."""
    changed, left = copied(objects), list[str]()
    for match in OPTION.finditer(" ".join(options)):
        text = match["quoted"] or match["plain"]
        if match["verb"] == "set":
            for each in waiting(changed):
                if key(each) in pods:
                    _set(each["spec"], text)
        elif match["verb"] in ("uncordon", "taint", "label"):
            name, _, change = text.partition(" ")
            _edit(next(each for each in changed if each["kind"] == "Node" and each["metadata"]["name"] == name), change)
        else:
            left.append(f"{match['verb']} {text}")
    return changed, left


def _edit(node: Data, change: str) -> None:
    spec, labels = node["spec"], node["metadata"]["labels"]
    if not change:
        spec.pop("unschedulable", None)
    elif "=" in change:
        label, _, labels_value = change.partition("=")
        labels[label] = labels_value
    else:
        gone = change.removesuffix("-").partition(":")[0]
        spec["taints"] = [each for each in spec["taints"] if each["key"] != gone]


def _set(spec: Data, text: str) -> None:
    match = SETTING.fullmatch(text)
    assert match is not None, text
    field, name, value = match["field"], match["key"], match["value"]
    if field in ("cpu", "memory"):
        spec["containers"][0].setdefault("resources", {}).setdefault("requests", {})[field] = value
    elif field == "tolerations":
        taint_key, _, effect = value.partition(":")
        spec.setdefault("tolerations", []).append({"key": taint_key, "operator": "Exists", "effect": effect})
    elif field == "nodeSelector":
        del spec["nodeSelector"][name]
    elif field == "podAntiAffinity":
        spec["affinity"][field][REQUIRED] = [
            each for each in spec["affinity"][field][REQUIRED] if each["topologyKey"] != name
        ]
    else:
        (constraint,) = [each for each in spec["topologySpreadConstraints"] if each["topologyKey"] == name]
        if value == "null":
            del constraint[field]
        else:
            constraint[field] = int(value) if field in ("maxSkew", "minDomains") else value


def parts(options: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """What is set, and the edits."""
    found = [(match["verb"], match["quoted"] or match["plain"]) for match in OPTION.finditer(" ".join(options))]
    return [text for verb, text in found if verb == "set"], [f"{verb} {text}" for verb, text in found if verb != "set"]


def fits(objects: list[Data], options: tuple[str, ...], name: str) -> bool:
    """Whether a pod that waits finds a node once the options are done: by hand, or as `explain` does them where the
    cluster and the pod are changed both.
    """
    settings, edits = parts(options)
    pod = f"pod/{name.partition('/')[2]}"
    try:
        if settings and edits:
            return kubespread.explain(snapshot_of(objects, *edits), pod, set=settings).schedulable
        changed, left = by_hand(objects, options, {name})
        return kubespread.explain(snapshot_of(changed, *left), pod).schedulable
    except KubespreadError:
        return False


def singles(objects: list[Data], asked: Data) -> Iterator[tuple[str, str]]:
    """Every single change of the kinds that are tried, with its family."""
    spec = asked["spec"]
    for each in spec["topologySpreadConstraints"]:
        over = each["topologyKey"]
        yield from (("maxSkew", f"--set maxSkew[{over}]={skew}") for skew in (2, 3, 5))
        yield from (
            ("policy", f"--set {name}[{over}]={value}")
            for name, value in (("nodeTaintsPolicy", "Honor"), ("nodeAffinityPolicy", "Ignore"))
        )
        yield from (
            ("minDomains", f"--set minDomains[{over}]={fewer}") for fewer in range(1, each.get("minDomains", 1))
        )
        null = f"--set minDomains[{over}]=null " if "minDomains" in each else ""
        yield "ScheduleAnyway", f"{null}--set whenUnsatisfiable[{over}]=ScheduleAnyway"
    yield from (("nodeSelector", f"--set nodeSelector[{label}]=null") for label in spec.get("nodeSelector", {}))
    if "affinity" in spec:
        yield "podAntiAffinity", "--set podAntiAffinity[host]=null"
    yield "requests", "--set cpu=1m"
    for each in objects:
        name, own = each["metadata"]["name"], each["spec"]
        if each["kind"] == "Node":
            if own.get("unschedulable"):
                yield "uncordon", f"--uncordon {name}"
            if own["taints"]:
                yield "untaint", f"--taint '{name} gpu:NoSchedule-'"
                yield "tolerate", "--set tolerations=gpu:NoSchedule"
            yield from (
                ("label", f"--label '{name} {label}={value}'") for label, value in spec.get("nodeSelector", {}).items()
            )
            yield "add-node", f"--add-node {name}"
        if each["kind"] == "Pod" and "nodeName" in own:
            yield "evict", f"--evict default/{name}"


def advised(objects: list[Data], name: str) -> ExplainReport:
    return kubespread.explain(snapshot_of(objects), f"pod/{name.partition('/')[2]}", fix=True)


def check_advice(objects: list[Data]) -> None:
    asked = waiting(objects)[0]
    name = key(asked)
    report = advised(objects, name)
    if report.advice is None:
        assert report.feasible
        assert fits(objects, (), name)
        return
    assert not fits(objects, (), name)
    for each in report.advice.enough:
        assert fits(objects, each.options, name), each.options
        for other in each.alternatives[:2]:
            assert fits(objects, (other,), name), other
        if " + " in each.family:
            for place in range(len(each.options)):
                assert not fits(objects, (*each.options[:place], *each.options[place + 1 :]), name), each.options
        check_nobody_loses(objects, each.options, {name})
    advice = report.advice
    told = {each.family for each in advice.enough} | {each.family for each in advice.costly} | set(advice.untried)
    for family, option in singles(objects, asked):
        assert family in told or not fits(objects, (option,), name), (option, told)


def check_nobody_loses(objects: list[Data], options: tuple[str, ...], pods: set[str]) -> None:
    """No workload has more pods without a node than it had, but for ``pods``, which are asked about."""
    _, edits = parts(options)
    then, before = pods_waiting(snapshot_of(objects, *edits)) - pods, set(map(key, waiting(objects))) - pods
    assert not Counter(map(workload, then)) - Counter(map(workload, before)), options


def workload(pod: str) -> str:
    return pod.partition("/")[2].partition("-")[0]


def pods_waiting(snapshot: Snapshot) -> set[str]:
    return {pod for group in kubespread.pending(snapshot).groups for pod in group.pods}


def check_groups(objects: list[Data]) -> None:
    report = kubespread.pending(snapshot_of(objects))
    pods = [pod for group in report.groups for pod in group.pods]
    assert sorted(pods) == sorted(map(key, waiting(objects)))
    assert (report.verdict == "yes") == (not pods)
    assert report.pending == len(pods)
    for group in report.groups:
        if group.change is not None:
            assert placed(objects, group.change.options, set(group.pods)) == group.freed > group.fitting, group
            check_nobody_loses(objects, group.change.options, set(group.pods))
        if len(group.pods) == 1 and group.cause == "filtered":
            (name,) = group.pods
            assert (group.change is not None) == (advised(objects, name).verdict == "yes"), group
        if group.cause == "filtered":
            check_cause(objects, group.why, next(each for each in waiting(objects) if key(each) == group.pods[0]))


def check_replicas(objects: list[Data]) -> None:
    """What is suggested for all replicas of a workload lets `simulate` place them all."""
    for name in ("web", "api"):
        report = kubespread.explain(snapshot_of(objects), f"deploy/{name}", fix=True)
        fix = report.fix
        assert fix is not None
        if fix.replicas is None:
            # All run, and the next pod, as of a rollout, does not fit.
            assert (lacking(objects, (), name), next_fits(objects, (), name)) == (0, False)
            for each in report.advice.enough if report.advice is not None else ():
                assert next_fits(objects, each.options, name), each.options
            continue
        assert fix.replicas == sum(each["kind"] == "Pod" and workload(key(each)) == name for each in objects)
        assert lacking(objects, (), name) == (fix.replicas or 0) - (fix.placed or 0)
        if report.advice is None:
            assert fix.placed == fix.replicas
            continue
        for each in report.advice.enough:
            assert lacking(objects, each.options, name) == 0, each.options
            if " + " in each.family:
                for place in range(len(each.options)):
                    fewer = (*each.options[:place], *each.options[place + 1 :])
                    assert lacking(objects, fewer, name) != 0, each.options


def next_fits(objects: list[Data], options: tuple[str, ...], name: str) -> bool:
    """Whether one pod more has a node, at others' cost too."""
    settings, edits = parts(options)
    report = kubespread.explain(snapshot_of(objects, *edits), f"deploy/{name}", set=settings)
    return report.schedulable or (report.preemption is not None and bool(report.preemption.victims))


def lacking(objects: list[Data], options: tuple[str, ...], name: str) -> int:
    """How many replicas have no node as `simulate` has it; -1 where it refuses to."""
    settings, edits = parts(options)
    try:
        report = kubespread.simulate(snapshot_of(objects, *edits), f"deploy/{name}", set=settings)
    except KubespreadError:
        return -1
    if report.rollout is not None:
        return report.rollout.pending + report.rollout.not_created
    return (report.replicas or 0) - report.present - report.placed


def placed(objects: list[Data], options: tuple[str, ...], pods: set[str]) -> int:
    """How many of ``pods`` have a node once the options are done: with everyone who waits where the cluster is edited,
    with them alone where they are other than they were.
    """
    settings, edits = parts(options)
    if not settings:
        return len(pods - pods_waiting(snapshot_of(objects, *edits)))
    changed, _ = by_hand(objects, tuple(f"--set {each}" for each in settings), pods)
    alone = [each for each in changed if each["kind"] != "Pod" or "nodeName" in each["spec"] or key(each) in pods]
    return len(pods - pods_waiting(snapshot_of(alone, *edits, LETS_THE_QUEUE_RUN)))


def check_cause(objects: list[Data], why: str, asked: Data) -> None:
    """What is given as the one thing that keeps a pod from all nodes is: without it the pod finds one."""
    if match := re.fullmatch(r"(zone|rack|host) ≤ 1: [^;]*", why):
        over = [each for each in asked["spec"]["topologySpreadConstraints"] if each["topologyKey"] == match[1]]
        null = [f"--set minDomains[{match[1]}]=null"] if "minDomains" in over[0] else []
        options = (*null, f"--set whenUnsatisfiable[{match[1]}]=ScheduleAnyway")
        assert fits(objects, options, key(asked)), why
    elif re.match(r"needs \S+ cpu on one node; most free on one: [1-9][^;]*$", why):
        assert fits(objects, ("--set cpu=1m",), key(asked)), why


def new_workload(seed: int) -> Data:
    """A Deployment that needs several changes at once to find nodes."""
    chance = random.Random(-seed)
    requests = {"cpu": chance.choice(["500m", "3", "8"]), "memory": chance.choice(["1Gi", "20Gi"])}
    spec = {**_spec(chance, "new"), "containers": pod(requests=requests)["spec"]["containers"]}
    if chance.random() < 0.6:
        spec["nodeSelector"] = {"pool": chance.choice(["mem", "ssd"]), "disk": "nvme"}
    return deployment("new", replicas=chance.randint(1, 4), spec=spec)[0]


def check_agreement(objects: list[Data], new: Data) -> None:
    """`check` has a remedy exactly where `explain --fix` finds a change that evicts no pod."""
    found = kubespread.check(snapshot_of(objects), copied([new])[0], select=["KS209"]).findings
    advice = kubespread.explain(snapshot_of(objects), copied([new])[0], fix=True).advice
    enough = [] if advice is None else [each for each in advice.enough if "evict" not in each.family]
    count = f"{new['spec']['replicas']} of {new['spec']['replicas']} "
    is_enough = [(each.remedy.outcome or "").startswith(count) for each in found]
    assert is_enough == ([bool(enough)] if advice is not None else []), (found, enough)


@pytest.mark.parametrize("seed", [*SEEDS, 5262])
def test_advice_done_by_hand_lets_the_pod_in_and_what_is_denied_does_not(seed: int) -> None:
    if waiting(cluster(seed)):
        check_advice(cluster(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_of_pending_pods_are_freed_as_far_as_they_are_said_to_be(seed: int) -> None:
    check_groups(cluster(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_advice_on_all_replicas_lets_simulate_place_them(seed: int) -> None:
    check_replicas(cluster(seed))


@pytest.mark.parametrize("seed", [28, 29, 50, 59])
def test_check_has_a_remedy_where_fix_finds_a_change(seed: int) -> None:
    check_agreement(cluster(seed), new_workload(seed))


if __name__ == "__main__":
    # More of the same: ``python -m tests.property.test_remedies FIRST LAST``.
    for number in range(*map(int, sys.argv[1:3])):
        test_advice_done_by_hand_lets_the_pod_in_and_what_is_denied_does_not(number)
        test_groups_of_pending_pods_are_freed_as_far_as_they_are_said_to_be(number)
        test_advice_on_all_replicas_lets_simulate_place_them(number)
        test_check_has_a_remedy_where_fix_finds_a_change(number)
