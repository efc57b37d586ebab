"""Which cluster a command reads, and how it is reached.

What is changed in the cluster before the question is asked. How it is scheduled. How an answer is written, and what is
printed beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, make_dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kubespread.cli.options import helping
from kubespread.cli.options.helping import valued
from kubespread.errors import UsageError
from kubespread.kube.versions import NEWEST, OLDEST, UPCOMING
from kubespread.questions.question import Rule
from kubespread.snapshot.edits.nodes import DRAIN_FLAGS, with_flags
from kubespread.snapshot.edits.registry import EDITS
from kubespread.snapshot.edits.verb import Edit
from kubespread.views.formats import Writer, output_help

if TYPE_CHECKING:
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.live.kubeconfig import Access


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How an answer is given. Which formats -o takes is for a command to say, with `formats_in`."""

    output: str | None = None
    no_headers: Annotated[bool, typer.Option("--no-headers", help="Omit headers from tables, columns and csv.")] = False
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when the answer has gaps.")] = False


def formats_in(writers: Mapping[str, Writer]) -> Mapping[str, Any]:
    """The option of `AnswerOptions` that differs between commands: -o, with the formats that it is written in."""
    choices = StrEnum("Format", {name.upper(): name for name in writers})  # type: ignore[misc]  # from the registry
    option = typer.Option("-o", "--output", case_sensitive=False, show_default=False, help=output_help(writers))
    return {"output": Annotated[choices | None, option]}


@dataclass(frozen=True, slots=True)
class SpeakingOptions:
    """How much is printed beside the answer."""

    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No notes on standard error.")] = False
    verbose: Annotated[
        int,
        typer.Option("-v", "--verbose", count=True, show_default=False, help="Print more detail to standard error."),
    ] = 0


_AHEAD = f", or 1.{UPCOMING}, which is not released yet" if UPCOMING > NEWEST else ""
RELEASES = f"Kubernetes release to emulate, 1.{OLDEST} to 1.{NEWEST}{_AHEAD}"
DEFAULT_RELEASE = f"the cluster's own, else its newest kubelet's, else 1.{NEWEST}"


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """How it is scheduled."""

    scheduler_config: Annotated[
        str | None, valued("--scheduler-config", metavar="FILE", help="KubeSchedulerConfiguration to schedule with.")
    ] = None
    kube_version: Annotated[
        str | None, valued("--kube-version", metavar="1.X[.Y]", help=f"{RELEASES} (default: {DEFAULT_RELEASE}).")
    ] = None
    feature_gates: Annotated[
        str | None,
        valued("--feature-gates", metavar="NAME=true|false,...", help="Feature gates to set for that release."),
    ] = None
    # What only a configuration sets.
    pod_node_selector: bool = False
    extended_resource_toleration: bool = False

    def scheduler(self) -> Scheduler:
        from kubespread import Scheduler

        return Scheduler(
            config=self.scheduler_config,
            kube_version=self.kube_version,
            feature_gates=self.feature_gates,
            pod_node_selector=self.pod_node_selector,
            extended_resource_toleration=self.extended_resource_toleration,
        )


_TYPED = {verb.replace("-", "_"): edit for verb, edit in EDITS.items() if edit.form.option}
"""The edits that are options, by the names of these."""


def _options() -> Iterator[tuple[str, Any, Any]]:
    for name, edit in _TYPED.items():
        form = edit.form
        option = typer.Option(
            f"--{form.verb}", metavar=form.metavar, show_default=False, help=form.option, rich_help_panel=helping.EDITS
        )
        yield name, Annotated[list[str] | None, option], None


_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION_PART = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m|h|)")


def parse_duration(text: str) -> float:
    """``30``, ``1s``, ``2m``, ``1m30s``: seconds. Raises UsageError."""
    parts = list(_DURATION_PART.finditer(text))
    if (
        "".join(part[0] for part in parts) != text
        or not text
        or (len(parts) > 1 and any(not part["unit"] for part in parts))
    ):
        raise UsageError(
            f"invalid duration {text!r}: expected a number with a unit like 1s, 2m, 3h, or 0 to wait forever"
        )
    return sum(float(part["number"]) * _SECONDS[part["unit"]] for part in parts)


_READ = "which cluster is read"
RUNNING = Rule(says={_READ: "a running one"})


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Which cluster a command reads."""

    snapshot: Annotated[
        list[Path] | None,
        typer.Option(
            "-S",
            "--snapshot",
            metavar="PATH",
            envvar="KUBESPREAD_SNAPSHOT",
            show_default=False,
            help="Cluster from a file, directory or archive ('-': standard input) instead of a running one. "
            "Repeatable.",
        ),
        Rule(says={_READ: "a file"}),
    ] = None
    context: Annotated[str | None, valued("--context", metavar="NAME", help="Kubeconfig context."), RUNNING] = None
    kubeconfig: Annotated[
        str | None, valued("--kubeconfig", metavar="FILE", help="Kubeconfig, instead of KUBECONFIG."), RUNNING
    ] = None
    connect: Callable[..., Any] | None = None
    """What reads a running cluster that is read again and again, in place of `kubespread.connect`."""

    @property
    def sources(self) -> list[str]:
        """The files to read; none for the cluster of the kubeconfig."""
        return [str(source) for source in self.snapshot or ()]

    def edits(self) -> list[Edit]:
        """What is changed in it before the question is asked. Raises UsageError and ManifestError."""
        return []

    def access(self) -> Access:
        """How the cluster is reached. Raises UsageError."""
        from kubespread.snapshot.live.kubeconfig import Access

        return Access(self.kubeconfig, self.context)


_Edits: Any = make_dataclass("_Edits", list(_options()), bases=(ClusterOptions,), frozen=True, slots=True)


@dataclass(frozen=True, slots=True)
class EditedClusterOptions(_Edits, ClusterOptions):  # type: ignore[misc]  # its options are those of the edits there are
    """Which cluster a command reads, and what is changed in it: NODES is a name, or labels as kubectl's -l has them."""

    typed_order: tuple[str, ...] = ()
    """The options of the command line by name, each as often as it stands there, from `OrderedCommand`."""

    # What only a question has options for that drains nodes itself.
    ignore_daemonsets: bool = True
    delete_emptydir_data: bool = True
    force: bool = False

    def typed(self) -> list[tuple[str, str]]:
        """The edits as options and what follows them, in the order they were typed."""
        waiting = {name: list(getattr(self, name) or ()) for name in _TYPED}
        made = [(name, waiting[name].pop(0)) for name in self.typed_order if waiting.get(name)]
        # Whoever calls a command as a function has no order but that of the options.
        made += [(name, text) for name, texts in waiting.items() for text in texts]
        return [(_TYPED[name].form.verb, text) for name, text in made]

    def edits(self) -> list[Edit]:
        """What is changed, as values, with the manifests of new nodes read. Raises UsageError and ManifestError."""
        flags = {name: getattr(self, name) for name in DRAIN_FLAGS.values()}
        return [with_flags(EDITS[verb].read(text), flags) for verb, text in self.typed()]


@dataclass(frozen=True, slots=True)
class OptionalClusterOptions(EditedClusterOptions):
    """Which cluster manifests are tried on, if on any."""

    live: Annotated[
        bool,
        typer.Option("--live", help="Try manifests on the running cluster of the kubeconfig's current context."),
        RUNNING,
    ] = False

    @property
    def is_named(self) -> bool:
        """Whether some cluster is asked for."""
        return self.live or any((self.snapshot, self.context, self.kubeconfig))
