"""How many answers are compared with whose: the tables of ``docs/exactness.md``, counted from the files themselves."""

from __future__ import annotations

import gzip
import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from inspect import getmembers, isfunction
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tests.suites import test_tables
from tests.tables import FIXTURES as TABLES
from tests.tables import table_of
from tools.replay.cases import FIXTURES, lines, release_of
from tools.replay.refusals import SCHEDULED
from tools.replay.scheduling import FAULTY_FIELD

TESTS = Path(__file__).parents[1]
DOCUMENT = TESTS.parent / "docs" / "exactness.md"
_WORKED = "-worked"
_SOURCE, _LEFT_OUT = "Source:", "Not applicable"
_TEST_FILE = re.compile(r"[\w./-]+\.go")
_BLOCK = "<!-- {mark}: make counts -->\n{text}<!-- end of {name} -->"

RECORDED: Mapping[str, str] = {
    "spread": "hard and soft constraints with every field, over taints, selectors, affinity, missing labels",
    "score": "soft constraints on mostly feasible nodes, and how their score is brought to 0..100",
    "defaults": "default constraints of the cluster and of the system, with selectors from Services and workloads",
    "nodeaffinity": "node selectors and affinity, addedAffinity, taints and tolerations",
    "interpod": "inter-pod affinity and anti-affinity in both directions, namespaces",
    "resources": "requests of all kinds of containers, scoring strategies, balanced allocation",
    "ports": "host ports, image locality",
    "volumes": "bound and unbound claims, zones, attach limits, ReadWriteOncePod",
    "mixed": "everything at once, with configurations",
    "preempt": "the node that preemption nominates, its victims and the budgets they violate, or its words",
    "large": "hundreds of nodes, thousands of pods",
    "simulate": "5 to 60 replicas one after another: node, total and ties of each, and what stops the next",
    "second/admission": "what admission makes of a pod, or refuses, before it is scheduled",
    "second/config": "profiles of every kind, among them those that fail every pod, which are refused",
    "second/configbad": "configurations that kube-scheduler refuses, and for which fields",
    "second/configodd": "odd but valid configurations",
    "second/declared": "declared features of nodes",
    "second/dra": "devices: CEL selectors, counts, alternatives, constraints, taints, extended resources",
    "devices/dra-shared": "devices that are partitioned, shared or bound late, and what others hold of them",
    "second/gates": "feature gates set otherwise",
    "second/nominated": "pods that are nominated to a node, the candidate or others",
    "second/preempt-more": "preemption with host ports and more budgets",
    "second/preempt-volumes": "preemption with volumes",
    "second/quantities": "quantities beyond what fits into 64 bits, and odd notations",
    "second/simulate-more": "replicas one after another in odd clusters",
    "second/simulate-volumes": "replicas with claims of their own",
    "second/stored": "pending pods as they are stored",
    "second/stored-preempt": "what preemption would do for them",
    "second/tolerations": "tolerations with Gt and Lt",
    "second/validation": "pods that the API server refuses: which, for which fields, and its words about what scheduling reads",
    "third": "66 families: those above with fresh cases, all features combined, replicas and several workloads through "
    "the real queue, hints of the cycle before, gangs, sampled nodes",
    "fourth": "9 families: resized and pod-level resources, values that the API server refuses, budgets of every kind, "
    "extreme scores and sizes, volumes, gangs, devices, templates with several faults, negative maxSkew",
    "running": "scenarios on a running control plane: how many pods of each workload are placed and wait in the end",
    "running4": "the same, with preemption, NoExecute, volumes, Jobs, Recreate and paused Deployments",
    "running5": "the same; a file of them with pods that take a second to stop",
    "v1.34.1/mixed": "everything at once, as 1.34.1 has it",
    "v1.34.1/nodeaffinity": "node affinity and taints, as 1.34.1 has them",
    "v1.34.1/score": "soft constraints, as 1.34.1 scores them",
    "v1.37/capacity": "the score of free storage, and drivers that a node must have",
    "v1.37/storage": "the same among other volumes",
    "controllers/scaledown": "which pods a ReplicaSet deletes, in which order",
    "controllers/deploystep": "one pass of the Deployment controller",
    "controllers/rollout": "whole rollouts, pass by pass",
    "controllers/statefulset": "one pass of the StatefulSet controller, and the passes after it",
    "controllers/pdb": "the status of budgets, and evictions one after another",
    "controllers/drain": "what kubectl drain evicts, its warnings and its errors",
    "controllers/daemonset": "on which nodes a DaemonSet has its pod",
    "controllers/job": "how many pods a Job creates, and which it deletes",
    "controllers/descheduler": "which pods RemovePodsViolatingTopologySpreadConstraint evicts (descheduler v0.36.0)",
    "controllers/descheduler-table": "the cases of the descheduler's own test of that plugin",
    "live/placements": "workloads on a running cluster: how many pods are placed and how many wait",
    "live/rollout": "rollouts on a running cluster: feasible nodes, scores and totals of each of their 73 scheduling cycles",
    "live/scale": "scale-downs on a running cluster: how many pods remain, and those that are beyond doubt",
}
"""By the file's name, without what marks worked examples: what a case asks, and what of its answer is compared."""


REFUSING = (
    *("second/validation", "second/admission", "third/validate2", "third/validate3", "third/nulls2", "fourth/val5"),
    *("second/configbad", "third/configbad"),
)
"""Families of what is refused: pods by the API server, and configurations by kube-scheduler."""


class Row(NamedTuple):
    cells: tuple[str, ...]
    cases: int


def recorded_rows() -> Iterator[Row]:
    """A row for each family of recorded answers. Raises KeyError for one of which nobody has said what it is."""
    counts: dict[str, int] = {}
    releases: dict[str, str] = {}
    for path in sorted(FIXTURES.rglob("*.jsonl.gz")):
        family = str(path.relative_to(FIXTURES)).removesuffix(".jsonl.gz").removesuffix(_WORKED)
        if path.parent.name in RECORDED:
            family = path.parent.name
        with gzip.open(path) as lines:
            counts[family] = counts.get(family, 0) + sum(not line.startswith(b'{"recorded"') for line in lines)
        releases[family] = release_of(path)
    for family, count in sorted(counts.items(), key=lambda each: ("/" in each[0], each[0])):
        yield Row((family, releases[family], RECORDED[family]), count)


def refusal_rows() -> Iterator[Row]:
    """A row for each family of refusals: how many there are, and how many of their texts are compared, and by what."""
    for family in REFUSING:
        expected = [case["expect"] for case in lines(FIXTURES / f"{family}.jsonl.gz") if "expect" in case]
        texts = [text for each in expected for text in each.get("validation", ())]
        words = sum(SCHEDULED.match(text) is not None for text in texts)
        errors = [each["configError"] for each in expected if "configError" in each]
        named = sum(FAULTY_FIELD.search(error) is not None for error in errors)
        refused = len(errors) or sum("validation" in each for each in expected)
        counts = refused, words, len(texts) - words + named, len(errors) - named
        yield Row((family, *map(str, counts)), len(expected))
    said = [row for row in lines(FIXTURES.parent / "cel" / "expressions.jsonl.gz") if "expression" in row]
    refused = sum("result" not in row for row in said)
    yield Row(("`fixtures/cel`", str(refused), "0", "0", str(refused)), len(said))


def suite_rows() -> Iterator[Row]:
    """A row for each suite that was written from somebody else's tests. Its paragraphs say what it asks, whose tests
    they are (``Source: ...``), and which of them it leaves out and why (``Not applicable...``).
    """
    for path in sorted((TABLES / "suites").glob("*.yaml")):
        table = table_of(path)
        yield _suite_row(f"`fixtures/suites/{path.name}`", table["about"], len(table["cases"]))
    for module in _modules(TESTS / "suites"):
        if module is not test_tables:
            yield _suite_row(_file(module), module.__doc__ or "", sum(cases_of(each) for _, each in _tests(module)))


def _suite_row(file: str, description: str, cases: int) -> Row:
    about, *others = _paragraphs(description)
    source = next((each for each in others if each.startswith(_SOURCE)), "")
    left_out = next((each for each in others if each.startswith(_LEFT_OUT)), "")
    return Row((file, about, _tests_named(source), left_out.removeprefix(_LEFT_OUT).lstrip(",: ")), cases)


def property_rows() -> Iterator[Row]:
    """A row for each file of properties, which Hypothesis tries to refute with examples of its own."""
    for module in _modules(TESTS / "property"):
        properties = sum(hasattr(each, "hypothesis") for _, each in _tests(module))
        if properties:
            yield Row((_file(module), _paragraphs(module.__doc__ or "")[0]), properties)


def _paragraphs(description: str) -> list[str]:
    """The paragraphs, each on one line."""
    return [" ".join(each.split()) for each in description.split("\n\n")]


def _tests_named(source: str) -> str:
    """``kubernetes/kubernetes, filtering_test.go`` of a sentence that tells more."""
    repository = source.removeprefix(_SOURCE).strip().partition(",")[0]
    return ", ".join([repository, *dict.fromkeys(path.rpartition("/")[2] for path in _TEST_FILE.findall(source))])


def _modules(folder: Path) -> Iterator[ModuleType]:
    for path in sorted(folder.glob("test_*.py")):
        yield importlib.import_module(".".join(path.relative_to(TESTS.parent).with_suffix("").parts))


def _file(module: ModuleType) -> str:
    return f"`{module.__name__.replace('.', '/')}.py`"


def _tests(module: ModuleType) -> list[tuple[str, Any]]:
    own = getmembers(module, lambda each: isfunction(each) and each.__module__ == module.__name__)
    return [(name, each) for name, each in own if name.startswith("test_")]


def cases_of(test: Any) -> int:
    """How often pytest runs it: once for every combination of its parameters."""
    marks = (mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize")
    return prod(len(tuple(mark.args[1])) for mark in marks)


def _table(header: Sequence[str], rows: Sequence[Row], what: str) -> str:
    lines = [
        f"| {' | '.join(header)} |",
        f"|{'---|' * len(header)}",
        *(f"| {' | '.join((*row.cells, str(row.cases)))} |" for row in rows),
    ]
    total = sum(row.cases for row in rows)
    return "\n".join([*lines, "", f"{total} {what} in {len(rows)} {'row' if len(rows) == 1 else 'rows'}.", ""])


@cache
def tables() -> Mapping[str, str]:
    """The tables of the document, by the name that marks their place; counting takes a second."""
    recorded = _table(("family", "release", "what is compared", "cases"), list(recorded_rows()), "recorded cases")
    compared = "texts compared by word", "by field alone", "as refused, no more"
    refused = _table(("family", "refused", *compared, "cases"), list(refusal_rows()), "cases")
    suites, properties = list(suite_rows()), list(property_rows())
    return {
        "recorded answers": recorded,
        "refusals": refused,
        "independent suites": _table(("file", "what it asks", "whose tests", "left out", "cases"), suites, "cases")
        if suites
        else "None yet.\n",
        "properties": _table(("file", "what holds", "properties"), properties, "properties"),
    }


def with_counts(text: str) -> str:
    """The document with its tables as they are now. Raises ValueError where the place of one is missing."""
    for name, table in tables().items():
        place = re.compile(rf"<!-- {name}: [^\n]*-->\n.*?<!-- end of {name} -->", re.DOTALL)
        block = _BLOCK.format(mark=name, text=table, name=name)
        text, found = place.subn(lambda _, block=block: block, text)  # type: ignore[misc]  # a default of a lambda
        if found != 1:
            raise ValueError(f"{DOCUMENT.name}: there is no place for the table of {name}")
    return text


if __name__ == "__main__":
    DOCUMENT.write_text(with_counts(DOCUMENT.read_text()))
