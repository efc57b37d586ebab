"""A column of survive is one line in its row: every format has it, the schema and the documents too."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kubespread.questions import survive
from tests.cli.support import FIXTURES, environment

BEFORE = "    already_lost: bool = False\n"
LINE = '    racks: Annotated[int, Col(bad=True, metric="racks", tile="racks")] = 7\n'
MEANING = '    """Racks that it stands in."""\n'
FORMATS = ("table", "csv", "markdown", "html", "json", "prometheus")
SCRIPT = f"""
import contextlib, io, json, sys
import kubespread.questions as room
room.__path__.insert(0, sys.argv[1])
from docs.generators.fields import fields
from kubespread.cli.main import main
from kubespread.questions.registry import question
from docs.generators.fields import report_schema
said = {{}}
for form in {FORMATS}:
    sys.argv[1:] = ["survive", "-A", "-q", "-S", {str(FIXTURES / "clusters" / "audit.yaml")!r}, "-o", form]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main()
    said[form] = out.getvalue()
survive = question("survive").report()
said["schema"] = json.dumps(report_schema(survive)["$defs"]["LostDomain"]["properties"]["racks"])
said["docs"] = "".join(f"{{field.path}} {{field.meaning}}\\n" for field in fields(survive))
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each format says of a cluster once the line stands in the row."""
    room, head = tmp_path_factory.mktemp("questions"), Path(survive.__file__)
    source = head.read_text()
    assert source.count(BEFORE) == 1
    shutil.copytree(head.parent, room / "survive")
    (room / "survive" / "__init__.py").write_text(source.replace(BEFORE, LINE + MEANING + BEFORE))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(room)],
        capture_output=True,
        check=True,
        env=environment(PYTHONPATH=os.pathsep.join(sys.path)),
    )
    texts: dict[str, str] = json.loads(done.stdout)
    return texts


SAYS = {
    "table": "RACKS",
    "markdown": "| Racks |",
    "html": "racks, at worst",
    "prometheus": "# HELP kubespread_survive_racks Racks that it stands in.",
    "schema": '{"type": "integer"}',
    "docs": "losses[].racks Racks that it stands in.",
}


@pytest.mark.parametrize("form", SAYS)
def test_each_format_has_it(said: dict[str, str], form: str) -> None:
    assert SAYS[form] in said[form]


def test_csv_and_json_have_it_in_every_row(said: dict[str, str]) -> None:
    assert [row["racks"] for row in csv.DictReader(said["csv"].splitlines())] == ["7", "7", "7"]
    assert [loss["racks"] for loss in json.loads(said["json"])["losses"]] == [7, 7, 7]
