"""A pool whose nodes are replaced batch by batch, as managed node pools and ``kubectl drain`` do it, within budgets."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.core import Node
from kubespread.kube.taint import DrainFlags, uncordoned
from kubespread.snapshot.edits.new_nodes import AddNode, in_place_of, node_called
from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.controllers import follow
from kubespread.world.events.draining import delete_nodes, drain
from kubespread.world.events.world import World


class Pool:
    """The nodes to replace, in their order, and those that have taken their place.

    The nodes of each batch are cordoned, drained with kubectl's ``flags`` and deleted. Replacements, copies with fresh
    names or what ``to`` says, join once the nodes they replace are gone, but ``surge`` of them always join before; the
    pool is larger by that number meanwhile. Pods without a node do not delay the next batch, unless a budget does.
    """

    def __init__(self, world: World, nodes: Sequence[str], surge: int, flags: DrainFlags, to: str = "") -> None:
        """Raises UsageError and ManifestError for a ``to`` that says nothing."""
        living = world.living.nodes
        self.nodes, self.replaces = nodes, dict[str, str]()
        self._surge, self._flags, self._to = surge, flags, to
        self._joining = [_instead_of(living.objects[living.index[name]], to, living.objects) for name in nodes]
        self._gone = 0

    def replace_batch(self, world: World, size: int) -> bool:
        """Replace the next nodes; whether these are gone. Where a batch is kept it is the next one again."""
        names = self.nodes[self._gone : self._gone + size]
        self._join(world, self._gone + self._surge)
        if not drain(world, names, self._flags):
            return False
        world.wait()
        delete_nodes(world, names)
        world.settle()
        self._gone += len(names)
        self._join(world, self._gone)
        return True

    def replace_all(self, world: World, size: int) -> None:
        """Replace batch after batch, up to the first one that is kept."""
        while self._gone < len(self.nodes) and self.replace_batch(world, size):
            pass

    def _join(self, world: World, upto: int) -> None:
        """Add the replacements of the first ``upto`` nodes that have not joined yet, DaemonSets' pods first."""
        made = len(self.replaces)
        if upto > made:
            world.wait()
        for name, joining in [*zip(self.nodes, self._joining, strict=True)][made:upto]:
            change = joining.change(world.living.nodes.objects)
            if not (self._to and self.replaces):
                for note in change.notes:
                    world.happenings.note(note)
            world.change_nodes(change)
            follow(world, change, {})
            self.replaces.update((node.metadata.name, name) for node in change.added)
        world.settle()


def _instead_of(node: Node, to: str, nodes: Sequence[Node]) -> AddNode:
    """The new node for ``node``: a copy, or what ``to`` says, made of nodes that may be gone by the time it joins."""
    if not to:
        return AddNode(node.metadata.name, manifest=uncordoned(node))
    by, at, labels = to.partition("@")
    if ":" in by or (at and not all("=" in pair for pair in labels.split("@"))):
        raise UsageError(f"invalid --to {to!r}: expected CPUxGI, as in 8x16, or TEMPLATE, with @KEY=VALUE if needed")
    edit = parse(f"add-node {in_place_of(node, by, at + labels)}")
    assert isinstance(edit, AddNode)
    return replace(edit, manifest=edit.manifest or uncordoned(node_called(edit.template, nodes)))
