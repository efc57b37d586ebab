"""A scenario and its steps as values, and the fields of its file other than those of verbs."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from kubespread.kube.owners import Named
from kubespread.node_groups.groups import Autoscaler
from kubespread.snapshot.edits.verb import Field, Fields, Holds, Verb

API_VERSION = "kubespread.dev/v1alpha1"
KIND = "Scenario"


class Step(Struct, frozen=True):
    """One thing that happens; its consequences play out before the next one."""

    text: str
    """As it is written, or would be on one line: ``drain zone=a --ignore-daemonsets``."""
    action: Verb | None = None
    """None where only readiness changes."""
    name: str = ""
    stuck: tuple[Named, ...] = ()
    """Workloads whose new pods do not become ready from this step on."""
    ready: tuple[Named, ...] = ()
    """Workloads whose pods become ready again from this step on."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps, and settings for all of them."""

    steps: tuple[Step, ...]
    name: str = ""
    namespace: str | None = None
    """That of names without one. None: the question's."""
    preemption: bool = True
    """Whether pods evict others of lower priority."""
    stuck: tuple[Named, ...] = ()
    """Workloads whose new pods never become ready, from the beginning."""
    autoscaler: Autoscaler | None = None
    """Who adds nodes for pods that find none, after each step."""
    node_groups: str | None = None
    """A file with the groups that may grow; None for those that the cluster's own objects tell of."""
    instance_types: str | None = None
    """A file with what Karpenter may launch; None where that is not known."""


IN_LIST = "files"
"""The field that is meant if a list stands where a verb's fields are expected."""
READINESS: Fields = {
    "stuck": Field(Holds.TEXTS, "workloads whose new pods do not become ready"),
    "ready": Field(Holds.TEXTS, "workloads whose pods become ready again"),
}
BESIDE_STEP: Fields = {"name": Field(Holds.TEXT, "what the step is called"), **READINESS}
"""The fields that any step may have beside its key."""

SCENARIO: Fields = {
    "apiVersion": Field(Holds.TEXT, "kubespread.dev/v1alpha1", is_required=True),
    "kind": Field(Holds.TEXT, "Scenario", is_required=True),
    "metadata": Field(Holds.OBJECT, "name and namespace"),
    "spec": Field(Holds.OBJECT, "the steps", is_required=True),
}
METADATA: Fields = {
    "name": Field(Holds.TEXT, "what the scenario is called"),
    "namespace": Field(Holds.TEXT, "that of names without one"),
}
SPEC: Fields = {
    "steps": Field(Holds.STEPS, "what happens, in this order", is_required=True),
    "preemption": Field(Holds.FLAG, "whether pods evict others of lower priority, by default true"),
    "autoscaler": Field(Holds.TEXT, "ca or karpenter: who adds nodes for pods that find none"),
    "nodeGroups": Field(Holds.TEXT, "file with the groups that may grow, by default those that the cluster tells of"),
    "instanceTypes": Field(Holds.TEXT, "file with the instance types that karpenter may launch"),
    "readiness": Field(Holds.READINESS, "when new pods are ready: atOnce, or which workloads are stuck"),
}
AT_ONCE = "atOnce"
"""The readiness that is the default."""
