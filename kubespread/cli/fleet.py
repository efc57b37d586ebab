"""``kubespread fleet``: any question, with its own options, asked of many clusters."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

from msgspec import structs

from kubespread.cli.answering import Answering
from kubespread.cli.asking import CommandQuestion, question_command
from kubespread.cli.command import Command, CommandOption, QuestionGroup
from kubespread.cli.options import edits_of, scheduler_of, waiting
from kubespread.cli.streams import ExitCode, epilog
from kubespread.errors import UsageError
from kubespread.questions.commands import CODES
from kubespread.questions.registry import QUESTIONS, question
from kubespread.views.formats import writers_of
from kubespread.wording import count_of

_WRITERS = writers_of({"name": "prints the clusters that do not say yes, the worst first"})
_CLUSTERS = CommandOption(
    "-S",
    "--snapshot",
    metavar="PATTERN",
    multiple=True,
    help="Clusters from files, directories and archives whose names match, as the files that are named without it: "
    "'fleet/**/*.json.gz', quoted; ** is folders at any depth. Repeatable.",
)
_TEXT = """Ask many clusters the same question: a row for each, the worst first, with its verdict.

    Clusters are named before the question, its own options after it. A cluster that cannot be read gets a row
    with the reason; the others still answer. The exit code is 1 if the question alone would end with 1 for any
    cluster, else 3 if it would not end with 0 or has no answer for any, else 0. -o json has each cluster's report.
    Running clusters are saved first, each by kubespread snapshot --context.

    \b
    Examples:
      kubespread fleet fleet/*.json.gz audit -A --fail-on violated
      kubespread fleet fleet/*.json.gz pending -A -o html > fleet.html
      kubespread fleet 'fleet/prod-*' simulate web.yaml --replicas 9
      kubespread fleet fleet/* compare -A --kube-version 1.36 --to-kube-version 1.37
    """


def _answer(request: CommandQuestion) -> ExitCode:
    from kubespread.questions.fleet import answers, members
    from kubespread.questions.scene import Budget

    typed = request.typed
    files = (typed.before or {})["snapshot"]
    if not files:
        raise UsageError("which clusters? Name files before the question: fleet/*.json.gz")
    answering, scheduler = Answering(typed, (), request.question.never_modelled), scheduler_of(typed)
    edits, clusters = edits_of(typed), members(files)
    with waiting(f"asking {count_of(len(clusters), 'cluster')}", quiet=typed["quiet"]) as on_progress:
        budget = Budget(on_progress, request.workers, request.timeout)
        report = answers(clusters, request.question, scheduler, budget, request.settle, edits)
    is_in_doubt = typed["strict"] and any(part.gaps for row in report.clusters for part in row.reports)
    code = ExitCode(CODES["unknown" if is_in_doubt and report.passes == "yes" else report.passes])
    look, wrong = answering.look(), [row.name for row in report.clusters if row.passes != "yes" and row.reports]
    if wrong:
        alone = ["kubespread", request.question.name, *typed.words, "-S", wrong[0]]
        look = structs.replace(look, next_command=shlex.join(alone))
    answering.show(report, [("", report)], code, _WRITERS, look)
    return code


class _Fleet(QuestionGroup):
    """Questions as commands, with the files of the clusters before them."""

    has_files = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*self._files_as_options(ctx, args)])

    def _files_as_options(self, ctx: Any, args: list[str]) -> Iterator[str]:
        """Yield files before the question as ``-S`` options; a file named like a question needs its own ``-S``."""
        parser = self.make_parser(ctx)
        while args:
            rest = parser.parse_args([*args])[1]
            yield from args[: len(args) - len(rest)]
            if not rest or rest[0] in self.commands or not _is_file(rest[0]):
                yield from rest
                return
            yield from ("-S", rest[0])
            args = rest[1:]


def _is_file(word: str) -> bool:
    """True for a file, and for a missing one that looks like a file, unlike a mistyped question."""
    return Path(word).exists() or bool({*word} & {*"./*?["})


def _make(name: str) -> Command:
    cls = question(name)
    codes = epilog(f"of every cluster {cls.yes}", None if cls.no is None else f"of one {cls.no}")
    return question_command(cls, _answer, _WRITERS, codes)


COMMANDS = {
    "fleet": _Fleet(
        lambda: (*QUESTIONS,),
        _make,
        name="fleet",
        params=[_CLUSTERS],
        help=cleandoc(_TEXT),
        short_help="Ask many clusters any of these questions.",
        epilog=epilog("every cluster says yes", "one says no"),
        subcommand_metavar="[FILE]... COMMAND [ARGS]...",
    )
}
