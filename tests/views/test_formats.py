"""The registry of formats: what -o takes, what its help says, and who writes."""

from __future__ import annotations

import json

import pytest

import kubespread
from kubespread.views import plain
from kubespread.views.documents import document
from kubespread.views.formats import FORMATS, Format, chosen_format, output_help
from kubespread.views.look import Look
from tests.builders import hard, hosts, pod
from tests.views.writers import KINDS, writers
from tests.world.clusters import deployment

ZONE = "topology.kubernetes.io/zone"
CLUSTER = kubespread.Snapshot.from_objects([*hosts("a", "b"), pod("running", "n0")])
WEB = pod(constraints=[hard(ZONE)])
SCENARIO = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario"}
EXPLAINED = kubespread.explain(CLUSTER, WEB)
COMPARED = kubespread.compare(kubespread.Side(CLUSTER, WEB), kubespread.Side(CLUSTER.edited("cordon n1"), WEB))
SIMULATED = [kubespread.simulate(CLUSTER, WEB, 2), kubespread.simulate(CLUSTER, pod("alone"), 1)]
PLAYED = kubespread.plan(
    CLUSTER, {**SCENARIO, "spec": {"steps": ["delete-pods foo=bar", {"cordon": "n1", "name": "n1 too"}]}}
)
ANSWERS: dict[str, object] = {
    "explain": EXPLAINED,
    "simulate": SIMULATED,
    "compare": COMPARED,
    "survive": kubespread.survive(CLUSTER, ["hostname"]),
    "upgrade": kubespread.upgrade(CLUSTER, "n1"),
    "plan": kubespread.plan(
        kubespread.Snapshot.from_objects([*hosts("a", "b"), *deployment("n1", ("n0", "n1"))]).edited("fail-hard n1")
    ),
    "map": kubespread.topology_map(CLUSTER, WEB),
    "check": kubespread.check(None, pod("n1", constraints=[hard(ZONE, match={"foo": "baz"})])),
    "pending": kubespread.pending(kubespread.Snapshot.from_objects([*hosts("a"), pod("n1", nodeSelector={"x": "y"})])),
    "capacity": kubespread.capacity(CLUSTER, "cpu=1"),
    "removable": kubespread.removable(CLUSTER),
    "audit": kubespread.audit(kubespread.Snapshot.from_objects([*hosts("a"), pod("n1", "n0")])),
    "verify": kubespread.verify(
        CLUSTER,
        {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Promises",
            "promises": [{"cluster": True, "room": {"n1": 1}}],
        },
    ),
    "report": kubespread.report(kubespread.Snapshot.from_objects([*hosts("a", "b"), pod("n1", "n0")])),
    "rebalance": kubespread.rebalance(
        kubespread.Snapshot.from_objects(
            [
                *hosts("a", "b"),
                *deployment("n1", ("n0",) * 4, spec={"topologySpreadConstraints": [hard(ZONE, match={"app": "n1"})]}),
            ]
        )
    ),
}
HELP: dict[str, str] = {
    "explain": "Format (default: a table on a terminal, columns in a pipe). "
    "'name' prints the nodes that fit, best first.",
    "simulate": "Format (default: a picture on a terminal, columns in a pipe). "
    "'name' prints namespace/pod<TAB>node lines.",
    "compare": "Format (default: a table on a terminal, columns in a pipe). "
    "'name' prints the nodes and workloads that differ. 'csv' has a row per cell that differs.",
    "survive": "Format (default: a table on a terminal, columns in a pipe). "
    "'name' prints the degraded workloads, the worst first. "
    "'prometheus' prints metrics for a textfile collector.",
    "upgrade": "Format (default: a table on a terminal, columns in a pipe). "
    "'name' prints the workloads that are worse.",
    "plan": "Format (default: a table on a terminal, columns in a pipe). 'name' prints the workloads that are worse.",
    "map": "Format (default: a map on a terminal, columns in a pipe). 'name' prints the nodes.",
    "check": "Format (default: a list on a terminal, columns in a pipe). 'sarif' is SARIF 2.1.0 for code scanning. "
    "'junit' is JUnit XML. 'github' prints annotations of GitHub Actions.",
    "pending": "Format (default: a table on a terminal, columns in a pipe). 'name' prints namespace/pod lines. "
    "'prometheus' prints metrics for a textfile collector.",
    "capacity": "Format (default: tables on a terminal, columns in a pipe). "
    "'name' prints the nodes with room, the emptiest first. 'csv' has a row per node. "
    "'prometheus' prints metrics for a textfile collector.",
    "removable": "Format (default: a table on a terminal, columns in a pipe). "
    "'name' prints a line for each group of nodes to drain together and delete before the next.",
    "audit": "Format (default: a table on a terminal, columns in a pipe). "
    "'name' prints the workloads with findings, the worst first. 'prometheus' prints metrics for a textfile collector.",
    "verify": "Format (default: a list on a terminal, columns in a pipe).",
    "report": "Format (default: a list on a terminal, columns in a pipe). "
    "'name' prints the workloads with lines, the worst first. 'prometheus' prints metrics for a textfile collector.",
    "rebalance": "Format (default: tables and commands on a terminal, columns in a pipe). "
    "'name' prints the pods to evict, one namespace/pod a line. 'csv' has a row per eviction.",
}


@pytest.mark.parametrize("kind", HELP)
def test_the_help_says_what_is_printed_when_nothing_is_asked_for(kind: str) -> None:
    assert output_help(writers(kind)) == HELP[kind]


def test_what_can_be_asked_for() -> None:
    assert [*writers("explain")] == [
        "table",
        "wide",
        "json",
        "yaml",
        "markdown",
        "name",
        "csv",
        "html",
        "sarif",
        "junit",
        "github",
    ]
    assert [*writers("simulate")] == [
        "table",
        "json",
        "yaml",
        "markdown",
        "name",
        "csv",
        "html",
        "sarif",
        "junit",
        "github",
    ]
    assert [*writers("compare")] == [
        "table",
        "json",
        "yaml",
        "markdown",
        "name",
        "csv",
        "html",
        "sarif",
        "junit",
        "github",
    ]
    assert [*writers("plan")] == [
        "table",
        "json",
        "yaml",
        "markdown",
        "name",
        "csv",
        "html",
        "sarif",
        "junit",
        "github",
    ]
    assert [*writers("rebalance")] == [
        "table",
        "json",
        "yaml",
        "markdown",
        "name",
        "csv",
        "html",
        "sarif",
        "junit",
        "github",
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_writes_every_report_it_is_for(name: str) -> None:
    found = {kind: writers(kind)[name] for kind in KINDS if name in writers(kind)}
    texts = [writer.load()(ANSWERS[kind], Look(in_full=True)) for kind, writer in found.items()]
    # Names of nothing, and annotations of a yes, are no line at all.
    is_empty = name in ("name", "github")
    # Metrics of a whole cluster have no names, nor has what is a yes.
    shown = {"prometheus": "kubespread_", "sarif": "kubespread", "junit": "testsuites", "github": "::"}.get(name, "n1")
    assert all((shown in text and text.endswith("\n")) or (is_empty and not text) for text in texts)


@pytest.mark.parametrize(
    ("name", "is_terminal", "expected"),
    [(None, True, "table"), (None, False, "columns"), ("wide", False, "wide"), ("json", True, "json")],
)
def test_standard_output_decides_when_nobody_else_does(name: str | None, is_terminal: bool, expected: str) -> None:
    assert chosen_format(name, is_terminal=is_terminal).name == expected


def test_another_format_is_one_row_and_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "called", Format("called", "plain", is_of_all=True))
    monkeypatch.setattr(plain, "called", plain.name, raising=False)
    assert [*writers("explain")][-1] == "called"
    assert writers("explain")["called"].load()(EXPLAINED, Look()) == "n1\n"
    assert output_help(writers("explain")) == HELP["explain"]


def test_several_reports_are_a_list_in_one_document() -> None:
    reports = kubespread.simulate(CLUSTER, [WEB, pod("alone")], 1)
    text = writers("simulate")["yaml"].load()(reports, Look())
    assert text.startswith("apiVersion: kubespread.dev/v1alpha2\nkind: SimulateReportList\nitems:\n")


def test_steps_alone_are_written_in_every_format_of_a_plan() -> None:
    texts = {name: writer.load()(PLAYED, Look(in_full=True)) for name, writer in writers("plan").items()}
    assert [name for name, text in texts.items() if "n1" not in text] == ["name", "sarif", "junit", "github"], "a yes"


@pytest.mark.parametrize("kind", ANSWERS)
def test_json_is_laid_out_as_python_does_it(kind: str) -> None:
    answer = ANSWERS[kind]
    expected = json.dumps(document(answer), indent=2, ensure_ascii=False)  # type: ignore[arg-type]  # a report, or several
    assert writers(kind)["json"].load()(answer, Look()) == f"{expected}\n"
