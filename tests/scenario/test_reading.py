"""Scenario files: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from docs.generators.scenario_schema import schema
from kubespread.errors import ManifestError
from kubespread.kube.owners import WorkloadReference
from kubespread.scenario.reading import Scenario, Step, read_scenario
from kubespread.scenario.verbs import Apply, Ready, Restore, Rollback, Rollout, Stuck
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import Target
from tests.builders import node

ROOT = Path(__file__).parents[2]
WEB, DB = WorkloadReference("Deployment", "web"), WorkloadReference("StatefulSet", "db", "shop")
SHOWN = [path for path in sorted((ROOT / "fixtures" / "scenarios").glob("*.yaml")) if not path.stem.startswith("web")]
SCHEMA = Draft202012Validator(schema())


def scenario(*steps: Any, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubespread.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "test"},
        "spec": {"steps": list(steps), **spec},
    }


STEPS: dict[str, tuple[Any, Step]] = {
    "an edit as text": ("drain n1 --force", Step("drain n1 --force", parse("drain n1 --force"))),
    "an edit as a key with text": ({"scale": "deploy/web=5"}, Step("scale deploy/web=5", parse("scale deploy/web=5"))),
    "an edit under its own name": ({"fail-hard": "n1"}, Step("fail-hard n1", parse("fail-hard n1"))),
    "new nodes": ({"addNodes": "n1:2@zone=c"}, Step("add-node n1:2@zone=c", parse("add-node n1:2@zone=c"))),
    "nodes that are removed": ({"removeNodes": "n1"}, Step("delete-node n1", parse("delete-node n1"))),
    "pods that are deleted": (
        {"delete": "shop/app=web"},
        Step("delete-pods shop/app=web", parse("delete-pods shop/app=web")),
    ),
    "a restart": ({"rollout": "deploy/web"}, Step("rollout deploy/web", Rollout(WEB))),
    "a rollout to a manifest": (
        {"rollout": ["shop/sts/db", "db.yaml"]},
        Step("rollout shop/sts/db db.yaml", Rollout(DB, "db.yaml")),
    ),
    "a rollout by settings, as text": (
        "rollout deploy/web maxSkew[zone]=2 cpu=1",
        Step("rollout deploy/web maxSkew[zone]=2 cpu=1", Rollout(WEB, None, ("maxSkew[zone]=2", "cpu=1"))),
    ),
    "a rollback": ({"rollback": "deploy/web"}, Step("rollback deploy/web", Rollback(WEB))),
    "nodes that come back": ({"restore": "n1"}, Step("restore n1", Restore(Target("n1")))),
    "manifests as a list": ({"apply": ["a.yaml", "b.yaml"]}, Step("apply a.yaml b.yaml", Apply(("a.yaml", "b.yaml")))),
    "manifests with fields": (
        {"apply": ["a b.yaml", "cpu=1", "replicas=3"]},
        Step("apply 'a b.yaml' cpu=1 replicas=3", Apply(("a b.yaml",), ("cpu=1", "replicas=3"))),
    ),
    "a quote in a list": ({"restore": ["it's"]}, Step("restore 'it'\"'\"'s'", Restore(Target("it's")))),
    "readiness as a step": ({"stuck": ["deploy/web"]}, Step("stuck deploy/web", Stuck((WEB,)))),
    "readiness as text": ("ready deploy/web", Step("ready deploy/web", Ready((WEB,)))),
    "a name beside a step": (
        {"rollout": "deploy/web", "name": "bad image"},
        Step("rollout deploy/web", Rollout(WEB), "bad image"),
    ),
}


FAULTS = yaml.load((ROOT / "fixtures" / "refused" / "steps.yaml").read_bytes(), Loader=yaml.CSafeLoader)


@pytest.mark.parametrize("case", STEPS)
def test_what_a_step_means(case: str) -> None:
    given, expected = STEPS[case]
    assert read_scenario(scenario(given)) == Scenario((expected,), "test")
    SCHEMA.validate(scenario(given))


@pytest.mark.parametrize("case", FAULTS)
def test_what_is_said_of_a_step_that_means_nothing(case: str) -> None:
    with pytest.raises(ManifestError) as raised:
        read_scenario(scenario(FAULTS[case]["step"]))
    assert str(raised.value).split("\n") == [f"<object>: {line}" for line in FAULTS[case]["faults"]]


def test_what_holds_for_all_steps() -> None:
    given = scenario("cordon n1", readiness={"stuck": ["deploy/web"]})
    given["metadata"] = {"name": "x", "namespace": "shop"}
    expected = Scenario((Step("cordon n1", parse("cordon n1")),), "x", "shop", stuck=(WEB,))
    assert read_scenario(given) == expected
    SCHEMA.validate(given)
    assert read_scenario(expected) is expected
    assert read_scenario(json.dumps(given)) == expected


def test_every_fault_of_a_file_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "apiVersion: kubespread.dev/v1alpha1\n"
        "kind: Scenario\n"
        "metadata: {name: x, namespace: No}\n"
        "spec:\n"
        "  readiness: later\n"
        "  steps:\n"
        "  - cordon n1\n"
        "  - drain: n1 --forces\n"
    )
    with pytest.raises(ManifestError) as raised:
        read_scenario(path)
    said = str(raised.value).replace(str(path), "FILE").split("\n")
    assert [line.partition(": ")[0] for line in said] == ["FILE:3", "FILE:5", "FILE:8"]
    assert said[1:] == [
        "FILE:5: spec.readiness: expected an object, found the string 'later'",
        "FILE:8: spec.steps[1].drain: unknown flag '--forces' of drain, did you mean \"--force\"?",
    ]


SMALLEST = "; the smallest one is {apiVersion: kubespread.dev/v1alpha1, kind: Scenario, spec: {steps: [{drain: NODE}]}}"


WRONG = {
    "another kind": (
        '{"apiVersion": "v1", "kind": "Pod"}',
        "kind: expected apiVersion kubespread.dev/v1alpha1 and kind Scenario, found v1 and Pod" + SMALLEST,
    ),
    "no kind": ("{}", "expected apiVersion kubespread.dev/v1alpha1 and kind Scenario, found none and none" + SMALLEST),
    "a list": ("- cordon n1\n", "expected one Scenario, found a list"),
    "two documents": ("{}\n---\n{}\n", "expected one Scenario, found 2 documents"),
    "nothing": ("\n", "expected one Scenario, found nothing"),
    "no steps": (json.dumps(scenario()), "spec.steps: expected at least one step, found none"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_scenario(case: str) -> None:
    text, expected = WRONG[case]
    with pytest.raises(ManifestError) as raised:
        read_scenario(text)
    assert str(raised.value).partition(": ")[2] == expected


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="No such file"):
        read_scenario(tmp_path / "none.yaml")


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "node.json").write_text(json.dumps(node("big")))
    path = tmp_path / "scenario.json"
    steps = [{"rollout": "deploy/web web.yaml"}, {"apply": "a.yaml"}, {"addNodes": "node.json:2"}]
    path.write_text(json.dumps(scenario(*steps)))
    rollout, apply, add_node = (step.action for step in read_scenario(path).steps)
    assert rollout == Rollout(WEB, str(tmp_path / "web.yaml"))
    assert apply == Apply((str(tmp_path / "a.yaml"),))
    assert add_node == parse("add-node node.json:2", str(tmp_path))


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_the_scenarios_that_are_shown_are_scenarios(path: Path) -> None:
    assert read_scenario(path).steps
