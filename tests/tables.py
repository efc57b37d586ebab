"""Tables of questions about pods, one file of ``fixtures/suites`` or ``fixtures/scheduler`` each.

A file says what it asks, and has ``defaults`` for the fields of its ``cases``. A case is a sentence, the objects of the
cluster (lists may stand in lists), the pod and what is expected, each by the name of its reader. ``plugin`` asks that
plugin by itself, ``scored_by`` the default profile with its score alone; ``of`` names the plugin whose scores are
expected. A ``stored`` pod is in the cluster already. A case with ``parts`` asks once for each of them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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

Data = dict[str, Any]
Builders = Mapping[str, Callable[..., Data | list[Data]]]
FIXTURES = Path(__file__).parents[1] / "fixtures"

_HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def profile_of(plugin: str, args: Data | None = None, *, points: Sequence[str] = ("multiPoint",)) -> str:
    """A KubeSchedulerConfiguration with that plugin alone, weighing 1, and what keeps pods off cordoned nodes."""
    enabled: dict[str, list[Data]] = defaultdict(list)
    enabled["multiPoint"] += [{"name": name} for name in ("PrioritySort", "DefaultBinder", "NodeUnschedulable")]
    for point in points:
        enabled[point].append({"name": plugin, **({"weight": 1} if point in ("multiPoint", "score") else {})})
    plugins: Data = {point: {"enabled": those} for point, those in enabled.items()}
    plugins["multiPoint"]["disabled"] = [{"name": "*"}]
    profile = {"plugins": plugins, "pluginConfig": [{"name": plugin, "args": args}] if args is not None else []}
    return json.dumps({**_HEAD, "profiles": [profile]})


def scored_by(plugin: str) -> str:
    """The default profile with that plugin's score alone, weighing 1."""
    points: Data = {
        "preScore": {"disabled": [{"name": "*"}], "enabled": [{"name": plugin}]},
        "score": {"disabled": [{"name": "*"}], "enabled": [{"name": plugin, "weight": 1}]},
    }
    return json.dumps({**_HEAD, "profiles": [{"plugins": points}]})


def table_of(path: Path) -> Data:
    table: Data = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
    return table


def rows_of(table: Data) -> Iterator[Data]:
    """A question for each part of each case, with all of its fields."""
    for case in table["cases"]:
        for part in case.get("parts", [{}]):
            yield {**table.get("defaults", {}), **case, **part}


def differences(path: Path) -> Data:
    """By the sentence of a case what is found and what is expected, where they differ."""
    differ = {}
    for row in rows_of(table_of(path)):
        question = Question(row)
        found = {name: READERS[name](question) for name in row["expect"]}
        if found != row["expect"]:
            differ[row["case"]] = (found, row["expect"])
    return differ


def flat(objects: list[Any]) -> Iterator[Data]:
    for each in objects:
        if isinstance(each, list):
            yield from flat(each)
        else:
            yield each


def built(given: list[Data], builders: Builders) -> list[Data]:
    """Objects, each plain or made by a builder: its name with the first argument, or a list of them, then the others."""
    made = []
    for each in given:
        (name, first), *others = each.items()
        arguments = first if isinstance(first, list) else [first]
        made.append(builders[name](*arguments, **dict(others)) if name in builders else each)
    return [*flat(made)]


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
        elif "config" in self.row:
            config = json.dumps(self.row["config"])
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
            **stored,
        )

    def prepared(self, *more: Data) -> tuple[Cluster, State]:
        """The cluster, and the plugin's state for the pod that waits in it."""
        snapshot = kubespread.Snapshot.from_objects([*self.objects, *more])
        profile = self.scheduler.profile_for("default-scheduler", self.scheduler.release(str(LATEST)))
        (waiting,) = (pod for pod in snapshot.pods if pod.metadata.name == self.pod["metadata"]["name"])
        cluster = Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects)
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


def rejected(question: Question) -> dict[str, str]:
    """kube-scheduler's reasons for each node that fails."""
    return {name: reason for name, (_, reason) in reasons(question).items()}


def weighted(question: Question) -> dict[str, int]:
    """The weighted score of every node that the plugin scored."""
    plugin = question.row["of"]
    return {node.name: node.scores[plugin] for node in question.report.nodes if plugin in node.scores}


def details(question: Question) -> dict[str, list[Data]]:
    """What is behind the rejections of a node, as JSON has it, by plugin in the profile's order."""
    told = {
        node["name"]: [detail for one in node["rejections"] for detail in one["details"]]
        for node in question.report.to_dict()["nodes"]
    }
    return {name: listed for name, listed in told.items() if listed}


def short(question: Question) -> dict[str, list[str]]:
    """The same in a few words each."""
    told = {
        node.name: [detail.short for one in node.rejections for detail in one.details] for node in question.report.nodes
    }
    return {name: listed for name, listed in told.items() if listed}


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
    scored = state.soft.compared_nodes(np.ones(len(cluster), dtype=np.bool_))
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
    "gaps": lambda question: list(question.report.gaps),
    "notes": lambda question: list(question.report.notes),
    "not_modelled": lambda question: list(question.report.not_modelled),
    "feasible": lambda question: sorted(question.report.feasible),
    "judged": lambda question: question.row["plugin"] in question.report.filter_plugins,
    "message": lambda question: question.report.message,
    "preemption": lambda question: question.report.to_dict()["preemption"],
    "nominated": lambda question: question.report.nominated,
    "schedulable": lambda question: question.report.schedulable,
    "tail": lambda question: question.report.preemption and question.report.preemption.tail,
    **{
        each.__name__: each
        for each in (verdicts, reasons, scores, best, domains, minima, hard, anti_affinity, preempted, candidates)
    },
    **{
        each.__name__: each for each in (refused, domains_after, soft, with_visitor, rejected, weighted, details, short)
    },
}
"""What a case may expect."""
