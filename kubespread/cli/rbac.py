"""``kubespread rbac``: what has to be allowed for a running cluster to be read."""

from __future__ import annotations

from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.streams import emit
from kubespread.snapshot.live.connection import cluster_role


def rbac() -> int:
    """Print the ClusterRole needed to read a running cluster, with a binding for you to adapt.

    It allows only listing. Only nodes and pods are required; any other kind that may not be read becomes a gap named in
    the answer.

    \b
    Examples:
      kubespread rbac > rbac.yaml
      kubespread rbac | kubectl apply --dry-run=server -f -
    """
    emit(cluster_role())
    return ExitCode.YES
