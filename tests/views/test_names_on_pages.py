"""What a page shows of nodes, and how it shortens names."""

from __future__ import annotations

from functools import cache

import kubespread
from kubespread.views.page.parts import foldable
from kubespread.views.page.writing import write_page
from kubespread.views.sheet import Row, Table
from kubespread.views.view import view_of
from tests.builders import hard, hosts, pod
from tests.cli.support import FIXTURES

EVERYDAY = FIXTURES / "cases" / "everyday"


@cache
def aws() -> kubespread.Snapshot:
    return kubespread.load(EVERYDAY / "aws12.json.gz")


def test_nodes_say_on_the_picture_whether_they_go_or_what_holds_them() -> None:
    facts = view_of(kubespread.removable(aws())).nodes
    assert facts is not None
    assert sorted(facts.words.values()) == ["budget: ledger-216cd0f037-5v9zm", *["can go"] * 8, *["goes"] * 3]
    held = next(name for name, word in facts.words.items() if word.startswith("budget"))
    assert {name: str(row.tone) for name, row in facts.rows.items() if row.tone == "bad"} == {held: "bad"}


def test_names_are_whole_and_may_go_on_in_the_next_line() -> None:
    name = "ip-10-0-14-72.eu-west-1.compute.internal"
    table = foldable("t0", Table("Nodes", ("Node", "Says"), [Row((name, "is full"))]))
    assert "<td>ip-<wbr>10-<wbr>0-<wbr>14-<wbr>72.<wbr>eu-<wbr>west-<wbr>1.<wbr>compute.<wbr>internal</td>" in table


def test_a_page_places_every_constraint_beside_its_bars() -> None:
    snapshot = kubespread.Snapshot.from_objects([*hosts("a", "b"), pod("running", "n0")])
    page = write_page(kubespread.explain(snapshot, pod(constraints=[hard("topology.kubernetes.io/zone")])), None)
    assert page.index('<ul class="legend">') < page.index('<table class="bars"')
