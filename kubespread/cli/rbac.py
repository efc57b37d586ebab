"""``kubespread rbac``: what has to be allowed for a running cluster to be read."""

from __future__ import annotations

from importlib.resources import files

from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.stdout import emit


def rbac() -> int:
    """Print the ClusterRole that reading a running cluster takes, with a binding of it to change.

    It allows nothing but listing. Only nodes and pods are required; what else may not be read becomes a gap that the
    answer names.

    \b
    Examples:
      kubespread rbac > rbac.yaml
      kubespread rbac | kubectl apply --dry-run=server -f -
    """
    emit((files("kubespread") / "snapshot" / "live" / "rbac.yaml").read_text("utf-8"))
    return ExitCode.YES
