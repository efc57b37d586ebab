"""``kubespread fleet``: any question, with its own options, asked of many clusters."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from kubespread.cli.answering import Answering
from kubespread.cli.asking import Asked, asking
from kubespread.cli.command import Command, Group, Option, Typed
from kubespread.cli.options import RUNNING, access_of, edits_of, scheduler_of, waiting
from kubespread.cli.streams import ExitCode, epilog
from kubespread.errors import UsageError
from kubespread.questions.fleet.report import worst
from kubespread.questions.provenance import CODES
from kubespread.questions.registry import QUESTIONS, question
from kubespread.views.formats import IN_PIPE, writers_of
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.questions.fleet.answer import Member
    from kubespread.snapshot.edits.verb import Edit

_OUTPUTS = {"name": "prints the clusters that do not say yes, the worst first", "prometheus": ""}


_CLUSTERS = (
    Option(
        "-S",
        "--snapshot",
        metavar="PATTERN",
        multiple=True,
        help="Clusters from files, directories and archives whose names match, as the files that are named without it: "
        "'fleet/**/*.json.gz', quoted; ** is folders at any depth. Repeatable.",
    ),
    Option(
        "--contexts",
        metavar="PATTERN",
        multiple=True,
        help="Running clusters of the kubeconfig's contexts whose names match, quoted: 'prod-*', '*'. Repeatable.",
    ),
    Option("--kubeconfig", metavar="FILE", help="Kubeconfig, instead of KUBECONFIG.", rule=RUNNING),
)
_TEXT = """Ask many clusters the same question: a row for each, the worst first, with its verdict and how old it is.

    Clusters are named before the question, its own options after it. A cluster that cannot be reached or
    read gets a row with the reason; the others still answer, and running ones are waited for side by side. The exit
    code is 1 if the question alone would end with 1 for any cluster, else 3 if it would not end with 0 or has no answer
    for any, else 0. -o json has each cluster's report, -o html a tile for each.

    \b
    Examples:
      kubespread fleet fleet/*.json.gz audit -A --fail-on violated
      kubespread fleet --contexts 'prod-*' pending -A -o html > fleet.html
      kubespread fleet --contexts '*' simulate web.yaml --replicas 9
      kubespread fleet fleet/* compare -A --kube-version 1.36 --to-kube-version 1.37
    """


def _members(typed: Typed, edits: Sequence[Edit] = ()) -> list[Member]:
    """The clusters that are named before the question. Raises UsageError and ManifestError."""
    from kubespread.questions.fleet.answer import members_of

    named = typed.before or {}
    if not (named["snapshot"] or named["contexts"]):
        raise UsageError(
            "which clusters? Before the question, name files (fleet/*.json.gz), or contexts (--contexts 'prod-*', of "
            "all '*')"
        )
    if named["kubeconfig"] is not None and not named["contexts"]:
        raise UsageError("--kubeconfig is for running clusters: add --contexts, or leave it out")
    return members_of(named["snapshot"], named["contexts"], access_of(named), os.environ, tuple(edits))


def _answer(asked: Asked) -> ExitCode:
    from kubespread.questions.fleet.answer import answers

    typed = asked.typed
    answering = Answering(None, scheduler_of(typed), typed, (), asked.question.never_modelled)
    clusters = _members(typed, edits_of(typed))
    with waiting(f"asking {count_of(len(clusters), 'cluster')}", quiet=typed["quiet"]) as on_progress:
        report = answers(
            clusters, asked.question, answering.scheduler, asked.workers, on_progress, asked.settle, asked.timeout
        )
    is_strict = typed["strict"]
    passes = (
        "unknown" if is_strict and any(part.gaps for part in row.reports) else row.passes for row in report.clusters
    )
    code = ExitCode(CODES[worst((*passes, *(() if report.unfinished is None else ("unknown",))))])
    look, wrong = answering.look(), [row.name for row in report.clusters if row.passes != "yes" and row.reports]
    for worst_of_all in (member for member in clusters if member.name in wrong[:1]):
        alone = ["kubespread", asked.question.name, *typed.words, *worst_of_all.option]
        look = structs.replace(look, next_command=shlex.join(alone))
    writer = writers_of(_OUTPUTS).get(answering.written.name, IN_PIPE)
    answering.show(report, [("", report)], code, writer=writer, look=look)
    return code


class _Fleet(Group):
    """The questions, after the files that they are asked of."""

    has_files = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*self._files_as_options(ctx, args)])

    def _files_as_options(self, ctx: Any, args: list[str]) -> Iterator[str]:
        """Files before the question as ``-S`` has them; one that is called like a question needs that itself."""
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
    """True if it is a file, or looks like one that is not there: a mistyped question does not."""
    return Path(word).exists() or bool({*word} & {*"./*?["})


def _made(name: str) -> Command:
    cls = question(name)
    parameters, run = asking(cls, _answer, writers_of(_OUTPUTS), ())
    return Command(
        name,
        run,
        parameters,
        summary=cls.summary,
        codes=epilog(f"of every cluster {cls.yes}", None if cls.no is None else f"of one {cls.no}"),
        text=cls.__doc__,
        never_modelled=cls.never_modelled,
    )


COMMANDS = {
    "fleet": _Fleet(
        lambda: (*QUESTIONS,),
        _made,
        name="fleet",
        params=[*_CLUSTERS],
        help=cleandoc(_TEXT),
        short_help="Ask many clusters any of these questions.",
        epilog=epilog("every cluster says yes", "one says no"),
        subcommand_metavar="[FILE]... COMMAND [ARGS]...",
    )
}
