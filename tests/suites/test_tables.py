"""The test tables of Kubernetes' own scheduler, a file of ``fixtures/suites`` for each.

A file says whose tests they are, and has ``defaults`` for the fields of its ``cases``. A case has the name that it has in
the table, the objects of the cluster (lists may stand in lists), the pod and what is expected. ``plugin`` asks that
plugin by itself, ``scored_by`` the default profile with its score alone; a ``stored`` pod is in the cluster already,
since many pods of the tables would not pass the API server. A case with ``parts`` asks once for each of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import kubespread
from kubespread.errors import ManifestError
from kubespread.kube.versions import LATEST
from kubespread.scheduler.causes import PodAntiAffinityDetail
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugin import State
from kubespread.scheduler.plugins.podtopologyspread.plugin import SpreadState
from kubespread.scheduler.profile.profile import framework
from tests.suites.profiles import profile_of, scored_by

Data = dict[str, Any]
SUITES = Path(__file__).parents[2] / "fixtures" / "suites"


def table_of(path: Path) -> Data:
    table: Data = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
    return table


def flat(objects: list[Any]) -> Iterator[Data]:
    for each in objects:
        if isinstance(each, list):
            yield from flat(each)
        else:
            yield each


class Question:
    """One case of a table."""

    def __init__(self, row: Data) -> None:
        self.row = row
        self.objects = list(flat(row["objects"]))
        self.pod: Data = row["pod"]
        if row.get("stored"):
            self.objects.append(self.pod)

    @cached_property
    def scheduler(self) -> kubespread.Scheduler:
        config = None
        if "plugin" in self.row:
            config = profile_of(self.row["plugin"], self.row.get("args"), points=self.row.get("points", ["multiPoint"]))
        elif "scored_by" in self.row:
            config = scored_by(self.row["scored_by"])
        config = self.row.get("config", config)
        return kubespread.Scheduler(
            config=config, kube_version=self.row.get("release"), feature_gates=self.row.get("gates")
        )

    @cached_property
    def report(self) -> kubespread.ExplainReport:
        return self.report_of(self.objects)

    def report_of(self, objects: list[Data]) -> kubespread.ExplainReport:
        metadata = self.pod["metadata"]
        stored = {"namespace": metadata["namespace"]} if self.row.get("stored") else {}
        return kubespread.explain(
            kubespread.Snapshot.from_objects(objects),
            f"pod/{metadata['name']}" if stored else self.pod,
            self.scheduler,
            preemption=self.row.get("preemption", False),
            **stored,
        )

    def prepared(self, *more: Data) -> tuple[Cluster, State]:
        """The cluster, and the plugin's state for the pod that waits in it."""
        snapshot = kubespread.Snapshot.from_objects([*self.objects, *more])
        profile = self.scheduler.profile_for("default-scheduler", self.scheduler.release(str(LATEST)))
        (waiting,) = (pod for pod in snapshot.pods if pod.metadata.name == self.pod["metadata"]["name"])
        cluster = Cluster.of(snapshot.nodes, snapshot.pods, snapshot.objects)
        return cluster, framework(profile).prepare(cluster, waiting).states[self.row["plugin"]]

    def pretend(self, cluster: Cluster, state: Any, by: int) -> None:
        """Let the visitor come to its node, or leave it, as preemption does."""
        (visitor,) = kubespread.Snapshot.from_objects([self.row["visitor"]]).pods
        state.pretend(cluster.kinds.number_of(visitor), cluster.nodes.index[visitor.spec.node_name], by)


def verdicts(question: Question) -> dict[str, str]:
    """The nodes of each verdict, in one line."""
    by_code = defaultdict(list)
    for node in sorted(question.report.nodes, key=lambda node: node.name):
        by_code[node.verdict.code].append(node.name)
    return {code: " ".join(names) for code, names in by_code.items()}


def reasons(question: Question) -> dict[str, list[str]]:
    """The code and the reasons of every node that is rejected."""
    return {
        node.name: [node.verdict.code, ", ".join(node.verdict.reasons)]
        for node in question.report.nodes
        if not node.feasible
    }


def scores(question: Question) -> dict[str, int]:
    """The plugin's normalized score of every node it scored."""
    plugin = question.row["plugin"]
    return {
        node.name: node.score_details[plugin].normalized
        for node in question.report.nodes
        if plugin in node.score_details
    }


def best(question: Question) -> list[str]:
    """The feasible nodes with the highest total, one of which kube-scheduler takes."""
    totals = {node.name: node.total for node in question.report.nodes if node.feasible}
    highest = max((total for total in totals.values() if total is not None), default=None)
    return sorted(name for name, total in totals.items() if total == highest)


def domains(question: Question) -> list[dict[str, int]]:
    """The pods in each domain of each hard constraint."""
    return [
        {domain.value: domain.matching for domain in constraint.domains if domain.eligible_nodes}
        for constraint in question.report.constraints
        if constraint.is_hard
    ]


def minima(question: Question) -> list[int | None]:
    return [constraint.global_minimum for constraint in question.report.constraints if constraint.is_hard]


def hard(question: Question) -> list[list[Any]]:
    """The hard constraints in force."""
    return [[each.topology_key, each.max_skew, each.selector] for each in question.report.constraints if each.is_hard]


def anti_affinity(question: Question) -> list[list[Any]]:
    """How often the pod's own anti-affinity is met, by topology key and value."""
    details = [detail for node in question.report.nodes for said in node.rejections for detail in said.details]
    met = {
        (detail.topology_key, detail.domain): detail.pods
        for detail in details
        if isinstance(detail, PodAntiAffinityDetail) and not detail.of_existing_pod
    }
    return [[*domain, pods] for domain, pods in sorted(met.items())]


def preempted(question: Question) -> Data | None:
    """The node that is nominated, its victims, and how many of them break a budget."""
    return _found(question.report)


def _found(report: kubespread.ExplainReport) -> Data | None:
    preemption = report.preemption
    if preemption is None or preemption.node is None:
        return None
    victims = sorted(name.partition("/")[2] for name in preemption.victims)
    return {"node": preemption.node, "victims": victims, "violations": preemption.violations}


def candidates(question: Question) -> list[Data]:
    """What preemption finds for each node when the others are cordoned, which keeps them in all counts."""
    nodes = [each for each in question.objects if each["kind"] == "Node"]
    others = [each for each in question.objects if each["kind"] != "Node"]
    asked = ([{**each, "spec": {"unschedulable": each is not node}} for each in nodes] for node in nodes)
    answers = (_found(question.report_of([*cordoned, *others])) for cordoned in asked)
    return [answer for answer in answers if answer is not None]


def refused(question: Question) -> str:
    with pytest.raises(ManifestError) as error:
        question.report_of(question.objects)
    return str(error.value)


def domains_after(question: Question) -> list[list[Any]]:
    """The domains and the minimum of each hard constraint once the visitor is pretended to have come or gone."""
    cluster, state = question.prepared()
    assert isinstance(state, SpreadState)
    question.pretend(cluster, state, question.row["by"])
    return [
        [
            {
                value: count
                for value, count, counts in zip(
                    each.column.values, each.counts.tolist(), each.is_domain.tolist(), strict=True
                )
                if counts
            },
            each.global_minimum,
        ]
        for each in state.hard
    ]


def soft(question: Question) -> Data:
    """What goes into the score where all nodes are feasible.

    Of each constraint its topology key, its selector, the domains that count (of hostnames none are counted beforehand;
    that of a node without the label is the empty one) and how many weigh; and the nodes that are not compared.
    """
    cluster, state = question.prepared()
    assert isinstance(state, SpreadState)
    assert state.soft is not None
    scored = state.soft.scored(np.ones(len(cluster), dtype=np.bool_))
    return {
        "constraints": [
            [
                each.constraint.topology_key,
                str(each.constraint.selector),
                sorted({each.column.values[code] if code >= 0 else "" for code in each.column.codes[scored].tolist()})
                if not each.is_hostname
                else [],
                each.size(scored),
            ]
            for each in state.soft.counted
        ],
        "ignored": sorted(name for name, is_in in zip(cluster.nodes.names, scored.tolist(), strict=True) if not is_in),
    }


def with_visitor(question: Question) -> Data:
    """What is said once the visitor is there. One that comes and goes leaves the plugin's state as it was."""
    visitor = question.row["visitor"]
    cluster, state = question.prepared()
    _, anew = question.prepared(visitor)

    def judged(state: Any) -> list[Any]:
        found = state.filter()
        return [found.status(place) for place in range(len(cluster))]

    before = judged(state)
    question.pretend(cluster, state, 1)
    assert judged(state) == judged(anew)
    question.pretend(cluster, state, -1)
    assert judged(state) == before
    there = Question({**question.row, "objects": [*question.row["objects"], visitor]})
    return {"anti_affinity": anti_affinity(there), "verdicts": verdicts(there)}


READERS: Mapping[str, Callable[[Question], Any]] = {
    "feasible": lambda question: sorted(question.report.feasible),
    "judged": lambda question: question.row["plugin"] in question.report.filter_plugins,
    "message": lambda question: question.report.message,
    "nominated": lambda question: question.report.nominated,
    "schedulable": lambda question: question.report.schedulable,
    "tail": lambda question: question.report.preemption and question.report.preemption.tail,
    **{
        each.__name__: each
        for each in (verdicts, reasons, scores, best, domains, minima, hard, anti_affinity, preempted, candidates)
    },
    **{each.__name__: each for each in (refused, domains_after, soft, with_visitor)},
}
"""What a case may expect."""


@pytest.mark.parametrize("path", sorted(SUITES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_table_of_kubernetes(path: Path) -> None:
    table = table_of(path)
    differ = {}
    for case in table["cases"]:
        for part in case.get("parts", [{}]):
            row = {**table.get("defaults", {}), **case, **part}
            question = Question(row)
            found = {name: READERS[name](question) for name in row["expect"]}
            if found != row["expect"]:
                differ[case["case"]] = (found, row["expect"])
    assert differ == {}
