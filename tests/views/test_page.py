"""Pages: what they embed, what they allow, and that text of somebody else's stays text."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from typing import Any

import pytest

import kubespread
from kubespread.questions.registry import QUESTIONS, question
from kubespread.views.documents import document
from kubespread.views.page.parts import foldable
from kubespread.views.page.writing import write_page
from kubespread.views.sheet import Row, Table
from kubespread.views.view import view_of
from tests.builders import Data, hard, node, pod
from tests.cli.support import FIXTURES
from tests.views.test_formats import ANSWERS, CLUSTER
from tests.world.clusters import deployment

ZONE = "topology.kubernetes.io/zone"
HOSTILE = "</script><script>alert(1)</script>\"'<img src=x onerror=alert(1)>&amp;\u202e]]>--><!--\x1b[31m"
MAP = kubespread.topology_map(CLUSTER)


class Elements(HTMLParser):
    """Every element with its attributes, and the text of scripts by id."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self._script: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self._script = dict(attributes).get("id") or tag

    def handle_data(self, text: str) -> None:
        if self._script is not None:
            self.inside[self._script] = text

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._script = None


def hostile_cluster() -> kubespread.Snapshot:
    """Names that the API server would never take, as files can have them."""
    made: Data = node("n0", cpu="4")
    made["metadata"] = {"name": HOSTILE, "labels": {ZONE: HOSTILE}}
    return kubespread.Snapshot.from_objects([made, pod("p", HOSTILE)])


def answer_of(kind: str) -> Any:
    answer: Any = ANSWERS[kind]
    return answer


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_page_holds_exactly_the_json_of_its_report(kind: str) -> None:
    inside = Elements(write_page(answer_of(kind), MAP)).inside
    assert json.loads(inside["report"]) == document(answer_of(kind))


def unpacked(page: str) -> list[str]:
    """What is laid out when it is opened, in its order."""
    every = re.findall(r'<script type="text/plain" class="packed" data-packed>([^<]*)</script>', page)
    return [gzip.decompress(base64.b64decode(each)).decode() for each in every]


@pytest.mark.parametrize(
    ("rows", "ids", "is_first", "drawn", "later", "says"),
    [
        (60, "", True, 60, 0, ""),
        (61, "", True, 50, 11, ""),
        (400, "", False, 400, 0, ""),
        (10_000, "", False, 0, 10_000, ""),
        (10_001, "", False, 0, 10_000, '<p class="legend">the first 10,000 rows; -o json has all</p>'),
        # The picture links into it.
        (10_001, "n", False, 0, 10_001, ""),
    ],
)
def test_a_table_draws_as_many_rows_as_a_browser_opens_quickly(
    rows: int, ids: str, is_first: bool, drawn: int, later: int, says: str
) -> None:
    table = foldable("t0", Table("Where pods land", ("Node",), [Row(("a",))] * rows), ids, is_first=is_first)
    assert f"<h2>Where pods land ({rows:,})</h2></summary>{says}<div" in table
    assert (table.count("<td>a</td>"), sum(each.count("<td>a</td>") for each in unpacked(table))) == (drawn, later)
    assert (f">and {later:,} more</button>" in table) is bool(drawn and later)


def test_a_plan_names_the_snapshot_it_was_made_from() -> None:
    snapshot = kubespread.load(FIXTURES / "cases" / "everyday" / "promo-only.json.gz")
    page = write_page(kubespread.plan(snapshot.edited("scale shop/deploy/promo=2")), kubespread.topology_map(snapshot))
    assert page.count("<dt>Snapshot</dt>") == 1
    assert "promo-only.json.gz</dd>" in page.replace("<wbr>", "")


def test_nothing_but_the_pages_own_style_and_script_is_allowed() -> None:
    page = write_page(answer_of("explain"), MAP)
    elements = Elements(page)
    policy = next(each["content"] for _, each in elements.seen if each.get("http-equiv") == "Content-Security-Policy")
    hashes = {
        name: base64.b64encode(hashlib.sha256(elements.inside[name].encode()).digest()).decode()
        for name in ("style", "script")
    }
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes['style']}'; script-src 'sha256-{hashes['script']}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_a_page_asks_for_nothing_from_elsewhere_and_has_no_inline_handlers() -> None:
    for kind in ANSWERS:
        for _, attributes in Elements(write_page(answer_of(kind), MAP)).seen:
            assert not {"src", "style"} & attributes.keys()
            assert not [name for name in attributes if name.startswith("on")]
            assert (attributes.get("href") or "#").startswith("#")


@pytest.mark.parametrize("ask", ["explain", "simulate", "map", "survive"])
def test_hostile_names_are_text_everywhere(ask: str) -> None:
    snapshot = hostile_cluster()
    web = pod("web", constraints=[hard(ZONE)])
    answers: dict[str, Any] = {
        "explain": lambda: kubespread.explain(snapshot, web),
        "simulate": lambda: (kubespread.simulate(snapshot, web, 1),),
        "map": lambda: kubespread.topology_map(snapshot, web),
        "survive": lambda: kubespread.survive(snapshot, ["zone"]),
    }
    harmless = write_page(answer_of(ask), MAP)
    answer = answers[ask]()
    page = write_page(answer, kubespread.topology_map(snapshot))
    elements = Elements(page)
    assert [tag for tag, _ in elements.seen if tag in ("script", "img")] == ["script"] * 4
    assert {tag for tag, _ in elements.seen} <= {tag for tag, _ in Elements(harmless).seen} | {
        "input",
        "output",
        "line",
        "ul",
        "li",
        "table",
        "caption",
        "tbody",
        "thead",
        "tr",
        "th",
        "td",
        "a",
        "details",
        "summary",
        "wbr",
        "b",
        "code",
    }
    assert "\u202e" not in page
    assert json.loads(elements.inside["report"]) == document(answer)
    assert html.escape("<img src=x onerror=alert(1)>") in page


def test_every_kind_of_report_has_somebody_who_tells_it() -> None:
    kinds = {document(answer_of(kind)).get("kind", "").removesuffix("List") for kind in ANSWERS}
    assert kinds <= {question(name).report().__name__ for name in QUESTIONS}


def test_nodes_that_join_in_a_step_are_drawn_from_the_start() -> None:
    objects = [*(node(name, cpu="4") for name in ("a", "b")), *deployment("web", ("a",), cpu="1")]
    snapshot = kubespread.Snapshot.from_objects(objects)
    steps = {
        "apiVersion": "kubespread.dev/v1alpha1",
        "kind": "Scenario",
        "spec": {"steps": ["add-node a:1", "drain a", "delete-node a"]},
    }
    page = write_page(kubespread.plan(snapshot, steps), kubespread.topology_map(snapshot))
    frames = json.loads(Elements(page).inside["frames"])
    assert [frame["label"] for frame in frames] == ["step 1: add-node a:1", "step 2: drain a", "step 3: delete-node a"]
    assert [(len(frame.get("joined", ())), frame.get("unavailable", [])) for frame in frames] == [
        (1, []),
        (0, []),
        (0, ["a"]),
    ]
    assert frames[1]["pods"]["a"] == 0
    assert f"{frames[0]['joined'][0]}: not there yet" in page


STEPS = {
    "apiVersion": "kubespread.dev/v1alpha1",
    "kind": "Scenario",
    "spec": {"steps": ["drain a", "scale deploy/web=5", "scale deploy/web=2"]},
}


def stepped() -> str:
    """A drain that fills the other node, more pods than have room there, and as many as before."""
    objects = [*(node(name, cpu="2") for name in ("a", "b")), *deployment("web", ("a", "b"), cpu="1")]
    snapshot = kubespread.Snapshot.from_objects(objects)
    return write_page(kubespread.plan(snapshot, STEPS), kubespread.topology_map(snapshot))


def test_each_step_has_what_nodes_hold_then() -> None:
    frames = json.loads(Elements(stepped()).inside["frames"])
    # Pods, then cpu, memory and pods in percent; only where it changed.
    assert [frame.get("loads") for frame in frames] == [{"a": [0, 0, 0, 0], "b": [2, 100, 0, 1]}, None, None]


def test_rows_name_the_step_that_they_are_about() -> None:
    named = [attributes.get("data-step") for tag, attributes in Elements(stepped()).seen if tag == "tr"]
    assert [step for step in named if step] == ["1", "2", "3", "1"]


@pytest.mark.parametrize(
    ("page", "columns"),
    [
        (stepped, ["Pods at this step", "cpu requested"]),
        (lambda: many_racks(2), ["Pods marked", "Pods", "cpu requested"]),
        (lambda: write_page(MAP, MAP), ["Pods", "cpu requested"]),
    ],
)
def test_a_column_says_of_which_moment_it_is(page: Callable[[], str], columns: Sequence[str]) -> None:
    heads = re.findall(r'<th scope="col">((?:Pods|Replicas|All pods|cpu requested)[^<]*)</th>', page())
    assert heads[-len(columns) :] == columns


def everyday(name: str) -> kubespread.Snapshot:
    return kubespread.load(FIXTURES / "cases" / "everyday" / name)


def pending_said(*texts: str) -> list[int]:
    """The numbers of pods that sentences say are pending."""
    found = re.findall(r"([\d,]+)(?: more)?(?: pods?)? (?:left )?pending\b(?! already| before)", " ".join(texts))
    return [int(number.replace(",", "")) for number in found]


@pytest.mark.parametrize(
    ("ask", "tile"),
    [
        (lambda cluster: kubespread.plan(cluster.edited("drain zone=eu-west-1a")), "pods left pending"),
        (
            lambda cluster: kubespread.plan(
                cluster, {**STEPS, "spec": {"steps": ["fail zone=eu-west-1a", "restore zone=eu-west-1a"]}}
            ),
            "pods left pending",
        ),
        (lambda cluster: kubespread.upgrade(cluster, "zone=eu-west-1a"), "pods left pending"),
    ],
)
def test_a_tile_and_the_sentence_of_the_last_step_say_the_same_number(
    ask: Callable[[kubespread.Snapshot], Any], tile: str
) -> None:
    cluster = everyday("aws12.json.gz")
    account = view_of(ask(cluster))
    *_, last = account.frames(kubespread.topology_map(cluster))
    (value,) = [int(each.value) for each in account.tiles if each.name == tile]
    assert pending_said(last.text) == [value]
    assert {*pending_said(account.answer[0])} <= {value}


def test_no_tile_is_greener_than_the_worst_line_of_its_area() -> None:
    report = kubespread.report(everyday("aws12.json.gz"))
    worst: dict[str, str] = {area.area: area.worst for area in report.by_area}
    tones = {tile.name: str(tile.tone) for tile in view_of(report).tiles}
    assert {name: tone for name, tone in tones.items() if worst.get(name) == "critical"} == {"running": "bad"}
    assert [name for name, tone in tones.items() if worst.get(name) == "warning" and tone == "good"] == []


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_page_is_marked_as_a_no_only_where_the_verdict_is_no(kind: str) -> None:
    page = write_page(answer_of(kind), MAP)
    (main,) = [attributes["class"] for tag, attributes in Elements(page).seen if tag == "main"]
    reports = answer_of(kind) if isinstance(answer_of(kind), Sequence) else [answer_of(kind)]
    assert main != "bad" or any(report.verdict == "no" for report in reports)
    assert "main:not(.bad) { --bad: var(--warn); --bad-back: var(--warn-back); }" in page


def test_the_numbers_of_the_table_are_those_of_the_report() -> None:
    report = answer_of("explain")
    page = write_page(report, MAP)
    rows = re.findall(r'<tr id="n\d+"[^>]*>(.*?)</tr>', page)
    cells = [[html.unescape(each) for each in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]
    by_name = {node.name: node for node in report.nodes}
    assert {row[0] for row in cells} == by_name.keys()
    for row in cells:
        told = by_name[row[0]]
        first = told.constraints[0]
        assert (row[1], row[3]) == ("yes" if told.feasible else "no", "" if told.total is None else str(told.total))
        assert row[2].startswith(f"{first.matching}+{first.self_match}−{first.global_minimum} = {first.skew}")


def many_racks(nodes: int, running: Sequence[Data] = ()) -> str:
    """The page of two replicas on so many nodes, each in a rack of its own."""
    made = [node(f"n{number}", rack=f"r{number:03d}") for number in range(nodes)]
    snapshot = kubespread.Snapshot.from_objects([*made, *running])
    asked = pod("web", labels={"app": "web"}, constraints=[hard("rack", labelSelector={"matchLabels": {"app": "web"}})])
    return write_page(kubespread.simulate(snapshot, asked, 2), kubespread.topology_map(snapshot, asked))


def test_bars_that_are_left_out_are_counted_with_the_most_that_any_of_them_has() -> None:
    assert "<p>and 1 more domain without pods</p>" in many_racks(25)
    assert "<p>and 6 more domains without pods</p>" in many_racks(30)


def test_bars_that_are_left_out_may_have_pods() -> None:
    running = [pod(f"web-{number}", f"n{number}", labels={"app": "web"}) for number in range(30)]
    assert "<p>and 6 more domains with at most 1 pod each</p>" in many_racks(30, running)


def test_numbers_on_nodes_too_small_for_dots_are_explained() -> None:
    assert json.loads(Elements(many_racks(25)).inside["map"])["dot"] == "replica"
    assert "● a replica" in many_racks(25)
    assert "Number on a node: its replicas" in many_racks(2000)


def many_nodes(nodes: int) -> kubespread.Snapshot:
    """In three zones, each with a pod."""
    return kubespread.Snapshot.from_objects(
        made
        for number in range(nodes)
        for name in [f"node-{number:05d}"]
        for made in (node(name, cpu="4", zone=f"zone-{number % 3}"), pod(f"web-{number}", name, labels={"app": "web"}))
    )


def test_a_page_of_5000_nodes_has_totals_by_zone_and_is_small() -> None:
    snapshot = many_nodes(5_000)
    asked = pod("web", labels={"app": "web"}, constraints=[hard("zone", labelSelector={"matchLabels": {"app": "web"}})])
    drawn = kubespread.topology_map(snapshot, asked)
    answers = (
        kubespread.explain(snapshot, asked),
        (kubespread.simulate(snapshot, asked, 300),),
        kubespread.capacity(snapshot),
        drawn,
    )
    for answer in answers:
        page = write_page(answer, drawn)
        assert len(page.encode()) < 1_500_000
    every = unpacked(page)
    assert [len(re.findall('<a class="node', each)) for each in every] == [1_667, 1_667, 1_666, 0]
    assert page.count('<a class="node') == 0
    assert re.findall(r'<span class="total">([^<]*)</span>', page) == [
        "1,667 nodes, 1,667 pods",
        "1,667 nodes, 1,667 pods",
        "1,666 nodes, 1,666 pods",
    ]
    packed = Elements(page).inside["report"]
    assert json.loads(gzip.decompress(base64.b64decode(packed))) == document(answers[-1])


def test_a_node_that_replaces_another_is_drawn_in_its_zone() -> None:
    cluster = everyday("gke60.json.gz")
    page = write_page(
        kubespread.upgrade(cluster, "cloud.google.com/gke-nodepool=highmem"), kubespread.topology_map(cluster)
    )
    boxes = dict(re.findall(r'<p class="title">zone ([^<]*)</p><div class="cells">(.*?)</div>', page))
    joined = {zone: re.findall(r'title="[^":]*-(\w+-1): not there yet"', cells) for zone, cells in boxes.items()}
    old = {zone: re.findall(r'title="[^":]*highmem-\w+-(\w+): ', cells) for zone, cells in boxes.items()}
    assert {zone: sorted(names) for zone, names in joined.items()} == {
        zone: sorted(f"{name}-1" for name in names if len(name) == 4) for zone, names in old.items()
    }
    assert sum(map(len, joined.values())) == 7
    assert "joined later" not in page
