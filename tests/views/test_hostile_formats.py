"""Every format of every report passes one gate: whatever things are called, it moves no cursor and forges no line."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

import kubespread
from kubespread.escaping import escape, printable
from kubespread.views.formats import Writer
from kubespread.views.look import Look
from tests.builders import hard, pod
from tests.hostile_names import COLOR, HOSTILE, ZONE, is_safe, objects
from tests.views.writers import KINDS, writers

# With as many letters and blanks as the other once that is spelled out, since lines are laid out by words.
PLAIN = re.sub(r"\S", "x", escape(HOSTILE))
FORGED = escape("\r\x7f")
"""How a line would begin if the line break in the name were one."""
WRAPPED = ("table", "wide")
LONG_KEY = re.compile(r"^( *)\? (.*)\n\1:(?! - )", re.MULTILINE)
"""YAML's form of a key of more than 128 characters, whose value is on a line of its own, as a list's items always are."""


def answers(name: str) -> dict[str, Any]:
    cluster = kubespread.Snapshot.from_objects(objects(name))
    web = pod(constraints=[hard(ZONE), hard("kubernetes.io/hostname")])
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario"}
    steps = [{"cordon": "kubernetes.io/hostname=n1", "name": name}, {"delete-pods": "foo=bar", "name": f"then{name}"}]
    return {
        "explain": kubespread.explain(cluster, web),
        "simulate": [kubespread.simulate(cluster, web, 3)] * 2,
        "compare": kubespread.compare(
            kubespread.Side(cluster, web), kubespread.Side(cluster, pod(nodeSelector={"x": "y"}))
        ),
        "steps": kubespread.plan(cluster, {**scenario, "spec": {"steps": steps}}),
        "survive": kubespread.survive(cluster, ["zone"]),
        "upgrade": kubespread.upgrade(cluster, "kubernetes.io/hostname"),
        "plan": kubespread.plan(cluster.edited("cordon kubernetes.io/hostname")),
        "map": kubespread.topology_map(cluster, web),
        "check": kubespread.check(None, pod("n1", constraints=[hard(ZONE, match={"foo": "baz"})])),
        "fix": kubespread.explain(cluster, pod(nodeSelector={"x": "y"}), fix=True),
        "pending": kubespread.pending(cluster),
        "capacity": kubespread.capacity(cluster, "cpu=1"),
        "removable": kubespread.removable(cluster),
        "audit": kubespread.audit(cluster),
        "report": kubespread.report(cluster),
        "verify": kubespread.verify(
            cluster,
            {
                **scenario,
                "kind": "Promises",
                "promises": [
                    {"cluster": True, "room": {name: 1}, "until": "2099-12-31", "reason": name},
                    {"cluster": True, "room": {name: 1}},
                ],
            },
        ),
        "rebalance": kubespread.rebalance(cluster),
    }


@pytest.fixture(scope="module")
def both() -> tuple[dict[str, Any], dict[str, Any]]:
    return answers(HOSTILE), answers(PLAIN)


EACH = [(kind, name) for kind in KINDS for name in writers(kind)]


ONCE = {form: kind for kind, form in reversed(EACH)}


@pytest.mark.parametrize(
    ("kind", "form"), [pytest.param(*each, marks=() if ONCE[each[1]] == each[0] else pytest.mark.slow) for each in EACH]
)
def test_every_format_of_every_report_is_printable_and_has_no_line_more(
    kind: str, form: str, both: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    write = writers(kind.partition(" ")[0])[form].load()
    # So wide that no column gives way to names.
    for look in (Look(in_full=True, wide=True), Look(in_full=True, color=True, width=1000)):
        hostile, harmless = (LONG_KEY.sub(r"\1\2:", write(each[kind], look)) for each in both)
        assert is_safe(hostile)
        assert hostile.count("\t") == harmless.count("\t")
        assert not [line for line in hostile.split("\n") if line.lstrip().startswith(FORGED)]
        # Where words are wrapped, how many lines there are also depends on where names are cut.
        assert form in WRAPPED or hostile.count("\n") == harmless.count("\n")
        assert len(COLOR.findall(hostile)) == len(COLOR.findall(harmless))


def test_no_writer_can_skip_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    careless = SimpleNamespace(table=lambda answer, look: f"{HOSTILE}\t{look.width}\n\x1b[31mred\x1b[0m\x1b[2J")
    monkeypatch.setattr("kubespread.views.formats.import_module", lambda name: careless)
    write = Writer("careless", "table").load()
    for look in (Look(), Look(color=True)):
        text = write(None, look)
        assert is_safe(text)
        assert ("\x1b[31mred\x1b[0m" in text) == look.color
        assert "\\x1b[2J" in text


def test_what_is_printable_stays_as_it_is() -> None:
    for text in ("", "a\n\tb é 名前\n", "\x1b[1;31mred\x1b[0m\n"):
        assert printable(text, colored=True) == text
