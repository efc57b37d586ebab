"""Changes as it looks on clusters from twelve nodes to a thousand: ``python -m tests.views.test_fix_screens``
rewrites the screens that are kept.
"""

from __future__ import annotations

from functools import cache

import kubespread
from kubespread import ExplainReport
from kubespread.reports.advice import Advice, Costly, NotEnough, costly, not_enough, untried_note
from kubespread.views import plain, terminal
from kubespread.views.look import Look
from tests.views.clusters import candidate, cluster
from tests.views.kept import Screen, check, keep


@cache
def advised(nodes: int, cloud: str, constraints: int) -> ExplainReport:
    snapshot = cluster(nodes, cloud, everyone_fails=True)
    return kubespread.explain(snapshot, candidate(constraints), fix=True)


def screens() -> list[Screen]:
    found = []
    for nodes, cloud in ((12, "aws"), (12, "gke"), (300, "aws")):
        for width in (80, 120):
            for constraints in (1, 2):
                text = terminal.table(advised(nodes, cloud, constraints), Look(width=width))
                found.append(Screen(f"fix-{nodes}-{cloud}-{constraints}-{width}", width, text))
    report = advised(12, "gke", 1)
    return [
        *found,
        Screen("fix-in-full", 0, terminal.table(report, Look(width=100, in_full=True))),
        Screen("fix-plain", 0, plain.plain(report, Look())),
        Screen("fix-csv", 0, plain.csv(report, Look())),
    ]


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens(), uncut=["--"])


def test_changes_of_several_nodes_at_once_are_not_counted_as_one_node_more() -> None:
    advice = Advice(
        families=("uncordon", "untaint"),
        enough=(),
        not_enough=(
            NotEnough(
                family="uncordon",
                changes=("uncordoning n1", "uncordoning n2", "uncordoning 2 nodes"),
                together=("uncordoning 2 nodes",),
            ),
            NotEnough(family="untaint", changes=("taking gpu:NoSchedule off n3",)),
        ),
    )
    assert [*not_enough(advice)] == ["uncordoning any of 2 nodes or several together", "taking gpu:NoSchedule off n3"]


def test_changes_of_one_kind_are_told_apart_by_whether_others_pay_for_them() -> None:
    advice = Advice(
        families=("evict", "uncordon"),
        enough=(),
        not_enough=(
            NotEnough(family="evict", changes=("evicting shop/a", "evicting shop/b")),
            NotEnough(family="uncordon", changes=("uncordoning n2",)),
        ),
        costly=(
            Costly(family="evict", changes=("evicting shop/c", "evicting shop/d"), harm=("shop/c would be lost",)),
            Costly(family="uncordon", changes=("uncordoning n1",), harm=("shop/e would be pending",)),
        ),
    )
    assert [*costly(advice)] == [
        "evicting any of 2 pods (shop/c would be lost)",
        "uncordoning n1 (shop/e would be pending)",
    ]
    assert [*not_enough(advice)] == ["evicting any of 2 others", "uncordoning n2"]


def test_what_was_not_tried_is_counted_by_what_it_is() -> None:
    advice = Advice(families=("evict",), enough=(), not_enough=(), untried={"evict": 4, "combination": 1651})
    assert untried_note(advice) == "not tried: 4 more of evict, 1,651 more combinations"


if __name__ == "__main__":
    keep(screens())
