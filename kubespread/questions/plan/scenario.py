"""What is planned as a scenario: its steps, one after another."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import takewhile
from os import PathLike
from typing import Any

from msgspec.structs import replace

from kubespread.candidate.manifest import Manifest
from kubespread.manifest.text import STDIN, STDIN_NAME
from kubespread.questions.autoscaling.asked import autoscaler_of
from kubespread.questions.plan.playing import after_steps
from kubespread.questions.plan.question import Plan
from kubespread.questions.report.at_maximum import growing
from kubespread.questions.scene import Scene
from kubespread.scenario.reading import Scenario, Step
from kubespread.scenario.verbs import Apply
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.edits.verb import Edit


def planned(question: Plan, scene: Scene, edits: Sequence[Edit]) -> Sequence[Step]:
    """Nodes come first, then manifests, edits, the scenario that is given, and autoscaled workloads at their maximum.
    The cluster of ``scene`` is without the edits. Raises UsageError and ManifestError.
    """
    edited = [Step(str(edit), edit) for edit in edits]
    steps = [*takewhile(lambda step: isinstance(step.action, AddNode), edited)]
    first = len(steps)
    if question.manifests:
        apply = Apply(question.manifests, creates_namespaces=question.create_namespaces)
        steps.append(Step(_applying(apply), apply))
    steps += edited[first:]
    if question.scenario is not None:
        steps += question.scenario.steps
    if question.hpa_max:
        steps += _grown(question, scene, steps)
    return steps


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


def _applying(apply: Apply) -> str:
    """``apply k8s/ --create-namespaces``."""
    fields = {
        "files": [_name(pod) or "manifests" for pod in apply.given],
        "createNamespaces": apply.creates_namespaces or None,
    }
    return Apply.line({name: value for name, value in fields.items() if value})


def _name(manifest: Any) -> str | None:
    """The file or directory of a manifest; None where it is in none."""
    name = manifest.file if isinstance(manifest, Manifest) else manifest
    return str(name) if isinstance(name, str | PathLike) and name not in (STDIN, STDIN_NAME) else None
