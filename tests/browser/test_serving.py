"""``kubespread serve`` in a real browser: what is turned changes the answer, which is that of the command shown.

Needs Chromium; the check of accessibility needs axe-core too, as in `test_pages`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.api.server import FakeApi, serving
from tests.browser.test_pages import axe
from tests.builders import hosts, node
from tests.cli.support import FIXTURES, run
from tests.serving.running import served
from tests.world.clusters import deployment
from tools.pictures.chromium import Page, browser, opened_browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser() is None, reason="no Chromium on the PATH (Debian: apt install chromium)"),
]
SHOP = FIXTURES / "clusters" / "shop.yaml"
SETTLED = "document.getElementById('hand').dataset.answered > 0 && !('asks' in document.getElementById('hand').dataset)"
REPLICAS = "#turn-replicas"
CTRL = 2


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(SHOP) as (_, port, token):
        yield f"http://127.0.0.1:{port}/#token={token}"


@pytest.fixture(scope="module")
def opened() -> Iterator[Page]:
    with opened_browser() as page:
        yield page


@pytest.fixture
def page(opened: Page, url: str) -> Page:
    """The page as it is at first, about the workload web."""
    opened.call("Emulation.setDeviceMetricsOverride", width=1440, height=900, deviceScaleFactor=1, mobile=False)
    shown(opened, url)
    choose(opened, "default/deploy/web")
    return opened


def choose(page: Page, workload: str) -> None:
    page.run(
        f"{{ const chosen = document.getElementById('turn-workload'); chosen.value = '{workload}'; "
        "chosen.dispatchEvent(new Event('change')) } 0"
    )
    settled(page)


def shown(page: Page, url: str) -> None:
    page.call("Page.navigate", url="about:blank")
    page.problems.clear()
    page.visit(url, url.partition("#")[0])
    settled(page)


def settled(page: Page) -> None:
    page.wait(SETTLED)
    assert page.problems == []


def text(page: Page, name: str) -> str:
    said: str = page.run(f"document.getElementById('{name}').textContent")
    return said


def click(page: Page, button: str) -> None:
    """The button whose text, or label, begins so."""
    named = f"each => (each.getAttribute('aria-label') || each.textContent).startsWith({json.dumps(button)})"
    page.run(f"[...document.querySelectorAll('button')].find({named}).click()")
    settled(page)


def same_as_its_command(page: Page) -> dict[str, Any]:
    """The report of the command that the page shows, which says what the page says."""
    program, *words = shlex.split(text(page, "command"))
    assert program == "kubespread"
    report: dict[str, Any] = json.loads(run(*words, "-o", "json", "-q").out)
    sentences = page.run("Array.from(document.querySelectorAll('#verdict > p'), each => each.textContent)")
    assert sentences[0].partition(": ")[2] == report["answer"][0] or sentences[0] == report["answer"][0]
    assert sentences[1:] == [*report["answer"][1:], *report["unmet"], *report["doubts"]]
    placed = page.run("document.querySelectorAll('#map .pod.new').length")
    assert placed == report["placed"]
    return report


def test_a_drag_changes_the_answer_to_that_of_the_command_shown(page: Page) -> None:
    before = same_as_its_command(page)
    page.drag(REPLICAS, 40)
    settled(page)
    after = same_as_its_command(page)
    assert after["replicas"] > before["replicas"]
    assert after["placed"] == after["replicas"] - before["replicas"]
    page.drag("[aria-label='zone maxSkew']", 60)
    settled(page)
    rolled_out = same_as_its_command(page)
    assert (rolled_out["rollout"]["complete"], rolled_out["placed"]) == (True, rolled_out["replicas"])
    words = shlex.split(text(page, "command"))
    assert any(word.startswith("maxSkew[topology.kubernetes.io/zone]=") for word in words)
    assert page.run("document.querySelectorAll('#timeline li').length") == 4


def test_a_lost_zone_is_shown_and_undone(page: Page) -> None:
    before = text(page, "verdict")
    click(page, "Zone c: ")
    click(page, "Fail")
    report = same_as_its_command(page)
    assert (report["verdict"], report["pending"]) == ("no", 3)
    assert page.run("Array.from(document.querySelectorAll('.node.failed .name'), each => each.textContent)") == [
        "c1",
        "c2",
    ]
    sums = page.run("Array.from(document.querySelectorAll('#why tbody tr'), each => each.textContent)")
    assert sums == ["a33 + 1 − 0 = 4 > 13", "b33 + 1 − 0 = 4 > 13", "c00 + 1 − 0 = 1 ≤ 10"]
    page.press("z", CTRL)
    settled(page)
    assert text(page, "verdict") == before
    click(page, "Redo")
    assert same_as_its_command(page)["pending"] == 3


@pytest.mark.parametrize(
    ("does", "edit", "state"),
    [("Cordon", "cordon a1", "cordoned"), ("Drain", "drain a1", "drained"), ("Fail", "fail a1", "failed")],
)
def test_what_happens_to_a_node_is_an_edit_of_its_cluster(page: Page, does: str, edit: str, state: str) -> None:
    click(page, "a1: ")
    click(page, does)
    assert f"--{edit}" in text(page, "command")
    assert page.run(f"document.querySelectorAll('.node.{state}').length") == 1
    click(page, "a1: ")
    click(page, "As it was")
    assert f"--{edit}" not in text(page, "command")


def test_a_node_is_added(page: Page) -> None:
    click(page, "c1: ")
    click(page, "Add one like it")
    assert "--add-node c1" in text(page, "command")
    assert page.run("document.querySelectorAll('.node.added').length") == 1


def test_keys_alone_do_all_of_it(page: Page) -> None:
    page.run(f"document.querySelector('{REPLICAS}').focus()")
    page.press("ArrowRight")
    settled(page)
    assert same_as_its_command(page)["replicas"] == 10
    page.run("document.querySelector('.node').focus()")
    page.press("Enter")
    page.wait("document.getElementById('menu').open")
    assert page.run("document.activeElement.textContent") == "Cordon"
    page.press("Tab")
    page.press("Tab")
    assert page.run("document.activeElement.textContent") == "Fail"
    page.press("Enter")
    settled(page)
    assert "--fail a1" in text(page, "command")
    assert page.run("document.activeElement.getAttribute('aria-label')").startswith("a1: ")


def test_a_manifest_is_pasted(page: Page) -> None:
    choose(page, "")
    manifest = json.dumps((FIXTURES / "manifests" / "two-constraints.yaml").read_text())
    page.run(
        f"{{ const field = document.getElementById('manifest'); field.value = {manifest}; "
        "field.dispatchEvent(new Event('change')) } 0"
    )
    settled(page)
    assert text(page, "command").startswith("kubespread simulate manifest.yaml -S ")
    assert page.run("Array.from(document.querySelectorAll('#controls legend'), each => each.textContent)") == [
        "zone",
        "node",
    ]


def test_on_a_phone_nothing_is_cut_and_the_answer_comes_first(page: Page) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    assert page.run("document.documentElement.scrollWidth") == 390
    top, bottom = page.run(
        "(({top, bottom}) => [top, bottom])(document.getElementById('answer').getBoundingClientRect())"
    )
    assert 0 < top < bottom < 844


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_fit_for_everybody(page: Page, scheme: str) -> None:
    script = axe()
    if script is None:
        pytest.skip("no axe-core beside the checkout (npm install --no-save axe-core), and no AXE_CORE")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.run(script.read_text() + "; 0")
    found = page.run("axe.run().then(found => found.violations.map(each => [each.id, each.nodes[0].html]))")
    assert found == []


def test_a_running_cluster_is_followed(opened: Page, tmp_path: Path) -> None:
    objects = [*hosts("a", "b"), *deployment("web", ("n0", "n1"))]
    with serving(FakeApi(objects=objects)) as api:
        kubeconfig = str(api.kubeconfig(tmp_path))
        with served(None, "--kubeconfig", kubeconfig) as (_, port, token):
            shown(opened, f"http://127.0.0.1:{port}/#token={token}")
            assert "live" in text(opened, "source")
            api.objects.append(node("n9", zone="c"))
            opened.wait("document.getElementById('changed').textContent.startsWith('Changed at ')")
            opened.wait("document.querySelectorAll('.node').length === 3")
            opened.call("Page.navigate", url="about:blank")
        assert {request.method for request in api.requests} == {"GET"}


def test_without_a_token_nothing_is_asked(url: str) -> None:
    with opened_browser() as elsewhere:
        elsewhere.visit(url.partition("#")[0], url.partition("#")[0])
        assert elsewhere.run("document.getElementById('locked').hidden") is False


HOSTILE = '<img src=x onerror="document.title=1">'


@contextmanager
def hostile(folder: Path) -> Iterator[str]:
    """A cluster whose labels are elements."""
    nodes = [node(name, cpu="4", zone=HOSTILE) for name in ("n0", "n1")]
    objects = [*nodes, *deployment("web", ("n0", "n1"))]
    (folder / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    with served(folder / "cluster.json") as (_, port, token):
        yield f"http://127.0.0.1:{port}/#token={token}"


def test_names_are_texts_whatever_they_hold(opened: Page, tmp_path: Path) -> None:
    with hostile(tmp_path) as url:
        shown(opened, url)
        assert opened.run("document.querySelectorAll('img').length") == 0
        assert opened.run("document.title") == "kubespread"
        assert HOSTILE in text(opened, "map")
        opened.call("Page.navigate", url="about:blank")
