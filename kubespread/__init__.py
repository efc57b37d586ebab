"""kubespread: a what-if planner for Kubernetes Pod Topology Spread Constraints.

snapshot = kubespread.load("cluster.yaml")
report = kubespread.explain(snapshot, "pod.yaml")
report.to_dict()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubespread.errors import KubespreadError, ManifestError, SnapshotError, UsageError
    from kubespread.library.comparing import Side, compare
    from kubespread.library.deciding import Scheduler
    from kubespread.library.explaining import explain
    from kubespread.library.mapping import topology_map
    from kubespread.library.opening import after_edits, connect, load
    from kubespread.library.playing import after_steps, play
    from kubespread.library.simulating import simulate
    from kubespread.library.surviving import survive, upgrade
    from kubespread.library.thens import simulate_then
    from kubespread.planner.reports.compare import CompareReport
    from kubespread.planner.reports.explain import ExplainReport
    from kubespread.planner.reports.play import PlayReport
    from kubespread.planner.reports.simulate import SimulateReport
    from kubespread.planner.reports.survive import SurviveReport
    from kubespread.planner.reports.topology_map import TopologyMap
    from kubespread.planner.reports.upgrade import UpgradeReport
    from kubespread.scenario.types import Scenario
    from kubespread.snapshot.snapshot import Snapshot

__version__ = "0.1.0"

__all__ = [
    "CompareReport",
    "ExplainReport",
    "KubespreadError",
    "ManifestError",
    "PlayReport",
    "Scenario",
    "Scheduler",
    "Side",
    "SimulateReport",
    "Snapshot",
    "SnapshotError",
    "SurviveReport",
    "TopologyMap",
    "UpgradeReport",
    "UsageError",
    "__version__",
    "after_edits",
    "after_steps",
    "compare",
    "connect",
    "explain",
    "load",
    "play",
    "simulate",
    "survive",
    "topology_map",
    "upgrade",
    "simulate_then",
]

_HOMES = {
    "CompareReport": "kubespread.planner.reports.compare",
    "ExplainReport": "kubespread.planner.reports.explain",
    "KubespreadError": "kubespread.errors",
    "ManifestError": "kubespread.errors",
    "PlayReport": "kubespread.planner.reports.play",
    "Scenario": "kubespread.scenario.types",
    "Scheduler": "kubespread.library.deciding",
    "Side": "kubespread.library.comparing",
    "SimulateReport": "kubespread.planner.reports.simulate",
    "Snapshot": "kubespread.snapshot.snapshot",
    "SnapshotError": "kubespread.errors",
    "SurviveReport": "kubespread.planner.reports.survive",
    "TopologyMap": "kubespread.planner.reports.topology_map",
    "UpgradeReport": "kubespread.planner.reports.upgrade",
    "UsageError": "kubespread.errors",
    "after_edits": "kubespread.library.opening",
    "after_steps": "kubespread.library.playing",
    "compare": "kubespread.library.comparing",
    "connect": "kubespread.library.opening",
    "explain": "kubespread.library.explaining",
    "load": "kubespread.library.opening",
    "play": "kubespread.library.playing",
    "simulate": "kubespread.library.simulating",
    "survive": "kubespread.library.surviving",
    "topology_map": "kubespread.library.mapping",
    "upgrade": "kubespread.library.surviving",
    "simulate_then": "kubespread.library.thens",
}


def __getattr__(name: str) -> Any:
    """Import on first use: ``kubespread --version`` must not wait for numpy."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
