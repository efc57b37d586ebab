"""What would make a pod fit, each change proven by asking again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from kubespread.planner.reports.parts import API_VERSION, ClusterReference, ConstraintReport, PodReference, Report

COMBINATION = "combination"
"""What several changes together are counted as where they were not tried."""


class PatchOperation(Report, frozen=True):
    """One operation of a JSON Patch (RFC 6902)."""

    op: str
    """``add``, ``replace`` or ``remove``."""
    path: str
    """A JSON Pointer (RFC 6901) into the manifest or the workload."""
    value: Any = None
    """null for ``remove``."""


class Suggestion(Report, frozen=True):
    """A change, or several together, after which the pod fits, or all pods that are asked about find a node."""

    change: str
    """``A maxSkew 2``, ``uncordon node-7``: constraints by their letter."""
    family: str
    """What kind of change it is; several joined by `` + ``."""
    options: tuple[str, ...]
    """What reproduces it on the command line: ``--set maxSkew[zone]=2``."""
    nodes: int | None
    """How many nodes fit then; null where several pods are asked about."""
    placed: int | None
    """How many of the pods find a node then; null where one is asked about."""
    consequences: tuple[str, ...] = ()
    """What becomes of other pods."""
    notes: tuple[str, ...] = ()
    """What disruption budgets and priorities say of it."""
    alternatives: tuple[str, ...] = ()
    """Options for other changes of the same kind that also suffice."""
    patch: tuple[PatchOperation, ...] = ()
    """What becomes of the manifest, or of the workload in the cluster."""
    commands: tuple[str, ...] = ()
    """The same for kubectl, where it has something to change in the cluster."""
    diff: str | None = None
    """The same as a unified diff of the manifest, where its text can be told."""


class NotEnough(Report, frozen=True):
    """Changes that were tried alone, at their largest, and do not suffice."""

    family: str
    """What kind of change it is."""
    changes: tuple[str, ...]
    """``relaxing A``."""


class Advice(Report, frozen=True):
    """Which changes suffice and which do not."""

    families: tuple[str, ...]
    """The kinds of changes that were tried."""
    enough: tuple[Suggestion, ...]
    """Single changes, those that change least first; combinations only where no single change suffices."""
    not_enough: tuple[NotEnough, ...]
    """What was tried and does not suffice."""
    untried: dict[str, int] = {}
    """Per family how many changes were left untried; ``combination`` counts several changes together."""


class AdviseReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "AdviseReport"
    kube_version: str
    scheduler_name: str
    cluster: ClusterReference | None = None
    pod: PodReference
    workload: str | None = None
    """Kind/name of what the pod belongs to."""
    replicas: int | None = None
    """How many are asked about; null for one pod by itself."""
    placed: int | None = None
    """How many of them find a node as things are, those that run already among them."""
    nodes: int = 0
    """How many nodes there are."""
    fitting: int = 0
    """How many of them fit the pod as things are."""
    message: str | None = None
    """kube-scheduler's, null where nothing has to change."""
    constraints: tuple[ConstraintReport, ...] = ()
    """Those in force for the pod that finds no node, counted as things are."""
    conclusion: str | None = None
    """What bars the pod, when one thing does."""
    advice: Advice | None = None
    """Null where nothing has to change."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether nothing has to change."""
        return self.advice is None

    @property
    def succeeds(self) -> bool:
        """Whether the pod fits as things are or after some change that was found."""
        return self.advice is None or bool(self.advice.enough)

    def about(self, cluster: ClusterReference) -> AdviseReport:
        """The same answer, with the cluster it is about."""
        return msgspec.structs.replace(self, cluster=cluster)

    def with_gaps(self, missing: Iterable[str]) -> AdviseReport:
        """The same answer, with what its source lacked named first."""
        return msgspec.structs.replace(self, gaps=tuple(dict.fromkeys((*missing, *self.gaps))))
