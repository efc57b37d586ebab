"""Configurations with one plugin, which the tables of that plugin ask."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

Data = dict[str, Any]

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
