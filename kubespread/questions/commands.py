"""The commands that show what an answer of several questions is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from msgspec import Struct

from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.questions.scene import cluster_reference
from kubespread.snapshot.snapshot import Snapshot


class Commands(Struct, frozen=True):
    """How the commands name the cluster, and the workloads, that an answer is about."""

    cluster: Snapshot | None
    """None: files alone were asked about."""
    context: str | None
    whose: str
    """``-A``, or ``-n NAMESPACE`` and ``-l LABELS``."""
    autoscaling: Sequence[str] = ()
    """The options of the autoscaler that is asked for, for the questions that have them."""

    @classmethod
    def about(cls, cluster: Snapshot | None, whose: str) -> Commands:
        return cls(cluster, None if cluster is None else cluster_reference(cluster).context, whose)

    def of(self, question: str, *words: str, namespace: str | None = None) -> str:
        """The command that asks ``question`` of the same cluster, of these workloads or of a namespace's."""
        whose = self.whose if namespace is None else f"-n {quote(namespace)}"
        return " ".join(["kubespread", question, *words, *([whose] if whose else []), *self._source()])

    def of_workload(self, question: str, workload: WorkloadName, *words: str) -> str:
        """The command about one workload of the cluster."""
        row = POD_CREATORS.get(workload.kind)
        kind = workload.kind.lower() if row is None else row.short
        return self.of(question, quote(f"{kind}/{workload.name}"), *words, namespace=workload.namespace)

    def has(self, workload: WorkloadName) -> bool:
        """Whether it is in the cluster itself, which manifests that were applied first are not."""
        row = POD_CREATORS.get(workload.kind)
        if self.cluster is None:
            return False
        if row is None:
            names = (
                (pod, (pod.metadata.name, *(owner.name for owner in pod.metadata.owner_references)))
                for pod in self.cluster.pods
            )
            return any(pod.metadata.namespace == workload.namespace and workload.name in named for pod, named in names)
        return any(
            NamespacedName.of(obj) == NamespacedName(workload.namespace, workload.name)
            for obj in self.cluster.of_kind(row)
        )

    def of_nodes(self, question: str, *words: str) -> str:
        """The command of a question that is not about workloads."""
        return " ".join(["kubespread", question, *map(quote, words), *self._source()])

    def _source(self) -> Iterator[str]:
        if self.cluster is None:
            return
        for file in self.cluster.files:
            yield f"-S {quote(file)}"
        if self.context is not None:
            yield f"--context {quote(self.context)}"
        elif self.cluster.origin.source.startswith("server ") and not self.cluster.files:
            yield f"--{self.cluster.origin.source}"
        yield from map(option_of, map(str, self.cluster.edits))


def option_of(edit: str) -> str:
    """The edit as a shell takes it: ``--taint 'n0 dedicated:NoSchedule-'``."""
    verb, _, rest = edit.partition(" ")
    target, *flags = rest.split(" --")
    return " ".join([f"--{verb} {quote(target)}", *(f"--{flag}" for flag in flags)])
