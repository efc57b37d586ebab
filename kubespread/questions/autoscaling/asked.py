"""Autoscaler in question, with the groups that it may grow and the instance types that it may launch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from kubespread.errors import UsageError
from kubespread.node_groups.file import read_node_groups
from kubespread.node_groups.groups import (
    AskedOfAutoscaler,
    Autoscaler,
    InstanceType,
    NodeGroup,
    NodeGroups,
    asked_autoscaler,
    groups_of_cluster,
)
from kubespread.questions.autoscaling.autoscale import autoscale
from kubespread.scenario.instance_types import InstanceTypesGiven, read_instance_types
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.reporting.difference import Grow

GroupsGiven = str | NodeGroups | Sequence[NodeGroup] | None
"""A file, or the groups themselves; None for those that the cluster's own objects define."""


def growth(asked: AskedOfAutoscaler, snapshot: Snapshot) -> Grow | None:
    """`autoscale` as asked, for a world of ``snapshot``; None without an autoscaler. Raises UsageError where nothing
    tells of any groups, and ManifestError for what is wrong in a file.
    """
    kind = asked_autoscaler(asked)
    if kind is None:
        return None
    groups = _groups(snapshot, kind, asked.node_groups)
    types = _types(kind, asked.instance_types)
    return partial(autoscale, groups=groups.groups, kind=kind, types=types, expanders=groups.expanders)


def with_files_read(asked: AskedOfAutoscaler) -> dict[str, Any]:
    """Fields with the contents of their files, which may be read only once. Raises ManifestError."""
    groups, types = asked.node_groups, asked.instance_types
    return {
        "node_groups": read_node_groups(groups) if isinstance(groups, str) else groups,
        "instance_types": None if types is None else read_instance_types(types),
    }


def _groups(snapshot: Snapshot, kind: Autoscaler, chosen: GroupsGiven) -> NodeGroups:
    if chosen is None:
        return NodeGroups(groups_of_cluster(snapshot.objects, kind))
    if isinstance(chosen, NodeGroups):
        return chosen
    return read_node_groups(chosen) if isinstance(chosen, str) else NodeGroups(tuple(chosen))


def _types(kind: Autoscaler, chosen: InstanceTypesGiven | None) -> Sequence[InstanceType]:
    """Instance types that Karpenter may launch; empty where none are given."""
    if chosen is not None and kind is not Autoscaler.KARPENTER:
        raise UsageError(f"instance types are what karpenter chooses among: to {kind} a node group is of one kind")
    return () if chosen is None else read_instance_types(chosen)
