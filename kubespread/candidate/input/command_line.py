"""What can be said of a question before its cluster is read: a running one takes seconds, a mistyped name none."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from kubespread.candidate.input.kustomization import Kustomization
from kubespread.candidate.input.references import ClusterWorkloads, reference, reference_kinds
from kubespread.candidate.input.sources import Choosing, check_choosing, manifest_files
from kubespread.candidate.settings import parse_settings
from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.api.kinds import Kind, kind_called
from kubespread.kube.versions import KubeVersion
from kubespread.manifest.text import STDIN

_CHOOSING = Choosing()


def pods_named(
    words: Sequence[str], *, every: bool = False, all_namespaces: bool = False
) -> list[str | ClusterWorkloads]:
    """The pods that words of a command line name: paths and KIND/NAME unchanged, ``deploy web`` as ``deploy/web``.

    With ``every``: all workloads of the cluster, only of the named kinds if there are any (``deploy,sts``).
    Raises UsageError.
    """
    kinds = _kinds(words[0]) if words else ()
    if every:
        if len(words) > bool(kinds):
            raise UsageError(f"--all, -l and -A ask for workloads of the cluster: {words[-1]!r} is not a kind of them")
        return [ClusterWorkloads(kinds, all_namespaces=all_namespaces)]
    if not kinds:
        return [*words]
    if len(words) == 1:
        raise UsageError(f"no name given: expected {words[0]}/NAME or {words[0]} NAME")
    if len(kinds) > 1:
        raise UsageError(f"{words[0]!r}: expected one kind before a name")
    for name in words[1:]:
        if "/" in name:
            raise UsageError(f"{name!r} names its kind itself: leave out {words[0]!r}")
    return [f"{kinds[0].kind.lower()}/{name}" for name in words[1:]]


def is_kind(word: str) -> bool:
    """Whether ``word`` names kinds of workloads (``deploy,sts``), and no file."""
    return bool(_kinds(word))


def _kinds(word: str) -> tuple[Kind, ...]:
    """The kinds that ``word`` names, separated by commas; none where it is a file or anything else."""
    kinds = [kind_called(name) for name in word.split(",")]
    recognized = tuple(kind for kind in kinds if kind is not None)
    return recognized if len(recognized) == len(kinds) and not Path(word).exists() else ()


def check_inputs(
    pods: Sequence[str | ClusterWorkloads | Kustomization],
    scheduler_config: str | None,
    kube_version: str | None,
    feature_gates: str | None,
    *,
    choosing: Choosing = _CHOOSING,
    settings: Sequence[str] = (),
) -> None:
    """Find missing files, directories without files, options that have no effect on these inputs, and releases, feature
    gates and fields that do not exist.

    Nothing is opened: a pipe can be read only once. Raises ManifestError and UsageError.
    """
    parse_settings(settings)
    if kube_version is not None:
        KubeVersion.parse(kube_version).with_gates(feature_gates or "")
    for pod in pods:
        if isinstance(pod, Kustomization):
            pod.command()
        elif isinstance(pod, str) and pod != STDIN:
            _check_pod(pod, recursive=choosing.recursive)
    check_choosing(pods, choosing)
    if choosing.recursive and not any(isinstance(pod, str) and Path(pod).is_dir() for pod in pods):
        raise UsageError(f"-R/--recursive reads directories with those below them: {_named(pods)} is none")
    if choosing.template_path and not any(map(_is_manifest, pods)):
        raise UsageError(f"--template-path is for manifests: {_named(pods)} is none")
    if scheduler_config is not None and scheduler_config != STDIN and not _is_text(scheduler_config):
        _check_file(scheduler_config)


def is_reference(path: str) -> bool:
    """Whether ``path`` is KIND/NAME in the cluster; a file of that name comes first."""
    return reference(path) is not None and not Path(path).exists()


def _is_text(scheduler_config: str) -> bool:
    """A path, unless the text has what no path has: a line break, or a brace to begin with."""
    return "\n" in scheduler_config or scheduler_config.lstrip().startswith("{")


def _is_manifest(pod: str | ClusterWorkloads | Kustomization) -> bool:
    return isinstance(pod, Kustomization) or (isinstance(pod, str) and not is_reference(pod))


def _named(pods: Sequence[str | ClusterWorkloads | Kustomization]) -> str:
    """What was named, in the words of the command line."""
    directories = (f"-k {pod.directory}" for pod in pods if isinstance(pod, Kustomization))
    return ", ".join([*(pod for pod in pods if isinstance(pod, str)), *directories]) or "what the cluster has"


def _check_pod(path: str, *, recursive: bool) -> None:
    if is_reference(path):
        return
    if path.count("/") == 1 and not Path(path).parent.exists():
        kinds = f"no such file; of KIND/NAME in the cluster, KIND is one of {reference_kinds()}"
        raise ManifestError(path, [Fault(kinds)])
    if Path(path).is_dir():
        manifest_files(path, recursive=recursive)
    else:
        _check_file(path)


def _check_file(path: str) -> None:
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError) as error:
        raise ManifestError(path, [Fault(getattr(error, "strerror", None) or str(error))]) from error
    if stat.S_ISDIR(mode):
        raise ManifestError(path, [Fault("Is a directory")])
    if not os.access(path, os.R_OK):
        raise ManifestError(path, [Fault("Permission denied")])
