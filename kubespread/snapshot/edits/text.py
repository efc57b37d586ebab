"""Edits as text: the verb, which is also the name of the option, and what it is about.

    cordon NODES                    uncordon NODES                  delete-node NODES
    fail NODES                      fail-hard NODES
    drain NODES [--ignore-daemonsets] [--delete-emptydir-data] [--force]
    taint NODE=KEY[=VALUE]:EFFECT   taint NODES KEY[=VALUE]:EFFECT  to remove: KEY:EFFECT- or KEY-
    label NODE=KEY=VALUE            label NODES KEY=VALUE           to remove: KEY-
    add-node TEMPLATE[:COUNT][@KEY=VALUE[,KEY=VALUE]...]
    delete-pods [NAMESPACE/]LABELS  evict [NAMESPACE/]POD           scale [NAMESPACE/]KIND/NAME=N

NODES is a node's name, or labels as kubectl's -l has them (``zone=a``, ``'pool in (a,b)'``). NODE before an equals sign
is always a name: what is to be done to nodes with certain labels stands behind a blank. TEMPLATE is a file when it ends
in .yaml, .yml or .json or has a slash in it, else a node's name. NAMESPACE has no dot; where the key of a label has a
prefix without one, the namespace has to be given too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from kubespread.errors import UsageError
from kubespread.kube.api.kinds import REFERABLE, kind_called
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.names import dns_label_faults, subdomain_faults
from kubespread.kube.selector import SelectorError, parse_selector
from kubespread.kube.taint import TaintError, parse_taint
from kubespread.kube.validation.labels import labels_faults
from kubespread.snapshot.edits.target import parse_target
from kubespread.snapshot.edits.template_file import is_file, read_template
from kubespread.snapshot.edits.types import (
    AddNode,
    AddTaint,
    Cordon,
    DeleteNode,
    DeletePods,
    Drain,
    Edit,
    EvictPod,
    Fail,
    RemoveLabel,
    RemoveTaint,
    Scale,
    SetLabel,
    Target,
    Uncordon,
)

DRAIN_FLAGS = ("--ignore-daemonsets", "--delete-emptydir-data", "--force")
MAX_COPIES = 10_000
"""How many nodes one edit adds at most: about twice what a cluster may have."""
_EXPECTED_COUNT = f"expected a number of nodes from 1 to {MAX_COPIES}"

_FLAG = re.compile(r"(?<!\S)--\S*")
_TEMPLATE = re.compile(r"(?P<template>.+?)(?::(?P<count>[^:@/]*))?(?P<labels>(?:@[^@=,/]+(?:/[^@=,]+)?=[^@]*)*)")
_COUNT = re.compile(r"[1-9][0-9]{0,4}")
_NAMESPACE = re.compile(r"(?P<namespace>[^/.=!<>(),\s]+)/(?P<labels>.+)")
_POD = re.compile(r"(?:(?P<namespace>[^/\s]+)/)?(?P<name>[^/\s]+)")
_SCALED = re.compile(r"(?P<workload>[^=\s]+)=(?P<replicas>[0-9]{1,9})")
_WORKLOAD = re.compile(r"(?:(?P<namespace>[^/=\s]+)/)?(?P<kind>[^/=\s]+)/(?P<name>[^/=\s]+)")


def parse(text: str, directory: str | None = "") -> Edit:
    """The edit that ``text`` stands for; the file of a template is read, its path is relative to ``directory``.

    With None for the directory no file is. Raises UsageError, and ManifestError for a template that the API server
    would refuse.
    """
    verb, *rests = text.split(None, 1)[:2] or [""]
    if verb not in _READERS:
        meant = did_you_mean(near_miss(verb, _READERS)) or f"; the edits are {', '.join(_READERS)}"
        raise UsageError(f"unknown edit {verb!r}{meant}")
    reads, usage = _READERS[verb]
    rest = rests[0].strip() if rests else ""
    flags = _FLAG.findall(rest)
    if flags and verb != "drain":
        raise UsageError(f"{verb} takes no flags, found {flags[0]}")
    if not rest:
        raise UsageError(f"invalid edit {verb!r}: expected {verb} {usage}")
    edit = _add_node(rest, directory) if verb == "add-node" else reads(rest)
    if edit is None:
        raise UsageError(f"invalid edit {text.strip()!r}: expected {verb} {usage}")
    return edit


def path_in(directory: str | None, file: str) -> str:
    """The path of a file that an edit or a step names. Raises UsageError where none is read."""
    if directory is None:
        raise UsageError(f"{file}: files are not read here")
    return str(Path(directory, file))


def _about_nodes(edit: Callable[[Target], Edit], rest: str) -> Edit:
    return edit(parse_target(rest))


def _drain(rest: str) -> Edit | None:
    flags = _FLAG.findall(rest)
    for flag in flags:
        if flag not in DRAIN_FLAGS:
            known = f"; its flags are {', '.join(DRAIN_FLAGS)}"
            raise UsageError(f"unknown flag {flag!r} of drain{did_you_mean(near_miss(flag, DRAIN_FLAGS)) or known}")
    target = " ".join(_FLAG.sub("", rest).split())
    return Drain(parse_target(target), *(flag in flags for flag in DRAIN_FLAGS)) if target else None


def _taint(rest: str) -> Edit | None:
    target, text = _target_and_change(rest)
    return None if target is None or not text else taint_edit(target, text)


def taint_edit(target: Target, text: str) -> Edit:
    """``text`` is KEY[=VALUE]:EFFECT, or KEY[:EFFECT]- to remove it. Raises UsageError."""
    try:
        taint, removes = parse_taint(text)
    except TaintError as error:
        raise UsageError(str(error)) from error
    return RemoveTaint(target, taint.key, taint.effect) if removes else AddTaint(target, taint)


def _label(rest: str) -> Edit | None:
    target, text = _target_and_change(rest)
    return None if target is None or not text.partition("=")[0] else label_edit(target, text)


def label_edit(target: Target, text: str) -> Edit:
    """``text`` is KEY=VALUE, or KEY- to remove it. Raises UsageError."""
    key, equals, value = text.partition("=")
    if not equals and not key.endswith("-"):
        raise UsageError(f"unknown label spec: {text}")
    if not equals:
        key = key.removesuffix("-")
        _check_label(key)
        return RemoveLabel(target, key)
    _check_label(key, value)
    return SetLabel(target, key, value)


def _target_and_change(rest: str) -> tuple[Target | None, str]:
    """Before and behind the last blank; without one the node's name ends at the first equals sign."""
    if len(rest.split()) > 1:
        nodes, change = rest.rsplit(None, 1)
        return parse_target(nodes), change
    name, _, change = rest.partition("=")
    return (None if subdomain_faults(name) else Target(name)), change


def _check_label(key: str, value: str = "") -> None:
    if faults := list(labels_faults({key: value}, "metadata.labels")):
        raise UsageError(*map(str, faults))


def _add_node(rest: str, directory: str | None = "") -> Edit | None:
    match = _TEMPLATE.fullmatch(rest)
    template, count = (match["template"], match["count"]) if match is not None else ("", None)
    if match is None or not _is_template(template):
        return None
    if count is not None and not _COUNT.fullmatch(count):
        raise UsageError(f"invalid edit 'add-node {rest}': {_EXPECTED_COUNT}")
    labels: list[tuple[str, str]] = []
    for pair in re.split("[@,]", match["labels"].removeprefix("@")) if match["labels"] else ():
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"invalid edit 'add-node {rest}': expected KEY=VALUE behind @, found {pair!r}")
        labels.append((key, value))
    return add_node_edit(template, int(count or 1), labels, directory)


def add_node_edit(template: str, count: int, labels: Iterable[tuple[str, str]], directory: str | None) -> AddNode:
    """Copies of a node, or of the manifest in a file. Raises UsageError and ManifestError."""
    if not _is_template(template):
        raise UsageError(f"invalid template {template!r}: expected the file of a Node manifest, or a node's name")
    edit = AddNode(template, count, tuple(labels))
    if not 1 <= count <= MAX_COPIES:
        raise UsageError(f"invalid edit '{edit}': {_EXPECTED_COUNT}")
    for key, value in edit.labels:
        _check_label(key, value)
    return replace(edit, manifest=read_template(path_in(directory, template)) if is_file(template) else None)


def _is_template(text: str) -> bool:
    return is_file(text) or not subdomain_faults(text)


def delete_pods_edit(labels: str, namespace: str | None = None) -> DeletePods:
    """``labels`` may begin with a namespace where none is given beside them. Raises UsageError."""
    if namespace is None and (match := _NAMESPACE.fullmatch(labels)) is not None:
        namespace, labels = match["namespace"], match["labels"]
    try:
        return DeletePods(labels, parse_selector(labels), _namespace(namespace))
    except SelectorError as error:
        raise UsageError(f"invalid labels {labels!r}: {error}") from error


def evict_edit(pod: str, namespace: str | None = None) -> EvictPod:
    """``pod`` may begin with a namespace where none is given beside it. Raises UsageError."""
    match = _POD.fullmatch(pod)
    if match is None or subdomain_faults(match["name"]) or (namespace and match["namespace"]):
        raise UsageError(f"invalid edit {f'evict {pod}'!r}: expected evict [NAMESPACE/]POD")
    return EvictPod(match["name"], _namespace(namespace or match["namespace"]))


def _scale(rest: str) -> Edit | None:
    match = _SCALED.fullmatch(rest)
    if match is None or not _WORKLOAD.fullmatch(match["workload"]):
        return None
    return scale_edit(match["workload"], int(match["replicas"]))


def scale_edit(workload: str, replicas: int) -> Scale:
    """``workload`` is [NAMESPACE/]KIND/NAME. Raises UsageError."""
    match = _WORKLOAD.fullmatch(workload)
    if match is None:
        raise UsageError(f"invalid workload {workload!r}: expected [NAMESPACE/]KIND/NAME, such as deploy/web")
    kind = kind_called(match["kind"])
    if kind is None or not kind.has_replicas:
        scalable = [row for row in REFERABLE if row.has_replicas]
        known = (alias for row in scalable for alias in (row.short, row.kind.lower(), row.plural))
        meant = "" if kind is not None else did_you_mean(near_miss(match["kind"], known))
        fault = f"unknown kind {match['kind']!r}" if kind is None else f"a {kind.kind} has no replicas to scale"
        listed = ", ".join(row.short for row in scalable)
        raise UsageError(f"{fault}{meant or f'; KIND is one of {listed}'}")
    return Scale(kind.kind, match["name"], replicas, _namespace(match["namespace"]))


def _namespace(name: str | None) -> str | None:
    if name is not None and (faults := dns_label_faults(name)):
        raise UsageError(f"invalid namespace {name!r}: {faults[0]}")
    return name


_NODES = "NODE or KEY=VALUE"
_READERS: Mapping[str, tuple[Callable[[str], Edit | None], str]] = {
    "cordon": (partial(_about_nodes, Cordon), _NODES),
    "uncordon": (partial(_about_nodes, Uncordon), _NODES),
    "drain": (_drain, f"{_NODES}, and flags of kubectl drain"),
    "delete-node": (partial(_about_nodes, DeleteNode), _NODES),
    "fail": (partial(_about_nodes, Fail), _NODES),
    "fail-hard": (partial(_about_nodes, partial(Fail, hard=True)), _NODES),
    "taint": (_taint, "NODE=KEY[=VALUE]:EFFECT, NODE=KEY- or 'KEY=VALUE TAINT'"),
    "label": (_label, "NODE=KEY=VALUE, NODE=KEY- or 'KEY=VALUE LABEL'"),
    "add-node": (_add_node, "TEMPLATE[:COUNT][@KEY=VALUE]"),
    "delete-pods": (delete_pods_edit, "[NAMESPACE/]LABELS"),
    "evict": (evict_edit, "[NAMESPACE/]POD"),
    "scale": (_scale, "[NAMESPACE/]KIND/NAME=N, N a number from 0"),
}

VERBS = tuple(_READERS)
"""What an edit may begin with."""
