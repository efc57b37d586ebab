"""Names of the cluster on the line, from the snapshots it names. A running cluster is never asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kubespread.cli.completing.line import Line
from kubespread.config.layers import SNAPSHOT, settings
from kubespread.snapshot.topology_keys import SHORT_KEYS

if TYPE_CHECKING:
    from kubespread.kube.api.kinds import Kind
    from kubespread.snapshot.names import Names

_STDIN = "-"
_RUNNING = {"context", "kubeconfig", "cluster", "user"}
"""The options that ask for a running cluster."""
_NO_FILES = "--no-config"
_DEFAULT = "default"


def nodes(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The nodes."""
    return (node for names in _clusters(line, environment) for node in names.nodes)


def nodes_or_labels(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The nodes and ``KEY=``, then ``KEY=VALUE``; after a comma only labels."""
    clusters = _clusters(line, environment)
    before, comma, last = line.word.rpartition(",")
    key, equals, _ = last.partition("=")
    if equals:
        yield from (f"{before}{comma}{key}={value}" for names in clusters for value in _values(names, key))
        return
    if not comma:
        yield from (node for names in clusters for node in names.nodes)
    yield from (f"{before}{comma}{label_key}=" for names in clusters for label_key in _label_keys(names))


def node_equals(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """``NODE=``."""
    return (f"{node}=" for node in nodes(line, environment))


def topology_keys(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """Keys that nodes can be grouped by: the short names, and the labels nodes have."""
    yield from SHORT_KEYS
    for names in _clusters(line, environment):
        yield from names.labels


def key_equals(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """``KEY=``."""
    return (f"{key}=" for key in topology_keys(line, environment))


def namespaces(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The namespaces of the snapshots, or those that the contexts of the kubeconfig name."""
    clusters = _clusters(line, environment)
    if clusters:
        yield from (namespace for names in clusters for namespace in names.namespaces)
        return
    from kubespread.snapshot.live.kubeconfig import Access, namespaces_of_contexts

    yield from namespaces_of_contexts(Access(kubeconfig=line.value("kubeconfig") or None), environment)


def references(line: Line, environment: Mapping[str, str], more: Sequence[Kind] = ()) -> Iterator[str]:
    """``deploy/``, then ``deploy/web``; after a kind as a separate word, names (``deploy web``)."""
    from kubespread.kube.api.kinds import REFERABLE, kind_called

    clusters = _clusters(line, environment)
    if not clusters:
        return
    kind = kind_called(line.arguments[0]) if line.arguments else None
    if kind is not None:
        yield from _named(clusters, kind.short, line)
        return
    typed, slash, _ = line.word.partition("/")
    kind = kind_called(typed, more) if slash else None
    if kind is not None:
        yield from (f"{typed}/{name}" for name in _named(clusters, kind.short, line))
    elif not slash:
        present = {short for names in clusters for short in names.by_kind}
        yield from (f"{row.short}/" for row in (*REFERABLE, *more) if row.short in present)


def references_and_services(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The same, and ``svc/``."""
    from kubespread.kube.api.kinds import SERVICE

    return references(line, environment, (SERVICE,))


def scaled(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """``deploy/``, then ``deploy/web=``, of the kinds that have replicas."""
    from kubespread.kube.api.kinds import REFERABLE, kind_called

    clusters = _clusters(line, environment)
    typed, slash, _ = line.word.partition("/")
    kind = kind_called(typed) if slash else None
    if not slash:
        present = {short for names in clusters for short in names.by_kind}
        yield from (f"{row.short}/" for row in REFERABLE if row.has_replicas and row.short in present)
    elif kind is not None and kind.has_replicas:
        yield from (f"{typed}/{name}=" for name in _named(clusters, kind.short, line))


def pods(line: Line, environment: Mapping[str, str]) -> Iterator[str]:
    """The pods, with their namespace once one is typed."""
    namespace, slash, _ = line.word.partition("/")
    for names in _clusters(line, environment):
        if slash:
            yield from (f"{namespace}/{name}" for name in names.of_kind("po", namespace))
        else:
            yield from names.of_kind("po", _namespace(line, names))
            yield from (f"{namespace}/" for namespace in names.namespaces)


def _named(clusters: Sequence[Names], short: str, line: Line) -> Iterable[str]:
    return (name for names in clusters for name in names.of_kind(short, _namespace(line, names)))


def _label_keys(names: Names) -> Iterator[str]:
    """Short names for labels that nodes have, then all labels in full."""
    yield from (short for short, key in SHORT_KEYS.items() if key in names.labels)
    yield from names.labels


def _values(names: Names, key: str) -> list[str]:
    return names.values_of(key if key in names.labels else SHORT_KEYS.get(key, key))


def _namespace(line: Line, names: Names) -> str:
    """The namespace for a name without one."""
    return line.value("namespace") or names.namespace or _DEFAULT


def _clusters(line: Line, environment: Mapping[str, str]) -> list[Names]:
    """The names in each snapshot that the line names or that is set; none for a running cluster."""
    from kubespread.snapshot.name_index import names_in

    paths: Sequence[str] = line.values.get("snapshot", ())
    if not paths and not line.values.keys() & _RUNNING:
        set_to = settings(environment, files=_NO_FILES not in line.flags).get(SNAPSHOT)
        paths = set_to.values if set_to is not None else ()
    return [names_in(_path(path), environment) for path in paths if path != _STDIN]


def _path(word: str) -> str:
    """The file that a word of the line means, in which a shell has not put values for variables yet."""
    return word if os.path.lexists(word) else os.path.expandvars(word)
