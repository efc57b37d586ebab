"""Whatever was simulated and however wide the terminal is: no line is wider, and every figure is the report's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import kubespread
from kubespread.questions.simulate import SimulateReport
from kubespread.questions.simulate.view import domains_of
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, pod, soft

ZONE, HOSTNAME, RACK = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack"
LABEL = st.text("abz-.東́é", min_size=1, max_size=40)
ROW = re.compile(r"^  \S+ +(\d+) → (\d+)(?!\S)", re.MULTILINE)
MOST_ROWS = 12
NUMBER = re.compile(r"\d+")


@st.composite
def nodes(draw: st.DrawFn) -> list[Data]:
    """Names as clouds make them, in letters only, so that every digit on a screen is a figure."""
    before, after = draw(st.sampled_from(["", "gke-prod-pool-", "ip-"])), draw(st.sampled_from(["", ".eu.internal"]))
    zones, racks = (draw(st.lists(LABEL, min_size=least, max_size=most)) for least, most in ((1, 15), (0, 3)))
    made = []
    for number in range(draw(st.integers(1, 30))):
        letters = "".join("abcdefghij"[int(digit)] for digit in f"{number:03}")
        host = node(f"{before}{letters}{after}", cpu=draw(st.sampled_from(["500m", "1"])))
        labels = {HOSTNAME: host["metadata"]["name"], ZONE: zones[number % len(zones)]}
        if draw(st.booleans()) and racks:
            labels[RACK] = racks[number % len(racks)]
        host["metadata"]["labels"] = labels
        made.append(host)
    return made


@st.composite
def workloads(draw: st.DrawFn, number: int) -> Data:
    name = "".join("abcdefghij"[int(digit)] for digit in f"{number:02}") * draw(st.integers(1, 12))
    keys = draw(st.lists(st.sampled_from([ZONE, HOSTNAME, RACK]), max_size=3, unique=True))
    constraints = [
        (hard if draw(st.booleans()) else soft)(key, draw(st.integers(1, 2)), match={"app": name}) for key in keys
    ]
    return {
        **pod(name, labels={"app": name}, constraints=constraints or None, requests={"cpu": "300m"}),
        "metadata": {"name": name, "namespace": draw(st.sampled_from(["shop", "web"])), "labels": {"app": name}},
    }


@st.composite
def answers(draw: st.DrawFn) -> Sequence[SimulateReport]:
    pods = [draw(workloads(number)) for number in range(draw(st.integers(1, 6)))]
    return kubespread.simulate(
        kubespread.Snapshot.from_objects(draw(nodes())), pods, draw(st.one_of(st.integers(0, 25), st.just("max")))
    )


def figures(value: Any) -> set[int]:
    """Every number of a report, those in its messages included."""
    if isinstance(value, dict):
        return set().union(*map(figures, (*value, *value.values())))
    if isinstance(value, list):
        return {len(value)}.union(*map(figures, value))
    if isinstance(value, str):
        return {int(number) for number in NUMBER.findall(value)}
    return {value} if isinstance(value, int) else set()


@given(answers(), st.integers(60, 220), st.booleans())
@settings(max_examples=40, deadline=None)
def test_no_line_is_wider_than_the_terminal(reports: Sequence[SimulateReport], width: int, in_full: bool) -> None:
    for line in terminal.table(reports, Look(width=width, in_full=in_full)).splitlines():
        assert cell_len(line) <= width, line


@given(answers(), st.integers(60, 220))
@settings(max_examples=40, deadline=None)
def test_every_figure_of_a_picture_is_the_reports(reports: Sequence[SimulateReport], width: int) -> None:
    for report in reports:
        text = terminal.table([report], Look(width=width, in_full=True))
        assert {int(number) for number in NUMBER.findall(text)} <= figures(report.to_dict()) | derived(report)
        head = " ".join(text.split())
        grown = f"{report.running} fit" if report.replicas is None else f"{report.running} of {report.replicas} replica"
        assert f" in {report.pod.namespace}: {grown}" in head
        for changes, change in zip(report.distribution, report.skew, strict=True):
            shown = f"{change.before} → {change.after}" if change.before != change.after else f"{change.after}"
            assert f", skew {shown}" in head or not changes
        for key, loss in report.worst_loss.items() if report.running else ():
            assert f"leaves {loss.remaining} of {report.running}" in head, key


@given(answers())
@settings(max_examples=40, deadline=None)
def test_every_domain_has_the_figures_of_the_report_beside_it(reports: Sequence[SimulateReport]) -> None:
    for report in reports:
        if report.grouping is None:
            continue
        rows = [(str(row.before), str(row.after)) for row in domains_of(report, report.grouping)]
        text = terminal.table([report], Look())
        if len(rows) <= MOST_ROWS and any(after != "0" for _, after in rows):
            assert ROW.findall(text) == rows
        named = {name: int(placed) for name, placed in re.findall(r"([a-z.-]+) \+(\d+)(?= ·|  |$)", text, re.MULTILINE)}
        placed = {each.name: each.placed for each in report.nodes}
        assert all(placed[name] == count for name, count in named.items() if name in placed)


@given(answers(), st.integers(60, 220))
@settings(max_examples=40, deadline=None)
def test_every_figure_of_an_overview_is_the_reports(reports: Sequence[SimulateReport], width: int) -> None:
    if len(reports) == 1:
        return
    verdict, *drawn = terminal.table(reports, Look(width=width)).splitlines()
    header, *lines = dropwhile(lambda line: not line.startswith("  WORKLOAD "), drawn)
    columns = re.split(r" {2,}", header.strip())
    for report, line in zip(reports, lines, strict=False):
        cells = dict(zip(columns, re.split(r" {2,}", line.strip()), strict=False))
        assert (cells["WANT"], cells["RUN"], cells["PLACED"], cells["PENDING"]) == (
            "max" if report.replicas is None else str(report.replicas),
            str(report.present),
            str(report.placed),
            str(report.pending),
        )
        if "SKEW" in cells and report.skew and "SURVIVE" in columns:
            assert [each.partition(" > ")[0].split()[-1] for each in cells["SKEW"].split(" · ")] == [
                change.range_after for change in report.skew
            ]
    placed, pending = sum(report.placed for report in reports), sum(report.pending for report in reports)
    word = "No: " if any(report.verdict == "no" for report in reports) else ""
    assert verdict == f"{word}{len(reports)} workloads: {placed} placed, {pending} pending"


def derived(report: SimulateReport) -> set[int]:
    """What follows from the report: sums, and how many of something there are."""
    by_key: dict[tuple[str, str], list[int]] = {}
    for each in report.nodes:
        for key, value in each.domains.items():
            by_key.setdefault((key, value), []).append(each.placed)
    counts = {len([placed for placed in group if placed]) for group in by_key.values()}
    sums = {sum(group) for group in by_key.values()}
    domains = {len(changes) for changes in report.distribution} | {len({value for key, value in by_key if key == ZONE})}
    between = {size - MOST_ROWS for size in domains if size > MOST_ROWS} | {len(report.nodes) - 20}
    ties = sum(placement.ties > 1 for placement in report.placements)
    return {report.running, report.pending, ties, *counts, *sums, *domains, *between}
