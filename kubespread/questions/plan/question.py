"""What is asked of changes that are planned."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from kubespread.questions.audit.question import Audit
from kubespread.questions.play.question import Play
from kubespread.questions.question import Applied, DrainingQuestion, Function, Option, PriceFile
from kubespread.questions.removable.question import Removable
from kubespread.questions.survive.question import Survive

if TYPE_CHECKING:
    from kubespread.questions.plan.report import PlanReport
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot


class Plan(DrainingQuestion["PlanReport"], frozen=True, kw_only=True):
    """Plan everything that is about to change, and compare the cluster before and after.

    Manifests (-f, -k), edits and pools to replace are steps of one scenario: new nodes, manifests, edits in their
    order, autoscaled workloads at their maximum, then nodes of replaced pools are drained and go. It is played, and
    both clusters are audited, lose each zone in turn, do without nodes and are mapped. The answer says whether every
    pod finds a node, which workloads change (ready pods, spread, what they survive), which nodes do, and which pods
    leave theirs; -o scenario prints the steps for play. Before is the cluster once what is under way is done, of its
    own release; after is that of --kube-version.

    \b
    Examples:
      kubespread plan --fail-hard zone=a --scale shop/deploy/web=12
      kubespread plan -f k8s/ --add-node node-7:3 --drain pool=old -S cluster.json.gz
      kubespread plan --drain pool=old -o scenario > plan.yaml && kubespread play plan.yaml
      kubespread plan --replace-pool web=8x16 --hpa-max --prices prices.yaml
      kubespread plan --kube-version 1.37
    """

    name = "plan"
    summary = "Compare the cluster before and after all that is planned."
    yes, no = "each step is done, no more pods wait and no workload is worse", "one of these is not so"
    never_modelled = (
        *Play.never_modelled, *Audit.never_modelled, *Survive.never_modelled, *Removable.never_modelled
    )  # fmt: skip
    hands_out = True
    doing = "playing what is planned"
    outputs = {"table": "tables", "name": "prints the workloads that change, the worst first", "scenario": ""}
    function = Function(
        """What becomes of the cluster when everything that is planned is done: the edits of ``snapshot``, and the
        manifests to apply, paths, text or plain data as `explain` takes them.

        Raises ManifestError, SnapshotError and UsageError.
        """,
        "snapshot manifests scheduler",
        "replace_pool hpa_max prices namespace preemption ignore_daemonsets delete_emptydir_data force jobs "
        "timeout on_progress",
        types={"replace_pool": "str | Sequence[str]"},
    )

    manifests: Annotated[
        tuple[Any, ...],
        Applied("Manifest, or directory of manifests, to apply: what is new is created, what runs is changed."),
    ] = ()
    replace_pool: Annotated[
        tuple[str, ...],
        Option(
            "Replace the nodes of a pool, by its name or as KEY=VALUE, by as many or COUNT nodes of another size "
            "(8x16: 8 CPUs, 16 GiB), or by copies of a node or of a Node manifest.",
            metavar="POOL=CPUxGI[:COUNT][@KEY=VALUE]", is_path=True,
        ),
    ] = ()  # fmt: skip
    hpa_max: Annotated[
        bool, Option("Scale every workload with an autoscaler to its maximum, all together.")
    ] = False  # fmt: skip
    prices: PriceFile = None
    namespace: Annotated[
        str | None, Option("Namespace of workloads that are named without one.", ("-n", "--namespace"), "NAME")
    ] = None

    def clusters(self, opened: Snapshot, scheduler: Scheduler) -> Sequence[tuple[Snapshot, Scheduler]]:
        """A page draws what is there before, and each step from then on."""
        return ((dataclasses.replace(opened, edits=()), scheduler),)

    @property
    def names_in(self) -> str | None:
        return self.namespace
