"""What is planned as a scenario: its steps, the order in which they get through, and the file that says the same."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice, takewhile
from os import PathLike
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.manifest import Manifest
from kubespread.controllers.outage import is_silent
from kubespread.errors import UsageError
from kubespread.kube.api.core import Node
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.providers import POOLS
from kubespread.kube.taint import DrainFlags
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.manifest.text import STDIN, STDIN_NAME
from kubespread.manifest.writer import to_yaml
from kubespread.questions.autoscaling.asked import autoscaler_of
from kubespread.questions.plan.playing import after_steps
from kubespread.questions.plan.question import Plan
from kubespread.questions.report.at_maximum import growing
from kubespread.questions.scene import Scene
from kubespread.scenario.document import API_VERSION
from kubespread.scenario.reading import KIND, Scenario, Step
from kubespread.scenario.verbs import Apply, Rollback, Rollout
from kubespread.snapshot.edits.budgets import SetBudget
from kubespread.snapshot.edits.new_nodes import AddNode, in_place_of
from kubespread.snapshot.edits.nodes import Cordon, DeleteNode, Drain, Fail
from kubespread.snapshot.edits.pods import DeletePods, EvictPod, Scale, ScaleRequests
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.spreading import Spread
from kubespread.snapshot.edits.verb import Edit, OfNodes, nodes_of_target, nodes_with, parse_target, path_in

_POOL = re.compile(r"(?P<pool>[^@]+)=(?P<by>[^@=:]+)(?::(?P<count>[1-9][0-9]{0,4}))?(?P<labels>(?:@.*)?)", re.DOTALL)
_EXPECTED = "expected POOL=CPUxGI, as in web=8x16, or POOL=TEMPLATE, each with :COUNT and @KEY=VALUE if needed"


class Planned(Struct, frozen=True):
    """What is planned, one step after another."""

    steps: Sequence[Step]
    leaving: frozenset[int]
    """The ids of those that drain and delete the nodes of replaced pools."""


def planned(question: Plan, scene: Scene, edits: Sequence[Edit]) -> Planned:
    """Nodes come first, then manifests, edits and the scenario that is given, and pools that are replaced go last. The
    cluster of ``scene`` is without the edits. Raises UsageError and ManifestError.
    """
    pools = list(_replacements(question, scene.snapshot.nodes))
    edited = [Step(str(edit), edit) for edit in edits]
    first = [*takewhile(lambda step: isinstance(step.action, AddNode), edited)]
    steps = [*(step for pool in pools for step in pool.joining), *first]
    if question.manifests:
        apply = Apply(question.manifests, creates_namespaces=question.create_namespaces)
        steps.append(Step(_applying(apply), apply))
    steps += edited[len(first) :]
    if question.scenario is not None:
        steps += question.scenario.steps
    if question.hpa_max:
        steps += _grown(question, scene, steps)
    leaving = [step for pool in pools for step in pool.leaving]
    return Planned((*steps, *leaving), frozenset(map(id, leaving)))


def scenario_of(question: Plan, steps: Sequence[Step]) -> Scenario:
    """The steps, with the settings of the scenario that is given; an autoscaler of the question is in place of its."""
    scenario = question.scenario or Scenario((), namespace=question.namespace)
    if (autoscaler := autoscaler_of(question)) is not None:
        groups, types = question.node_groups, question.instance_types
        scenario = dataclasses.replace(scenario, autoscaler=autoscaler, node_groups=groups, instance_types=types)
    return dataclasses.replace(scenario, steps=tuple(steps), preemption=question.makes_room)


def _grown(question: Plan, scene: Scene, steps: Sequence[Step]) -> Iterator[Step]:
    """Each workload with an autoscaler that may ask for more than it has after ``steps``, at its maximum."""
    then = after_steps(
        scene.snapshot, scenario_of(question, steps), None, scene.scheduler, namespace=question.namespace
    )
    for name, _, most in growing(replace(scene, given=then).world, lambda _: True):
        scale = Scale(name.kind, name.name, most, name.namespace)
        yield Step(str(scale), scale)


# In which order.


def _turn(step: Step) -> int:
    """When a step has its turn where the order given does not do: nodes come first, and go last."""
    if isinstance(step.action, AddNode):
        return 0
    return 2 if isinstance(step.action, Cordon | Drain | DeleteNode | Fail) else 1


def reordered(steps: Sequence[Step], nodes: Sequence[Node]) -> Iterator[Step]:
    """In their turns, none past an earlier one on the same object, which it may undo."""
    objects, waiting = [_objects(step, nodes) for step in steps], list(range(len(steps)))
    while waiting:
        free = (
            number
            for at, number in enumerate(waiting)
            if all(objects[number].isdisjoint(objects[other]) for other in waiting[:at])
        )
        chosen = min(free, key=lambda number: (_turn(steps[number]), number))
        waiting.remove(chosen)
        yield steps[chosen]


def _objects(step: Step, nodes: Sequence[Node]) -> set[str]:
    """The nodes and workloads that a step is about, as far as they are there before the first one; what is about any
    workload, or about one, is about all.
    """
    of_workloads = {"workloads"} if step.stuck or step.ready else set()
    match step.action:
        case OfNodes(target=target):
            if target.selector is None:
                return {f"node {target.text}", *of_workloads}
            return {*(f"node {node.metadata.name}" for node in nodes_with(target.selector, nodes)), *of_workloads}
        case (
            Scale()
            | ScaleRequests()
            | SetBudget()
            | Spread()
            | Apply()
            | Rollout()
            | Rollback()
            | DeletePods()
            | EvictPod()
        ):
            return {"workloads"}
    return of_workloads


# Pools whose nodes are replaced.


class _Replacement(Struct, frozen=True):
    """The steps that replace the nodes of a pool: new ones join, then old ones are drained and go."""

    joining: Sequence[Step]
    leaving: Sequence[Step]


def _replacements(question: Plan, nodes: Sequence[Node]) -> Iterator[_Replacement]:
    """Of each ``--replace-pool``. Raises UsageError, and ManifestError for a template's file."""
    whose: dict[str, str] = {}
    for text in question.replace_pool:
        match = _POOL.fullmatch(text)
        if match is None:
            raise UsageError(f"invalid --replace-pool {text!r}: {_EXPECTED}")
        pool = _nodes_of(match["pool"], nodes)
        joining = tuple(_joining(pool, int(match["count"] or len(pool)), match["by"], match["labels"]))
        for name in (node.metadata.name for node in pool):
            if name in whose:
                raise UsageError(
                    f"node {name} is replaced by --replace-pool {whose[name]} and by --replace-pool {text}"
                )
        whose |= dict.fromkeys((node.metadata.name for node in pool), text)
        yield _Replacement(joining, tuple(_leaving(pool, question.drain_flags)))


def _nodes_of(pool: str, nodes: Sequence[Node]) -> list[Node]:
    """The nodes of a pool: by labels, KEY=VALUE, or by the value of a label that says of which pool nodes are.
    Raises UsageError.
    """
    if "=" in pool:
        return nodes_of_target(parse_target(pool), nodes)
    found = [node for node in nodes if pool in (node.metadata.labels.get(key) for key in POOLS)]
    if not found:
        known = {node.metadata.labels[key] for node in nodes for key in POOLS if key in node.metadata.labels}
        hint = alternatives(pool, known) if known else ": no node says of which it is, give its labels: KEY=VALUE"
        raise UsageError(f"no node is of a pool {pool!r}{hint}")
    return found


def _joining(pool: Sequence[Node], number: int, by: str, labels: str) -> Iterator[Step]:
    """New nodes in the zones of the old ones, as many in each; of more or fewer one after another."""
    by_zone: dict[str | None, list[Node]] = {}
    for node in pool:
        by_zone.setdefault(node.metadata.labels.get(ZONE), []).append(node)
    order = [node.metadata.labels.get(ZONE) for node in pool]
    zones = list(islice(cycle(order if number == len(pool) else sorted(by_zone, key=str)), number))
    for zone, olds in by_zone.items():
        if not (count := zones.count(zone)):
            continue
        # A copy of one that failed or is cordoned would be cordoned too.
        template = next((node for node in olds if not (is_silent(node) or node.spec.unschedulable)), olds[0])
        yield _step(AddNode, in_place_of(template, by, labels, count))


def _leaving(pool: Sequence[Node], flags: DrainFlags) -> Iterator[Step]:
    """All are cordoned, so that no pod moves twice; then one after another goes."""
    names = [node.metadata.name for node in pool]
    if all(node.metadata.labels.get(HOSTNAME) == node.metadata.name for node in pool):
        yield _step(Cordon, f"{HOSTNAME} in ({','.join(names)})")
    else:
        yield from (_step(Cordon, name) for name in names)
    for name in names:
        drain = Drain(parse_target(name), flags)
        yield Step(str(drain), drain)
        yield _step(DeleteNode, name)


def _step(verb: type[Edit], text: str) -> Step:
    edit = parse(f"{verb.form.verb} {text}")
    return Step(str(edit), edit)


# The file.


def file_of(question: Plan, scenario: Scenario) -> str:
    """The scenario as a file; empty where there is none that says the same."""
    is_in_files = all(map(_name, question.manifests))
    is_in_files &= all(isinstance(given, str | None) for given in (scenario.node_groups, scenario.instance_types))
    if not (scenario.steps and is_in_files):
        return ""
    metadata = {"name": scenario.name, "namespace": scenario.namespace or question.namespace}
    spec = {
        "steps": [_entry(step, scenario.directory) for step in scenario.steps],
        "preemption": None if question.makes_room else False,
        "autoscaler": scenario.autoscaler and str(scenario.autoscaler),
        "nodeGroups": scenario.node_groups,
        "instanceTypes": scenario.instance_types,
        "readiness": {"stuck": [*map(str, scenario.stuck)]} if scenario.stuck else None,
    }
    return to_yaml(
        {"apiVersion": API_VERSION, "kind": KIND, **_given({"metadata": _given(metadata), "spec": _given(spec)})}
    )


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", (), [], {})}


def _entry(step: Step, directory: str) -> str | Mapping[str, Any]:
    """As an entry of a file that is read elsewhere: its paths are not relative to ``directory`` any more."""
    text, beside = step.text, {"name": step.name, "stuck": [*map(str, step.stuck)], "ready": [*map(str, step.ready)]}
    match step.action:
        case None:
            return _given(beside)
        case AddNode(template=template, manifest=Node()) if directory:
            text = str(replace(step.action, template=path_in(directory, template)))
        case Apply():
            text = _applying(step.action)
        case Rollout(workload=workload, manifest=str(manifest), settings=settings):
            text = Rollout.line({"workload": str(workload), "manifest": manifest, "set": settings})
    verb, _, rest = text.partition(" ")
    return {verb: rest, **_given(beside)} if _given(beside) else text


def _applying(apply: Apply) -> str:
    """``apply k8s/ --replicas 3``."""
    fields = {
        "files": [_name(pod) or "manifests" for pod in apply.given],
        "set": [*apply.settings],
        "replicas": apply.replicas,
        "name": apply.name,
        "createNamespaces": apply.creates_namespaces or None,
    }
    return Apply.line(_given(fields))


def _name(manifest: Any) -> str | None:
    """The file or directory of a manifest; None where it is in none."""
    name = manifest.file if isinstance(manifest, Manifest) else manifest
    return str(name) if isinstance(name, str | PathLike) and name not in (STDIN, STDIN_NAME) else None
