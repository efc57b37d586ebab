"""One question of the cluster that is served: its answer as ``-o json`` prints it, in another format, or as a page."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

import kubespread
from kubespread.assistants.server import arguments_from, arguments_of, bounded, posed
from kubespread.cli.answering import CODES, drawn_for, with_provenance
from kubespread.errors import UsageError
from kubespread.escaping import json_escaped
from kubespread.questions.registry import question as question_of
from kubespread.questions.scene import Part
from kubespread.questions.scheduler import Scheduler
from kubespread.reports.parts import outcome
from kubespread.serving.commands import command_of
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
