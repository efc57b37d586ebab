"""A report's lines in words: what is wrong, how bad it is, the command that shows it, and what was tried."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread import Scorecard, Snapshot
from kubespread.errors import UsageError
from kubespread.questions.report import LEVELS, ReportLine, answer
from kubespread.reports.findings import AREAS
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, hosts, pod
from tests.cli.support import FIXTURES, run
from tests.world.clusters import budget, deployment, job

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def reported(*objects: Data, **options: Any) -> Scorecard:
    return kubespread.report(Snapshot.from_objects(json.loads(json.dumps(objects))), **options)


def named(report: Scorecard, key: str) -> ReportLine:
    return next(line for line in report.lines if line.key == key)


def annotated(one: Data, name: str, value: str) -> Data:
    return {**one, "metadata": {**one["metadata"], "annotations": {name: value}}}


def autoscaled(name: str, most: int, kind: str = "HorizontalPodAutoscaler") -> Data:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    is_keda = kind == "ScaledObject"
    return {
        "apiVersion": "keda.sh/v1alpha1" if is_keda else "autoscaling/v2",
        "kind": kind,
        "metadata": {"name": f"of-{name}", "namespace": "default"},
        "spec": {"scaleTargetRef": target, ("maxReplicaCount" if is_keda else "maxReplicas"): most},
    }


SAID: dict[str, tuple[list[Data], str, tuple[str, str, str]]] = {
    "a budget that needs all its pods": (
        [*hosts("a", "b"), *deployment("web", ("n0", "n1")), budget("web", minAvailable=2)],
        "budgets/default/web",
        (
            "warning",
            "PodDisruptionBudget web never lets a pod go, on 2 nodes: "
            "The disruption budget web needs 2 healthy pods and has 2 currently",
            "kubespread removable n0",
        ),
    ),
    "a budget that would let one go if all were there": (
        [*hosts("a", "b"), *deployment("web", ("n0", None), cpu="20"), budget("web", maxUnavailable=1)],
        "budgets/default/web",
        (
            "warning",
            "PodDisruptionBudget web lets no pod go now, on 1 node: "
            "The disruption budget web needs 1 healthy pods and has 1 currently",
            "kubespread removable n0",
        ),
    ),
    "workloads of several pods without a budget, where there are others": (
        [
            *hosts("a", "b"),
            *deployment("web", ("n0", "n1")),
            *deployment("api", ("n0", "n1")),
            *deployment("one", ("n0",)),
            *job("sum", ("n0", "n1")),
            budget("web", maxUnavailable=1),
        ],
        "budgets/unprotected",
        ("notice", "1 workload has several pods and no disruption budget: Deployment/api", "kubespread audit -A"),
    ),
    "a pod without a controller": (
        [*hosts("a", "b"), pod("debug", "n1")],
        "drains/noController",
        (
            "warning",
            "1 of 2 nodes cannot be drained: kubectl drain refuses without --force, for pods that nothing makes again: "
            "debug",
            "kubespread removable n1",
        ),
    ),
    "a pod with local data": (
        [*hosts("a", "b"), *deployment("web", ("n0",), spec={"volumes": [{"name": "tmp", "emptyDir": {}}]})],
        "drains/localStorage",
        (
            "notice",
            "1 of 2 nodes with data in emptyDir volumes, which a drain deletes: web-a",
            "kubespread removable n0",
        ),
    ),
    "a pod that cluster-autoscaler is to keep": (
        [*hosts("a", "b"), annotated(pod("job", "n0"), "cluster-autoscaler.kubernetes.io/safe-to-evict", "false")],
        "drains/safeToEvict",
        (
            "notice",
            "1 of 2 nodes not removed by cluster-autoscaler, for pods annotated "
            "cluster-autoscaler.kubernetes.io/safe-to-evict: false: job",
            "kubespread removable n0",
        ),
    ),
    "a node that Karpenter is to keep": (
        [annotated(hosts("a")[0], "karpenter.sh/do-not-disrupt", "true"), hosts("a", "b")[1], pod("one", "n1")],
        "drains/doNotDisrupt",
        (
            "notice",
            "1 of 2 nodes not removed by Karpenter, for karpenter.sh/do-not-disrupt: true",
            "kubespread removable n0",
        ),
    ),
    "an autoscaler beyond the cluster": (
        [*hosts("a", "b"), *deployment("web", ("n0",), cpu="3"), autoscaled("web", 6)],
        "scaling/default/Deployment/web",
        (
            "warning",
            "Deployment/web: HorizontalPodAutoscaler of-web may ask for 6 replicas, which leaves 2 pods without a node: "
            "0/2 nodes are available: 2 Insufficient cpu",
            "kubespread pending --scale default/deploy/web=6 -A",
        ),
    ),
    "an autoscaler beyond a quota": (
        [
            *hosts("a", "b"),
            *deployment("web", ("n0",), cpu="1"),
            autoscaled("web", 6),
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "pods", "namespace": "default"},
                "spec": {"hard": {"pods": "4"}},
                "status": {"hard": {"pods": "4"}, "used": {"pods": "1"}},
            },
        ],
        "scaling/default/Deployment/web",
        (
            "warning",
            "Deployment/web: HorizontalPodAutoscaler of-web may ask for 6 replicas, which leaves 2 pods not created: "
            'pods "web-5d6-4" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=4, limited: pods=4',
            "kubespread pending --scale default/deploy/web=6 -A",
        ),
    ),
    "two that are only too much together, one of them KEDA's": (
        [
            *hosts("a", "b"),
            *deployment("web", ("n0",), cpu="3"),
            *deployment("api", ("n1",), cpu="3"),
            autoscaled("web", 3),
            autoscaled("api", 3, "ScaledObject"),
        ],
        "scaling/all",
        (
            "warning",
            "2 autoscaled workloads, all at their maximum, leave 2 pods without a node: Deployment/web",
            "kubespread pending --scale default/deploy/api=3 --scale default/deploy/web=3 -A",
        ),
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_a_line_says_what_whom_how_bad_and_how_it_is_shown(case: str) -> None:
    objects, key, said = SAID[case]
    line = named(reported(*objects), key)
    assert (line.level, line.text, line.command) == said


QUIET: dict[str, tuple[list[Data], str]] = {
    "a budget that lets one go": (
        [*hosts("a", "b"), *deployment("web", ("n0", "n1")), budget("web", maxUnavailable=1)],
        "budgets/",
    ),
    "a budget whose only pod is not ready and may go": ([*hosts("a", "b"), budget("web", minAvailable=2)], "budgets/"),
    "a workload of several pods where budgets are not known": (
        [*hosts("a", "b"), *deployment("web", ("n0", "n1"))],
        "budgets/",
    ),
    "autoscaled workloads that all fit": (
        [*hosts("a", "b"), *deployment("web", ("n0",)), autoscaled("web", 9)],
        "scaling/",
    ),
    "an autoscaler of a workload that is at 0": (
        [*hosts("a", "b"), *deployment("web", (), cpu="9", replicas=0), autoscaled("web", 9)],
        "scaling/",
    ),
}


@pytest.mark.parametrize("case", QUIET)
def test_what_is_as_it_should_be_is_no_line(case: str) -> None:
    objects, beginning = QUIET[case]
    report = reported(*objects, *deployment("other", ("n0",)))
    assert [line.key for line in report.lines if line.key.startswith(beginning)] == []


def test_workloads_without_room_for_one_more_share_a_line() -> None:
    full = [deployment(name, ("n0",), cpu="5") for name in ("api", "db", "web")]
    objects = [each for made in full for each in made]
    objects = [
        {**each, "spec": {**each["spec"], "nodeName": f"n{number}"}} if each["kind"] == "Pod" else each
        for number, each in enumerate(objects)
        for number in [number // 3]
    ]
    report = reported(*hosts("a", "b", "c"), *objects)
    line = named(report, "scaling/noRollout/default/Deployment/api")
    text = "no rollout completes: with maxSurge 1 and maxUnavailable 0 a restart stops at 0 of 1 new pods: 0/3 nodes"
    assert line.text.startswith(f"Deployment/api, Deployment/db, Deployment/web: {text}")
    assert (line.extent, line.level, line.severity) == (3, "critical", "error")
    checked = kubespread.check(Snapshot.from_objects([*hosts("a", "b", "c"), *objects]), select=["KS406"])
    assert [(each.text.startswith(text), each.severity) for each in checked.findings] == [(True, "error")] * 3


def test_the_report_is_of_a_namespace_and_nodes_are_held_whoever_asks() -> None:
    objects = [*hosts("a", "b"), pod("one", "n0", namespace="shop"), pod("two", "n1", namespace="other")]
    report = reported(*objects, namespace="shop")
    assert named(report, "drains/noController").nodes == ("n0", "n1")
    assert report.workloads == 1
    assert all(name.namespace == "shop" for line in report.lines for name in line.workloads)


def test_a_pool_is_named_by_its_label_in_full() -> None:
    """Only those of zones, regions and nodes are short on a command line."""
    nodes = hosts("a", "b")
    for node, pool in zip(nodes, ("small", "large"), strict=True):
        node["metadata"]["labels"]["eks.amazonaws.com/nodegroup"] = pool
        node["status"]["allocatable"]["pods"] = "2"
    line = named(reported(*nodes, *deployment("web", ("n0", "n0", "n1"))), "losses/nodegroup")
    assert "--key eks.amazonaws.com/nodegroup " in f"{line.command} "


CLUSTERS = {"stuck": "zone=a", "after-zone-outage": "zone=b", "audit": "a1", "upgrade-blocked": "node-1"}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_command_runs_as_it_is_printed(cluster: str) -> None:
    path, cordoned = str(FIXTURES / "clusters" / f"{cluster}.yaml"), CLUSTERS[cluster]
    report = json.loads(run("report", "-A", "-S", path, "--cordon", cordoned, "-q", "-o", "json").out)
    commands = {line["command"] for line in report["lines"]}
    assert commands
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "kubespread"
        assert words[words.index("--cordon") + 1] == cordoned
        assert run(*words).code in (0, 1), command


@pytest.mark.parametrize(
    ("bar", "code", "unmet"),
    [
        pytest.param([], 0, "", id="nothing is critical"),
        pytest.param(
            ["--fail-on", "warning"],
            1,
            "requirement not met: --fail-on warning: 4 of 4 lines, the worst: losing zone a leaves 3 pods pending",
            id="warnings",
        ),
        pytest.param(["--fail-on", "critical"], 0, "", id="only what is critical"),
    ],
)
def test_the_bar_is_set_by_level(bar: list[str], code: int, unmet: str, tmp_path: Path) -> None:
    cluster = [
        *hosts("a", "b"),
        *deployment("web", ("n0", "n0", "n1"), spec={"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}),
    ]
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": cluster}))
    result = run("report", "-A", "-S", str(file), "-o", "name", *bar)
    assert (result.code, unmet.partition(":")[0] in result.err) == (code, True)
    assert result.out == "default/Deployment/web\n"


def test_a_stuck_rollout_is_critical_and_so_are_pods_that_are_not_ready() -> None:
    made = deployment("web", ("n0", "n1", "n2"))
    former = json.loads(json.dumps(made[1:]).replace("5d6", "old"))
    made[1]["spec"]["template"]["spec"] = made[0]["spec"]["template"]["spec"] = pod(requests={"cpu": "1"})["spec"]
    told = {
        **made[0],
        "status": {"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]},
    }
    down = deployment("api", ("n0", "n1"))
    down[-1]["status"]["conditions"][0]["status"] = "False"
    report = reported(*hosts("a", "b", "c"), told, made[1], *former, *down)
    stuck = named(report, "running/stuckRollout/default/Deployment/web")
    assert (stuck.level, stuck.text) == ("critical", "Deployment/web: rollout stuck: ProgressDeadlineExceeded")
    assert stuck.command == "kubespread audit deploy/web -n default"
    unready = named(report, "running/notReady/default/Deployment/api")
    assert (unready.level, unready.extent) == ("critical", 1)
    assert report.levels["critical"] == 2


OPENED: dict[str, tuple[tuple[str, ...], set[str], int]] = {
    "all": ((), set[str](AREAS), 16),
    "an area": (("losses",), {"losses"}, 3),
    "two areas": (("losses", "drains"), {"losses", "drains"}, 4),
    "a workload": (("shop/deploy/cart",), {"losses", "drains", "spread", "budgets"}, 4),
    "an area of a workload": (("shop/deploy/cart", "spread"), {"spread"}, 1),
}


@pytest.mark.parametrize("case", OPENED)
def test_areas_and_workloads_are_opened_by_name(case: str) -> None:
    named, areas, number = OPENED[case]
    cluster = kubespread.load(FIXTURES / "cases" / "everyday" / "aws12.json.gz")
    report = kubespread.report(cluster, workloads=named)
    page = terminal.table(report, Look())
    shown = [line for line in report.lines if f"  {line.level:8} {line.text}" in page]
    assert ({line.area for line in shown}, len(shown)) == (areas, number)
    assert {*report.opened} == {word for word in named if "/" not in word}
    assert len(report.lines) == number


@pytest.mark.slow
def test_a_report_about_areas_is_the_part_of_the_whole_that_is_about_them() -> None:
    cluster = kubespread.load(FIXTURES / "cases" / "everyday" / "aws12.json.gz")
    whole = kubespread.report(cluster)
    assert {line.area for line in whole.lines} == {*AREAS}
    for areas in (*((area,) for area in AREAS), ("losses", "drains")):
        part = kubespread.report(cluster, workloads=areas)
        assert part.lines == tuple(line for line in whole.lines if line.area in areas)
        assert part.verdict == part.judge()


@pytest.mark.parametrize(
    ("word", "told"),
    [("loses", ', did you mean "losses"?'), ("web", "; there are budgets, drains, losses, running, scaling, spread")],
)
def test_what_is_no_area_and_no_workload_is_refused(word: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"invalid area or workload '{word}'") + ".*" + re.escape(told)):
        kubespread.report(Snapshot.from_objects(hosts("a")), workloads=(word,))


def test_areas_count_their_lines_and_name_whom_they_concern_the_worst_first() -> None:
    report = kubespread.report(kubespread.load(FIXTURES / "cases" / "everyday" / "aws12.json.gz"))
    assert [area.worst for area in report.by_area] == sorted(
        (area.worst for area in report.by_area), key=LEVELS.index, reverse=True
    )
    for area in report.by_area:
        lines = [line for line in report.lines if line.area == area.area]
        assert area.levels == {level: sum(line.level == level for line in lines) for level in LEVELS}
        assert area.workloads == tuple(dict.fromkeys(name for line in lines for name in line.workloads))
        assert area.nodes == tuple(dict.fromkeys(name for line in lines for name in line.nodes))
        assert area.sentence in report.answer
    assert {area.area for area in report.by_area} == {line.area for line in report.lines}


def test_what_is_wrong_now_is_before_what_would_be_and_is_what_to_look_at_next() -> None:
    spread = {"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}
    report = reported(*hosts("a", "b", "b"), *deployment("web", ("n0", "n0", "n0", "n1"), spec=spread))
    assert [(line.level, line.area, line.key) for line in report.lines] == [
        ("warning", "spread", "spread/violated/default/Deployment/web/zone/0"),
        ("warning", "losses", "losses/hostname"),
        ("warning", "losses", "losses/zone"),
    ]
    dump = FIXTURES / "clusters" / "after-zone-outage.yaml"
    screen = run("report", "-A", "-S", dump, terminal=80, rows=24).out.splitlines()
    assert f"next: kubespread audit deploy/web -n default -S {dump}" in screen[-1]


@pytest.mark.parametrize("dump", ["aks300", "aws12", "gke60"])
def test_a_short_screen_shows_four_findings_in_whole_sentences_and_a_tall_one_areas_and_commands(dump: str) -> None:
    report = kubespread.report(kubespread.load(FIXTURES / "cases" / "everyday" / f"{dump}.json.gz"))
    short = terminal.table(report, Look(width=80, rows=17, next_command=report.lines[0].command))
    texts = [re.split(r" \([^()]*/[^()]*\)|: \d+/", line.text)[0] for line in report.lines]
    shown = " ".join(short.split())
    assert all(text in shown for text in texts[:4])
    assert shown.count("kubespread ") == 1
    whole = " ".join(terminal.table(report, Look(width=80, rows=100 * len(report.lines))).split())
    assert all(line.text in whole and line.command in whole for line in report.lines)
    assert all(area.sentence in whole and area.sentence not in shown for area in report.by_area)


_FOR_ALL = "those with the most to lose; for all of them: kubespread survive --key hostname --key zone -A"
_ONE_OF_EACH = (
    {"none of 1 zone can be lost", "none of 1 node can be lost"},
    (f"only 1 of 4 nodes and 1 of 3 zones were lost, {_FOR_ALL}",),
)


@pytest.mark.parametrize(
    ("most_domains", "most_pods", "said", "notes"),
    [
        (24, 7, {"none of 3 zones can be lost", "2 of 4 nodes can be lost"}, ()),
        (
            24,
            6,
            {"none of 2 zones can be lost", "1 of 3 nodes can be lost"},
            (f"only 3 of 4 nodes and 2 of 3 zones were lost, {_FOR_ALL}",),
        ),
        (1, 7, *_ONE_OF_EACH),
        (24, 0, *_ONE_OF_EACH),
    ],
    ids=["all of few", "as many as hold so many pods", "so many", "one at least"],
)
def test_of_many_domains_those_with_the_most_to_lose_are_lost_and_a_note_names_the_command_for_all(
    monkeypatch: pytest.MonkeyPatch, most_domains: int, most_pods: int, said: set[str], notes: tuple[str, ...]
) -> None:
    monkeypatch.setattr(answer, "MOST_DOMAINS", most_domains)
    monkeypatch.setattr(answer, "MOST_PODS", most_pods)
    spread = {"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}
    on = ("n0", "n0", "n1", "n1", "n1", "n2", "n3")
    report = reported(*hosts("a", "b", "c", "c"), *deployment("web", on, spec=spread))
    losses = [line.text for line in report.lines if line.question == "survive"]
    parts = [what.partition(". ")[::2] for what in losses]
    assert [where.split()[:2] for _, where in parts] == [["node", "n1:"], ["zone", "b:"]]
    assert {can_be_lost for can_be_lost, _ in parts} == said
    assert report.notes == notes
