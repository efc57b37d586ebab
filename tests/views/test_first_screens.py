"""First screens of answers about clusters as clouds make them: they fit, and what they say to type next runs."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import and_
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import kubespread
from kubespread import ClusterWorkloads, Side, Snapshot
from kubespread.questions.registry import QUESTIONS, question
from kubespread.reports.parts import QuestionReport
from kubespread.views import terminal
from kubespread.views.lines import render
from kubespread.views.look import Look, Rows, Text, Tone
from kubespread.views.sheet import worst_first
from kubespread.views.terminal import whole
from kubespread.views.view import view_of
from tests.cli.support import FIXTURES, run
from tests.questions.clouds import CLOUDS, ZONE, cluster
from tests.tiers import slow_but
from tests.views.first_screens import SIZES, height, lacking

WEB: Mapping[str, Any] = {"namespace": "shop"}
EVERY = ClusterWorkloads(all_namespaces=True)
ANSWERS: Mapping[str, Callable[[Snapshot, str], Any]] = {
    "fix": lambda cloud, _: kubespread.explain(cloud, "deploy/web", replicas=40, **WEB, fix=True),
    "audit": lambda cloud, _: kubespread.audit(cloud),
    "capacity": lambda cloud, _: kubespread.capacity(cloud),
    "check": lambda cloud, _: kubespread.check(cloud),
    "compare": lambda cloud, node: kubespread.compare(Side(cloud, EVERY), Side(cloud.edited(f"cordon {node}"), EVERY)),
    "explain": lambda cloud, _: kubespread.explain(cloud, "deploy/web", **WEB),
    "map": lambda cloud, _: kubespread.topology_map(cloud),
    "pending": lambda cloud, _: kubespread.pending(cloud.edited("spread shop/deploy/web=zone:1")),
    "plan": lambda cloud, node: kubespread.plan(cloud.edited(f"drain {node} --ignore-daemonsets")),
    "rebalance": lambda cloud, _: kubespread.rebalance(cloud),
    "removable": lambda cloud, _: kubespread.removable(cloud),
    "report": lambda cloud, _: kubespread.report(cloud),
    "simulate": lambda cloud, _: kubespread.simulate(cloud, "deploy/web", replicas=40, **WEB),
    "survive": lambda cloud, _: kubespread.survive(cloud),
    "upgrade": lambda cloud, node: kubespread.upgrade(cloud, node),
}


def _dump(tmp_path: Path, cloud: str) -> str:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster(cloud)}))
    return str(file)


@pytest.mark.parametrize("cloud", slow_but(["GKE"], CLOUDS))
def test_the_first_screen_has_the_verdict_the_worst_row_and_a_command(cloud: str, tmp_path: Path) -> None:
    snapshot = kubespread.load(_dump(tmp_path, cloud))
    node = snapshot.nodes[0].metadata.name
    assert [fault for question, ask in ANSWERS.items() for fault in lacking(question, ask(snapshot, node))] == []


COMMANDS = (
    "audit -A",
    "survive -A",
    "removable",
    "capacity",
    "map",
    "check -A",
    "report -A",
    "explain deploy/web -n shop",
    "simulate deploy/web -n shop --replicas 40",
    "simulate deploy/web -n shop",
    "explain deploy/web -n shop --fix --replicas 12 --set cpu=3",
    "upgrade NODE",
    "upgrade IN_ZONE",
    "plan --drain NODE",
    "pending -A --scale shop/deploy/web=99",
    "compare -A --cordon NODE",
)


def _typed(commands: Iterable[str], path: str) -> Iterator[list[str]]:
    """The words of each, with the name of a node of the cluster and its zone."""
    node = kubespread.load(path).nodes[0].metadata
    for command in commands:
        yield command.replace("NODE", node.name).replace("IN_ZONE", f"{ZONE}={node.labels[ZONE]}").split()


ONE_WORD = re.compile(r"[a-z]{3,}…$", re.MULTILINE)


@pytest.mark.parametrize("size", slow_but(SIZES[:1], SIZES))
@pytest.mark.parametrize("cloud", slow_but(["GKE"], CLOUDS))
def test_no_word_is_cut_where_a_line_ends(cloud: str, size: tuple[int, int], tmp_path: Path) -> None:
    path, (columns, rows) = _dump(tmp_path, cloud), size
    asked = ("audit -A", "survive -A", "survive -A --key hostname", "check -A", "pending -A", "removable", "report -A")
    for words in (command.split() for command in asked):
        out = run(*words, "-S", path, env={"NO_COLOR": "1"}, terminal=columns, rows=rows).out
        table = [line for line in out.splitlines() if not line.startswith(("next: ", "  kubespread"))]
        assert [line for line in table if ONE_WORD.search(line)] == [], words
        assert [line for line in table if cell_len(line) > columns and "kubespread " not in line] == [], words


PROMISES = """\
apiVersion: kubespread.dev/v1alpha1
kind: Promises
promises:
- {cluster: true, room: {pods: PODS}}
"""
YES_OR_NO = (
    *COMMANDS,
    "explain deploy/web -n shop --set cpu=99",
    "pending -A",
    "check deploy/web -n shop",
    "removable NODE",
    "capacity --request cpu=1",
    "capacity --request cpu=999",
    "explain deploy/web -n shop --fix",
    "explain deploy/web -n shop --fix --set cpu=99",
    "compare -A --uncordon NODE",
    "rebalance -A",
    "plan steps.yaml -n shop",
    "plan too-much.yaml -n shop",
    "plan --cordon NODE",
    "verify light.yaml",
    "verify heavy.yaml",
    "map deploy/web -n shop",
    "survive deploy/web -n shop",
)


def _write_files(folder: Path) -> None:
    """What some of these ask about, and a manifest with an error."""
    scenario = "apiVersion: kubespread.dev/v1alpha1\nkind: Scenario\nspec:\n  steps:\n  - scale: deploy/web={}\n"
    bad = (FIXTURES / "lint" / "KS101" / "bad.yaml").read_text()
    texts = {
        "steps.yaml": scenario.format(1),
        "too-much.yaml": scenario.format(9999),
        "bad.yaml": bad,
        "light.yaml": PROMISES.replace("PODS", "1"),
        "heavy.yaml": PROMISES.replace("PODS", "99999"),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)


@pytest.mark.slow
def test_the_command_to_type_next_runs(tmp_path: Path) -> None:
    path = _dump(tmp_path, "GKE")
    _write_files(tmp_path)
    fleet = [
        ["fleet", path, "audit", "-A", "--cordon", f"{ZONE}=europe-west4-a"],
        ["fleet", path, "verify", "heavy.yaml"],
    ]
    lacking, following = list[list[str]](), list[str]()
    for words in (*([*words, "-S", path] for words in _typed(YES_OR_NO, path)), *fleet, ["check", "bad.yaml"]):
        answer = run(*words, cwd=tmp_path, env={"NO_COLOR": "1"}, terminal=80, rows=24)
        assert answer.code in (0, 1), (words, answer.err)
        assert height(answer.out, 80) <= 22, words
        commands = [line for line in answer.out.splitlines() if line.startswith("next: kubespread ")]
        if not commands and (answer.code == 1 or answer.out.startswith("No: ")):
            lacking.append(words)
        following += [command.removeprefix("next: kubespread ") for command in commands]
    # Nothing else is about these very answers, and where no change helps all is said.
    assert [words[0] for words in lacking if "cpu=99" not in words] == ["capacity"]
    typed = {line: shlex.split(line) for line in following}
    assert not any("-v" in command for command in typed.values()), "the last line says that there is more"
    # Some ask for names or for a rule.
    forms = {line: [] if {"-o", "--explain"} & {*command} else ["-o", "json"] for line, command in typed.items()}
    ends = [(line, run(*command, *forms[line], cwd=tmp_path)) for line, command in typed.items()]
    assert [(line, end.code, end.err) for line, end in ends if end.code not in (0, 1)] == []


@pytest.mark.slow
@pytest.mark.parametrize("cloud", slow_but(["GKE"], CLOUDS))
def test_an_answer_begins_with_no_where_it_is_one(cloud: str, tmp_path: Path) -> None:
    path = _dump(tmp_path, cloud)
    _write_files(tmp_path)
    codes, wrong = {name: set[int]() for name in QUESTIONS}, []
    for words in _typed(YES_OR_NO, path):
        answer = run(*words, "-S", path, cwd=tmp_path, env={"NO_COLOR": "1"}, terminal=80, rows=24)
        first = answer.out.partition("\n")[0]
        is_no = first.startswith("No: ")
        codes[words[0]].add(answer.code)
        if is_no is not (answer.code == 1) or answer.code not in (0, 1):
            wrong.append((words, answer.code, first, answer.err))
    assert wrong == []
    assert [name for name, seen in codes.items() if not seen] == []


def test_only_a_map_is_neither_a_yes_nor_a_no() -> None:
    assert [name for name in QUESTIONS if not question(name).report().is_yes_or_no] == ["map"]
    assert QuestionReport.is_yes_or_no


COUNTED = re.compile(r"(\d[\d,]*) more ([a-z -]+)")


def _tables(report: Any, look: Look) -> Iterator[tuple[Rows, int]]:
    """What a screen has rows of, each with how many there are in all."""
    for part in terminal.screen(view_of(report), look):
        if isinstance(part, Rows):
            yield part, len(part.rows) + part.hidden


def _first_line(row: Sequence[Text], look: Look) -> str:
    return render(whole([Rows([], [row])], look.width), color=False).splitlines()[0]


@pytest.mark.parametrize("cloud", slow_but(["GKE"], CLOUDS))
def test_rows_shown_and_rows_counted_are_all_rows_and_bad_ones_are_among_those_shown(
    cloud: str, tmp_path: Path
) -> None:
    snapshot = kubespread.load(_dump(tmp_path, cloud))
    node = snapshot.nodes[0].metadata.name
    for asked, ask in ANSWERS.items():
        report = ask(snapshot, node)
        if view_of(report).picture is not None:
            continue
        for rows in range(12, 60, 4):
            look = Look(width=80, rows=rows)
            lines = terminal.table(report, look).splitlines()
            left, shown, there = Counter(lines), Counter[str](), Counter[str]()
            for table, number in _tables(report, look):
                texts = [_first_line(row, look) for row in table.rows]
                is_shown = [left[text] > 0 for text in texts]
                left.subtract(text for text, is_there in zip(texts, is_shown, strict=True) if is_there)
                shown[table.noun] += sum(is_shown)
                there[table.noun] += number
                bad = [tone is Tone.BAD for tone in table.tones]
                assert not (any(is_shown) and any(bad)) or any(map(and_, is_shown, bad)), (asked, rows, table.noun)
            counted = {noun: int(number) for number, noun in COUNTED.findall(lines[-1])} if "more" in lines[-1] else {}
            for noun, number in there.items():
                hidden = sum(counted.get(name, 0) for name in (noun, f"{noun}s"))
                assert shown[noun] + hidden == number, (asked, rows, noun)


def test_room_is_given_to_the_worst_rows_first() -> None:
    good, warn, bad = Tone.GOOD, Tone.WARN, Tone.BAD
    places = {
        (): [],
        (good, good): [0, 1],
        (good, good, bad): [2, 0, 1],
        (bad, bad, good): [0, 1, 2],
        (good, warn, good, bad, bad): [3, 4, 1, 0, 2],
    }
    assert {tones: worst_first(tones) for tones in places} == places
