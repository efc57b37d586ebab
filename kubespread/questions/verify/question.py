"""What is asked of promises."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Annotated, Any

from kubespread.questions.audit.question import Audit
from kubespread.questions.capacity.question import Capacity
from kubespread.questions.plan.question import OF_STEPS
from kubespread.questions.question import (
    AUTOSCALER_TYPES,
    AutoscalerName,
    Function,
    InstanceTypesFile,
    NodeGroupsFile,
    Option,
    PlayedQuestion,
    Promises,
)
from kubespread.questions.survive.question import Survive

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands
    from kubespread.questions.verify.report import VerifyReport


class Verify(PlayedQuestion["VerifyReport"], frozen=True, kw_only=True):
    """Verify what is promised of workloads, in a file that is kept beside their manifests.

    Each promise says which workloads it is about, and what holds of them: survives (any zone, any node, any KEY), ready
    and back, spread, fits, rollout and drain; of the cluster, room. The answer says of each by how much it holds, or
    the step that breaks it, as survive, audit, simulate, plan or capacity answer. A broken promise with a day in until
    is accepted until that day is over. With -f manifests are applied first. With --autoscaler what survives, comes
    back, fits, is rolled out and drained may need nodes that it adds; what is ready at the worst moment may not. In
    GitHub Actions, the default format is annotations.

    \b
    Examples:
      kubespread verify promises.yaml
      kubespread verify promises.yaml -f k8s/ -S cluster.json.gz
      kubespread verify promises.yaml --autoscaler karpenter --instance-types types.yaml
      kubespread fleet --contexts 'prod-*' verify promises.yaml
    """

    name = "verify"
    summary = "Verify promises: what survives, fits, is ready and spread."
    never_modelled = tuple(
        dict.fromkeys((*Audit.never_modelled, *Survive.never_modelled, *OF_STEPS, *Capacity.never_modelled))
    )
    yes, no = "every promise holds, or is accepted", "some promise is broken"
    hands_out = True
    doing = "verifying promises"
    outputs = {"table": "a list", "prometheus": ""}
    function = Function(
        """Which ``promises`` hold in ``snapshot``, by how much, and what breaks the others.

        Promises are a path, the text of a file, plain data or a `Promises`. ``today`` decides until when a broken one
        is accepted.
        Raises ManifestError, SnapshotError and UsageError.
        """,
        "snapshot promises scheduler",
        "filename namespace preemption autoscaler node_groups instance_types today jobs timeout on_progress",
        types=AUTOSCALER_TYPES,
    )

    promises: Annotated[
        Any, Promises("File of kind Promises, YAML or JSON; '-' for standard input.", metavar="PROMISES")
    ] = None
    filename: Annotated[
        tuple[str, ...],
        Option("Manifests, or directories of them, to apply before.", ("-f", "--filename"), "FILE", is_path=True),
    ] = ()
    namespace: Annotated[
        str | None,
        Option(
            "Namespace of workloads that are named without one, unless the promises set it.",
            ("-n", "--namespace"),
            "NAME",
        ),
    ] = None
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    today: datetime.date | None = None
    """The day on which it is decided what is accepted until when; None: today, in UTC."""

    def next_command(self, report: VerifyReport, _commands: Commands) -> str:
        return next((row.command for row in report.of("broken", "unknown", "accepted")), "")

    @property
    def names_in(self) -> str | None:
        return self.namespace
