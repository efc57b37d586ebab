"""Commands beside answers, to type next or to repeat an answer; its exit code, and the map that its page draws."""

from __future__ import annotations

import datetime
import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from msgspec import Struct
from msgspec.structs import FieldInfo, fields, replace

from kubespread import __version__
from kubespread.escaping import escape
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadName
from kubespread.questions.question import MANIFESTS, Option, Question, WorkloadsQuestion, options_of
from kubespread.questions.registry import question as question_of
from kubespread.questions.scene import ask, cluster_reference
from kubespread.questions.scheduler import Scheduler
from kubespread.redaction import without_secrets
from kubespread.reports.parts import Judgment, Provenance
from kubespread.snapshot.edits.registry import EDITS
from kubespread.snapshot.snapshot import Snapshot

_CHOOSING = ("namespace", "selector")
"""Fields that select workloads, which `Commands.selection` passes on."""
_NOT_TYPED = ("admission", "default_toleration_seconds", "pod_node_selector", "extended_resource_toleration")


class Commands(Struct, frozen=True):
    """Writer of follow-up commands that keep the cluster, scheduler and options of the question just answered."""

    cluster: Snapshot | None
    """None where only files were checked."""
    scheduler: Scheduler
    question: Question[Any] | None = None
    """Question with the options to keep; None to keep none."""
    typed: Sequence[str] = ()
    """Words of the command line that was answered; empty where there was none."""

    @property
    def selection(self) -> Sequence[str]:
        """Words that select the same workloads: their names, ``-A`` or ``-n NAMESPACE``, and ``-l LABELS``."""
        question = self.question
        if self.cluster is None or not isinstance(question, WorkloadsQuestion):
            return ()
        within = question.selection_in(self.cluster).report_namespace
        chosen = [f"-l {quote(question.selector)}"] if question.selector else []
        return *question.workload_names, "-A" if within is None else f"-n {quote(within)}", *chosen

    def ask(self, question: str, *words: str, namespace: str | None = None) -> str:
        """Command that asks ``question`` about the same workloads, or about all of ``namespace``."""
        selecting = self.selection if namespace is None else [f"-n {quote(namespace)}"]
        return self._command(question, *words, *self._repeat(question, words), *selecting)

    def ask_pod(self, question: str, pod: str, *words: str) -> str:
        """Command that asks another ``question`` about ``pod``, with the same settings."""
        namespace = getattr(self.question, "namespace", None)
        selecting = [f"-n {quote(namespace)}"] if namespace else []
        return self._command(question, quote(pod), *self._repeat(question, words, is_same=True), *words, *selecting)

    def of_workload(self, question: str, workload: WorkloadName, *words: str) -> str:
        row = POD_CREATORS.get(workload.kind)
        kind = workload.kind.lower() if row is None else row.short
        return self.ask(question, quote(f"{kind}/{workload.name}"), *words, namespace=workload.namespace)

    def same(self, *words: str) -> str:
        """The answered command line with more ``words``; empty if it has them already, or cannot be typed again."""
        line = shlex.join(["kubespread", *self.typed, *words])
        is_new = not {*words} <= {*self.typed} or not words
        return line if self.typed and "-" not in self.typed and is_new and without_secrets(line) == line else ""

    def of_nodes(self, question: str, *words: str) -> str:
        """Command that asks ``question`` without naming workloads."""
        return self._command(question, *words, *self._repeat(question, words))

    def _command(self, *words: str) -> str:
        """Command of ``words``, the cluster's edits before any among them; empty if an edit has no option."""
        edits = [] if self.cluster is None else [option_of(str(edit)) for edit in self.cluster.edits]
        if not all(edits):
            return ""
        named = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
        return " ".join(["kubespread", *words[:named], *edits, *words[named:], *self._scheduling(), *self._source()])

    def _repeat(self, question: str, words: Collection[str], *, is_same: bool = False) -> Iterator[str]:
        """Yield options of this question that ``question`` also has and ``words`` do not set; options of manifests only
        if ``is_same``.
        """
        if self.question is None:
            return
        here = {field.name: (field, option) for field, _, option in options_of(type(self.question))}
        flags = {word.partition(" ")[0] for word in words}
        for field, _, option in options_of(question_of(question)):
            own, own_option = here.get(field.name, (None, None))
            value = getattr(self.question, field.name, None)
            if own is None or own_option is None or (own_option.form, own_option.names) != (option.form, option.names):
                continue
            is_repeated = not option.is_for_scripts and (is_same or option.heading != MANIFESTS)
            if option.is_subject or field.name in _CHOOSING or not is_repeated:
                continue
            is_among_words = flag_of(field, option) in flags and not isinstance(value, tuple)
            if value not in (own.default, field.default) and not is_among_words:
                yield from map(quote, words_for(field, option, value))

    def _scheduling(self) -> Iterator[str]:
        for field in fields(self.scheduler):
            value = getattr(self.scheduler, field.name)
            # A configuration passed as text has no name to type.
            if value == field.default or field.name in _NOT_TYPED or "\n" in str(value):
                continue
            yield "--scheduler-config" if field.name == "config" else f"--{field.name.replace('_', '-')}"
            yield from () if value is True else [quote(str(value))]

    def _source(self) -> Iterator[str]:
        if self.cluster is None:
            return
        for file in self.cluster.files:
            yield f"-S {quote(file)}"
        if self.cluster.kubeconfig:
            yield f"--kubeconfig {quote(self.cluster.kubeconfig)}"
        if (context := cluster_reference(self.cluster).context) is not None:
            yield f"--context {quote(context)}"


def flag_of(field: FieldInfo, option: Option) -> str:
    """Option of a field on the command line; ``--yes/--no`` for a flag with two names."""
    return (option.names or (f"--{field.name.replace('_', '-')}",))[-1]


def words_for(field: FieldInfo, option: Option, value: Any) -> Iterator[str]:
    """Yield the words that set a field to ``value``; none for a value without a text form."""
    flag = flag_of(field, option)
    if isinstance(value, bool):
        yes, _, no = flag.partition("/")
        yield yes if value else no or f"--no-{yes.removeprefix('--')}"
        return
    for word in value if isinstance(value, list | tuple) else [value]:
        if isinstance(word, str | int):
            yield from ([str(word)] if option.is_subject else [flag, str(word)])


def option_of(edit: str) -> str:
    """Quoted option for an edit: ``--taint 'n0 dedicated:NoSchedule-'``; empty for an edit without an option."""
    verb, _, text = edit.partition(" ")
    return f"--{verb} {quote(text)}" if verb in EDITS and EDITS[verb].form.option else ""


CODES: Mapping[Judgment, int] = {"yes": 0, "no": 1, "unknown": 3}
"""Exit codes."""
_MOST_DIGITS = 10
"""Maximum number of digits of a time in seconds: until the year 2286."""


def drawn_for(answer: Any, cluster: Snapshot, scheduler: Scheduler) -> Any:
    """Map of the cluster, with the pods that ``answer`` is about marked, for its page."""
    map_of = question_of("map")
    if isinstance(answer, map_of.report()):
        return answer
    # An answer about some pods alone marks these.
    selector, namespace = getattr(answer, "marks", None) or ("", None)
    return ask(cluster, map_of(selector=selector, namespace=namespace), scheduler)


def with_provenance(answer: Any, words: Sequence[str]) -> Any:
    """Add the command line of these ``words`` and the time to ``answer``, or to each of several."""
    if isinstance(answer, Sequence):
        return [with_provenance(one, words) for one in answer]
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.datetime.now(datetime.UTC)
    if fixed.isdecimal() and len(fixed) <= _MOST_DIGITS:
        now = datetime.datetime.fromtimestamp(int(fixed), datetime.UTC)
    typed = escape(without_secrets(shlex.join(["kubespread", *words])))
    provenance = Provenance(version=__version__, command=typed, time=now.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return replace(answer, provenance=provenance)
