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
from kubespread.assistants.server import arguments_from, tools
from kubespread.kube.well_known import ZONE
from kubespread.questions.question import Argument, Workload, edits_of, options_of
from kubespread.questions.registry import QUESTIONS, question
from kubespread.snapshot.edits.nodes import DRAIN_FLAGS
from kubespread.snapshot.edits.registry import EDITS
from tests.cli.option_samples import SAMPLES, written
from tests.cli.support import run
from tests.serving.asgi import ASKING, app_of, call
from tests.tiers import slow_but

Asked = tuple[str, dict[str, Any]]
"""What is typed, and what is passed; files are passed as their text."""
MANIFEST: Asked = ("new.yaml", {"manifest": "new.yaml"})
NAMED: Asked = ("Deployment/web", {"workload": "Deployment/web"})
WORKLOADS: Sequence[Asked] = (("-A", {}), ("deploy/web", {"workloads": ["deploy/web"]}))
SUBJECTS: dict[str, Sequence[Asked]] = {
    "explain": (MANIFEST, NAMED),
    "advise": (MANIFEST, NAMED),
    "simulate": (MANIFEST, NAMED),
    "compare": (
        ("new.yaml --cordon n1", {**MANIFEST[1], "edits": ["cordon n1"]}),
        ("Deployment/web --drain n1", {**NAMED[1], "edits": ["drain n1"]}),
        ("-A --cordon n1", {"edits": ["cordon n1"]}),
    ),
    "map": (MANIFEST, NAMED, ("--evict default/solo", {"edits": ["evict default/solo"]})),
    "check": (MANIFEST, NAMED, ("-A", {})),
    "capacity": (("-f new.yaml", {"manifest": "new.yaml"}), ("", {})),
    "play": (("scenario.json", {"steps": ["scale deploy/web=9", f"fail {ZONE}=a"]}),),
    "plan": (("--drain n1", {"edits": ["drain n1"]}), ("-f more.yaml", {"manifest": "more.yaml"})),
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
        is_own = option.is_for_assistants and not isinstance(option, Workload | Argument)
        if is_own and sample is not None and field.name not in DRAIN_FLAGS.values():
            texts = shlex.split(sample)[1::2]
            value: Any = texts if get_origin(kind) is tuple else not field.default if kind is bool else texts[0]
            yield sample, {field.encode_name: int(value) if int in (kind, *get_args(kind)) else value}
    for verb in EDITS:
        yield samples[f"--{verb}"], {"edits": [samples[f"--{verb}"].removeprefix("--")]}
    for argument, sample in (("kubeVersion", "--kube-version"), ("featureGates", "--feature-gates")):
        yield samples[sample], {argument: samples[sample].split()[1]}
    for argument, sample in zip(DRAIN_FLAGS, ("--ignore-daemonsets", "--delete-emptydir-data", "--force"), strict=True):
        yield f"--drain n2 {samples[sample]}", {"edits": ["drain n2"], argument: "no-" not in samples[sample]}


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


def answers(directory: Path, name: str, asked: Sequence[Asked]) -> Sequence[Any]:
    """The command's, the tool's and the server's; None for what is refused, in words of their own."""
    typed, passed = together(asked)
    arguments = {
        AFTER.get(argument, argument) if name == "compare" else argument: (directory / value).read_text()
        if argument in FILES
        else value
        for argument, value in passed.items()
    }
    if "-n shop" in typed:
        typed = typed.replace("-A", "")
    printed = run(name, *shlex.split(typed), "-S", "cluster.json", "-o", "json", cwd=directory).out
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        snapshot = kubespread.load("cluster.json")
    try:
        report = tools()[name].call(snapshot, kubespread.Scheduler(), {**arguments, "limit": 10**6})
    except kubespread.UsageError:
        report = None
    answer = call(app_of(snapshot), f"/ask/{name}", ASKING, arguments)
    assert answer.status in (200, 400), answer.text
    served = answer.data if answer.status == 200 else None
    # What is passed as text has no file's name.
    said = json.loads(printed.replace(passed.get("manifest", "manifest"), "manifest") or "null")
    return [
        answer and {field: value for field, value in answer.items() if field not in ("provenance", "file")}
        for answer in (said, report, served)
    ]


OF_ALL = {"edits", "kubeVersion", "featureGates", *DRAIN_FLAGS}
"""The arguments that every tool has."""
REFUSED = ("--why-here", "--autoscaler ca", "--same zone", "-l app=other", "-n shop")
"""What is refused in this cluster, or by itself, by tool and command alike: node groups are in files, `--same` is of
gangs, and so on.
"""


@pytest.mark.parametrize("name", slow_but(["explain", "map", "survive"], QUESTIONS))
def test_every_option_of_a_tool_means_what_it_means_to_its_command(directory: Path, name: str) -> None:
    every = [*options(name)]
    shared = [option for option in every if option[1].keys() & OF_ALL]
    # Not all edits go together.
    for parts in (shared[::2], shared[1::2], [option for option in every if option not in shared]):
        ask_in_parts(directory, name, parts)


def ask_in_parts(directory: Path, name: str, parts: Sequence[Asked]) -> None:
    """About the first subject that takes all of ``parts`` together, or else half of them at a time."""
    for subject in SUBJECTS[name] if parts else ():
        said, report, served = answers(directory, name, [subject, *parts])
        assert said == report == served, parts
        if said is not None:
            return
    if len(parts) == 1:
        assert parts[0][0] in REFUSED
        return
    for half in (parts[::2], parts[1::2]) if parts else ():
        ask_in_parts(directory, name, half)


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
        ("map", {"name": "web"}, "name is for workload: add that, or leave it out"),
        (
            "simulate",
            {"workload": "deploy/web", "ties": "name", "seed": 3},
            "ties and seed do not go together: a seed breaks ties at random",
        ),
        (
            "capacity",
            {"manifest": "{}", "tolerate": ["gpu"]},
            "manifest and tolerate do not go together: the manifest says what its pods tolerate and select",
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
    arguments = arguments_from(tools()[name].question, {**SUBJECTS[name][0][1], **flags})
    (edit,) = edits_of(arguments, ["drain n1"])
    assert str(edit) == "drain n1 --no-ignore-daemonsets --no-delete-emptydir-data --force"
