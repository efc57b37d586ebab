"""What a question is: its fields define once what may be asked, and every interface is made from them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from kubespread.questions.parts import part

if TYPE_CHECKING:
    from kubespread.candidate.sources import Choosing
    from kubespread.kube.api.kinds import Kind
    from kubespread.kube.drain_flags import DrainFlags
    from kubespread.questions.scene import Scene
    from kubespread.questions.scheduler import Scheduler
    from kubespread.questions.workloads_asked import WorkloadsAsked
    from kubespread.snapshot.snapshot import Snapshot
    from kubespread.views.formats import Format
    from kubespread.views.look import Look

A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., Any])
DRAIN = "Drain, here and with --drain"
"""The heading of flags that are edits' too."""
MANIFESTS = "Manifests"
CHANCE = "Chance"
REQUIREMENTS = "Requirements"


@dataclass(frozen=True, slots=True)
class Option:
    """What a field says besides its type and its default.

    A text field is an option with a value, a bool is a flag, and a tuple may be repeated; a flag that is on by default
    is ``--no-NAME``, unless it has ``names``.
    """

    help: str
    """What it means, for every interface: one sentence."""
    names: tuple[str, ...] = ()
    """On the command line, where these are not the field's own."""
    metavar: str = ""
    heading: str | None = None
    """The part of the help it stands in."""
    least: int | None = None
    is_typed: bool = True
    """Whether the command line has it."""
    is_for_scripts: bool = False
    """Whether it only sets an exit code, or how much is shown, and exists on the command line alone."""
    shown_in: tuple[str, ...] = ()
    """The formats that show what it asks for; empty: all."""
    is_alias: bool = False
    """Whether another option says the same, so that help has only that."""
    is_path: bool = False
    """Whether it names a file or says how one is read, which is not for assistants."""

    @property
    def is_told(self) -> bool:
        """Whether an answer repeats it in its question; reports have their subject and namespace of their own."""
        own = isinstance(self, Workload | Applied | Scenario | Promises | Pod | Namespace | Ending)
        return not (self.is_for_scripts or self.is_path or own)

    @property
    def is_for_assistants(self) -> bool:
        return not (self.is_for_scripts or self.is_path or self.is_alias)

    @property
    def is_for_one(self) -> bool:
        """Whether it is about how one report is shown, or about a file that one report is written to."""
        return self.is_for_scripts and (bool(self.shown_in) or self.metavar == "FILE")

    def denied(self) -> str:
        """The help of the flag that negates it."""
        return f"Do not {self.help[:1].lower()}{self.help[1:]}"


class Apart(Struct, frozen=True):
    """Parameters of which only one can be honored, by name."""

    option: str
    others: tuple[str, ...]
    why: str
    unless: tuple[str, ...] = ()
    """The parameters with any of which both are honored."""


@dataclass(frozen=True, slots=True)
class Argument(Option):
    """A positional argument on the command line; with ``names`` an option too."""

    missing: str = ""
    """The message where a required one is missing."""


@dataclass(frozen=True, slots=True)
class Workload(Option):
    """Manifests, or workloads of the cluster by KIND/NAME: paths on the command line, never from an assistant, which
    passes text. An option where it has ``names``, else positional, with kubectl's ``-f`` and ``-k`` as alternatives.
    """

    is_piped: bool = False
    """Whether piped input stands in where nothing is named, though it is optional."""


class Sides(Workload):
    """A workload BEFORE and one AFTER, or one for both, each with its cluster, scheduler and settings."""


class Workloads(Workload):
    """Several workloads, positional; on the command line with ``--all`` and ``-A`` as alternatives."""


class Scenario(Argument):
    """A scenario: a file on the command line, positional; from an assistant the texts of the steps, after a manifest
    that is applied.
    """


class Applied(Option):
    """Manifests that are applied first: kubectl's ``-f`` and ``-k`` on the command line, from an assistant the text of
    one.
    """


class Promises(Argument):
    """Promises: a file on the command line, positional; from an assistant its text."""


class Prices(Option):
    """A file of prices, which is read before any cluster."""


class Pod(Option):
    """A manifest, or KIND/NAME in the cluster; never from an assistant."""


class Namespace(Option):
    """A namespace, or all: kubectl's ``-n`` and ``-A`` on the command line, where the context has a default for
    everything but manifests.
    """


@dataclass(frozen=True, slots=True)
class Ending(Option):
    """Requests something else instead of an answer: `Question.ending` returns it, before anything is read."""

    prints: str = ""
    """What it prints, in a word."""

    @property
    def is_for_one(self) -> bool:
        return True


@cache
def options_of(question: type[Question[Any]]) -> tuple[tuple[msgspec.structs.FieldInfo, Any, Option], ...]:
    """Each annotated field with its type and its option; positional ones come first."""
    hints = get_type_hints(question, include_extras=True)
    fields = [field for field in msgspec.structs.fields(question) if get_origin(hints[field.name]) is Annotated]
    options = ((field, *get_args(hints[field.name])) for field in fields)
    return tuple(sorted(options, key=lambda field: not isinstance(field[2], Argument | Workload)))


def asks(question: type[Question[Any]]) -> Callable[[F], F]:
    """Decorates the library function that asks ``question``: appends the fields' help to its docstring."""

    def documented(function: F) -> F:
        texts = {
            name: option.help
            for field, _, option in options_of(question)
            for name in (field.name, field.encode_name)
            if not option.is_for_scripts
        }
        texts["jobs"] = (
            "How many processes work on the answer, which is the same for any number; None: one for each core, where "
            "that saves time."
        )
        texts["timeout"] = (
            "Seconds after which no further part of the answer is begun; it is then about those that are finished, its "
            "verdict no or unknown, and ``unfinished`` says what is missing."
        )
        texts["on_progress"] = "Called now and then with how far the answer is."
        texts["on_refused"] = "Called with each workload that the API server would not take; else the first one raises."
        keywords = (name for name in inspect.signature(function).parameters if name in texts)
        listed = "\n".join(f"- ``{name}``: {texts[name]}" for name in keywords)
        function.__doc__ = f"{inspect.getdoc(function)}\n\n{listed}\n"
        return function

    return documented


class Instead(Struct, frozen=True):
    """The answer to another question, instead of the one that was asked."""

    name: str
    """The other question's name."""
    cluster: Snapshot
    """What it is about."""
    report: Any
    is_yes: bool | None = None
    """As `Question.is_yes` has it."""


class Question(msgspec.Struct, Generic[A], frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Base of all questions. A docstring's first paragraph says what is asked; the rest, and its examples, are help.

    A field annotated with no option is for Python callers only.
    """

    name: ClassVar[str]
    """The command, the tool and the function."""
    summary: ClassVar[str]
    """One line for the program's help."""
    purpose: ClassVar[str] = "What if"
    """The part of the program's help where it is listed: what people want of it."""
    yes: ClassVar[str]
    """What exit code 0 means."""
    no: ClassVar[str | None] = None
    """What exit code 1 means; None where it has none."""
    never_modelled: ClassVar[Sequence[str]] = ()
    """What none of its answers takes into account, whatever the cluster: in its help and in reports."""
    verdict_counts: ClassVar[bool] = True
    """Whether the report's verdict decides between these, and not only its requirements."""
    doing: ClassVar[str] = "working on the answer"
    """The text shown while working."""
    outputs: ClassVar[Mapping[str, str]] = {"table": "a table", "plain": "plain columns", "csv": ""}
    """Its own formats besides those that every report has, with their help for ``-o``."""
    apart: ClassVar[Sequence[Apart]] = ()
    """Parameters that do not go together, the command line's included."""
    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Parameters without effect unless one of these is given."""
    is_watched: ClassVar[bool] = False
    """Whether it has ``-w``, which repeats it."""
    hands_out: ClassVar[bool] = False
    """Whether its answer is made of independent parts, which `Workers` do; the command has ``--jobs``."""
    may_lack_cluster: ClassVar[bool] = False
    """Whether it is asked without a cluster too, unless one is named or ``needs_cluster``: ``--live`` is the context's.
    """

    @classmethod
    def report(cls) -> type[A]:
        """The type of its report, imported on demand."""
        raise NotImplementedError

    @classmethod
    def other_reports(cls) -> Sequence[type[A]]:
        """The types of further reports that it is answered with in some of its forms."""
        return ()

    def answer(self, scene: Scene) -> A:
        """The report. Raises UsageError, SnapshotError and ManifestError."""
        answer: A = part(self.name, "answer", "answer")(self, scene)
        return answer

    def answered(self, scene: Scene) -> A:
        """The report including the question. Raises what `answer` raises."""
        return self.signed(self.answer(scene))

    def signed(self, answer: A) -> A:
        """``answer`` with the question added."""
        signed: A = msgspec.structs.replace(answer, question=self.given)  # type: ignore[type-var]  # a report is one
        return signed

    @property
    def given(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as in JSON; neither files nor manifests."""
        options = ((field, getattr(self, field.name)) for field, _, option in options_of(type(self)) if option.is_told)
        return {
            "name": self.name,
            **{field.encode_name: msgspec.to_builtins(value) for field, value in options if value != field.default},
        }

    def is_yes(self, report: A) -> bool | None:
        """Whether the exit code is 0, if all requirements are met; None: if the verdict is yes."""
        return None if self.verdict_counts else True

    @property
    def requires(self) -> bool:
        """Whether it has requirements."""
        return False

    def reports(self, answer: A) -> Sequence[tuple[str, Any]]:
        """The reports in the answer, each with the prefix that says whose it is."""
        return [("", answer)]

    def alone(self, answer: A) -> Any:
        """The only report. Raises UsageError where there are several."""
        return answer

    @classmethod
    def own_format(cls, asked: Collection[str]) -> str | None:
        """The format of what one of these fields asks for, where neither terminals nor pipes have it by themselves."""
        shown = (option.shown_in for field, _, option in options_of(cls) if field.name in asked)
        return next((forms[0] for forms in shown if forms and not {"table", "plain"} & {*forms}), None)

    def written_in(self, _form: Format) -> Self:
        """The same question for an answer in this format."""
        return self

    def shown(self, look: Look) -> Look:
        """How a terminal shows the answer."""
        return look

    def parts(self, report: A) -> Sequence[tuple[str, Any]]:
        """The parts with notes of their own, each with the prefix of these."""
        return self.reports(report)

    def clusters(self, opened: Snapshot, scheduler: Scheduler) -> Sequence[tuple[Snapshot, Scheduler]]:
        """The clusters in question, each with its scheduler; a page draws the last."""
        return ((opened, scheduler),)

    def instead(self, scene: Scene) -> Instead | None:
        """The answer to another question, where a field requests that. Raises what `answer` raises."""
        return None

    def ending(self, output: str | None, *, headers: bool) -> str:
        """The output that an `Ending` requests, in the format of -o. Raises UsageError."""
        raise NotImplementedError

    def keep(self, report: A) -> None:
        """Write requested files besides the answer, before it is shown. Raises UsageError."""

    @property
    def needs_cluster(self) -> bool:
        """Whether it cannot be answered without a cluster."""
        return True

    @property
    def names_in(self) -> str | None:
        """The namespace of names without one, in edits too; None: the context's."""
        return None

    @property
    def makes_room(self) -> bool:
        """Whether pods that find no node may preempt others."""
        return True


PRICES = Prices("File of kind Prices, YAML or JSON, to say what nodes cost too.", ("--prices",), "FILE", is_path=True)
PriceFile = Annotated[Any, PRICES]
Preemption = Annotated[
    bool,
    Option("Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.", heading="Scheduler"),
]


class PlayedQuestion(Question[A], frozen=True, kw_only=True):
    """A question about a cluster whose controllers and kube-scheduler keep working."""

    preemption: Preemption = True

    @property
    def makes_room(self) -> bool:
        return self.preemption


class DrainingQuestion(PlayedQuestion[A], frozen=True, kw_only=True):
    """A question that drains nodes: kubectl's flags, with the defaults of managed node pools, apply to edits too."""

    ignore_daemonsets: Annotated[
        bool,
        Option(
            "Ignore DaemonSet pods; without it kubectl refuses to drain a node that has any.",
            ("--ignore-daemonsets/--no-ignore-daemonsets",), heading=DRAIN,
        ),
    ] = True  # fmt: skip
    delete_emptydir_data: Annotated[
        bool,
        Option(
            "Also evict pods with emptyDir volumes; without it kubectl refuses.",
            ("--delete-emptydir-data/--no-delete-emptydir-data",), heading=DRAIN,
        ),
    ] = True  # fmt: skip
    force: Annotated[
        bool, Option("Also evict pods without a controller; without it kubectl refuses.", heading=DRAIN)
    ] = False  # fmt: skip

    @property
    def drain_flags(self) -> DrainFlags:
        from kubespread.kube.drain_flags import DrainFlags

        return DrainFlags(self.force, self.ignore_daemonsets, self.delete_emptydir_data)


class ManifestsQuestion(Question[A], frozen=True, kw_only=True):
    """A question about manifests or workloads of the cluster, its ``pods``."""

    pods: tuple[Any, ...]
    recursive: Annotated[
        bool, Option("Also read subdirectories.", ("-R", "--recursive"), heading=MANIFESTS, is_path=True)
    ] = False
    template_path: Annotated[
        str,
        Option(
            "Path of the pod template in kinds unknown to kubespread (default: spec.template).", metavar="PATH",
            heading=MANIFESTS, is_path=True,
        ),
    ] = ""  # fmt: skip
    namespace: Annotated[
        str | None, Option("Namespace to use when the manifest sets none.", ("-n", "--namespace"), "NAME")
    ] = None

    @property
    def names_in(self) -> str | None:
        return self.namespace


class PodQuestion(ManifestsQuestion[A], frozen=True, kw_only=True):
    """A question about one workload."""

    named: Annotated[
        str | None,
        Option(
            "Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).", ("--name",), "NAME", MANIFESTS
        ),
    ] = msgspec.field(default=None, name="name")
    settings: Annotated[
        tuple[str, ...],
        Option(
            "Change the pod before it is admitted: maxSkew[zone]=2, minDomains[zone]=3, "
            "whenUnsatisfiable[zone]=ScheduleAnyway, nodeTaintsPolicy[zone]=Honor, nodeAffinityPolicy[zone]=Ignore, "
            "cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, "
            "nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, "
            "priorityClassName=NAME, replicas=N.",
            ("--set",), "FIELD=VALUE", MANIFESTS,
        ),
    ] = msgspec.field(default=(), name="set")  # fmt: skip

    @property
    def choosing(self) -> Choosing:
        """Which of the workloads in ``pods`` to use."""
        from kubespread.candidate.sources import Choosing

        return Choosing(
            self.named, self.namespace, recursive=self.recursive, template_path=self.template_path, one_only=True
        )


def workloads_in(
    snapshot: Snapshot, namespace: str | None, selector: str, names: Sequence[str], more: Sequence[Kind] = ()
) -> WorkloadsAsked:
    """The workloads of ``snapshot`` that are named, else those of a namespace, with certain labels, or all of them."""
    from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
    from kubespread.questions.workloads_asked import WorkloadsAsked

    default = namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
    return WorkloadsAsked.of(namespace, selector, names, default, more)


class WorkloadsQuestion(PlayedQuestion[A], frozen=True, kw_only=True):
    """A question about workloads: those that are named, else all chosen by namespace and labels."""

    workloads: Annotated[
        tuple[str, ...],
        Argument(
            "Workloads as KIND/NAME (deploy/web, sts/db). Default: all of the namespace.", metavar="[WORKLOAD]..."
        ),
    ] = ()  # fmt: skip
    namespace: Annotated[str | None, Namespace("Ask about the workloads of this namespace.", ("-n", "--namespace"))] = (
        None
    )
    selector: Annotated[
        str, Option("Ask about the workloads with these labels (app=web,tier!=db).", ("-l", "--selector"), "LABELS")
    ] = ""

    def asked_in(self, snapshot: Snapshot, more: Sequence[Kind] = ()) -> WorkloadsAsked:
        """Which ones these are in ``snapshot``, with objects of the kinds ``more``. Raises UsageError for an invalid
        selector or name.
        """
        return workloads_in(snapshot, self.namespace, self.selector, self.workloads, more)

    @property
    def names_in(self) -> str | None:
        return self.namespace
