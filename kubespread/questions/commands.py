"""The commands that show what an answer of several questions is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kubespread.snapshot.snapshot import Snapshot

if TYPE_CHECKING:
    from kubespread.questions.question import WorkloadsQuestion
    from kubespread.questions.scene import Scene


class Commands(Struct, frozen=True):
    """How the commands name the cluster, and the workloads, that an answer is about."""

    cluster: Snapshot
    context: str | None
    whose: str
    """``-A``, or ``-n NAMESPACE`` and ``-l LABELS``."""
    autoscaling: Sequence[str] = ()
    """The options of the autoscaler that is asked for, for the questions that have them."""

    @classmethod
    def about(cls, question: WorkloadsQuestion[Any], scene: Scene) -> Commands:
        """Those about the workloads and the cluster of ``question``."""
        within = question.asked_in(scene.snapshot).within
        whose = [*question.workloads, "-A" if within is None else f"-n {quote(within)}"]
        whose += [f"-l {quote(question.selector)}"] if question.selector else []
        return cls(scene.snapshot, None if scene.source is None else scene.source.context, " ".join(whose))

    def of(self, question: str, *words: str, namespace: str | None = None) -> str:
        """The command that asks ``question`` of the same cluster, of these workloads or of a namespace's."""
        whose = self.whose if namespace is None else f"-n {quote(namespace)}"
        return " ".join(["kubespread", question, *words, *([whose] if whose else []), *self._source()])

    def of_nodes(self, question: str, *words: str) -> str:
        """The command of a question that is not about workloads."""
        return " ".join(["kubespread", question, *map(quote, words), *self._source()])

    def _source(self) -> Iterator[str]:
        for file in self.cluster.files:
            yield f"-S {quote(file)}"
        if self.context is not None:
            yield f"--context {quote(self.context)}"
        yield from map(option_of, map(str, self.cluster.edits))


def option_of(edit: str) -> str:
    """The edit as a shell takes it: ``--taint 'n0 dedicated:NoSchedule-'``."""
    verb, _, rest = edit.partition(" ")
    target, *flags = rest.split(" --")
    return " ".join([f"--{verb} {quote(target)}", *(f"--{flag}" for flag in flags)])
