"""Questions: their fields define parameters once, for every interface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import combinations
from operator import or_
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import UNSET, Meta, Struct
from msgspec.structs import FieldInfo

from kubespread.errors import UsageError
from kubespread.questions.registry import part

if TYPE_CHECKING:
    from kubespread.candidate.sources import Surroundings
    from kubespread.kube.taint import DrainFlags
    from kubespread.questions.scene import Scene
    from kubespread.questions.scheduler import Scheduler
    from kubespread.questions.selection import Selection
    from kubespread.snapshot.edits.verb import Edit
    from kubespread.snapshot.snapshot import Snapshot

A = TypeVar("A")
Text = Annotated[str, Meta(min_length=1)]
DRAIN = "Drain, here and with --drain"
"""Heading of flags that drains among edits share."""
MANIFESTS = "Manifests"
CHANCE = "Chance"
REQUIREMENTS = "Requirements"
NAMESPACES = "which namespaces are asked about"
WORKLOADS = "which workloads are meant"
REPLICAS = "how many replicas there are"
OF_CLUSTER = {WORKLOADS: "of the cluster", REPLICAS: "their own"}
CHOSEN = "which of several workloads is chosen"


class OptionRule(Struct, frozen=True, kw_only=True):
    """Combinations of options in which one has no effect."""

    says: Mapping[str, str] = {}
    """Decisions that the option makes; it conflicts with options that make one of these differently."""
    needs: tuple[str, ...] = ()
    """Parameters: one must be set for the option to have an effect; ignored if the question lacks the first."""
    prints: str = ""
    """Output that replaces the answer."""
    beside: tuple[str, ...] = ()
    """Parameters that affect the output it ``prints``."""
    shown_in: tuple[str, ...] = ()
    """Formats that show it; empty: all."""

    def decides(self, _value: Any) -> Mapping[str, str]:
        """Decisions of the option for this value."""
        return self.says


class Option(OptionRule, frozen=True):
    """Properties of a field beyond its type and default.

    A text field is an option with a value, a bool is a flag, and a tuple may be repeated; a flag that is on by default
    is ``--no-NAME``, unless it has ``names``.
    """

    help: str
    """Meaning of the option in one sentence, for every interface."""
    names: tuple[str, ...] = ()
    """Names on the command line; empty: the field's name."""
    metavar: str = ""
    heading: str | None = None
    """Section of the help."""
    least: int | None = None
    is_typed: bool = True
    """True if the command line has it."""
    is_for_scripts: bool = False
    """True if it only sets an exit code, or how much is shown, and exists on the command line alone."""
    is_path: bool = False
    """True if it names a file or says how files are read, which assistants may not do."""
    words: tuple[str, ...] = ()
    """Literal values beyond the ones that ``metavar`` describes."""
    form: ClassVar[str] = "value"
    """Kind of option on the command line."""
    is_subject: ClassVar[bool] = False
    """True if it is the subject of the question: first, and positional on the command line."""
    has_own_field: ClassVar[bool] = False
    """True if reports have a field for it, so that their ``question`` leaves it out."""
    by_default: ClassVar[str] = ""
    """Sentence for assistants on its default."""

    @property
    def keyword(self) -> str:
        """Keyword of the library function; empty: the field's name."""
        return ""

    @property
    def is_shown(self) -> bool:
        """True if the ``question`` of a report includes it."""
        return not (self.is_for_scripts or self.is_path or self.has_own_field)

    @property
    def is_for_assistants(self) -> bool:
        return not (self.is_for_scripts or self.is_path)

    def read(self, text: str) -> Any:
        """Value of a typed text, before any cluster is read. Raises UsageError and ManifestError."""
        return text

    def arguments(self, field: FieldInfo, kind: Any) -> Iterator[tuple[str, Any, Any]]:
        """Yield an assistant's arguments for a field of type ``kind``: names, types and defaults."""
        yield field.name, self._describe(kind), msgspec.field(default=field.default, name=field.encode_name)

    def _describe(self, kind: Any) -> Any:
        if self.least is not None:
            number = Annotated[int, Meta(ge=self.least)]
            kind = reduce(or_, (number if part is int else part for part in get_args(kind) or (kind,)))
        return Annotated[kind, Meta(description=f"{self.help}{self.by_default}")]

    def read_arguments(self, field: FieldInfo, arguments: Any, snapshot: Snapshot, scheduler: Scheduler) -> Any:
        """Value of the field from an assistant's ``arguments``. Raises UsageError and ManifestError."""
        return getattr(arguments, field.name)

    def take(self, kind: Any, value: Any) -> Any:
        """Value of the field of type ``kind`` from a Python caller's ``value``. Raises the errors of `read`."""
        if get_origin(kind) is tuple:
            several = () if value is None else value
            return (
                (value,) if isinstance(several, str | Mapping) or not isinstance(several, Iterable) else tuple(several)
            )
        if value is None or kind is Any:
            return None if value is None else self.read(value)
        return str(value) if isinstance(value, Path) else value


def conflicts(rules: Mapping[str, OptionRule], names: Mapping[str, str], values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each of ``values`` that has no effect beside or without another; ``names`` are as typed."""
    ruled = {name: rule for name, rule in rules.items() if name in values}
    for one, other in combinations(ruled, 2):
        says, also = ruled[one].decides(values[one]), ruled[other].decides(values[other])
        for which in [which for which in says if says[which] != also.get(which, says[which])][:1]:
            yield f"{names[one]} and {names[other]} do not go together: both say {which}"
    for option, rule in ruled.items():
        if rule.needs and rule.needs[0] in names and not {*values} & {*rule.needs}:
            needed = names[rule.needs[0]]
            missing = f"a {needed}: name one" if needed.isupper() else f"{needed}: add that"
            yield f"{names[option]} is for {missing}, or leave it out"
        for other in values:
            if rule.prints and other not in (option, *rule.beside):
                yield f"{names[option]} and {names[other]} do not go together: nothing but {rule.prints} is printed"


class Argument(Option, frozen=True):
    is_subject = True


_FIRST = Annotated[str | None, Meta(description="Manifest that is applied first, as text.")]


class WorkloadOption(Option, frozen=True):
    """Manifests, or workloads of the cluster by KIND/NAME: positional, or with kubectl's ``-f``; text from assistants,
    never paths.
    """

    is_piped: bool = False
    """True if piped input is read when nothing is named, though it is optional."""
    is_several: bool = False
    """True if ``-A`` selects several."""
    form = "pods"
    is_subject = True
    has_own_field = True

    @property
    def keyword(self) -> str:
        """``pod``, or ``pods`` or ``manifests`` if it takes several."""
        return f"{self.metavar.strip('[].').partition(']')[0].lower()}{'s' if self.metavar.endswith('...') else ''}"

    def arguments(self, field: FieldInfo, kind: Any) -> Iterator[tuple[str, Any, Any]]:
        text = "A Pod, or what creates pods, as YAML or JSON text; never a path."
        named = f"KIND/NAME of something in the cluster: deploy/web, pod/web-0.{self.by_default}"
        yield "manifest", Annotated[str | None, Meta(description=text)], None
        yield "workload", Annotated[str | None, Meta(description=named)], None

    def read_arguments(self, field: FieldInfo, arguments: Any, snapshot: Snapshot, scheduler: Scheduler) -> Any:
        is_named = field.required or arguments.manifest is not None or arguments.workload is not None
        return (passed_workload(arguments),) if is_named else field.default


class Manifests(WorkloadOption, frozen=True):
    """Manifests to apply first: kubectl's ``-f``; text of one manifest from assistants."""

    form = "applied"
    is_subject = False

    def arguments(self, field: FieldInfo, kind: Any) -> Iterator[tuple[str, Any, Any]]:
        yield "manifest", _FIRST, None

    def read_arguments(self, field: FieldInfo, arguments: Any, snapshot: Snapshot, scheduler: Scheduler) -> Any:
        return () if arguments.manifest is None else (passed_manifest(arguments.manifest),)


class ScenarioFile(Argument, frozen=True):
    """A scenario's file and steps in order; texts of steps from assistants."""

    form = "scenario"
    has_own_field = True

    def read(self, source: Any) -> Any:
        from kubespread.scenario.reading import read_scenario

        return read_scenario(source)

    def arguments(self, field: FieldInfo, kind: Any) -> Iterator[tuple[str, Any, Any]]:
        text = (
            "What happens, one after another: any edit, 'scale deploy/web=12', 'rollout deploy/web cpu=2', 'fail "
            "zone=c', 'restore zone=c'."
        )
        yield "steps", Annotated[list[Text], Meta(description=text)], []

    def read_arguments(self, field: FieldInfo, arguments: Any, snapshot: Snapshot, scheduler: Scheduler) -> Any:
        from kubespread.scenario import reading

        steps = [reading.parse_step(text, None) for text in arguments.steps]
        return reading.Scenario(tuple(steps)) if steps else field.default


class PromiseFile(Argument, frozen=True):
    """A file of promises; its text from assistants."""

    has_own_field = True

    def read(self, text: str) -> Any:
        from kubespread.scenario.promises import read_promises

        return read_promises(text)

    def arguments(self, field: FieldInfo, kind: Any) -> Iterator[tuple[str, Any, Any]]:
        text = "A file of kind Promises, as YAML or JSON text."
        yield field.name, Annotated[str, Meta(description=text)], msgspec.field()

    def read_arguments(self, field: FieldInfo, arguments: Any, snapshot: Snapshot, scheduler: Scheduler) -> Any:
        from kubespread.scenario.promises import promises_of

        return promises_of(arguments.promises)


class Settings(Option, frozen=True):
    """Changes of the pod, as FIELD=VALUE."""

    def decides(self, value: Any) -> Mapping[str, str]:
        return {REPLICAS: "a field"} if any(text.partition("=")[0].strip() == "replicas" for text in value) else {}


class NamespaceOption(Option, frozen=True):
    """A namespace or all of them: kubectl's ``-n`` and ``-A``; by default the context's, unless manifests are read."""

    form = "namespace"
    has_own_field = True
    by_default = " Default: all namespaces."


def edits_of(arguments: Any, texts: Sequence[str]) -> tuple[Edit, ...]:
    """Edits from an assistant's ``texts``; drains get the flags among the arguments. Raises UsageError."""
    from kubespread.snapshot.edits.nodes import DRAIN_FLAGS, with_flags
    from kubespread.snapshot.edits.registry import parse

    flags = {name: value for name in DRAIN_FLAGS.values() if (value := getattr(arguments, name)) is not UNSET}
    return tuple(with_flags(parse(text, None), flags) for text in texts)


def passed_workload(arguments: Any) -> Any:
    """Subject of an assistant's question, never a path. Raises UsageError and ManifestError."""
    from kubespread.candidate.sources import reference, reference_kinds

    if (arguments.manifest is None) == (arguments.workload is None):
        raise UsageError("expected either manifest, as text, or workload, as KIND/NAME")
    if arguments.manifest is not None:
        return passed_manifest(arguments.manifest)
    named = reference(arguments.workload or "")
    if named is None:
        raise UsageError(f"workload {arguments.workload!r}: expected KIND/NAME, KIND one of {reference_kinds()}")
    return named


def passed_manifest(text: str) -> Any:
    """Manifest from a text, named ``manifest`` in errors. Raises ManifestError."""
    from kubespread.candidate.manifest import manifest_from_text

    return manifest_from_text("manifest", text.encode("utf-8", "surrogatepass"))


@cache
def options_of(question: type[Question[Any]]) -> tuple[tuple[FieldInfo, Any, Option], ...]:
    """Annotated fields with their types and options, the subject first."""
    hints = get_type_hints(question, include_extras=True)
    fields = [field for field in msgspec.structs.fields(question) if get_origin(hints[field.name]) is Annotated]
    options = ((field, *get_args(hints[field.name])) for field in fields)
    return tuple(sorted(options, key=lambda field: not field[2].is_subject))


def reports_in(answer: Any) -> Sequence[tuple[str, Any]]:
    """Reports of an answer, each with a prefix that names its workload if there are several."""
    if not isinstance(answer, tuple):
        return [("", answer)]
    return [(f"{report.pod.namespace}/{report.subject}: " if len(answer) > 1 else "", report) for report in answer]


def parts_in(answer: Any) -> Sequence[tuple[str, Any]]:
    """Reports with notes of their own, each with its prefix."""
    return getattr(answer, "sides", None) or reports_in(answer)


def only_report(answer: Any) -> Any:
    """The only report of an answer. Raises UsageError if there are several."""
    (_, report), *others = reports_in(answer)
    if others:
        names = ", ".join(report.subject for report in answer)
        raise UsageError(f"several workloads ({names}); choose one with name, or ask about a list")
    return report


class Question(msgspec.Struct, Generic[A], frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Base of questions. The docstring's first paragraph states the question; the rest, with its examples, is help.

    A field without an option is for Python callers only.
    """

    name: ClassVar[str]
    """Name of the command, the tool and the library function."""
    summary: ClassVar[str]
    """One line for the program's help."""
    yes: ClassVar[str]
    """Meaning of exit code 0."""
    no: ClassVar[str | None] = None
    """Meaning of exit code 1; None if it never occurs."""
    never_modelled: ClassVar[Sequence[str]] = ()
    """Circumstances that no answer takes into account, for its help and reports."""
    doing: ClassVar[str] = "working on the answer"
    """Text shown while working."""
    outputs: ClassVar[Mapping[str, str]] = {}
    """Formats of this question alone, with their help for ``-o`` if not the format's own."""
    judges_edits: ClassVar[bool] = False
    """True if edits are steps of its answer, and a page draws the cluster before them."""
    hands_out: ClassVar[bool] = False
    """True if its answer has independent parts for `Workers`; the command then has ``--jobs``."""
    may_lack_cluster: ClassVar[bool] = False
    """True if it can be asked without a cluster, unless ``needs_cluster`` is set."""

    by_place: ClassVar[str] = ""
    """Fields that the library function takes by position, after the cluster."""

    @classmethod
    def report(cls) -> type[A]:
        """Type of its report, imported on demand."""
        (answer,) = get_args(cls.__orig_bases__[0])  # type: ignore[attr-defined]  # every generic class has it
        report: type[A] = part(cls.name, "report", getattr(answer, "__forward_arg__", None) or answer.__name__)
        return report

    def answer(self, scene: Scene) -> A:
        """Make the report. Raises UsageError, SnapshotError and ManifestError."""
        answer: A = part(self.name, "answer", "answer")(self, scene)
        return answer

    def full_answer(self, scene: Scene) -> A:
        """Make the report, with its verdict, the question and unmet requirements. Raises the errors of `answer`."""
        from kubespread.reports.parts import ClusterReport, joined_gaps

        answer: Any = self.answer(scene)
        about: dict[str, Any] = {"question": self.own_fields}
        if scene.snapshot_or_none is not None:
            from kubespread.questions.findings import findings_in, hints_in

            about["findings"] = findings_in(scene.snapshot_or_none)
            if getattr(self, "autoscaler", self) is None:
                # An autoscaler could add nodes, and none is named.
                about["hints"] = hints_in(scene.snapshot_or_none)
            if not self.judges_edits:
                about["undone"] = scene.undone_edits

        # An answer is one report, or several.
        reports = answer if isinstance(answer, tuple) else (answer,)
        every = [gap for report in reports for gap in report.gaps]

        def conclude(report: Any) -> Any:
            lacking = {"gaps": joined_gaps(report.gaps, every)} if isinstance(report, ClusterReport) else {}
            return report.conclude(**about, **lacking, unmet=tuple(self.check(report)))

        concluded: Any = tuple(map(conclude, answer)) if isinstance(answer, tuple) else conclude(answer)
        return cast("A", concluded)

    # Typed as Any since subclasses say which report.
    def check(self, _report: Any) -> Iterable[str]:
        """Yield unmet requirements, by option."""
        return ()

    @property
    def own_fields(self) -> dict[str, Any]:
        """Fields that differ from their defaults, as in JSON; without files and manifests."""
        options = ((field, getattr(self, field.name)) for field, _, option in options_of(type(self)) if option.is_shown)
        return {
            **{field.encode_name: msgspec.to_builtins(value) for field, value in options if value != field.default},
            # A workload's name, which reports have in a field of their own, is encoded like this one.
            "name": self.name,
        }

    @property
    def has_bar(self) -> bool:
        """True if ``--fail-on``, instead of the verdict, decides whether the answer is a no."""
        return any(
            field.name == "fail_on" and option.is_for_scripts and bool(getattr(self, field.name))
            for field, _, option in options_of(type(self))
        )

    # Typed as Any since Commands is made of questions: subclasses say Commands.
    def next(self, _report: A, _commands: Any) -> str:
        """Command to type next; empty if the rows have it, or nothing is to be done."""
        return ""

    @property
    def needs_cluster(self) -> bool:
        return True

    @property
    def preempts(self) -> bool:
        """True if pods that find no node may preempt others."""
        return True


Seed = Annotated[
    int | None,
    Option(
        "Randomize what is arbitrary, seeded with N: ties, which of equal pods and nodes controllers "
        "pick, and the first node kube-scheduler looks at where it scores a sample.",
        metavar="N",
        heading=CHANCE,
    ),
]
AUTOSCALING = "Autoscaling"
AutoscalerName = Annotated[
    Literal["ca", "karpenter"] | None,
    Option("Let cluster-autoscaler or Karpenter add nodes for pods that find none.", heading=AUTOSCALING),
]
NodeGroupsFile = Annotated[
    str | Any | None,
    Option(
        "Node groups the autoscaler may grow (default: the snapshot's NodePools).",
        metavar="FILE",
        heading=AUTOSCALING,
        is_path=True,
        needs=("autoscaler",),
    ),
]
InstanceTypesFile = Annotated[
    str | Any | None,
    Option(
        "Instance types Karpenter may launch.", metavar="FILE", heading=AUTOSCALING, is_path=True, needs=("autoscaler",)
    ),
]
AUTOSCALERS = "autoscalers: no replicas are added, and nodes only with --autoscaler"
Preemption = Annotated[bool, Option("Let pods that fit nowhere preempt pods of lower priority.", heading="Scheduler")]


class PlayedQuestion(Question[A], frozen=True, kw_only=True):
    """Question about a cluster in which controllers and kube-scheduler keep working."""

    preemption: Preemption = True

    @property
    def preempts(self) -> bool:
        return self.preemption


class DrainingQuestion(PlayedQuestion[A], frozen=True, kw_only=True):
    """Question that drains nodes; kubectl's flags, with defaults of managed node pools, apply to edits too."""

    ignore_daemonsets: Annotated[
        bool,
        Option(
            "Ignore DaemonSet pods; without it kubectl refuses to drain a node that has any.",
            ("--ignore-daemonsets/--no-ignore-daemonsets",),
            heading=DRAIN,
        ),
    ] = True
    delete_emptydir_data: Annotated[
        bool,
        Option(
            "Also evict pods with emptyDir volumes; without it kubectl refuses.",
            ("--delete-emptydir-data/--no-delete-emptydir-data",),
            heading=DRAIN,
        ),
    ] = True
    force: Annotated[
        bool, Option("Also evict pods without a controller; without it kubectl refuses.", heading=DRAIN)
    ] = False

    @property
    def drain_flags(self) -> DrainFlags:
        from kubespread.kube.taint import DrainFlags

        return DrainFlags(self.force, self.ignore_daemonsets, self.delete_emptydir_data)


class ManifestsQuestion(Question[A], frozen=True, kw_only=True):
    """Question about manifests or workloads of the cluster, its ``pods``."""

    pods: tuple[Any, ...]
    recursive: Annotated[
        bool,
        Option(
            "Also read subdirectories.",
            ("-R", "--recursive"),
            heading=MANIFESTS,
            is_path=True,
            says={WORKLOADS: "by name"},
        ),
    ] = False
    namespace: Annotated[
        str | None,
        Option(
            "Namespace to use when the manifest sets none.", ("-n", "--namespace"), "NAME", says={NAMESPACES: "one"}
        ),
    ] = None

    def ask(self, commands: Any, question: str, *words: str) -> str:
        """Command that asks another ``question`` about the same pods; empty unless exactly one is named."""
        named = [pod for pod in self.pods if isinstance(pod, str) and pod != "-"]
        return commands.ask_pod(question, named[0], *words) if len(named) == 1 else ""


class PodQuestion(ManifestsQuestion[A], frozen=True, kw_only=True):
    """Question about one workload."""

    pods: Annotated[
        tuple[Any, ...],
        WorkloadOption(
            "Manifest of a Pod or workload, '-' for standard input, or KIND/NAME in the cluster (pod/web-0, "
            "deploy/web). Default: standard input when piped, else pod.yaml.",
            metavar="[POD]",
        ),
    ]
    named: Annotated[
        str | None,
        Option(
            "Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).",
            ("--name",),
            "NAME",
            MANIFESTS,
            says={WORKLOADS: "by name", CHOSEN: "by name"},
        ),
    ] = msgspec.field(default=None, name="name")
    settings: Annotated[
        tuple[str, ...],
        Settings(
            "Change the pod first: maxSkew[zone]=2, minDomains=3, whenUnsatisfiable=ScheduleAnyway, "
            "nodeTaintsPolicy=Honor, nodeAffinityPolicy=Ignore, topologySpreadConstraints=zone:1, cpu=500m, "
            "memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, nodeAffinity[KEY]=null, "
            "podAffinity[KEY]=null, podAntiAffinity[KEY]=null, priorityClassName=NAME, schedulerName=NAME, replicas=N.",
            ("--set",),
            "FIELD=VALUE",
            MANIFESTS,
        ),
    ] = msgspec.field(default=(), name="set")

    @property
    def surroundings(self) -> Surroundings:
        from kubespread.candidate.sources import Surroundings

        return Surroundings(name=self.named, namespace=self.namespace, recursive=self.recursive, one_only=True)


class WorkloadsQuestion(PlayedQuestion[A], frozen=True, kw_only=True):
    """Question about named workloads, else all selected by namespace and labels."""

    workloads: Annotated[
        tuple[str, ...],
        Argument(
            "Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.",
            metavar="[WORKLOAD]...",
            says={WORKLOADS: "by name"},
        ),
    ] = ()
    namespace: Annotated[
        str | None, NamespaceOption("Ask about the workloads of this namespace.", ("-n", "--namespace"))
    ] = None
    selector: Annotated[
        str,
        Option(
            "Ask about the workloads with these labels (app=web,tier!=db).",
            ("-l", "--selector"),
            "LABELS",
            says={WORKLOADS: "of the cluster"},
        ),
    ] = ""

    def selection_in(self, snapshot: Snapshot) -> Selection:
        """Selection of these workloads in ``snapshot``. Raises UsageError for an invalid selector or name."""
        from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
        from kubespread.questions.selection import Selection

        default = self.namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
        return Selection.parse(self.namespace, self.selector, self.workload_names, default)

    @property
    def workload_names(self) -> tuple[str, ...]:
        """Names of workloads in the positional arguments."""
        return self.workloads
