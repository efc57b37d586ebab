"""kubespread: a what-if planner for Kubernetes Pod Topology Spread Constraints.

snapshot = kubespread.load("cluster.yaml")
report = kubespread.explain(snapshot, "pod.yaml")
report.to_dict()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubespread.errors import KubespreadError, ManifestError, SnapshotError, UsageError
    from kubespread.questions.advise.answer import advise
    from kubespread.questions.advise.report import AdviseReport
    from kubespread.questions.audit.answer import audit
    from kubespread.questions.audit.report import AuditReport
    from kubespread.questions.capacity.answer import capacity
    from kubespread.questions.capacity.report import CapacityReport
    from kubespread.questions.check.answer import check, rule, rules, write_baseline
    from kubespread.questions.check.report import CheckReport, Finding, RuleReport
    from kubespread.questions.compare.answer import ClusterSide, Side, compare
    from kubespread.questions.compare.report import CompareReport
    from kubespread.questions.compare.workloads.report import CompareWorkloadsReport
    from kubespread.questions.explain.answer import explain
    from kubespread.questions.explain.report import ExplainReport
    from kubespread.questions.fleet.answer import fleet
    from kubespread.questions.fleet.report import FleetReport
    from kubespread.questions.map.answer import topology_map
    from kubespread.questions.map.report import TopologyMap
    from kubespread.questions.opening import after_edits, connect, load
    from kubespread.questions.pending.answer import pending
    from kubespread.questions.pending.report import PendingReport
    from kubespread.questions.plan.answer import plan
    from kubespread.questions.plan.report import PlanReport
    from kubespread.questions.play.answer import after_steps, play
    from kubespread.questions.play.report import PlayReport
    from kubespread.questions.rebalance.answer import rebalance
    from kubespread.questions.rebalance.report import RebalanceReport
    from kubespread.questions.removable.answer import removable
    from kubespread.questions.removable.report import RemovableReport
    from kubespread.questions.report.answer import report
    from kubespread.questions.report.report import Scorecard
    from kubespread.questions.scene import ask
    from kubespread.questions.scheduler import Scheduler
    from kubespread.questions.simulate.answer import simulate
    from kubespread.questions.simulate.report import SimulateReport
    from kubespread.questions.simulate.then import simulate_then
    from kubespread.questions.survive.answer import survive
    from kubespread.questions.survive.report import SurviveReport
    from kubespread.questions.tasks import Workers
    from kubespread.questions.upgrade.answer import upgrade
    from kubespread.questions.upgrade.report import UpgradeReport
    from kubespread.questions.verify.answer import verify
    from kubespread.questions.verify.report import VerifyReport
    from kubespread.scenario.types import Scenario
    from kubespread.snapshot.snapshot import Snapshot

__version__ = "0.3.0"

__all__ = [
    "AdviseReport",
    "AuditReport",
    "CapacityReport",
    "CheckReport",
    "ClusterSide",
    "CompareReport",
    "CompareWorkloadsReport",
    "ExplainReport",
    "Finding",
    "FleetReport",
    "KubespreadError",
    "ManifestError",
    "PendingReport",
    "PlanReport",
    "PlayReport",
    "RebalanceReport",
    "RemovableReport",
    "RuleReport",
    "Scenario",
    "Scheduler",
    "Scorecard",
    "Side",
    "SimulateReport",
    "Snapshot",
    "SnapshotError",
    "SurviveReport",
    "TopologyMap",
    "UpgradeReport",
    "UsageError",
    "VerifyReport",
    "Workers",
    "__version__",
    "advise",
    "after_edits",
    "after_steps",
    "ask",
    "audit",
    "capacity",
    "check",
    "compare",
    "connect",
    "explain",
    "fleet",
    "load",
    "pending",
    "plan",
    "play",
    "rebalance",
    "removable",
    "report",
    "rule",
    "rules",
    "simulate",
    "simulate_then",
    "survive",
    "topology_map",
    "upgrade",
    "verify",
    "write_baseline",
]

_HOMES = {
    "AdviseReport": "kubespread.questions.advise.report",
    "AuditReport": "kubespread.questions.audit.report",
    "CapacityReport": "kubespread.questions.capacity.report",
    "CheckReport": "kubespread.questions.check.report",
    "ClusterSide": "kubespread.questions.compare.answer",
    "CompareReport": "kubespread.questions.compare.report",
    "CompareWorkloadsReport": "kubespread.questions.compare.workloads.report",
    "ExplainReport": "kubespread.questions.explain.report",
    "Finding": "kubespread.questions.check.report",
    "FleetReport": "kubespread.questions.fleet.report",
    "KubespreadError": "kubespread.errors",
    "ManifestError": "kubespread.errors",
    "PendingReport": "kubespread.questions.pending.report",
    "PlanReport": "kubespread.questions.plan.report",
    "PlayReport": "kubespread.questions.play.report",
    "RebalanceReport": "kubespread.questions.rebalance.report",
    "RemovableReport": "kubespread.questions.removable.report",
    "RuleReport": "kubespread.questions.check.report",
    "Scenario": "kubespread.scenario.types",
    "Scheduler": "kubespread.questions.scheduler",
    "Scorecard": "kubespread.questions.report.report",
    "Side": "kubespread.questions.compare.answer",
    "SimulateReport": "kubespread.questions.simulate.report",
    "Snapshot": "kubespread.snapshot.snapshot",
    "SnapshotError": "kubespread.errors",
    "SurviveReport": "kubespread.questions.survive.report",
    "TopologyMap": "kubespread.questions.map.report",
    "UpgradeReport": "kubespread.questions.upgrade.report",
    "UsageError": "kubespread.errors",
    "VerifyReport": "kubespread.questions.verify.report",
    "Workers": "kubespread.questions.tasks",
    "advise": "kubespread.questions.advise.answer",
    "after_edits": "kubespread.questions.opening",
    "after_steps": "kubespread.questions.play.answer",
    "ask": "kubespread.questions.scene",
    "capacity": "kubespread.questions.capacity.answer",
    "connect": "kubespread.questions.opening",
    "fleet": "kubespread.questions.fleet.answer",
    "load": "kubespread.questions.opening",
    "rule": "kubespread.questions.check.answer",
    "rules": "kubespread.questions.check.answer",
    "simulate_then": "kubespread.questions.simulate.then",
    "topology_map": "kubespread.questions.map.answer",
    "upgrade": "kubespread.questions.upgrade.answer",
    "write_baseline": "kubespread.questions.check.answer",
}


def __getattr__(name: str) -> Any:
    """Import on first use: ``kubespread --version`` must not wait for numpy."""
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    from kubespread.questions.registry import QUESTIONS, function

    if name not in QUESTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return function(name)
