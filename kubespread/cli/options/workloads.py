"""Which workloads of the cluster are asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from kubespread.cli.options import spelling

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class WorkloadsOptions:
    """Which workloads of the cluster are asked about."""

    namespace: Annotated[
        str | None,
        spelling.namespace("Namespace of the workloads asked about (default: that of the context, or default)."),
    ] = None
    all_namespaces: Annotated[bool, spelling.all_namespaces("Ask about the workloads of all namespaces.")] = False
    selector: Annotated[
        str | None,
        spelling.selector("Ask about the workloads with these labels (app=web,tier!=db)."),
    ] = None

    def namespace_in(self, cluster: Snapshot) -> str | None:
        """The namespace that is asked about, None for all; that of the context where none is given."""
        return None if self.all_namespaces else self.namespace or cluster.origin.namespace or "default"
