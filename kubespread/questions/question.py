"""What a question is: its fields say once what may be asked, and every door is made of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self, TypeVar, get_args, get_origin, get_type_hints

import msgspec

if TYPE_CHECKING:
    from kubespread.candidate.input.sources import Choosing
    from kubespread.controllers.disruption.drain import DrainFlags
    from kubespread.questions.scene import Scene
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot
    from kubespread.views.look import Look

A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., Any])
DRAIN = "Drain, here and with --drain"
"""The heading of flags that are edits' too."""


@dataclass(frozen=True, slots=True)
class Option:
    """What there is to say of a field besides its type and its default.

    A text field is an option with a value, a truth is a flag, and a tuple may be given again and again; a truth that
    holds unless it is denied is ``--no-NAME``, unless it has ``names``.
    """

    help: str
    """What it means, for every door: a sentence."""
    names: tuple[str, ...] = ()
    """On the command line, where these are not the field's own."""
    metavar: str = ""
    heading: str | None = None
    """The part of the help it stands in."""
    least: int | None = None
    is_typed: bool = True
    """Whether the command line has it."""
    is_for_scripts: bool = False
    """Whether it only sets an exit code, or how much is shown, and is asked for on the command line alone."""
    shown_in: tuple[str, ...] = ()
    """The formats that show what it asks for; none: all do."""
    is_path: bool = False
    """Whether it names a file or says how one is read, which is not for assistants."""

    @property
    def is_told(self) -> bool:
        """Whether an answer says it of its question; what it is about, and in which namespace, it says itself."""
        return self.is_for_assistants and not isinstance(self, Workload | Scenario | Pod | Namespace | Ending)

    @property
    def is_for_assistants(self) -> bool:
        return not (self.is_for_scripts or self.is_path)

    def denied(self) -> str:
        """What the flag means that says it is not so."""
        return f"Do not {self.help[:1].lower()}{self.help[1:]}"


@dataclass(frozen=True, slots=True)
class Apart:
    """Parameters of which only one can be honored, by name."""

    option: str
    others: tuple[str, ...]
    why: str
    unless: str = ""
    """The parameter that both are honored beside."""


@dataclass(frozen=True, slots=True)
class Argument(Option):
    """A field that the command line takes by its place, and where it has ``names`` as an option too."""

    missing: str = ""
    """What to say where it is not given, though it has to be."""


@dataclass(frozen=True, slots=True)
class Workload(Option):
    """Manifests, or workloads of the cluster by KIND/NAME, paths on the command line and never from an assistant, who
    gives a text: an option where it has ``names``, else by its place with kubectl's ``-f`` and ``-k`` beside it.
    """

    is_piped: bool = False
    """Whether it is what is piped in where nothing is named, though it need not be given."""


class Sides(Workload):
    """A workload BEFORE and one AFTER, or the same, each with its cluster, its scheduler and what is set in it."""


class Workloads(Workload):
    """The same of several at once, by its place: on the command line with ``--all`` and ``-A`` beside it."""


class Scenario(Argument):
    """What happens: a file on the command line, by its place; from an assistant the texts of the steps, after a
    manifest that is applied.
    """


class Pod(Option):
    """A manifest, or KIND/NAME in the cluster; never from an assistant."""


class Namespace(Option):
    """A namespace, or all of them: kubectl's ``-n`` and ``-A`` on the command line, where the context has a default for
    what is not a manifest.
    """


@dataclass(frozen=True, slots=True)
class Ending(Option):
    """What is asked for in the place of an answer: `Question.ending` says it, before anything is read."""

    prints: str = ""
    """What that is, in a word."""


@cache
def options_of(question: type[Question[Any]]) -> tuple[tuple[msgspec.structs.FieldInfo, Any, Option], ...]:
    """Each field of which there is something to say, with its type; what goes by its place comes first."""
    hints = get_type_hints(question, include_extras=True)
    fields = [field for field in msgspec.structs.fields(question) if get_origin(hints[field.name]) is Annotated]
    options = ((field, *get_args(hints[field.name])) for field in fields)
    return tuple(sorted(options, key=lambda field: not isinstance(field[2], Argument | Workload)))


def asks(question: type[Question[Any]]) -> Callable[[F], F]:
    """Of the library's function that asks ``question``: its docstring goes on with what is said of the fields."""

    def documented(function: F) -> F:
        texts = {
            name: option.help
            for field, _, option in options_of(question)
            for name in (field.name, field.encode_name)
            if not option.is_for_scripts
        }
        texts["on_progress"] = "Called now and then with how far the answer is."
        texts["on_refused"] = "Called with each workload that the API server would not take; else the first one raises."
        keywords = (name for name in inspect.signature(function).parameters if name in texts)
        listed = "\n".join(f"- ``{name}``: {texts[name]}" for name in keywords)
        function.__doc__ = f"{inspect.getdoc(function)}\n\n{listed}\n"
        return function

    return documented


@dataclass(frozen=True, slots=True)
class Instead:
    """The answer to another question, in the place of the one that was asked."""

    name: str
    """That of the other question."""
    cluster: Snapshot
    """What it is about."""
    report: Any
    is_yes: bool | None = None
    """As `Question.is_yes` has it."""


class Question(msgspec.Struct, Generic[A], frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Base of all questions. A docstring's first paragraph says what is asked; the rest, and its examples, are help.

    A field that is annotated with no option is for whoever asks in Python.
    """

    name: ClassVar[str]
    """The command, the tool and the function."""
    summary: ClassVar[str]
    """In what fits on a line of the program's help."""
    yes: ClassVar[str]
    """What exit code 0 means."""
    no: ClassVar[str | None] = None
    """What exit code 1 means; None where it has none."""
    verdict_counts: ClassVar[bool] = True
    """Whether the report's verdict decides between these, and not only what was required of it."""
    doing: ClassVar[str] = "working on the answer"
    """What is done while somebody waits."""
    outputs: ClassVar[Mapping[str, str]] = {"table": "a table", "plain": "plain columns", "csv": ""}
    """The formats of its own besides those that every report has, with what the help of ``-o`` says of them."""
    apart: ClassVar[Sequence[Apart]] = ()
    """Which of its parameters do not go together, those of the command line too."""
    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """What each parameter does nothing without: one of these."""
    is_watched: ClassVar[bool] = False
    """Whether ``-w`` asks it again and again."""
    may_lack_cluster: ClassVar[bool] = False
    """Whether it is asked without a cluster too, unless one is named or ``needs_cluster``: ``--live`` is the context's.
    """

    @classmethod
    def report(cls) -> type[A]:
        """What answers it, imported when somebody asks."""
        raise NotImplementedError

    def answer(self, scene: Scene) -> A:
        """The report. Raises UsageError, SnapshotError and ManifestError."""
        raise NotImplementedError

    def answered(self, scene: Scene) -> A:
        """The same, which says what was asked. Raises what `answer` raises."""
        return self.signed(self.answer(scene))

    def signed(self, answer: A) -> A:
        """What answers it, with the question."""
        signed: A = msgspec.structs.replace(answer, question=self.given)  # type: ignore[type-var]  # a report is one
        return signed

    @property
    def given(self) -> dict[str, Any]:
        """What was said of its fields besides what holds anyway, as JSON has it; neither files nor manifests."""
        options = ((field, getattr(self, field.name)) for field, _, option in options_of(type(self)) if option.is_told)
        return {
            "name": self.name,
            **{field.encode_name: msgspec.to_builtins(value) for field, value in options if value != field.default},
        }

    def is_yes(self, report: A) -> bool | None:
        """Whether the exit code is 0 where all that was required is so; None: where the verdict is yes."""
        return None if self.verdict_counts else True

    @property
    def requires(self) -> bool:
        """Whether it says what has to be so."""
        return False

    def reports(self, answer: A) -> Sequence[tuple[str, Any]]:
        """The reports that answer it, each after whose it is."""
        return [("", answer)]

    def alone(self, answer: A) -> Any:
        """The one report of whoever asks about one thing. Raises UsageError where there are several."""
        return answer

    def for_people(self) -> Self:
        """The same question where people read the answer."""
        return self

    def shown(self, look: Look) -> Look:
        """How a terminal shows the answer."""
        return look

    def parts(self, report: A) -> Sequence[tuple[str, Any]]:
        """What has notes of its own, each with how these begin."""
        return self.reports(report)

    def clusters(self, opened: Snapshot, scheduler: Scheduler) -> Sequence[tuple[Snapshot, Scheduler]]:
        """Those that it is about, with who schedules each; a page draws the last."""
        return ((opened, scheduler),)

    def instead(self, snapshot: Snapshot, scheduler: Scheduler) -> Instead | None:
        """What is asked in its place where a field says so. Raises what `answer` raises."""
        return None

    def ending(self, output: str | None, *, headers: bool) -> str:
        """What an `Ending` asks for, in the format that -o names. Raises UsageError."""
        raise NotImplementedError

    def keep(self, report: A) -> None:
        """Write what is asked for besides the answer, before that is given. Raises UsageError."""

    @property
    def needs_cluster(self) -> bool:
        """Whether nothing can be said of it without a cluster."""
        return True

    @property
    def names_in(self) -> str | None:
        """The namespace of names that say none, in edits too; None: that of the context."""
        return None

    @property
    def makes_room(self) -> bool:
        """Whether pods that find no node may preempt others."""
        return True


Preemption = Annotated[
    bool,
    Option("Let pods that fit nowhere evict pods of lower priority; kube-scheduler lets them.", heading="Scheduler"),
]


class PlayedQuestion(Question[A], frozen=True, kw_only=True):
    """A question about a cluster in which controllers and kube-scheduler go on."""

    preemption: Preemption = True

    @property
    def makes_room(self) -> bool:
        return self.preemption


class DrainingQuestion(PlayedQuestion[A], frozen=True, kw_only=True):
    """A question that drains nodes: kubectl's flags, as managed node pools have them, are those of edits too."""

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
        from kubespread.controllers.disruption.drain import DrainFlags

        return DrainFlags(self.force, self.ignore_daemonsets, self.delete_emptydir_data)


class ManifestsQuestion(Question[A], frozen=True, kw_only=True):
    """A question about what manifests or workloads of the cluster make, which are its ``pods``."""

    pods: tuple[Any, ...]
    recursive: Annotated[bool, Option("Also read subdirectories.", ("-R", "--recursive"), is_path=True)] = False
    template_path: Annotated[
        str,
        Option(
            "Path of the pod template in kinds unknown to kubespread (default: spec.template).", metavar="PATH",
            is_path=True,
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
        Option("Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME).", ("--name",), "NAME"),
    ] = msgspec.field(default=None, name="name")
    settings: Annotated[
        tuple[str, ...],
        Option(
            "Change the pod before it is admitted: maxSkew[zone]=2, minDomains[zone]=3, "
            "whenUnsatisfiable[zone]=ScheduleAnyway, nodeTaintsPolicy[zone]=Honor, nodeAffinityPolicy[zone]=Ignore, "
            "cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, "
            "nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, "
            "priorityClassName=NAME, replicas=N.",
            ("--set",), "FIELD=VALUE",
        ),
    ] = msgspec.field(default=(), name="set")  # fmt: skip

    @property
    def choosing(self) -> Choosing:
        """Which of the workloads in ``pods`` is meant."""
        from kubespread.candidate.input.sources import Choosing

        return Choosing(
            self.named, self.namespace, recursive=self.recursive, template_path=self.template_path, one_only=True
        )


class WorkloadsQuestion(PlayedQuestion[A], frozen=True, kw_only=True):
    """A question about all workloads that a namespace and labels choose."""

    namespace: Annotated[str | None, Namespace("Ask about the workloads of this namespace.", ("-n", "--namespace"))] = (
        None
    )
    selector: Annotated[
        str,
        Option("Ask about the workloads with these labels (app=web,tier!=db).", ("-l", "--selector"), "LABELS"),
    ] = ""

    @property
    def names_in(self) -> str | None:
        return self.namespace
