"""More nodes are never suggested where nodes broke down."""

from __future__ import annotations

import kubespread
from kubespread import Snapshot
from tests.builders import Data, hard, hosts
from tests.world.clusters import budget, deployment

ZONE = "topology.kubernetes.io/zone"


def spread(app: str) -> Data:
    return {"topologySpreadConstraints": [hard(ZONE, match={"app": app})]}


def suggested(snapshot: Snapshot) -> set[str]:
    """The options with which pods would be placed, for the pods that wait and for one more."""
    pending = kubespread.pending(snapshot)
    advice = kubespread.explain(snapshot, "deploy/web", replicas=4, fix=True)
    options = [group.change.options for group in pending.groups if group.change is not None]
    assert advice.advice is not None
    options += [change.options for change in advice.advice.enough]
    return {option for each in options for option in each}


WEB = [*hosts("a", "b", "b"), *deployment("web", ("n0", "n1", "n2"), spec=spread("web"))]


def test_more_nodes_are_suggested_in_no_zone_that_failed() -> None:
    """The failed zone counts as an empty domain: another node in it would do, and is not to be had."""
    failed, cordoned = (suggested(Snapshot.from_objects(WEB).edited(f"{verb} zone=a")) for verb in ("fail", "cordon"))
    assert [option for option in failed if "add-node" in option] == []
    assert [option for option in cordoned if "add-node" in option] == ["--add-node n0"]


def test_an_upgrade_is_not_helped_by_a_node_like_one_that_broke_down() -> None:
    objects = [*hosts("a", "b"), *deployment("web", ("n1", "n1"), cpu="4"), budget("web", maxUnavailable=1)]
    working = kubespread.upgrade(Snapshot.from_objects(objects), ZONE, batch=2)
    broken = kubespread.upgrade(Snapshot.from_objects(objects).edited("fail n0"), ZONE, batch=2)
    assert [
        [each.options for each in report.remedies if "add-node" in each.options] for report in (working, broken)
    ] == [["--add-node n0"], ["--add-node n1"]]
