"""Pages in a real browser: they render, complain of nothing, say the report's numbers, and are fit for everybody.

Needs Chromium (Debian: chromium). The check of accessibility needs axe-core too: AXE_CORE names its axe.min.js, else it is
looked for where ``npm install axe-core`` puts it.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kubespread
from kubespread.questions.audit import Audit
from kubespread.reports.parts import Provenance
from kubespread.views.page.writing import write_page
from tests.builders import hard, hosts, node, pod
from tests.cli.support import ROOT
from tests.views.clusters import HOSTNAME, ZONE, candidate, cluster
from tests.views.test_formats import ANSWERS, CLUSTER
from tests.views.test_page import HOSTILE, hostile_cluster, many_nodes, stepped
from tests.world.clusters import deployment
from tools.pictures.chromium import Page, browser, opened_browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser() is None, reason="no Chromium on the PATH (Debian: apt install chromium)"),
]
_AXE = Path("node_modules") / "axe-core" / "axe.min.js"
MAP = kubespread.topology_map(CLUSTER)
SERIOUS = (
    "axe.run().then(found => found.violations.filter(each => ['serious', 'critical'].includes(each.impact))"
    ".map(each => [each.id, each.nodes[0].html]))"
)


NO_MAP = ("audit", "check", "compare", "pending", "rebalance", "report", "survive", "verify")
"""Answers that are not about nodes, whose rows name the nodes that change, or about the loss of hosts, which are no boxes of
the map.
"""


def axe() -> Path | None:
    known = [os.environ.get("AXE_CORE"), *(folder / _AXE for folder in (ROOT, *ROOT.parents))]
    return next((Path(path) for path in known if path and Path(path).is_file()), None)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with opened_browser() as opened:
        yield opened


def shown(page: Page, answer: Any, drawn: kubespread.TopologyMap | None, file: Path) -> Page:
    page.problems.clear()
    file.write_text(write_page(answer, drawn))
    page.open(file)
    return page


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_report_renders_without_a_complaint(page: Page, kind: str, tmp_path: Path) -> None:
    answer: Any = ANSWERS[kind]
    shown(page, answer, MAP, tmp_path / "page.html")
    assert page.problems == []
    nodes = page.run("document.querySelectorAll('a.node:not(.off)').length")
    # What is planned takes one of the two away; a map is where nodes are the answer, or part of it.
    assert nodes == {"plan": 1, **dict.fromkeys(NO_MAP, 0)}.get(kind, 2)
    assert nodes == 0 or page.run("document.querySelector('.topology').getBoundingClientRect().width") > 100


def test_the_numbers_on_the_page_are_those_of_its_json(page: Page, tmp_path: Path) -> None:
    snapshot = cluster(12, "aws")
    report = kubespread.explain(snapshot, candidate(2))
    shown(page, report, kubespread.topology_map(snapshot), tmp_path / "page.html")
    held = json.loads(page.run("document.getElementById('report').textContent"))
    assert held == report.to_dict()
    rows = page.run(
        "Array.from(document.querySelectorAll('#nodes tbody tr'), row => Array.from(row.cells, each => each.textContent))"
    )
    figures = {row[0]: (row[1], row[2].partition(" >")[0], row[4]) for row in rows}
    assert figures == {
        each["name"]: (
            "yes" if each["feasible"] else "no",
            "{matching}+{selfMatch}−{globalMinimum} = {skew}".format(**each["constraints"][0]),
            "" if each["total"] is None else str(each["total"]),
        )
        for each in held["nodes"]
    }


def go_to(page: Page, step: int) -> None:
    move = f"slider.value = '{step}'; slider.dispatchEvent(new Event('input'))"
    page.run(f"{{ const slider = document.getElementById('step'); {move} }} 0")


def cells_of(page: Page) -> dict[str, tuple[str, str, str]]:
    """Of each node its marks, its word and its classes, and the state that its row says."""
    read = (
        "Array.from(document.querySelectorAll('a.node'), cell => [cell.querySelector('.name').textContent, "
        "[cell.querySelector('.pods').textContent, cell.querySelector('.state').textContent, "
        "Array.from(cell.classList).filter(each => each !== 'node' && !each.startsWith('load')).sort().join(' ')]])"
    )
    return {name: tuple(told) for name, told in page.run(read)}


def test_nodes_that_fail_are_cordoned_leave_and_join_look_so_step_by_step(page: Page, tmp_path: Path) -> None:
    snapshot = kubespread.Snapshot.from_objects([*hosts("a", "b", "c"), *deployment("web", ("n0", "n1"))])
    steps = ["cordon n2", "fail n0", "restore n0", "add-node n1", "delete-node n1"]
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": steps}}
    shown(page, kubespread.plan(snapshot, scenario), kubespread.topology_map(snapshot), tmp_path / "page.html")
    assert cells_of(page)["n1"] == ("", "gone", "moved off")
    seen = []
    for step in range(len(steps)):
        go_to(page, step)
        seen.append(cells_of(page))
    assert [each["n2"] for each in seen[:2]] == [("", "", ""), ("", "cordoned", "closed moved")]
    assert [each["n0"][1:] for each in seen[1:4]] == [("", ""), ("not ready", "closed moved"), ("", "moved")]
    assert [each["n1-1"] for each in seen[3:]] == [("", "", "off"), ("", "joined", "joined moved")]
    row = "Array.from(document.querySelectorAll('#nodes tbody tr'), row => Array.from(row.cells, each => each.textContent))"
    assert {cells[0]: cells[1] for cells in page.run(row)} == {"n0": "", "n1": "", "n2": "cordoned", "n1-1": "joined"}


def test_a_page_of_steps_shows_what_nodes_hold_at_each(page: Page, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(stepped())
    page.open(tmp_path / "page.html")
    rows = "Array.from(document.querySelectorAll('#nodes tbody tr'), row => Array.from(row.cells, each => each.textContent))"
    seen = []
    for step in (0, 2, 1, 3):
        go_to(page, step)
        shown_bars = page.run("Array.from(document.querySelectorAll('#nodes tbody tr'), row => row.cells[3].className)")
        seen.append(([cells[2:4] for cells in page.run(rows)], shown_bars))
        lengths = "Array.from(document.querySelectorAll('#nodes tbody tr'), row => getComputedStyle(row.cells[3]).backgroundImage)"
        assert [cells[3] in bar for cells, bar in zip(page.run(rows), page.run(lengths), strict=True)] == [True, True]
    start, drained = ([["1", "50%"], ["1", "50%"]], ["f10", "f10"]), ([["0", "0%"], ["2", "100%"]], ["f0", "f20 warn"])
    assert seen == [start, drained, drained, drained]


def test_the_step_stands_in_the_url_and_its_row_is_marked(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(stepped())
    page.open(file)
    marked = "Array.from(document.querySelectorAll('#t0 tr.now'), row => row.cells[1].textContent)"
    assert page.run(marked) == ["scale deploy/web=2"]
    page.run("document.getElementById('back').click(); 0")
    assert page.run(f"[location.hash, {marked}]") == ["#step=2", ["scale deploy/web=5"]]
    page.run("location.hash = '#step=1'; new Promise(done => setTimeout(() => done(0), 50))")
    assert page.run(f"[document.getElementById('step').value, {marked}]") == ["1", ["drain a"]]


def test_nothing_is_red_where_the_verdict_is_not_no(page: Page, tmp_path: Path) -> None:
    snapshot = cluster(12, "aws")
    nowhere = candidate(2)
    nowhere["spec"] = {**nowhere["spec"], "nodeSelector": {"no": "node"}}
    for asked, is_red in ((candidate(2), False), (nowhere, True)):
        shown(page, kubespread.explain(snapshot, asked), kubespread.topology_map(snapshot), tmp_path / "page.html")
        color = "name => getComputedStyle(document.querySelector(name)).getPropertyValue('--bad').trim()"
        warn = "getComputedStyle(document.querySelector('main')).getPropertyValue('--warn').trim()"
        assert page.run("document.querySelectorAll('a.node.bad').length") > 0
        assert page.run(f"({color})('a.node.bad') !== {warn}") is is_red


def waited_for(page: Page, script: str) -> bool:
    """Whether ``script`` comes true before long."""
    tries = f"(async () => {{ for (let left = 200; left && !({script}); left--) await new Promise(done => setTimeout(done, 10)); return Boolean({script}) }})()"
    return bool(page.run(tries))


def test_nodes_of_a_large_cluster_are_laid_out_when_their_zone_is_opened(page: Page, tmp_path: Path) -> None:
    snapshot = many_nodes(501)
    steps = ["cordon zone=zone-1", "add-node node-00000"]
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": steps}}
    shown(page, kubespread.plan(snapshot, scenario), kubespread.topology_map(snapshot), tmp_path / "page.html")
    totals = "Array.from(document.querySelectorAll('.total'), each => each.textContent)"
    assert page.run(totals) == [
        "167 nodes, 167 pods",
        "167 nodes, 167 pods, 167 closed",
        "167 nodes, 167 pods",
        "1 node, 0 pods, 1 new",
    ]
    go_to(page, 0)
    assert page.run(totals)[1:] == ["167 nodes, 167 pods"] * 2 + ["0 nodes, 0 pods"]
    assert page.run("document.querySelectorAll('a.node, #nodes tbody tr').length") == 0
    go_to(page, 1)
    page.run("document.querySelectorAll('details.domain')[1].open = true; 0")
    assert waited_for(page, "document.querySelectorAll('a.node.closed').length === 167")
    page.run("document.querySelectorAll('details.domain')[1].querySelector('a.node').focus(); 0")
    assert "node-00001" in page.run("document.getElementById('detail').textContent")
    assert page.problems == []


def test_a_search_finds_what_is_not_laid_out_yet(page: Page, tmp_path: Path) -> None:
    snapshot = many_nodes(501)
    shown(page, kubespread.topology_map(snapshot), kubespread.topology_map(snapshot), tmp_path / "page.html")
    page.run(
        "const box = document.getElementById('find'); box.value = 'node-00499'; box.dispatchEvent(new Event('input')); 0"
    )
    assert waited_for(page, "document.querySelector('.find .count').textContent")
    assert page.run("document.querySelector('.find .count').textContent") == "1 of 504 rows"
    assert page.run("document.querySelector('#nodes tbody tr:not([hidden])').cells[0].textContent") == "node-00499"


def test_keys_move_between_nodes_and_the_table_says_what_is_reached(page: Page, tmp_path: Path) -> None:
    snapshot = cluster(12, "aws")
    drawn = kubespread.topology_map(snapshot)
    shown(page, kubespread.explain(snapshot, candidate(2)), drawn, tmp_path / "page.html")
    page.run("document.querySelector('a.node').focus(); 0")
    for key in ("ArrowRight", "ArrowDown", "End", "Home"):
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        page.call("Input.dispatchKeyEvent", type="keyUp", key=key)
    assert drawn.nodes[0].name in page.run("document.getElementById('detail').textContent")
    assert page.run("document.querySelectorAll('a.node[tabindex=\"0\"]').length") == 1
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Escape")
    assert page.run("document.getElementById('detail').hidden")


def test_tables_sort_and_search(page: Page, tmp_path: Path) -> None:
    snapshot = cluster(12, "aws")
    shown(page, kubespread.explain(snapshot, candidate(2)), kubespread.topology_map(snapshot), tmp_path / "page.html")
    first = "document.querySelector('#nodes tbody').rows[0].cells[1].textContent"
    sort = "document.querySelectorAll('#nodes th button')[1].click()"
    assert [page.run(f"{sort}; {first}") for _ in range(2)] == ["no", "yes"]
    typed = "const box = document.getElementById('find'); box.value = 'YES'; box.dispatchEvent(new Event('input'))"
    assert page.run(f"{{ {typed} }} document.querySelector('.find .count').textContent") == "4 of 12 rows"


CROWDED = kubespread.Snapshot.from_objects(
    [
        *hosts("a", "b", "c"),
        *deployment("web", ("n0", "n0", "n1"), spec={"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}),
        *deployment("checkout-with-a-long-name-for-a-service-of-the-shop", ("n0", "n1")),
    ]
)


def test_a_click_on_the_name_of_a_row_makes_a_link_to_it(page: Page, tmp_path: Path) -> None:
    drawn = kubespread.topology_map(CROWDED)
    shown(page, kubespread.audit(CROWDED), drawn, tmp_path / "page.html")
    page.run("document.querySelector('#t0').open = false; document.querySelector('#t0 tbody td').click(); 0")
    assert page.run("decodeURIComponent(location.hash)") == "#default/Deployment/web"
    chosen = "document.querySelector('tr.chosen').cells[0].textContent"
    assert page.run(f"document.getElementById('t0').open && {chosen}") == "default/Deployment/web"
    page.run("location.hash = '#no/Deployment/such'; 0")
    assert (
        page.run("new Promise(done => setTimeout(() => done(document.querySelectorAll('tr.chosen').length), 50))") == 0
    )


def test_a_link_tells_its_row_from_those_that_begin_alike(page: Page, tmp_path: Path) -> None:
    shown(page, kubespread.survive(EVERYDAY, ["zone"]), kubespread.topology_map(EVERYDAY), tmp_path / "page.html")
    page.run("document.querySelectorAll('#t0 tbody tr')[1].cells[0].click(); 0")
    assert page.run("decodeURIComponent(location.hash)") == "#zone eu-west-1a"
    page.run("document.querySelectorAll('#t0 th button')[1].click(); location.hash = '#zone eu-west-1b'; 0")
    chosen = "Array.from(document.querySelectorAll('tr.chosen'), row => row.cells[1].textContent)"
    assert page.run(f"new Promise(done => setTimeout(() => done({chosen}), 50))") == ["eu-west-1b"]


def test_a_key_figure_shows_the_rows_that_it_counts(page: Page, tmp_path: Path) -> None:
    report = kubespread.audit(CROWDED)
    shown(page, report, kubespread.topology_map(CROWDED), tmp_path / "page.html")
    press = "Array.from(document.querySelectorAll('.tile')).find(each => each.dataset.find === 'ok').click()"
    rows = "document.querySelectorAll('#t0 tbody tr:not([hidden])').length"
    assert page.run(f"{press}; {rows}") == report.levels["ok"]
    assert page.run(f"{press}; {rows}") == len(report.workloads)


def test_a_command_is_copied_with_a_click(page: Page, tmp_path: Path) -> None:
    command = "kubespread audit -A -S 'my cluster.json'"
    made = Provenance(version="1.0", command=command, time="2026-01-02T03:04:05Z")
    report = msgspec.structs.replace(kubespread.audit(CROWDED), provenance=made)
    shown(page, report, kubespread.topology_map(CROWDED), tmp_path / "page.html")
    page.run("document.execCommand = what => { window.taken = [what, String(getSelection())]; return true }; 0")
    page.run("Object.defineProperty(navigator, 'clipboard', { value: undefined }); 0")
    page.run("document.querySelector('.copy').click(); new Promise(done => setTimeout(() => done(0), 50))")
    assert page.run("[window.taken, document.querySelector('.copy').textContent]") == [["copy", command], "Copied"]
    assert "1.0" in page.run("Array.from(document.querySelectorAll('dl')).pop().textContent")


def without_a_map(kind: str, folder: Path) -> Any:
    """Answers of which there is more to see where files and many clusters are asked about."""
    if kind == "fleet":
        file = folder / "a-name-that-is-as-long-as-those-of-real-clusters" / "cluster.json"
        file.parent.mkdir()
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*hosts("a"), pod("lonely", "n0")]}))
        (folder / "none.json").write_text("no cluster")
        return kubespread.fleet([CROWDED, file, folder / "none.json"], Audit())
    manifest = folder / "web.yaml"
    manifest.write_text(json.dumps(pod("web", constraints=[hard(ZONE, match={"app": "webb"})]), indent=2))
    return kubespread.check(None, manifest)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("kind", [*ANSWERS, "fleet", "file"])
def test_nothing_stands_beside_the_screen(page: Page, kind: str, width: int, tmp_path: Path) -> None:
    answer: Any = ANSWERS.get(kind)
    page.look(tmp_path / "blank.png", width=width)
    shown(page, answer or without_a_map(kind, tmp_path), None if answer is None else MAP, tmp_path / "page.html")
    page.run("document.querySelectorAll('details').forEach(each => { each.open = true }); 0")
    wide = "Array.from(document.querySelectorAll('.scroll')).filter(each => each.scrollWidth > each.clientWidth + 1)"
    assert page.run(f"[document.documentElement.scrollWidth <= innerWidth, {wide}.length]") == [True, 0]


def test_rows_are_cards_on_a_phone(page: Page, tmp_path: Path) -> None:
    page.look(tmp_path / "blank.png", width=390)
    shown(page, kubespread.audit(CROWDED), kubespread.topology_map(CROWDED), tmp_path / "page.html")
    first = "document.querySelector('#t0 tbody tr')"
    assert page.run(f"getComputedStyle({first}).display") == "block"
    assert page.run(f"Array.from({first}.cells, each => each.dataset.label || '').slice(0, 4)") == [
        "",
        "Level",
        "Pods",
        "Zones",
    ]
    page.look(tmp_path / "blank.png", width=1280)


EVERYDAY = kubespread.load(ROOT / "fixtures" / "cases" / "everyday" / "aws12.json.gz")
AT_A_GLANCE: dict[str, Callable[[], Any]] = {
    "capacity": lambda: kubespread.capacity(EVERYDAY),
    "check": lambda: kubespread.check(EVERYDAY),
    "explain": lambda: kubespread.explain(EVERYDAY, "deploy/promo", namespace="shop"),
    "map": lambda: kubespread.topology_map(EVERYDAY),
    "pending": lambda: kubespread.pending(EVERYDAY),
    "plan": lambda: kubespread.plan(EVERYDAY.edited("drain zone=eu-west-1a")),
    "removable": lambda: kubespread.removable(EVERYDAY),
    "survive": lambda: kubespread.survive(EVERYDAY, ["zone"]),
    "upgrade": lambda: kubespread.upgrade(EVERYDAY, "zone=eu-west-1a"),
}


@pytest.mark.parametrize("kind", AT_A_GLANCE)
def test_a_phone_shows_the_answer_and_its_picture_without_scrolling(page: Page, kind: str, tmp_path: Path) -> None:
    page.look(tmp_path / "blank.png", width=390)
    shown(page, AT_A_GLANCE[kind](), kubespread.topology_map(EVERYDAY), tmp_path / "page.html")
    first = "document.querySelector('.topology .node, .rows tbody tr').getBoundingClientRect()"
    assert page.run(f"[document.querySelector('.first').getBoundingClientRect().top < 180, {first}.bottom < 700]") == [
        True,
        True,
    ]
    page.look(tmp_path / "blank.png", width=1280)


@pytest.mark.parametrize("width", [800, 1440])
def test_names_of_nodes_take_one_line_each_and_are_whole_for_who_copies_them(
    page: Page, width: int, tmp_path: Path
) -> None:
    page.look(tmp_path / "blank.png", width=width)
    drawn = kubespread.topology_map(EVERYDAY)
    shown(page, kubespread.explain(EVERYDAY, "deploy/promo", namespace="shop"), drawn, tmp_path / "page.html")
    heights = "cells.map(cell => { const all = document.createRange(); all.selectNodeContents(cell); return all.getBoundingClientRect().height })"
    cells = "const cells = Array.from(document.querySelectorAll('#nodes tbody td:first-child'))"
    assert page.run(f"(() => {{ {cells}; return Math.max(...{heights}) }})()") < 30
    names = page.run(f"(() => {{ {cells}; return cells.map(cell => cell.textContent) }})()")
    assert sorted(names) == sorted(node.name for node in drawn.nodes)
    page.look(tmp_path / "blank.png", width=1280)


def test_hostile_names_run_nothing(page: Page, tmp_path: Path) -> None:
    snapshot = hostile_cluster()
    report = kubespread.simulate(snapshot, candidate(1), 1)
    shown(page, (report,), kubespread.topology_map(snapshot), tmp_path / "page.html")
    page.run("document.querySelector('a.node').focus(); 0")
    assert page.problems == []
    assert page.run("document.querySelectorAll('img').length") == 0
    assert page.run("document.querySelector('a.node .pods').textContent") == "●"
    assert HOSTILE[:9] in page.run("document.getElementById('detail').textContent")


ODD_NAMES = (
    "n" * 253,
    "🦄🏳️‍🌈",
    "\u202egnitsat\u200f",
    '"><img src=x onerror=alert(1)>',
    "a</title></svg><script>alert(1)</script>",
)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_odd_names_make_no_page_wider_than_its_window(page: Page, width: int, dark: bool, tmp_path: Path) -> None:
    nodes = [node(name, cpu="4") for name in ODD_NAMES]
    for each, name in zip(nodes, ODD_NAMES, strict=True):
        each["metadata"]["labels"] = {ZONE: name, "rack": name, HOSTNAME: name}
    snapshot = kubespread.Snapshot.from_objects([*nodes, *(pod(name, name, namespace=name) for name in ODD_NAMES)])
    page.look(tmp_path / "blank.png", width=width, dark=dark)
    shown(page, kubespread.explain(snapshot, candidate(2)), kubespread.topology_map(snapshot), tmp_path / "page.html")
    for place in range(len(ODD_NAMES)):
        page.run(f"document.querySelectorAll('a.node')[{place}].focus(); 0")
    assert page.problems == []
    assert page.run("[document.querySelectorAll('img').length, window.alerted === undefined]") == [0, True]
    assert page.run("document.documentElement.scrollWidth - innerWidth") <= 0


def test_printed_it_is_the_answer_without_what_needs_a_pointer(page: Page, tmp_path: Path) -> None:
    snapshot = cluster(12, "aws")
    report = kubespread.simulate(snapshot, candidate(2), 3)
    shown(page, (report,), kubespread.topology_map(snapshot), tmp_path / "page.html")
    page.call("Emulation.setEmulatedMedia", media="print")
    visible = (
        "name => { const each = document.querySelector(name); return Boolean(each && each.getClientRects().length) }"
    )
    names = [".answer", ".topology", ".bars", "#nodes table", "#theme", "#step", ".search", ".detail"]
    assert page.run(f"{json.dumps(names)}.map({visible})") == [True] * 4 + [False] * 4
    # What is folded would be a heading without anything below it.
    folded = "Array.from(document.querySelectorAll('details:not([open])')).filter(each => each.getClientRects().length)"
    assert page.run(f"{folded}.length") == 0
    heads = "Array.from(document.querySelectorAll('summary, section > h2, .legend'), each => getComputedStyle(each).breakAfter)"
    assert set(page.run(heads)) == {"avoid"}
    assert base64.b64decode(page.call("Page.printToPDF", printBackground=True)["data"]).startswith(b"%PDF")
    page.call("Emulation.setEmulatedMedia", media="")


def test_the_policy_refuses_what_somebody_adds(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(write_page(ANSWERS["explain"], MAP).replace("</main>", "<script>window.added = 1</script></main>"))  # type: ignore[arg-type]  # an ExplainReport
    page.problems.clear()
    page.open(file)
    assert page.run("window.added === undefined")
    assert any("Content Security Policy" in problem for problem in page.problems)


@pytest.mark.skipif(
    axe() is None, reason="no axe-core beside the checkout (npm install --no-save axe-core), and no AXE_CORE"
)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", [*ANSWERS, "fleet", "file"])
def test_axe_finds_no_serious_fault(page: Page, kind: str, theme: str, tmp_path: Path) -> None:
    answer: Any = ANSWERS.get(kind)
    shown(page, answer or without_a_map(kind, tmp_path), None if answer is None else MAP, tmp_path / "page.html")
    page.run("document.querySelectorAll('details').forEach(each => { each.open = true }); 0")
    checker = axe()
    assert checker is not None
    page.run(f"document.documentElement.dataset.theme = '{theme}'")
    page.run(f"{checker.read_text()}; 0")
    assert page.run(SERIOUS) == []
