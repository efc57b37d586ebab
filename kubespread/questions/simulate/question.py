"""What is asked of replicas that are placed one after another, and what scripts require of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import (
    AUTOSCALER_TYPES,
    OF_AUTOSCALER,
    REQUIREMENTS,
    Apart,
    AutoscalerName,
    Function,
    InstanceTypesFile,
    NodeGroupsFile,
    Option,
    Overload,
    PodQuestion,
    Preemption,
    Runs,
    Seed,
    Workload,
)
from kubespread.wording import count_of, says, verb_of

if TYPE_CHECKING:
    from kubespread.candidate.sources import Choosing
    from kubespread.questions.commands import Commands
    from kubespread.questions.simulate.report import SimulateReport
    from kubespread.views.look import Look

_MAX_DIGITS = 9


class Requirements(Struct, frozen=True):
    """A script's requirements of a simulation; each one not met is one line."""

    placed: int | Literal["all"] | None
    by_key: tuple[tuple[str, str, int], ...]
    """Options, topology keys and numbers; a key that is repeated is there twice."""

    @property
    def is_any(self) -> bool:
        """Whether anything is required."""
        return self.placed is not None or bool(self.by_key)

    @property
    def keys(self) -> list[str]:
        return [key for _, key, _ in self.by_key]

    def with_keys(self, full: Callable[[str], str]) -> Requirements:
        """The requirements with every topology key in full."""
        return replace(self, by_key=tuple((option, full(key), number) for option, key, number in self.by_key))

    def judged(self, report: SimulateReport) -> SimulateReport:
        """The report with its requirements, and those not met."""
        enough = report.replicas if self.placed == "all" else self.placed
        return report.revised(required_placed=enough, unmet=tuple(self._failures(report)))

    def _failures(self, report: SimulateReport) -> Iterator[str]:
        """The requirements not met."""
        if self.placed == "all":
            if report.lacking:
                what = "are not placed" if report.not_created or report.not_made_yet else "are pending"
                lacking = (report.replicas or 0) - report.running
                yield f"--require-placed all: {lacking} of {count_of(report.replicas or 0, 'replica')} {what}"
        elif self.placed is not None and report.running < self.placed:
            are = verb_of(report.running, "are")
            yield f"--require-placed {self.placed}: {count_of(report.running, 'replica')} {are} placed"
        for option, key, number in self.by_key:
            known = key in report.worst_loss
            failure = _SHORTFALLS[option](report, key, number) if known else "no node has that label"
            if failure is not None:
                yield f"{option} {key}={number}: {failure}"


def _too_much_skew(report: SimulateReport, key: str, most: int) -> str | None:
    skew = report.skew_of(key)
    return f"the skew is {skew}" if skew > most else None


def _too_few_domains(report: SimulateReport, key: str, least: int) -> str | None:
    domains = report.worst_loss[key].domains
    return says(domains, "domain", "hold replicas") if domains < least else None


def _too_few_survivors(report: SimulateReport, key: str, least: int) -> str | None:
    loss = report.worst_loss[key]
    return f"losing {loss.domain} leaves {loss.remaining}" if loss.remaining < least else None


_SHORTFALLS: Mapping[str, Callable[[SimulateReport, str, int], str | None]] = {
    "--max-skew": _too_much_skew,
    "--min-domains": _too_few_domains,
    "--survive": _too_few_survivors,
}
"""What is wrong with a number by topology key, by option."""


def _by_key(option: str, text: str) -> tuple[str, str, int]:
    """``KEY=N``. Raises UsageError."""
    key, _, number = text.partition("=")
    if not key or not (number.isascii() and number.isdigit() and len(number) <= _MAX_DIGITS):
        raise UsageError(f"invalid {option} {text!r}: expected KEY=N, such as topology.kubernetes.io/zone=1")
    return option, key, int(number)


_GANGS = "Gangs"


class Simulate(PodQuestion[Any], frozen=True, kw_only=True):
    """Place replicas one after another as kube-scheduler would, and show where they land and what stops them.

    Several workloads are placed by priority, then in the order given, each with the earlier ones already in the
    cluster. A workload already in the cluster is scaled up from the replicas it has. Ties go to the first node in
    kube-scheduler's own order, as far as it can be known; --seed and --runs show the other possible outcomes.

    \b
    Examples:
      kubespread simulate web.yaml --replicas 15 --max-skew zone=1 --survive zone=9
      kubespread simulate web.yaml --replicas max -S cluster.json.gz
      kubespread simulate --all -A --from-scratch
      kubespread simulate web.yaml --replicas 40 --autoscaler ca --node-groups groups.yaml
      kubespread simulate job/train --gang 8 --same topology.kubernetes.io/zone
      helm template shop ./chart | kubespread simulate --require-placed all
    """

    name = "simulate"
    summary = "Place replicas as kube-scheduler would; show what stops them."
    yes, no = "all replicas are placed and requirements hold", "some are not, or one fails"
    apart = (Apart("gang", ("autoscaler",), "that is not modeled of gangs"),)
    needs = {**OF_AUTOSCALER, "same": ("gang",), "jobs": ("runs",), "timeout": ("runs",)}
    hands_out = True
    doing = "placing replicas"
    outputs = {"table": "a picture", "plain": "columns", "name": "prints namespace/pod<TAB>node lines"}
    is_watched = True
    function = Function(
        """Where kube-scheduler would put ``replicas`` copies of each workload, one after another, and what would stop
        it.

        A list or tuple of ``pods`` gives a report for each of their workloads, several in a manifest among them;
        anything else has to be one workload and gives its report. All stand in one queue, by priority, then in the
        order given, and each pod finds those before it in the cluster. ``replicas`` is each workload's own number
        unless given. A workload that runs in the cluster already is grown to that number from the replicas it has; a
        template that differs from the running one takes those away first.

        ``node_groups`` is the path of a NodeGroups file, or the groups, ``instance_types`` that of an InstanceTypes
        file, or the types.

        Raises ManifestError, SnapshotError and UsageError.
        """,
        "snapshot pods replicas scheduler",
        "from_scratch runs seed keys preemption autoscaler node_groups "
        "instance_types gang same name namespace selector recursive template_path set jobs timeout "
        "on_progress on_refused",
        types={
            "pods": "PodGiven | list[G] | tuple[G, ...]",
            "replicas": "int | Literal['max'] | None",
            **AUTOSCALER_TYPES,
        },
        overloads=(
            Overload({"pods": "PodGiven"}, "SimulateReport"),
            Overload({"pods": "list[G] | tuple[G, ...]"}, "tuple[SimulateReport, ...]"),
        ),
    )

    pods: Annotated[
        tuple[Any, ...],
        Workload(
            "Manifests, '-' for standard input, or KIND/NAME in the cluster (deploy/web, deploy web). All workloads "
            "in a manifest are placed. Default: standard input when piped, else pod.yaml.",
            metavar="[POD]...",
            is_several=True,
        ),
    ]
    selector: Annotated[
        str, Option("Place only workloads with these labels (app=web,tier!=db).", ("-l", "--selector"), "LABELS")
    ] = ""
    replicas: Annotated[
        int | Literal["max"] | None,
        Option(
            "Desired replicas, or 'max': as many as fit, preempting nothing (default: the workload's own).",
            metavar="N",
            least=0,
        ),
    ] = None
    from_scratch: Annotated[bool, Option("Also re-place the replicas already running.")] = False
    runs: Runs = None
    seed: Seed = None
    keys: Annotated[tuple[str, ...], Option("Further topology keys to report about.", is_typed=False)] = ()
    preemption: Preemption = True
    autoscaler: AutoscalerName = None
    node_groups: NodeGroupsFile = None
    instance_types: InstanceTypesFile = None
    gang: Annotated[
        int | None,
        Option(
            "Place N replicas together or none of them. With --replicas, a multiple of N: one gang after another.",
            metavar="N",
            heading=_GANGS,
            least=1,
        ),
    ] = None
    same: Annotated[
        str | None,
        Option(
            "With --gang, place all members in one domain of this topology key, and show each domain's verdict.",
            metavar="KEY",
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
    max_skew: Annotated[
        tuple[str, ...],
        Option(
            "Fail if the final skew across KEY exceeds N.", metavar="KEY=N", heading=REQUIREMENTS, is_for_scripts=True
        ),
    ] = ()
    min_domains: Annotated[
        tuple[str, ...],
        Option(
            "Fail unless replicas use at least N KEY domains.",
            metavar="KEY=N",
            heading=REQUIREMENTS,
            is_for_scripts=True,
        ),
    ] = ()
    survive: Annotated[
        tuple[str, ...],
        Option(
            "Fail unless N replicas survive the loss of any one KEY domain.",
            metavar="KEY=N",
            heading=REQUIREMENTS,
            is_for_scripts=True,
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Raises UsageError for invalid requirements, and for nodes that are added for as many as fit."""
        _ = self.requirements
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
    def requirements(self) -> Requirements:
        texts = zip(_SHORTFALLS, (self.max_skew, self.min_domains, self.survive), strict=True)
        return Requirements(self.require_placed, tuple(_by_key(option, text) for option, own in texts for text in own))

    @property
    def requires(self) -> bool:
        return self.requirements.is_any

    @classmethod
    def report(cls) -> type[SimulateReport]:
        from kubespread.questions.simulate.report import SimulateReport

        return SimulateReport

    def signed(self, answer: Sequence[SimulateReport], undone: Sequence[str] = ()) -> tuple[SimulateReport, ...]:
        return tuple(super(Simulate, self).signed(report, undone) for report in answer)

    def reports(self, answer: Sequence[SimulateReport]) -> Sequence[tuple[str, SimulateReport]]:
        return [(f"{report.pod.namespace}/{report.subject}: " if len(answer) > 1 else "", report) for report in answer]

    def alone(self, answer: Sequence[SimulateReport]) -> SimulateReport:
        if len(answer) > 1:
            names = ", ".join(report.subject for report in answer)
            raise UsageError(f"several workloads ({names}); choose one with name, or ask about a list")
        return answer[0]

    def shown(self, look: Look) -> Look:
        return replace(look, in_full=look.in_full or self.named is not None)

    @property
    def choosing(self) -> Choosing:
        return replace(super().choosing, selector=self.selector, one_only=False)

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
