"""Clusters and manifests as people have them: what each ``case.yaml`` below fixtures/cases says of commands in its folder."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli.support import FIXTURES, Result, run
from tests.tiers import slow_but

CASES = FIXTURES / "cases"
FOLDERS = sorted(str(path.parent.relative_to(CASES)) for path in CASES.rglob("case.yaml"))


class Case(msgspec.Struct, forbid_unknown_fields=True):
    """A command, asked in the folder of its file, and what has to come of it."""

    case: str
    """What it is about, in a sentence."""
    command: str
    code: int
    environment: dict[str, str] = {}
    stdin: str = ""
    """A file that is piped in."""
    stdout: str | list[str] = []
    """All of it, or a list of texts that are in it, to the letter."""
    stderr: str | list[str] = []
    silent: list[str] = []
    """Texts that are in neither."""
    verdict: str = ""
    """Of the report. Where anything of it is said, the command is asked with ``-o json -q``."""
    answer: list[str] = []
    """Patterns, each of which a sentence of the answer or a requirement that is not met has."""
    gaps: list[str] = []
    """Patterns, each of which a gap has."""
    fields: dict[str, str | list[Any]] = {}
    """A pattern that something called so has wherever it stands, or all that is called so, in order; of ``remedy.text``
    all texts of remedies.
    """

    @property
    def of_report(self) -> bool:
        return bool(self.verdict or self.answer or self.gaps or self.fields)


@pytest.mark.parametrize(
    "folder", slow_but([folder for folder in FOLDERS if not folder.startswith("everyday")], FOLDERS)
)
def test_commands_end_as_their_cases_say(folder: str) -> None:
    there = CASES / folder
    cases = msgspec.yaml.decode((there / "case.yaml").read_bytes(), type=list[Case])
    files = sorted(there.iterdir())
    found = [f"{case.case}: {case.command}: {fault}" for case in cases for fault in faults(case, there)]
    assert not found, "\n".join(found)
    assert sorted(there.iterdir()) == files


def faults(case: Case, there: Path) -> Iterator[str]:
    """What came of the command and is not as the case says."""
    form = ("-o", "json", "-q") if case.of_report else ()
    stdin = (there / case.stdin).read_bytes() if case.stdin else None
    result = run(*shlex.split(case.command), *form, cwd=there, stdin=stdin, env=case.environment)
    if result.code != case.code:
        yield f"exit code {result.code}, not {case.code}: {result.err}"
    elif case.of_report:
        yield from _faults_of_report(case, json.loads(result.out))
    yield from _faults_of_texts(case, result)


def _faults_of_texts(case: Case, result: Result) -> Iterator[str]:
    for wanted, stream in (case.stdout, result.out), (case.stderr, result.err):
        if isinstance(wanted, list):
            yield from (f"it lacks {text!r}: {stream}" for text in wanted if text not in stream)
        elif stream != wanted:
            yield f"{stream!r}, not {wanted!r}"
    both = result.out + result.err
    yield from (f"it says {text!r}: {both}" for text in case.silent if text in both)
    if not re.sub(r"\r?\n", "", both).isprintable():
        yield f"what moves a cursor is not escaped: {both!r}"


def _faults_of_report(case: Case, report: Any) -> Iterator[str]:
    if report["verdict"] != (case.verdict or report["verdict"]):
        yield f"verdict {report['verdict']}, not {case.verdict}"
    for patterns, texts in (case.answer, [*report["answer"], *report.get("unmet", ())]), (case.gaps, report["gaps"]):
        yield from (f"no {each!r} in {texts}" for each in patterns if not any(re.search(each, text) for text in texts))
    for key, wanted in case.fields.items():
        values = list(_called(key, report))
        if isinstance(wanted, list):
            if values != wanted:
                yield f"{key}: {values}, not {wanted}"
        elif not any(re.search(wanted, value if isinstance(value, str) else json.dumps(value)) for value in values):
            yield f"{key}: no {wanted!r} in {values}"


def _called(key: str, data: Any) -> Iterator[Any]:
    holder, _, key = key.rpartition(".")
    if holder:
        yield from (each[key] for each in _called(holder, data))
        return
    if isinstance(data, dict) and key in data:
        yield data[key]
    for item in data if isinstance(data, list) else data.values() if isinstance(data, dict) else ():
        yield from _called(key, item)
