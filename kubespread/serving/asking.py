"""One question of the cluster that is served: its answer as ``-o json`` prints it, in another format, or as a page."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from shlex import quote
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo

import kubespread
from kubespread.assistants.server import arguments_from, arguments_of, bounded, posed
from kubespread.cli.answering import CODES, drawn_for, with_provenance
from kubespread.errors import UsageError
from kubespread.escaping import json_escaped
from kubespread.questions.commands import Commands, flag_of, option_of, typed
from kubespread.questions.question import Option, Question, options_of
from kubespread.questions.registry import question as question_of
from kubespread.questions.scene import Part
from kubespread.questions.scheduler import Scheduler
from kubespread.reports.parts import outcome
from kubespread.snapshot.snapshot import Snapshot
from kubespread.views.formats import writers_of
from kubespread.views.look import Look
from kubespread.views.page.writing import write_page


class Told(Struct, frozen=True, rename="camel"):
    """How far an answer is."""

    done: int
    total: int | None = None
    """None where that is not known."""
    doing: str = ""


class Asking(Struct, frozen=True):
    """A question by its name, and the arguments of its tool."""

    name: str
    arguments: Mapping[str, Any]
    output: str = "json"
    """The format, as -o has it; ``page`` is all that a browser shows of it."""

    def answer(self, snapshot: Snapshot, scheduler: Scheduler, tell: Callable[[Told], None] | None = None) -> str:
        """The answer, whose lists are cut where a limit is passed; ``tell`` is called now and then with how far it is.
        Raises KubespreadError.
        """
        question = question_of(self.name)
        writers = writers_of(question.outputs, question.__module__.rpartition(".")[0])
        if self.output not in ("page", *writers):
            raise UsageError(f"output {self.output!r}: expected {', '.join(writers)}")
        asked, cluster, scheduling = posed(
            question, snapshot, scheduler, arguments_from(arguments_of(question), dict(self.arguments))
        )

        def on_part(part: Part) -> None:
            if tell is not None:
                tell(Told(part.number, part.total, part.doing))

        answer = kubespread.ask(
            cluster,
            asked,
            scheduling,
            None if tell is None else lambda number: tell(Told(number)),
            timeout=self.arguments.get("timeout"),
            on_part=on_part,
        )
        command = command_of(question, self.arguments, cluster, scheduling)
        report = with_provenance(asked.alone(answer), shlex.split(command)[1:])
        if self.output not in ("json", "page"):
            return writers[self.output].load()(report, Look())
        limit = self.arguments.get("limit")
        plain = report.to_json() if limit is None else msgspec.json.encode(bounded(report.to_dict(), limit))
        if self.output == "json":
            return json_escaped(msgspec.json.format(plain, indent=2).decode()) + "\n"
        reports = [each for _, each in asked.reports(answer)]
        code = CODES[outcome(reports, asked.passes(answer), is_in_part=bool(cluster.faults))]
        shown = write_page(report, drawn_for(report, asked.clusters(cluster, scheduling)[-1][0], scheduling))
        page = {"exitCode": int(code), "command": command, "page": shown, "report": msgspec.Raw(plain)}
        return msgspec.json.encode(page).decode()


_FILES = {"manifest": "manifest.yaml", "toManifest": "after.yaml", "promises": "promises.yaml"}
"""What a call passes as text is in a file on the command line."""
_ONE_SIDE = ("edits", "set")
"""What a call may say of the first side of a comparison, and a command line only of the second."""


def command_of(
    question: type[Question[Any]], arguments: Mapping[str, Any], cluster: Snapshot, scheduler: Scheduler
) -> str:
    """The command that asks what a call with these ``arguments`` asks of ``cluster``, whose edits include theirs, and
    of ``scheduler``, whose release is theirs; empty where no command line says the same. What is passed as text is in a
    file.
    """
    options = [each for each in options_of(question) if each[2].is_for_assistants]
    has_sides = any(option.form == "sides" for *_, option in options)
    if has_sides and any(arguments.get(name) for name in _ONE_SIDE):
        return ""
    words, names_some = list[str](), False
    for field, _, option in options:
        own = [*_words(field, option, arguments)]
        names_some |= option.is_subject and bool(own)
        if option.form == "namespace" and not own and not names_some:
            own = ["-A"]
        words += own
    if arguments.get("toKubeVersion"):
        words += ["--to-kube-version", arguments["toKubeVersion"]]
    if question.hands_out and arguments.get("timeout"):
        words += ["--timeout", f"{arguments['timeout']}s"]
    later = [option_of(edit) for edit in (arguments.get("toEdits") if has_sides else None) or ()]
    parts = (Commands(cluster, scheduler).of(question.name, *map(quote, words)), *later)
    return " ".join(parts) if all(parts) else ""


def _words(field: FieldInfo, option: Option, arguments: Mapping[str, Any]) -> Iterator[str]:
    """What is typed for a field."""
    match option.form:
        case "pods" | "sides" | "pod" | "applied":
            for name in ("manifest", "workload", "toManifest"):
                if value := arguments.get(name):
                    by_name = {"pod": flag_of(field, option), "applied": "-f"}.get(option.form)
                    yield from (*([by_name] if by_name else []), _FILES.get(name, value))
            for value in arguments.get("toSet") or () if option.form == "sides" else ():
                yield from ("--set", value)
        case "scenario":
            yield from arguments.get("steps") or ()
        case _:
            yield from _value(field, option, arguments)


def _value(field: FieldInfo, option: Option, arguments: Mapping[str, Any]) -> Iterator[str]:
    value = arguments.get(field.encode_name)
    if value is None or value in ("", [], field.default):
        return
    file = _FILES.get(field.encode_name)
    yield from typed(field, option, value) if file is None else [file]
