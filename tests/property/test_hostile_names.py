"""Whatever people and servers call things, no output of ours moves a cursor, forges a line or runs in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import kubespread
from kubespread.cli.stderr import complain, say
from kubespread.errors import ApiError, Fault, ManifestError
from kubespread.escaping import escaped
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.explain import sentences, table
from kubespread.render.formats import FORMATS, Format
from kubespread.render.look import Look
from kubespread.snapshot.save import save
from tests.builders import Data, hard, hosts, pod, taint
from tests.cli.support import CLUSTER, POD, run

HOSTILE = "\x1b]0;title\x07\x1b[31m\x9b2J\u202eevil\u2066\n\r\t\x7f\u2028error: \u200b\U000e0041é"
# As long as the other once that is spelled out, since lines are laid out by length.
PLAIN = "x" * len(escaped(HOSTILE))
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def cluster(name: str) -> list[Data]:
    """Two zones and four nodes, with ``name`` in every text that a report repeats."""
    nodes = hosts(f"a{name}", f"b{name}", "c", "d")
    nodes[2]["spec"]["taints"] = [taint(f"key{name}", value=name)]
    for node in nodes:
        node["metadata"]["name"] += name
        node["metadata"]["annotations"] = {"note": name}
    nodes[3]["spec"]["unschedulable"] = True
    return [*nodes, pod(f"running{name}", nodes[0]["metadata"]["name"], labels={"foo": "bar"})]


CANDIDATE = pod("web", constraints=[hard("topology.kubernetes.io/zone")])


def explained(name: str) -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects(cluster(name)), CANDIDATE, preemption=True)


def simulated(name: str) -> kubespread.SimulateReport:
    return kubespread.simulate(
        kubespread.Snapshot.from_objects(cluster(name)), CANDIDATE, 3, keys=["topology.kubernetes.io/zone"]
    )


FULL = Look(wide=True, all_nodes=True)


def explain_as(form: Format) -> Callable[[str], str]:
    return lambda name: form.writers["explain"].load()(explained(name), FULL)


def simulate_as(form: Format) -> Callable[[str], str]:
    return lambda name: form.writers["simulate"].load()([simulated(name)] * 2, replace(FULL, in_full=True))


OUTPUTS: dict[str, Callable[[str], str]] = {
    "a table in color": lambda name: table.write(explained(name), replace(FULL, color=True)),
    "sentences": lambda name: sentences.write(explained(name), FULL),
    **{f"explain -o {name}": explain_as(form) for name, form in FORMATS.items() if "explain" in form.writers},
    **{f"simulate -o {name}": simulate_as(form) for name, form in FORMATS.items() if "simulate" in form.writers},
}


def is_safe(text: str) -> bool:
    """Whether a terminal would only show it; the tab between a pod and its node is ours."""
    return COLOR.sub("", text).replace("\n", "").replace("\t", "").isprintable()


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_is_printable_and_has_no_line_more(output: str) -> None:
    hostile, harmless = OUTPUTS[output](HOSTILE), OUTPUTS[output](PLAIN)
    assert "evil" in hostile
    assert is_safe(hostile)
    assert hostile.count("\t") == harmless.count("\t")
    assert len(hostile.split("\n")) == len(harmless.split("\n"))


def test_columns_stay_aligned() -> None:
    lines = OUTPUTS["explain -o plain"](HOSTILE).splitlines()
    assert {line.index("  ") for line in lines[1:]} == {len(f"n0{escaped(HOSTILE)}")}


def test_what_programs_read_is_what_was_there() -> None:
    expected = {f"n{number}{HOSTILE}" for number in range(4)}
    assert {node["name"] for node in json.loads(OUTPUTS["explain -o json"](HOSTILE))["nodes"]} == expected
    assert {node["name"] for node in yaml.safe_load(OUTPUTS["explain -o yaml"](HOSTILE))["nodes"]} == expected


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_saved_snapshot_is_printable_and_the_same(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"saved.{form}"
    snapshot = kubespread.Snapshot.from_objects(cluster(HOSTILE))
    save(snapshot, str(file))
    assert is_safe(file.read_text())
    assert kubespread.load(file).nodes == snapshot.nodes


CELLS = {
    "a formula": ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
    "a plus": ("+1", "'+1"),
    "a minus": ("-1+1", "'-1+1"),
    "an at": ("@SUM(1)", "'@SUM(1)"),
    "a tab first": ("\t=1", "\\t=1"),
    "a carriage return first": ("\r=1", "\\r=1"),
    "a number": (-1, "-1"),
    "a name": ("node-1", "node-1"),
}


@pytest.mark.parametrize("case", CELLS)
def test_a_spreadsheet_shows_a_cell_and_does_not_run_it(case: str) -> None:
    value, shown = CELLS[case]
    assert list(csv.reader(io.StringIO(separated_by_commas([["head"], [value]])))) == [["head"], [shown]]


SAID: dict[str, tuple[Callable[[], None], int]] = {
    "a note": (lambda: say(f"gap: {HOSTILE}"), 1),
    "a message of the server": (lambda: complain(str(ApiError(f"https://host/api: {HOSTILE}", 500))), 1),
    "two faults of a file": (
        lambda: complain(str(ManifestError(HOSTILE, [Fault(HOSTILE), Fault(HOSTILE, HOSTILE, 3)]))),
        2,
    ),
    "a bug": (lambda: complain(f"this is a bug in kubespread: {HOSTILE}"), 2),
}


@pytest.mark.parametrize("case", SAID)
def test_standard_error_is_printable(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    say, lines = SAID[case]
    say()
    said = capsys.readouterr().err
    assert "evil" in said
    assert is_safe(said)
    assert said.count("\n") == lines


NOT_UTF8 = os.fsdecode(b"caf\xe9\x1b[31m")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are Unicode")
def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / f"{NOT_UTF8}.yaml"
    file.write_bytes(Path(CLUSTER).read_bytes())
    saved = run("snapshot", "-S", file)
    assert (saved.code, json.loads(saved.out)["kubespread"]["source"]) == (0, f"{tmp_path}/caf\\udce9\\x1b[31m.yaml")
    assert (
        run("snapshot", "-S", file, "-o", tmp_path / f"{NOT_UTF8}.json").err
        == f"{tmp_path}/caf\\udce9\\x1b[31m.json: 4 nodes, 3 pods\n"
    )
    missing = run("explain", tmp_path / f"{NOT_UTF8}", "-S", CLUSTER)
    assert missing == (2, "", f"error: POD: '{tmp_path}/caf\\udce9\\x1b[31m' is not UTF-8\n")
    assert run("explain", POD, "-S", CLUSTER, "--node", NOT_UTF8).err.startswith("error: ")
    config = run("explain", POD, "-S", CLUSTER, "--scheduler-config", f"{{{NOT_UTF8}")
    assert (config.code, config.err.count("\n")) == (2, 1)
