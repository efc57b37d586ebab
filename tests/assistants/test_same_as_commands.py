"""A tool answers what its command answers, and so does a server: the same question, with any of its options, gives the
same report.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import UsageError
from kubespread.candidate.manifest import Manifest, read_manifest
from kubespread.kube.well_known import ZONE
from kubespread.questions.calls import arguments_from, arguments_of, tools
from kubespread.questions.question import Argument, DrainingQuestion, Question, WorkloadOption, edits_of, options_of
from kubespread.questions.registry import QUESTIONS, question
from kubespread.questions.scene import Scene
from kubespread.scenario.promises import Promises, read_promises
from kubespread.snapshot.edits.nodes import DRAIN_FLAGS
from kubespread.snapshot.edits.registry import EDITS
from tests.cli.option_samples import SAMPLES, written
from tests.cli.support import run
from tests.serving.asgi import ASKING, app_of, call

Asked = tuple[str, dict[str, Any]]
"""What is typed, and what is passed; files are passed as their text."""
MANIFEST: Asked = ("new.yaml", {"manifest": "new.yaml"})
NAMED: Asked = ("Deployment/web", {"workload": "Deployment/web"})
WORKLOADS: Sequence[Asked] = (("-A", {}), ("deploy/web", {"workloads": ["deploy/web"]}))
SUBJECTS: dict[str, Sequence[Asked]] = {
    "explain": (MANIFEST, NAMED, (f"{MANIFEST[0]} --fix", {**MANIFEST[1], "fix": True})),
    "simulate": (MANIFEST, NAMED),
    "compare": (
        ("new.yaml --cordon n1", {**MANIFEST[1], "edits": ["cordon n1"]}),
        ("Deployment/web --drain n1", {**NAMED[1], "edits": ["drain n1"]}),
        ("-A --cordon n1", {"edits": ["cordon n1"]}),
    ),
    "map": (MANIFEST, NAMED, ("--evict default/solo", {"edits": ["evict default/solo"]})),
    "check": (MANIFEST, NAMED, ("-A", {})),
    "capacity": (("", {}),),
    "plan": (
        ("--drain n1", {"edits": ["drain n1"]}),
        ("-f more.yaml", {"manifest": "more.yaml"}),
        ("scenario.json", {"steps": ["scale deploy/web=9", f"fail {ZONE}=a"]}),
    ),
    "upgrade": (("pool=x", {"nodes": "pool=x"}),),
    "removable": (("", {}), ("n1", {"nodes": ["n1"]})),
    "verify": (("promises.json", {"promises": "promises.json"}),),
    **dict.fromkeys(("pending", "survive", "audit", "report", "rebalance"), WORKLOADS),
}
"""What each question is about."""
FILES = ("manifest", "promises")
AFTER = {"edits": "toEdits", "set": "toSet"}
"""What is typed of a comparison, and is about its second side."""


def options(name: str) -> Iterator[Asked]:
    """A value for each edit and each field of a question, as `SAMPLES` has them."""
    samples = SAMPLES[name]
    for field, kind, option in options_of(question(name)):
        spelled = f"--{'no-' if field.default is True else ''}{field.name.replace('_', '-')}"
        sample = next((samples[each] for each in (*option.names, spelled) if each in samples), None)
        is_own = option.is_for_assistants and not isinstance(option, WorkloadOption | Argument)
        if is_own and sample is not None and field.name not in DRAIN_FLAGS.values():
            texts = shlex.split(sample)[1::2]
            value: Any = texts if get_origin(kind) is tuple else not field.default if kind is bool else texts[0]
            yield sample, {field.encode_name: int(value) if int in (kind, *get_args(kind)) else value}
    for verb in (verb for verb in EDITS if EDITS[verb].form.option):
        yield samples[f"--{verb}"], {"edits": [samples[f"--{verb}"].removeprefix("--")]}
    for argument, sample in (("kubeVersion", "--kube-version"), ("featureGates", "--feature-gates")):
        yield samples[sample], {argument: samples[sample].split()[1]}
    flags = ("--no-ignore-daemonsets", "--no-delete-emptydir-data", "--force")
    for argument, flag in zip(DRAIN_FLAGS, flags, strict=True):
        drained = f"n2 {flag}" if issubclass(question(name), DrainingQuestion) else shlex.quote(f"n2 {flag}")
        yield f"--drain {drained}", {"edits": ["drain n2"], argument: "no-" not in flag}


def together(asked: Sequence[Asked]) -> Asked:
    """One question of several parts, the lists of which are joined."""
    arguments: dict[str, Any] = {}
    for _, passed in asked:
        for argument, value in passed.items():
            arguments[argument] = [*arguments[argument], *value] if argument in arguments else value
    return " ".join(typed for typed, _ in asked), arguments


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("asked")
    written(made)
    return made


def told(directory: Path, name: str, asked: Sequence[Asked]) -> tuple[str, dict[str, Any]]:
    """The words of the command, and the arguments of the others."""
    typed, passed = together(asked)
    arguments = {
        AFTER.get(argument, argument) if name == "compare" else argument: (directory / value).read_text()
        if argument in FILES
        else value
        for argument, value in passed.items()
    }
    return typed.replace("-A", "") if "-n shop" in typed else typed, arguments


def command(directory: Path, name: str, typed: str, _: dict[str, Any]) -> Any:
    printed = run(name, *shlex.split(typed), "-S", "cluster.json", "-o", "json", cwd=directory).out
    return json.loads(printed or "null")


def tool(directory: Path, name: str, _: str, arguments: dict[str, Any]) -> Any:
    try:
        return tools()[name].call(loaded(directory), kubespread.Scheduler(), {**arguments, "limit": 10**6})
    except kubespread.UsageError:
        return None


def server(directory: Path, name: str, _: str, arguments: dict[str, Any]) -> Any:
    answer = call(app_of(loaded(directory)), f"/ask/{name}", ASKING, arguments)
    assert answer.status in (200, 400), answer.text
    return answer.data if answer.status == 200 else None


DOORS = (command, tool, server)


def loaded(directory: Path) -> kubespread.Snapshot:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        return kubespread.load("cluster.json")


def answers(directory: Path, name: str, asked: Sequence[Asked]) -> Sequence[Any]:
    """The command's, the tool's and the server's; None for what is refused, in words of their own."""
    typed, arguments = told(directory, name, asked)
    said, *others = (door(directory, name, typed, arguments) for door in DOORS)
    # What is passed as text has no file's name.
    file = together(asked)[1].get("manifest", "manifest")
    said = json.loads(json.dumps(said).replace(file, "manifest"))
    return [
        answer and {field: value for field, value in answer.items() if field not in ("provenance", "file")}
        for answer in (said, *others)
    ]


OF_ALL = {"edits", "kubeVersion", "featureGates", *DRAIN_FLAGS}
"""The arguments that every tool has."""
REFUSED = ("--why-here", "--autoscaler ca", "-l app=other", "-n shop")
"""What is refused in this cluster, or by itself, by tool and command alike: node groups are in files, and so on.
"""


class _PosedError(UsageError):
    """A door has made its question, and need not wait for the answer."""


def posed(directory: Path, name: str, asked: Sequence[Asked]) -> Sequence[Any]:
    """The question that each door makes, its edits and its scheduler; None for what is refused."""
    made: list[Any] = []

    def stop(question: Question[Any], scene: Scene) -> None:
        fields = {field: texts(directory, getattr(question, field)) for field in question.__struct_fields__}
        edits = () if scene.snapshot_or_none is None else tuple(map(str, scene.snapshot_or_none.edits))
        made.append((question.name, fields, edits, scene.scheduler))
        raise _PosedError("posed")

    doors = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Question, "full_answer", stop)
        for door in DOORS:
            made.clear()
            door(directory, name, *told(directory, name, asked))
            doors.append(made[0] if made else None)
    return doors


def texts(directory: Path, value: Any) -> Any:
    """A field as what is in its files: assistants and browsers pass texts, a command their names."""
    match value:
        case tuple() | list():
            return tuple(texts(directory, each) for each in value)
        case Manifest():
            return [item.data for item in value.items]
        case Promises():
            return [promise.path for promise in value.promises], value.namespace
        case str() if "\n" not in value and value and (directory / value).is_file():
            file = str(directory / value)
            return texts(directory, read_promises(file) if value == "promises.json" else read_manifest(file))
    return value


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_option_of_a_tool_means_what_it_means_to_its_command(directory: Path, name: str) -> None:
    # Each side of a comparison is a question of its own, made by each door in its way.
    ask = answers if name == "compare" else posed
    for option in options(name):
        for subject in SUBJECTS[name]:
            typed, *others = ask(directory, name, [subject, option])
            assert others == [typed] * len(others), (subject, option)
            if typed is not None:
                break
        else:
            assert option[0] in REFUSED, option


@pytest.mark.parametrize(
    ("name", "passed", "refused"),
    [
        (
            "audit",
            {"ignoreDaemonsets": True},
            "ignoreDaemonsets is for drains among edits: name what to drain, or leave it out",
        ),
        (
            "map",
            {"edits": ["cordon n1"], "force": True},
            "force is for drains among edits: name what to drain, or leave it out",
        ),
        ("map", {"namespace": "shop"}, "namespace is for workload: add that, or leave it out"),
        ("map", {"name": "web"}, "name and set are for a workload: name one, or leave them out"),
        (
            "survive",
            {"workloads": ["deploy/web"], "selector": "app=web"},
            "workloads and selector do not go together: both say which workloads are meant",
        ),
        (
            "simulate",
            {"workload": "deploy/web", "set": ["replicas=2"], "replicas": 3},
            "set and replicas do not go together: both say how many replicas there are",
        ),
        (
            "simulate",
            {"workload": "deploy/web", "gang": "3", "autoscaler": "ca"},
            "--gang and --autoscaler do not go together: that is not modeled of gangs",
        ),
    ],
)
def test_what_has_no_effect_is_refused(directory: Path, name: str, passed: dict[str, Any], refused: str) -> None:
    with pytest.raises(kubespread.UsageError) as error:
        tools()[name].call(kubespread.load(directory / "cluster.json"), kubespread.Scheduler(), passed)
    assert str(error.value) == refused


@settings(max_examples=8)
@given(data=st.data(), name=st.sampled_from([*QUESTIONS]))
def test_a_tool_and_a_server_report_what_the_command_reports(directory: Path, data: st.DataObject, name: str) -> None:
    subject = data.draw(st.sampled_from(SUBJECTS[name]))
    more = st.lists(
        st.sampled_from([*options(name)]), min_size=1, max_size=2, unique_by=lambda each: each[0].split()[0]
    )
    said, report, served = answers(directory, name, [subject, *data.draw(more)])
    assert said == report == served


@pytest.mark.parametrize("name", QUESTIONS)
def test_drains_among_edits_of_every_tool_have_the_flags_of_the_call(name: str) -> None:
    flags = {"ignoreDaemonsets": False, "deleteEmptydirData": False, "force": True}
    arguments = arguments_from(arguments_of(tools()[name].asks), {**SUBJECTS[name][0][1], **flags})
    (edit,) = edits_of(arguments, ["drain n1"])
    assert str(edit) == "drain n1 --no-ignore-daemonsets --no-delete-emptydir-data --force"
