"""What can be said of a question before its cluster is read: a running one takes seconds, a mistyped name none."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from kubespread.candidate.stored import is_reference, reference_kinds
from kubespread.errors import Fault, ManifestError
from kubespread.kube.versions import KubeVersion
from kubespread.manifest.reading import STDIN


def check_inputs(
    manifests: Sequence[str], scheduler_config: str | None, kube_version: str | None, feature_gates: str | None
) -> None:
    """Find files that are missing, and releases and feature gates that do not exist.

    Nothing is opened: a pipe can be read only once. Raises ManifestError and UsageError.
    """
    if kube_version is not None:
        KubeVersion.parse(kube_version).with_gates(feature_gates or "")
    for path in manifests:
        if path == STDIN or (is_reference(path) and not Path(path).exists()):
            continue
        if path.count("/") == 1 and not Path(path).parent.exists():
            kinds = f"no such file; of KIND/NAME in the cluster, KIND is one of {reference_kinds()}"
            raise ManifestError(path, [Fault(kinds)])
        _check_file(path)
    if scheduler_config is not None and scheduler_config != STDIN and not is_text(scheduler_config):
        _check_file(scheduler_config)


def is_text(scheduler_config: str) -> bool:
    """A path, unless the text has what no path has: a line break, or a brace to begin with."""
    return "\n" in scheduler_config or scheduler_config.lstrip().startswith("{")


def _check_file(path: str) -> None:
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError) as error:
        raise ManifestError(path, [Fault(getattr(error, "strerror", None) or str(error))]) from error
    if stat.S_ISDIR(mode):
        raise ManifestError(path, [Fault("Is a directory")])
    if not os.access(path, os.R_OK):
        raise ManifestError(path, [Fault("Permission denied")])
