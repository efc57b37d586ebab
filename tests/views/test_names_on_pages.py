"""What a page shows of nodes, and how it shortens names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import pytest

import kubespread
from kubespread.views.page.parts import answer, foldable, said, short_name
from kubespread.views.page.writing import write_page
from kubespread.views.sheet import Row, Table
from kubespread.views.view import Tile, View, view_of
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


@pytest.mark.parametrize(
    ("name", "ends", "expected"),
    [
        ("shop/Deployment/web", ("", ""), "shop/<i>Deployment/</i>web"),
        ("shop/web", ("", ""), "shop/web"),
        ("ip-10-0-1-2.internal", ("ip-10-0-", ".internal"), '<i class="cut">ip-10-0-</i>1-2<i>.internal</i>'),
        ("a.internal", ("", ".internal"), 'a<i class="cut">.internal</i>'),
        ("ip-10-0-.internal", ("ip-10-0-", ".internal"), "ip-10-0-.internal"),
        ("<b>/Kind/<i>", ("", ""), "&lt;b&gt;/Kind/&lt;i&gt;"),
        ("a/Job/b, c/Job/d and 1 more", ("", ""), "a/<i>Job/</i>b, c/<i>Job/</i>d and 1 more"),
    ],
)
def test_a_name_keeps_its_whole_text_and_shows_what_tells_it_apart(
    name: str, ends: tuple[str, str], expected: str
) -> None:
    assert short_name(name, ends) == expected


def test_names_in_a_sentence_are_shortened_too() -> None:
    ends = ("ip-10-0-", ".internal")
    told = said("fits: ip-10-0-1.internal, ip-10-0-2.internal and <1> more; not ip-10-0-3.internals", ends)
    assert re.sub(r"<i[^>]*>[^<]*</i>", "…", told) == "fits: …1…, …2… and &lt;1&gt; more; not ip-10-0-3.internals"
    assert said("a-1, a-2", ("a-", "")) == "a-1, a-2"


def test_names_of_a_column_lose_the_ends_that_all_of_them_share() -> None:
    names = [f"ip-10-0-{number}.eu-west-1.compute.internal" for number in (14, 15)]
    table = foldable("t0", Table("Nodes", ("Node", "Says"), [Row((name, "is full up to the brim")) for name in names]))
    shown = re.findall(r'<tr><td><i class="cut">ip-10-0-</i>(\d+)<i>[^<]*internal</i></td>', table.replace("<wbr>", ""))
    assert shown == ["14", "15"]


@pytest.mark.parametrize(
    ("names", "hidden"),
    [
        (("2026-11-09T03:00:00Z", "2026-11-08T06:00:00Z"), []),
        (("fixtures/cases/aws12.json.gz", "fixtures/cases/gke60.json.gz"), ["fixtures/cases/"]),
        (("shop/web-1234567890-abcde", "shop/web-1234567890-fghij"), ["shop/web-1234567890-"]),
        (("a sentence that is long enough", "a sentence that is longer"), []),
    ],
)
def test_only_names_are_shortened_and_files_lose_their_folder(names: Sequence[str], hidden: Sequence[str]) -> None:
    table = foldable("t0", Table("Rows", ("Name",), [Row((name,)) for name in names])).replace("<wbr>", "")
    assert sorted({*re.findall(r"<i[^>]*>([^<]*)</i>", table)}) == hidden


def test_a_page_places_every_constraint_beside_its_bars() -> None:
    snapshot = kubespread.Snapshot.from_objects([*hosts("a", "b"), pod("running", "n0")])
    page = write_page(kubespread.explain(snapshot, pod(constraints=[hard("topology.kubernetes.io/zone")])), None)
    assert page.index('<ul class="legend">') < page.index('<table class="bars"')


def test_what_a_tile_says_is_cut_between_words() -> None:
    says = "spread over zones unevenly, " * 6
    tiles = [Tile("long", "1", says=says), Tile("short", "2", says="fine")]
    html = answer(View(title="", provenance="", answer=["No"], tiles=tiles), ("", ""))
    cut, short = re.findall(r'<span class="says">([^<]*)</span>', html)
    assert (cut, short) == ("spread over zones unevenly, " * 4 + "spread …", "fine")
