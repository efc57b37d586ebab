"""Every verb is one value, however it is written: typed, in a scenario, after a workload, or sent by an assistant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.cli.command import TYPED_ORDER, Argv
from kubespread.cli.options import edits_of
from kubespread.errors import UsageError
from kubespread.kube.owners import WorkloadReference
from kubespread.questions.calls import pose
from kubespread.questions.plan import Plan
from kubespread.scenario.reading import Step, parse_step, read_scenario
from kubespread.scenario.verbs import VERBS
from kubespread.snapshot.edits.registry import EDITS
from kubespread.snapshot.edits.verb import Verb
from tests.scenario.test_reading import SCHEMA, scenario

ROOT = Path(__file__).parents[2]
CLUSTER = kubespread.load(ROOT / "fixtures" / "clusters" / "web-in-three-zones.yaml")
V2 = str(ROOT / "fixtures" / "scenarios" / "web-v2.yaml")
REFERENCE = (ROOT / "docs" / "reference" / "plan.md").read_text().replace("\\*", "*")
WEB = WorkloadReference("Deployment", "web")
ELSEWHERE = WorkloadReference("StatefulSet", "db")

# verb -> what stands behind it, and the steps before, without which it would change nothing
WRITTEN: dict[str, tuple[str, list[str]]] = {
    "cordon": ("zone=a", []),
    "uncordon": ("node-a1", ["cordon node-a1"]),
    "drain": ("zone=a --no-ignore-daemonsets --force", []),
    "delete-node": ("node-a1", []),
    "fail": ("node-a1", []),
    "fail-hard": ("node-a1", []),
    "taint": ("zone=a gpu=yes:NoExecute", []),
    "label": ("node-a1=disk=ssd", []),
    "add-node": ("node-a1:2@pool=x,disk=ssd", []),
    "delete-pods": ("default/app=web", []),
    "evict": ("web-5d4f8c7b9d-1", []),
    "scale": ("deploy/web=9", []),
    "budget": ("default/deploy/web:maxUnavailable=25%", []),
    "rollout": ("deploy/web cpu=2 memory=1Gi", []),
    "rollback": ("deploy/web", ["rollout deploy/web cpu=200m"]),
    "restore": ("node-a1", ["fail node-a1"]),
    "apply": (f"{V2} cpu=200m replicas=3", []),
    "stuck": ("deploy/web", ["rollout deploy/web cpu=200m"]),
    "ready": ("deploy/web", ["stuck deploy/web", "rollout deploy/web cpu=200m"]),
}
NO_FILES = {"apply"}
"""What an assistant is refused."""


def in_scenario(step: Any) -> Verb | None:
    SCHEMA.validate(scenario(step))
    (read,) = read_scenario(scenario(step)).steps
    return read.action


def sent(text: str) -> Verb | None:
    question = pose(Plan, CLUSTER, kubespread.Scheduler(), {"steps": [text]}).question
    assert isinstance(question, Plan)
    step: Step = question.scenario.steps[0]
    return step.action


def test_every_verb_is_looked_at() -> None:
    assert [*WRITTEN] == [*VERBS]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_the_same_however_it_is_written(verb: str) -> None:
    text, _ = WRITTEN[verb]
    line = f"{verb} {text}"
    expected = parse_step(line).action
    ways = {
        "a step as text": in_scenario(line),
        "a key with text": in_scenario({verb: text}),
        "its own key with text": in_scenario({VERBS[verb].form.name or verb: text}),
        "the same as JSON": read_scenario(json.dumps(scenario({verb: text}))).steps[0].action,
        "with an equals sign": parse_step(f"{verb}={text}").action,
        "typed": read_scenario([line]).steps[0].action,
    }
    if verb not in NO_FILES:
        ways["sent by an assistant"] = sent(line)
    if verb in EDITS and EDITS[verb].form.option:
        name = verb.replace("-", "_")
        (ways["an option"],) = edits_of(Argv({name: [text], TYPED_ORDER: (name,)}))
    if verb in EDITS:
        (ways["an edit of a snapshot"],) = CLUSTER.edited(line).edits
        (ways["the edit as it is shown"],) = CLUSTER.edited(str(expected)).edits
    assert expected is not None
    assert {way: verb for way, verb in ways.items() if verb != expected} == {}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_words_for_all_there_is_to_it(verb: str) -> None:
    form = VERBS[verb].form
    assert VERBS[verb].help().endswith(".")
    if form.option:
        assert form.option.endswith(".")
        assert f"- `--{verb} {form.metavar}`<br>{form.option}\n" in REFERENCE


def test_every_step_is_in_the_cookbook() -> None:
    rows = [line for line in (ROOT / "docs" / "cookbook" / "scenarios.md").read_text().splitlines() if "` | `" in line]
    assert {row.strip("| ") for row in rows[: len(VERBS)]} == {
        f"`{verb.form.name or name}` | `{verb.form.text}`".replace(" | F", " \\| F") for name, verb in VERBS.items()
    }


# That pods will not become ready changes nothing by itself.
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "stuck"])
def test_a_verb_changes_the_cluster(verb: str) -> None:
    text, before = WRITTEN[verb]
    (*_, played) = kubespread.plan(CLUSTER, scenario(*before, f"{verb} {text}"), runs=1).steps
    assert played.failed is None
    without, after = (
        kubespread.after_steps(CLUSTER, scenario(*before, f"{verb} {text}"), steps) for steps in (len(before), None)
    )
    assert (after.nodes, after.pods, after.objects) != (without.nodes, without.pods, without.objects)


@pytest.mark.parametrize("verb", sorted(NO_FILES))
def test_an_assistant_names_no_file(verb: str) -> None:
    with pytest.raises(UsageError, match="files are not read here"):
        sent(f"{verb} {WRITTEN[verb][0]}")
