"""A scenario and its steps, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadName
from kubespread.node_groups.groups import Autoscaler
from kubespread.snapshot.edits.types import Edit, Target

API_VERSION = "kubespread.dev/v1alpha1"
KIND = "Scenario"


@dataclass(frozen=True, slots=True)
class Named:
    """A workload by its name."""

    kind: str
    """``Deployment``, as Kubernetes writes it."""
    name: str
    namespace: str | None = None
    """None: that of the scenario."""

    def __str__(self) -> str:
        namespace = f"{self.namespace}/" if self.namespace else ""
        row = POD_CREATORS.get(self.kind)
        return f"{namespace}{(row.short if row is not None else '') or self.kind.lower()}/{self.name}"

    def within(self, namespace: str) -> WorkloadName:
        """The same where names without a namespace are in ``namespace``."""
        return WorkloadName(self.kind, self.namespace or namespace, self.name)


@dataclass(frozen=True, slots=True)
class Rollout:
    """A workload gets another template; with neither manifest nor settings it is restarted."""

    workload: Named
    manifest: str | None = None
    """The path of a file that holds the workload as it is to be."""
    settings: tuple[str, ...] = ()
    """Fields to change in it, as ``--set`` has them."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """A Deployment goes back to the template it had before."""

    workload: Named


@dataclass(frozen=True, slots=True)
class Restore:
    """Nodes that failed are there again."""

    target: Target


@dataclass(frozen=True, slots=True)
class Apply:
    """Manifests are applied: what is new is created, what runs already is changed to what they say."""

    given: tuple[Any, ...]
    """Paths of files and directories, or whatever else a workload may be given as."""
    settings: tuple[str, ...] = ()
    """Fields to change in each workload, as ``--set`` has them."""
    replicas: int | None = None
    name: str | None = None
    """Which of several workloads: NAME, Kind/NAME or NAMESPACE/Kind/NAME. None: all of them."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Nodes are replaced, batch by batch."""

    target: Target
    surge: int = 0
    """How many new nodes there are before old ones are drained."""
    batch: int = 1
    """How many are drained at once."""
    force: bool = False
    """Whether pods without a controller are evicted too."""


Action = Edit | Rollout | Rollback | Restore | Apply | Upgrade


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens; whatever follows from it is over before the next one."""

    text: str
    """As it is written, or would be on one line: ``drain zone=a --ignore-daemonsets``."""
    action: Action | None = None
    """None where only readiness changes."""
    name: str = ""
    stuck: tuple[Named, ...] = ()
    """Workloads whose new pods do not become ready from this step on."""
    ready: tuple[Named, ...] = ()
    """Workloads whose pods become ready again from this step on."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps, and what holds for all of them."""

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
