"""Asking about a pod in one line, and reading the parts of the answer tables compare."""

from __future__ import annotations

import json
from typing import Any

import kubespread

Data = dict[str, Any]

SKEWED = "node(s) didn't match pod topology spread constraints"
MISSING = f"{SKEWED} (missing required label)"


def ask(
    objects: list[Data], pod: Data, config: str | None = None, *, kube_version: str | None = None
) -> kubespread.ExplainReport:
    scheduler = kubespread.Scheduler(config=config, kube_version=kube_version)
    return kubespread.explain(kubespread.Snapshot.from_objects(objects), pod, scheduler)


def with_args(plugin: str, **args: Any) -> str:
    """A KubeSchedulerConfiguration that gives one plugin its arguments."""
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return json.dumps({**head, "profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}]})


def fits(report: kubespread.ExplainReport) -> list[str]:
    return sorted(report.feasible)


def scores(report: kubespread.ExplainReport, plugin: str = "PodTopologySpread") -> dict[str, int]:
    """The plugin's weighted score of every node it scored, by node."""
    return {
        node.name: node.scores[plugin]
        for node in sorted(report.nodes, key=lambda node: node.name)
        if plugin in node.scores
    }


def reasons(report: kubespread.ExplainReport) -> dict[str, str]:
    """kube-scheduler's reason for each node that fails."""
    return {
        node.name: ", ".join(node.verdict.reasons)
        for node in sorted(report.nodes, key=lambda node: node.name)
        if not node.feasible
    }
