"""Options that commands share, and their values: a cluster from files or the kubeconfig, its edits, and the scheduler;
with progress on standard error for a person who waits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubespread.cli.command import EDITS as EDITED
from kubespread.cli.command import TYPED_ORDER, Argv, CommandOption, flag
from kubespread.cli.streams import complain, stderr_is_terminal
from kubespread.errors import NoClusterError, UsageError
from kubespread.kube.versions import NEWEST, OLDEST, RECORDED_SINCE, UPCOMING
from kubespread.questions.question import OptionRule
from kubespread.regex import regex
from kubespread.snapshot.edits.nodes import DRAIN_FLAGS, with_flags
from kubespread.snapshot.edits.registry import EDITS
from kubespread.snapshot.edits.verb import Edit
from kubespread.views.formats import Writer, output_help

if TYPE_CHECKING:
    from kubespread.questions.scene import OnProgress
    from kubespread.questions.scheduler import Scheduler
    from kubespread.snapshot.snapshot import Snapshot

NO_HEADERS = flag("--no-headers", help="Omit headers from tables, columns and csv.", panel="Output")
STRICT = flag("--strict", help="Exit with 3 when the answer has gaps.", panel="Output")
SPEAKING = (
    flag("-q", "--quiet", help="No notes on standard error.", panel="Output"),
    CommandOption(
        "-v", "--verbose", count=True, type=int, default=0, help="Print more detail to standard error.", panel="Output"
    ),
)


def output_in(writers: Mapping[str, Writer]) -> CommandOption:
    return CommandOption("-o", "--output", choices=[*writers], help=output_help(writers), panel="Output")


_AHEAD = f", or 1.{UPCOMING}, which is not released yet" if UPCOMING > NEWEST else ""
RELEASES = f"Kubernetes release to emulate, 1.{OLDEST} to 1.{NEWEST} (recorded from 1.{RECORDED_SINCE} on){_AHEAD}"
DEFAULT_RELEASE = f"the cluster's own, else its newest kubelet's, else 1.{NEWEST}"
SCHEDULING = tuple(
    CommandOption(f"--{name}", metavar=metavar, envvar=variable, show_envvar=True, help=text, panel="Scheduler")
    for name, metavar, variable, text in (
        ("scheduler-config", "FILE", "KUBESPREAD_SCHEDULER_CONFIG", "KubeSchedulerConfiguration to schedule with."),
        ("kube-version", "1.X[.Y]", "KUBESPREAD_KUBE_VERSION", f"{RELEASES} (default: {DEFAULT_RELEASE})."),
        ("feature-gates", "NAME=true|false,...", None, "Feature gates to set for that release."),
    )
)


def scheduler_of(typed: Argv) -> Scheduler:
    """Make the scheduler. Raises UsageError and ManifestError for an unknown release, or a missing file."""
    from kubespread import Scheduler

    scheduler = Scheduler(
        config=typed["scheduler_config"],
        kube_version=typed["kube_version"],
        feature_gates=typed["feature_gates"],
        pod_node_selector=_is_set("KUBESPREAD_POD_NODE_SELECTOR"),
        extended_resource_toleration=_is_set("KUBESPREAD_EXTENDED_RESOURCE_TOLERATION"),
    )
    scheduler.check()
    return scheduler


def _is_set(variable: str) -> bool:
    """True for ``true`` in the environment. Raises UsageError."""
    text = os.environ.get(variable) or "false"
    if text not in ("true", "false"):
        raise UsageError(f"{variable}: expected true or false, found {text!r}")
    return text == "true"


_READ = "which cluster is read"
RUNNING = OptionRule(says={_READ: "a running one"})
SNAPSHOT = CommandOption(
    "-S",
    "--snapshot",
    metavar="PATH",
    multiple=True,
    envvar="KUBESPREAD_SNAPSHOT",
    show_envvar=True,
    help="Cluster from a file, directory or archive ('-': standard input) instead of a running one. Repeatable.",
    panel="Cluster",
    rule=OptionRule(says={_READ: "a file"}),
)
CONTEXT = CommandOption(
    "--context",
    metavar="NAME",
    envvar="KUBESPREAD_CONTEXT",
    show_envvar=True,
    help="Kubeconfig context.",
    panel="Cluster",
    rule=RUNNING,
)
KUBECONFIG = CommandOption(
    "--kubeconfig", metavar="FILE", help="Kubeconfig, instead of KUBECONFIG.", panel="Cluster", rule=RUNNING
)
CLUSTER = (SNAPSHOT, CONTEXT, KUBECONFIG)
LIVE = flag(
    "--live",
    help="Try manifests on the running cluster of the kubeconfig's current context.",
    panel="Cluster",
    rule=RUNNING,
)


_EDITS = {verb.replace("-", "_"): edit for verb, edit in EDITS.items() if edit.form.option}
"""Edits with an option, by its name."""
CHANGES = tuple(
    CommandOption(
        f"--{edit.form.verb}", metavar=edit.form.metavar, multiple=True, help=edit.form.option or "", panel=EDITED
    )
    for edit in _EDITS.values()
)


def typed_edits(typed: Argv) -> list[tuple[str, str]]:
    """Verbs of the edits and their texts, in order."""
    waiting = {name: iter(typed.get(name) or ()) for name in _EDITS}
    return [(_EDITS[name].form.verb, next(waiting[name])) for name in typed[TYPED_ORDER] if name in _EDITS]


def edits_of(typed: Argv) -> list[Edit]:
    """Typed edits, with manifests of new nodes read. Raises UsageError and ManifestError."""
    # Only a question that drains nodes itself has options for that.
    flags = {name: typed[name] for name in DRAIN_FLAGS.values() if typed.get(name) is not None}
    return [with_flags(EDITS[verb].read(text), flags) for verb, text in typed_edits(typed)]


_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION_PART = regex(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m|h|)")


def parse_duration(text: str) -> float:
    """Parse ``30``, ``1s``, ``2m``, ``1m30s`` into seconds. Raises UsageError."""
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


_MAX_DIGITS = 9


def number_of(name: str, text: str, least: int = 0, words: tuple[str, ...] = (), most: int | None = None) -> int | str:
    """Typed number, or one of the ``words`` allowed instead. Raises UsageError."""
    if text in words:
        return text
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else -1
    if number < least or (most is not None and number > most):
        upto = "" if most is None else f" to {most}"
        expected = ", or ".join([f"a number from {least}{upto}", *words])
        raise UsageError(f"invalid {name} {text!r}: expected {expected}")
    return number


ANSWERING = "working on the answer"


@contextmanager
def waiting(doing: str = ANSWERING, *, quiet: bool) -> Iterator[OnProgress | None]:
    """Show the current work, its duration and progress after a second, if standard error is a terminal."""
    if quiet or not stderr_is_terminal():
        yield None
        return
    from kubespread.views.progress import AnswerProgress

    with AnswerProgress(doing) as progress:
        yield progress.on_progress


def open_cluster(typed: Argv, *, quiet: bool) -> Snapshot:
    """Read the named files, else the running cluster, with progress if a person waits.

    Its edits are parsed first, since they may be mistyped, and remembered in it. Objects that cannot be read are
    reported; an answer from the others ends with exit code 3.
    """
    edits = edits_of(typed)
    sources = typed.snapshots
    return (load_snapshot(sources, quiet=quiet) if sources else _connect(typed, quiet=quiet)).edited(*edits)


def open_cluster_if_any(typed: Argv, *, is_needed: bool, quiet: bool) -> Snapshot | None:
    """Read the cluster if it ``is_needed`` or named; otherwise refuse options about it. Raises UsageError."""
    if typed.get("live") is None or any(typed[name] for name in ("live", "snapshot", "context", "kubeconfig")):
        return open_cluster(typed, quiet=quiet)
    if is_needed:
        try:
            return open_cluster(typed, quiet=quiet)
        except NoClusterError as error:
            raise UsageError(f"{error}; manifests need no cluster: name files or directories") from None
    for verb, _ in typed_edits(typed):
        raise UsageError(f"--{verb} is for a cluster: name one with -S, --context or --live")
    return None


def load_snapshot(sources: Sequence[str], *, quiet: bool) -> Snapshot:
    """Read a cluster from files, reporting faults."""
    import kubespread

    with waiting(f"reading {', '.join(sources)}", quiet=quiet):
        snapshot = kubespread.load(*sources)
    for fault in snapshot.faults:
        complain(fault)
    return snapshot


def _connect(typed: Argv, *, quiet: bool) -> Snapshot:
    import kubespread
    from kubespread.snapshot.live.kubeconfig import Access

    access, kubeconfig = Access(typed["kubeconfig"], typed["context"]), str(typed["kubeconfig"] or "")
    if quiet or not stderr_is_terminal():
        return replace(kubespread.connect(access), kubeconfig=kubeconfig)
    from kubespread.views.progress import DownloadProgress

    with DownloadProgress() as progress:
        return replace(kubespread.connect(access, progress.page_came), kubeconfig=kubeconfig)
