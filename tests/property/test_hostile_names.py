"""Whatever people and servers call things, no output of ours moves a cursor, forges a line or runs in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import kubespread
from kubespread.cli.streams import complain, say
from kubespread.errors import ApiError, Fault, ManifestError
from kubespread.escaping import escape
from kubespread.snapshot.save import save
from kubespread.views.formats import IN_PIPE
from kubespread.views.look import Look
from kubespread.views.plain import separated_by_commas
from tests.builders import pod
from tests.cli.support import CLUSTER, POD, run
from tests.hostile_names import HOSTILE, is_safe, objects
from tests.views.writers import writers


@pytest.fixture(scope="module")
def cluster() -> kubespread.Snapshot:
    return kubespread.Snapshot.from_objects(objects(HOSTILE))


def explained(cluster: kubespread.Snapshot, form: str) -> str:
    return writers("explain").get(form, IN_PIPE).load()(kubespread.explain(cluster, pod("web")), Look(in_full=True))


def test_columns_stay_aligned(cluster: kubespread.Snapshot) -> None:
    lines = explained(cluster, "columns").splitlines()
    assert {line.index("  ") for line in lines[1:]} == {len(f"n0{escape(HOSTILE)}")}


def test_what_programs_read_is_what_was_there(cluster: kubespread.Snapshot) -> None:
    read = (json.loads(explained(cluster, "json")), yaml.safe_load(explained(cluster, "yaml")))
    expected = {f"n{number}{HOSTILE}" for number in range(4)}
    assert [{node["name"] for node in report["nodes"]} for report in read] == [expected] * 2


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_saved_snapshot_is_printable_and_the_same(form: str, cluster: kubespread.Snapshot, tmp_path: Path) -> None:
    file = tmp_path / f"saved.{form}"
    save(cluster, str(file))
    assert is_safe(file.read_text())
    assert kubespread.load(file).nodes == cluster.nodes


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
