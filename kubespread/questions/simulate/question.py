"""Question about replicas that are placed one after another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import (
    CHOSEN,
    REPLICAS,
    REQUIREMENTS,
    AutoscalerName,
    InstanceTypesFile,
    NodeGroupsFile,
    Option,
    PodQuestion,
    Preemption,
    Seed,
    Workload,
)
from kubespread.wording import count_of, says

if TYPE_CHECKING:
    from kubespread.candidate.sources import Surroundings
    from kubespread.questions.commands import Commands
    from kubespread.questions.simulate.report import SimulateReport
    from kubespread.views.look import Look

_GANGS = "Gangs"


class WhatIf(Struct, frozen=True):
    """Place every workload as gangs of ``size``, whatever its pods say."""

    size: int
    topology_key: str = ""


class Simulate(PodQuestion[Any], frozen=True, kw_only=True):
    """Place replicas one after another as kube-scheduler would, and show where they land and what stops them.

    Several workloads are placed by priority, then in the order given, each with the earlier ones already in the
    cluster. A workload already in the cluster is scaled up from the replicas it has. Ties go to the first node in
    kube-scheduler's own order, as far as it can be known; --seed shows another possible outcome.

    \b
    Examples:
      kubespread simulate web.yaml --replicas 15 --require-placed all
      kubespread simulate web.yaml --replicas max -S cluster.json.gz
      kubespread simulate -A --from-scratch
      kubespread simulate web.yaml --replicas 40 --autoscaler ca --node-groups groups.yaml
      kubespread simulate job/train --gang 8:topology.kubernetes.io/zone
      helm template shop ./chart | kubespread simulate --require-placed all
    """

    name = "simulate"
    summary = "Place replicas as kube-scheduler would; show what stops them."
    yes, no = "all replicas are placed, or as many as required", "fewer are"
    doing = "placing replicas"
    outputs = {"table": "a picture", "name": "prints namespace/pod<TAB>node lines"}
    is_watched = True
    by_place = "pods replicas"

    pods: Annotated[
        tuple[Any, ...],
        Workload(
            "Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web). All workloads "
            "in a manifest are placed. Default: standard input when piped, else pod.yaml.",
            metavar="[POD]...",
            is_several=True,
        ),
    ]
    selector: Annotated[
        str,
        Option(
            "Place only workloads with these labels (app=web,tier!=db).",
            ("-l", "--selector"),
            "LABELS",
            says={CHOSEN: "by labels"},
        ),
    ] = ""
    replicas: Annotated[
        int | Literal["max"] | None,
        Option(
            "Desired replicas, or 'max': as many as fit, preempting nothing (default: the workload's own).",
            metavar="N",
            least=0,
            says={REPLICAS: "a number"},
        ),
    ] = None
    from_scratch: Annotated[bool, Option("Also re-place the replicas already running.")] = False
    seed: Seed = None
    preemption: Preemption = True
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    gang: Annotated[
        str | None,
        Option(
            "Place N replicas together or none of them, with a topology key in one of its domains. With --replicas, a "
            "multiple of N: one gang after another.",
            metavar="N[:KEY]",
            heading=_GANGS,
        ),
    ] = None
    require_placed: Annotated[
        int | Literal["all"] | None,
        Option(
            "Fail unless N replicas (or all) are placed.",
            metavar="N|all",
            heading=REQUIREMENTS,
            least=0,
            is_for_scripts=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raises UsageError for an invalid gang, and for nodes that are added for as many as fit."""
        if (gangs := self.as_gangs) is not None:
            if self.desired is not None and (self.desired == 0 or self.desired % gangs.size):
                raise UsageError(f"replicas must be a multiple of the gang of {gangs.size}, not {self.desired}")
            if self.autoscaler is not None:
                raise UsageError("--gang and --autoscaler do not go together: that is not modeled of gangs")
        if self.as_many_as_fit and self.autoscaler is not None:
            raise UsageError("--autoscaler and --replicas max do not go together: as many as fit leaves none pending")

    @property
    def as_many_as_fit(self) -> bool:
        return self.replicas == "max"

    @property
    def desired(self) -> int | None:
        """The number of replicas that is asked for, if any."""
        return None if self.replicas == "max" else self.replicas

    @property
    def as_gangs(self) -> WhatIf | None:
        """The gangs that are asked for; None for none."""
        if self.gang is None:
            return None
        size, colon, key = self.gang.partition(":")
        if not re.fullmatch("[1-9][0-9]{0,8}", size) or (colon and not key):
            raise UsageError(f"invalid --gang {self.gang!r}: expected N or N:KEY, such as 8:zone")
        return WhatIf(int(size), key)

    @classmethod
    def report(cls) -> type[SimulateReport]:
        from kubespread.questions.simulate.report import SimulateReport

        return SimulateReport

    def unmet(self, report: SimulateReport) -> Iterator[str]:
        """Say how many replicas lack a node of those that are required to have one."""
        placed = self.require_placed
        if placed == "all" and report.lacking:
            what = "are not placed" if report.not_created or report.not_made_yet else "are pending"
            lacking = (report.replicas or 0) - report.running
            yield f"--require-placed all: {lacking} of {count_of(report.replicas or 0, 'replica')} {what}"
        elif isinstance(placed, int) and report.running < placed:
            yield f"--require-placed {placed}: {says(report.running, 'replica', 'are placed')}"

    def shown(self, look: Look) -> Look:
        return replace(look, in_full=look.in_full or self.named is not None)

    @property
    def surroundings(self) -> Surroundings:
        return replace(super().surroundings, selector=self.selector, one_only=False)

    @property
    def makes_room(self) -> bool:
        return self.preemption

    def next_command(self, report: Sequence[SimulateReport], commands: Commands) -> str:
        worst = next((each for each in report if each.lacking), None)
        if worst is not None and not worst.pending:
            # Nothing that a pod may change lets the API server make it.
            return ""
        if len(report) == 1 and worst is not None:
            return self.again(commands, "explain", "--fix")
        there = worst or next(iter(report), None)
        if there is None or not there.present or self.settings or self.from_scratch:
            return ""
        kind, _, name = there.subject.partition("/")
        workload = WorkloadName(kind, there.pod.namespace, name)
        if worst is not None:
            return commands.of_workload("explain", workload, "--fix")
        scaled = [] if self.desired is None else [f"--scale {quote(f'{workload}={self.desired}')}"]
        return commands.of_workload("survive", workload, *scaled)
