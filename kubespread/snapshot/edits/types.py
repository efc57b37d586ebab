"""The edits, one type each. As text each is what its command line option, a scenario file and `parse` call it."""

from __future__ import annotations

from dataclasses import dataclass

from kubespread.kube.api.core import Node, Taint
from kubespread.kube.selector import Selector


@dataclass(frozen=True, slots=True)
class Target:
    """The nodes that an edit is about: one by its name, or all with certain labels."""

    text: str
    """As it was written: the node's name where there is no selector."""
    selector: Selector | None = None
    """Its keys may be short: ``zone`` for topology.kubernetes.io/zone."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Cordon:
    """New pods stay away from the nodes."""

    target: Target

    def __str__(self) -> str:
        return f"cordon {self.target}"


@dataclass(frozen=True, slots=True)
class Uncordon:
    """New pods may come to the nodes again."""

    target: Target

    def __str__(self) -> str:
        return f"uncordon {self.target}"


@dataclass(frozen=True, slots=True)
class Drain:
    """The nodes are cordoned and their pods evicted, with the flags of ``kubectl drain``."""

    target: Target
    ignore_daemonsets: bool = False
    delete_emptydir_data: bool = False
    force: bool = False

    def __str__(self) -> str:
        flags = {
            "--ignore-daemonsets": self.ignore_daemonsets,
            "--delete-emptydir-data": self.delete_emptydir_data,
            "--force": self.force,
        }
        return " ".join([f"drain {self.target}", *(flag for flag, is_set in flags.items() if is_set)])


@dataclass(frozen=True, slots=True)
class DeleteNode:
    """The Node objects are deleted."""

    target: Target

    def __str__(self) -> str:
        return f"delete-node {self.target}"


@dataclass(frozen=True, slots=True)
class Fail:
    """The nodes break down; where ``hard`` is set their Node objects are gone too."""

    target: Target
    hard: bool = False

    def __str__(self) -> str:
        return f"fail{'-hard' if self.hard else ''} {self.target}"


@dataclass(frozen=True, slots=True)
class AddTaint:
    """The nodes get a taint, in the place of one with the same key and effect."""

    target: Target
    taint: Taint

    def __str__(self) -> str:
        value = f"={self.taint.value}" if self.taint.value else ""
        return f"taint {self.target} {self.taint.key}{value}:{self.taint.effect}"


@dataclass(frozen=True, slots=True)
class RemoveTaint:
    """The nodes lose the taints with a key."""

    target: Target
    key: str
    effect: str = ""
    """Empty: with any effect."""

    @property
    def described(self) -> str:
        """``key`` or ``key:effect``."""
        return f"{self.key}:{self.effect}" if self.effect else self.key

    def __str__(self) -> str:
        return f"taint {self.target} {self.described}-"


@dataclass(frozen=True, slots=True)
class SetLabel:
    """The nodes get a label, whatever value it had; the key may be short, as that of a target."""

    target: Target
    key: str
    value: str

    def __str__(self) -> str:
        return f"label {self.target} {self.key}={self.value}"


@dataclass(frozen=True, slots=True)
class RemoveLabel:
    """The nodes lose a label; the key may be short, as that of a target."""

    target: Target
    key: str

    def __str__(self) -> str:
        return f"label {self.target} {self.key}-"


@dataclass(frozen=True, slots=True)
class AddNode:
    """New nodes, alike but for their names."""

    template: str
    """The file that ``manifest`` was read from, or the name of a node of the cluster."""
    count: int = 1
    labels: tuple[tuple[str, str], ...] = ()
    """Labels that differ from the template's; the keys may be short, as those of a target."""
    manifest: Node | None = None
    """None: the node of the cluster called ``template``."""

    def __str__(self) -> str:
        count = f":{self.count}" if self.count != 1 else ""
        labels = ",".join(f"{key}={value}" for key, value in self.labels)
        return f"add-node {self.template}{count}{f'@{labels}' if labels else ''}"


@dataclass(frozen=True, slots=True)
class DeletePods:
    """The pods with certain labels are deleted."""

    text: str
    """The labels as they were written."""
    selector: Selector
    namespace: str | None = None
    """None: that of the question."""

    def __str__(self) -> str:
        return f"delete-pods {f'{self.namespace}/' if self.namespace else ''}{self.text}"


@dataclass(frozen=True, slots=True)
class EvictPod:
    """A pod is evicted, as far as its disruption budget allows."""

    name: str
    namespace: str | None = None
    """None: that of the question."""

    def __str__(self) -> str:
        return f"evict {f'{self.namespace}/' if self.namespace else ''}{self.name}"


@dataclass(frozen=True, slots=True)
class Scale:
    """A workload of the cluster gets another number of replicas."""

    kind: str
    """``Deployment``, as Kubernetes writes it."""
    name: str
    replicas: int
    namespace: str | None = None
    """None: that of the question."""

    def __str__(self) -> str:
        namespace = f"{self.namespace}/" if self.namespace else ""
        return f"scale {namespace}{self.kind}/{self.name}={self.replicas}"


NodeEdit = Cordon | Uncordon | Drain | DeleteNode | AddTaint | RemoveTaint | SetLabel | RemoveLabel | AddNode
"""Those that change nodes by themselves; of a drain that is its cordon."""

Edit = NodeEdit | Fail | DeletePods | EvictPod | Scale
