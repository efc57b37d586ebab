"""Which manifests, or which workloads of the cluster, a command is about."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kubespread.cli.options.workload import SelectionOptions
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.candidate.input.kustomization import Kustomization
    from kubespread.candidate.input.references import ClusterWorkloads
    from kubespread.cli.options.scheduler import SchedulerOptions
    from kubespread.cli.options.workload import WorkloadOptions

STDIN = "-"
DEFAULT_POD = "pod.yaml"


def pods_asked_about(
    words: Sequence[str] | None,
    workload: WorkloadOptions,
    sources: Sequence[str],
) -> list[str | ClusterWorkloads | Kustomization]:
    """What POD, -f and -k name; else with --all, -l or -A the workloads of the cluster; else standard input when
    something is piped into it and the snapshot does not want it, else pod.yaml. Raises UsageError.
    """
    from kubespread.candidate.input.command_line import pods_named
    from kubespread.candidate.input.kustomization import Kustomization

    words, files = words or [], [*(workload.filename or ()), *map(Kustomization, workload.kustomize or ())]
    selection = workload if isinstance(workload, SelectionOptions) else SelectionOptions()
    of_cluster = _asks_for_the_cluster(words, files, sources, selection)
    all_namespaces = selection.all_namespaces
    if all_namespaces and not of_cluster:
        named = " ".join(words)
        raise UsageError(f"{named} and -A/--all-namespaces do not go together: both say which workloads are meant")
    pods = [*pods_named(words, every=of_cluster, all_namespaces=all_namespaces), *files]
    return pods or [_default_pod(sources)]


def check_asked(
    pods: Sequence[str | ClusterWorkloads | Kustomization], workload: WorkloadOptions, scheduling: SchedulerOptions
) -> None:
    """Find what is mistyped before the cluster is read. Raises ManifestError and UsageError."""
    from kubespread.candidate.input.command_line import check_inputs

    check_inputs(
        pods,
        scheduling.scheduler_config,
        scheduling.kube_version,
        scheduling.feature_gates,
        choosing=workload.choosing(),
        settings=workload.settings or (),
    )


def _asks_for_the_cluster(
    words: Sequence[str], files: Sequence[object], sources: Sequence[str], selection: SelectionOptions
) -> bool:
    """--all and -A do; -l does unless there are manifests that it could be about."""
    from kubespread.candidate.input.command_line import is_kind

    if files:
        return False
    if selection.every:
        return True
    names_kinds = len(words) == 1 and is_kind(words[0])
    if selection.all_namespaces:
        return names_kinds or not words
    return selection.selector is not None and (names_kinds or not (words or is_piped(sources)))


def _default_pod(sources: Sequence[str]) -> str:
    if is_piped(sources):
        return STDIN
    if Path(DEFAULT_POD).is_file():
        return DEFAULT_POD
    raise UsageError(f"no pod given: name a manifest, pipe one in, or run in a directory containing {DEFAULT_POD}")


def is_piped(sources: Sequence[str]) -> bool:
    """Whether someone feeds standard input and it is not the snapshot: a pipe or a file, no terminal or /dev/null."""
    if sys.stdin is None or STDIN in sources:
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)
