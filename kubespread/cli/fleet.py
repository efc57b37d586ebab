"""``kubespread fleet``: any question, with its own options, asked of many clusters."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from inspect import cleandoc
from itertools import zip_longest
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec import structs

from kubespread.cli.answering import CODES, Answering
from kubespread.cli.asking import Asked, asking, jobs
from kubespread.cli.cluster import waiting
from kubespread.cli.command import Command, Group, Option, Typed
from kubespread.cli.options import RUNNING, SPEAKING, access_of, edits_of, number_of, scheduler_of
from kubespread.cli.snapshot import ANONYMIZE, saved
from kubespread.cli.snapshot import STRICT as SAVED_STRICT
from kubespread.cli.streams import ExitCode, complain, epilog, say
from kubespread.errors import KubespreadError, UsageError
from kubespread.questions.fleet.report import worst
from kubespread.questions.registry import QUESTIONS, question
from kubespread.questions.tasks import Workers
from kubespread.views.formats import IN_PIPE, writers_of
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.questions.fleet.clusters import Member
    from kubespread.snapshot.edits.verb import Edit

_OUTPUTS = {"name": "prints the clusters that do not say yes, the worst first", "prometheus": ""}
_HOME = "kubespread.questions.fleet"
_NO_FILE_NAME = re.compile(r"[^\w.@+-]+")
_SUFFIXES = re.compile(r"\.(json|ya?ml|tar|t?gz|zip|bz2|xz)$")


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
        help="Running clusters of the kubeconfig's contexts whose names match, quoted: 'prod-*'; of all contexts where "
        "the question follows at once. Repeatable.",
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
      kubespread fleet --contexts simulate web.yaml --replicas 9
      kubespread fleet fleet/* compare -A --kube-version 1.36 --to-kube-version 1.37
      kubespread fleet --contexts 'prod-*' snapshot -o fleet/
    """


def _members(typed: Typed, edits: Sequence[Edit] = ()) -> list[Member]:
    """The clusters that are named before the question. Raises UsageError and ManifestError."""
    from kubespread.questions.fleet.clusters import members_of

    named = typed.before or {}
    if not (named["snapshot"] or named["contexts"]):
        raise UsageError(
            "which clusters? Before the question, name files (fleet/*.json.gz), or contexts (--contexts for all, "
            "--contexts 'prod-*')"
        )
    if named["kubeconfig"] is not None and not named["contexts"]:
        raise UsageError("--kubeconfig is for running clusters: add --contexts, or leave it out")
    return members_of(named["snapshot"], named["contexts"], access_of(named), os.environ, tuple(edits))


def _answer(asked: Asked) -> ExitCode:
    from kubespread.questions.fleet.answer import answers
    from kubespread.questions.fleet.clusters import doubled

    typed = asked.typed
    answering = Answering(None, scheduler_of(typed), typed, (), asked.question.never_modelled)
    clusters, named = _members(typed, edits_of(typed)), typed.before or {}
    with waiting(f"asking {count_of(len(clusters), 'cluster')}", quiet=typed["quiet"], verbose=True) as hearing:
        report = answers(
            clusters,
            asked.question,
            answering.scheduler,
            asked.workers,
            hearing.on_part,
            asked.settle,
            asked.timeout,
            [*doubled(access_of(named), os.environ, clusters)] if named["contexts"] else [],
        )
    is_strict = typed["strict"]
    passes = (
        "unknown" if is_strict and any(part.gaps for part in row.reports) else row.passes for row in report.clusters
    )
    code = CODES[worst((*passes, *(() if report.unfinished is None else ("unknown",))))]
    look, wrong = answering.look(), [row.name for row in report.clusters if row.passes != "yes" and row.reports]
    for worst_of_all in (member for member in clusters if member.name in wrong[:1]):
        alone = ["kubespread", asked.question.name, *typed.words, *worst_of_all.option]
        look = structs.replace(look, next_command=shlex.join(alone))
    writer = writers_of(_OUTPUTS, _HOME).get(answering.written.name, IN_PIPE)
    answering.show(report, [("", report)], code, writer=writer, look=look)
    return code


def _snapshot(typed: Typed) -> int:
    """Save what scheduling needs from each cluster, as NAME.json.gz in one directory.

    What each file holds is as in kubespread snapshot. A cluster that cannot be reached is named, the others are saved,
    and the exit code is 3.

    \b
    Examples:
      kubespread fleet --contexts 'prod-*' snapshot -o fleet/
      kubespread fleet -S 'dumps/*' snapshot --anonymize -o shared/
    """
    output, quiet = Path(typed["output"]), typed["quiet"]
    targets = _targets(_members(typed), output)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{output}: {error.strerror}") from error
    number = None if typed["jobs"] is None else int(number_of("--jobs", typed["jobs"], 1))
    workers, is_whole = Workers(number, on_lost=(lambda _: None) if quiet else say), True
    with waiting(f"saving {count_of(len(targets), 'cluster')}", quiet=quiet) as hearing:
        results = []
        for result in _saved(targets, partial(_Saving.of, typed["anonymize"], None), workers):
            results.append(result)
            if hearing.on_progress is not None:
                hearing.on_progress(len(results))
    for lines, wrong, has_gaps in results:
        for line in () if quiet else lines:
            say(line)
        if wrong:
            complain(wrong)
        is_whole = is_whole and not wrong and not (typed["strict"] and has_gaps)
    return ExitCode.YES if is_whole else ExitCode.NO_CLUSTER


_Saved = tuple[Sequence[str], str, bool]
"""What there is to say of a cluster, what went wrong, and whether there are gaps."""


def _saved(targets: Sequence[tuple[Member, str]], make: Callable[[], _Saving], workers: Workers) -> Iterator[_Saved]:
    """Of the clusters that are saved already in their order, then of running ones as they come."""
    from kubespread.questions.fleet.clusters import opened

    results = partial(workers.results, make(), make, took=0.0)
    yield from results([target for target in targets if not target[0].is_running])
    paths = {member.name: path for member, path in targets}
    for come in opened([member for member, _ in targets if member.is_running], inf):
        yield from (_failed(*each) for each in come if isinstance(each, tuple))
        yield from results([(each, paths[each.name]) for each in come if not isinstance(each, tuple)])


def _failed(member: Member, error: KubespreadError) -> _Saved:
    told = str(error)
    return (), told if told.startswith(member.name) else f"{member.name}: {told}", False


def _targets(clusters: Sequence[Member], folder: Path) -> list[tuple[Member, str]]:
    """Each with the file that it is saved as. Raises UsageError where two would be one, or one is read."""
    targets = [(member, str(folder / f"{_file_name(member)}.json.gz")) for member in clusters]
    whose: dict[str, Member] = {}
    for member, path in targets:
        other = whose.setdefault(path, member)
        if other is not member:
            raise UsageError(f"{other.name} and {member.name} would both be saved as {path}")
    read = {os.path.realpath(member.source) for member in clusters if isinstance(member.source, str)}
    for _, path in targets:
        if os.path.realpath(path) in read:
            raise UsageError(f"{path} would be overwritten, which is read: name another directory")
    return targets


def _file_name(member: Member) -> str:
    if not isinstance(member.source, str):
        return _NO_FILE_NAME.sub("_", member.name)
    name = Path(member.source).name
    while (shorter := _SUFFIXES.sub("", name)) not in (name, ""):
        name = shorter
    return name


class _Saving:
    """Saves one cluster after another."""

    def __init__(self, anonymize: bool) -> None:
        self._anonymize = anonymize
        self.assumed: dict[str, None] = {}

    @classmethod
    def of(cls, question: bool, _scene: None) -> Self:
        return cls(question)

    def __call__(self, target: tuple[Member, str]) -> _Saved:
        member, path = target
        try:
            opened = member.opened()
            lines = saved(opened, member.name, path, anonymize=self._anonymize)
        except KubespreadError as error:
            return _failed(member, error)
        return lines, "\n".join(opened.faults), bool(opened.origin.gaps)


class _Fleet(Group):
    """The questions and ``snapshot``, after the files that they are asked of."""

    has_files = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*self._files_as_options(ctx, [*self._all_contexts(args)])])

    def _all_contexts(self, args: list[str]) -> Iterator[str]:
        """``--contexts`` without a pattern means all: a question or another option follows it, or nothing."""
        for word, follows in zip_longest(args, args[1:], fillvalue="-"):
            yield word
            if word == "--contexts" and (follows.startswith("-") or follows in self.commands):
                yield "*"

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
    """Whether it is one, or looks like one that is not there: a mistyped question does not."""
    return Path(word).exists() or bool({*word} & {*"./*?["})


def _made(name: str) -> Command:
    if name not in QUESTIONS:
        directory = Option("-o", "--output", metavar="DIRECTORY", required=True, help="Where; made if need be.")
        summary = "Save what scheduling needs from each cluster."
        own = (directory, ANONYMIZE, SAVED_STRICT, jobs(), *SPEAKING)
        return Command(name, _snapshot, own, summary=summary, codes=epilog("all are saved", None))
    cls = question(name)
    parameters, run = asking(cls, _answer, writers_of(_OUTPUTS, _HOME), ())
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
        lambda: (*QUESTIONS, "snapshot"),
        _made,
        name="fleet",
        params=[*_CLUSTERS],
        help=cleandoc(_TEXT),
        short_help="Ask many clusters any of these questions.",
        epilog=epilog("every cluster says yes", "one says no"),
        subcommand_metavar="[FILE]... COMMAND [ARGS]...",
    )
}
