"""The flags of ``kubectl drain``.

Source: staging/src/k8s.io/kubectl/pkg/cmd/drain/drain.go, NewCmdDrain
"""

from __future__ import annotations

from msgspec import Struct

from kubespread.kube.selector import Selector


class DrainFlags(Struct, frozen=True):
    """Those of kubectl's flags that decide what happens to which pod; by default as managed node pools set them."""

    force: bool = False
    ignore_daemonsets: bool = True
    delete_emptydir_data: bool = True
    skip_wait_for_delete_timeout: int = 0
    """Skip pods whose deletion was due more than this many seconds ago; 0: skip none."""
    pod_selector: Selector = Selector()
