"""docs/questions.md: what people ask, the command that answers each, and the first screen of its answer."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.cli.support import ROOT, run

COLUMNS, ROWS = 80, 24
_HEAD = """# Questions

Made by `make docs` from `fixtures/questions/questions.yaml`; `tests/test_questions.py` asks each again. {well} of
{all} are answered well: one obvious command, and the right answer in plain words on the first screen of {columns}
columns and {rows} rows. The others are called awkward, with the reason. Unfold a question to see that screen; the
commands run in a checkout.
"""


class Asked(Struct, forbid_unknown_fields=True):
    """One question, as people ask it."""

    asks: str
    command: str
    awkward: str = ""
    """Why it is not answered well; empty where it is."""


class Section(Struct, forbid_unknown_fields=True):
    title: str
    questions: tuple[Asked, ...]


def sections() -> tuple[Section, ...]:
    file = Path(ROOT) / "fixtures" / "questions" / "questions.yaml"
    return msgspec.yaml.decode(file.read_bytes(), type=tuple[Section, ...])


def page() -> str:
    return head() + "".join(text for section in sections() for text in of_section(section))


def head() -> str:
    every = [asked for section in sections() for asked in section.questions]
    well = sum(not asked.awkward for asked in every)
    return _HEAD.format(well=well, all=len(every), columns=COLUMNS, rows=ROWS)


def of_section(section: Section) -> Iterator[str]:
    """Its title, then each question with its screen."""
    yield f"\n## {section.title}\n"
    for asked in section.questions:
        mark, why = (" (awkward)", f"\nAwkward: {asked.awkward}.\n\n") if asked.awkward else ("", "")
        yield f"\n<details><summary>{asked.asks}{mark}</summary>\n\n```\n{screen(asked)}```\n\n{why}</details>\n"


def screen(asked: Asked) -> str:
    """What a terminal shows: the command, the answer, and what is said on standard error where there is no answer."""
    words = shlex.split(asked.command)
    ended = run(*words, cwd=ROOT, terminal=COLUMNS, rows=ROWS, env={"NO_COLOR": "1"})
    return f"% kubespread {asked.command}\n{ended.out or ended.err}"
