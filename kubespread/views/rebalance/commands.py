"""What to type so that a plan happens. Commands are never folded, so that they can be copied."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from kubespread.planner.reports.rebalance import EvictionStep, RebalanceReport
from kubespread.views.flow import HANGING, INDENT
from kubespread.views.layout import DIM, HEAD, Cell, Line, cell, wrapped
from kubespread.views.look import Look
from kubespread.wording import count_of, workload_name

_MAX_COMMANDS = 10
_MAX_SCALE_DOWNS = 2
_FUNCTION = """\
evict() {
  printf '{"apiVersion": "policy/v1", "kind": "Eviction",
    "metadata": {"namespace": "%s", "name": "%s"}}' "$1" "$2" |
    kubectl create --raw "/api/v1/namespaces/$1/pods/$2/eviction" -f - &&
    kubectl wait -n "$1" --for=delete "pod/$2" --timeout=10m
}"""
"""kubectl has no command for an eviction by itself, but it can post one."""
_COST = (
    'cost() { kubectl annotate pod -n "$1" --overwrite "$2" \\',
    '  controller.kubernetes.io/pod-deletion-cost="$3"; }',
)


def evictions(report: RebalanceReport, look: Look) -> Iterator[Line]:
    """A shell function that evicts through the API, and the steps, each waiting for its workload to be whole again."""
    said = "To carry it out, one step after another (evictions respect budgets, kubectl delete would not):"
    yield from wrapped([cell(said, HEAD)], look.width, HANGING)
    for line in _FUNCTION.split("\n"):
        yield [Cell(f"{INDENT}{line}")]
    shown = report.steps if look.in_full else report.steps[:_MAX_COMMANDS]
    for step in shown:
        namespace, _, name = step.pod.partition("/")
        yield [Cell(INDENT), cell(f"evict {quote(namespace)} {quote(name)} &&")]
        yield [Cell(f"{INDENT}{INDENT}"), cell(_whole(step))]
    yield from _more(len(report.steps) - len(shown), "eviction")


def _whole(step: EvictionStep) -> str:
    return step.commands[-1]


def deletion_costs(report: RebalanceReport, look: Look) -> Iterator[Line]:
    """Instead of evictions: the order in which a scale-down is to delete pods."""
    shown = report.scale_downs if look.in_full else report.scale_downs[:_MAX_SCALE_DOWNS]
    for each in shown:
        replicas = count_of(each.replicas_after, "replica")
        said = f"Or scale down: marked like this {workload_name(each.workload)} loses pods of the fullest domains first"
        yield from wrapped(
            [cell(f"{said}, and its constraints hold at {replicas} of {each.replicas}:", HEAD)], look.width, HANGING
        )
        for line in _COST if each is shown[0] else ():
            yield [Cell(f"{INDENT}{line}")]
        pods = each.pods if look.in_full else each.pods[:_MAX_COMMANDS]
        for marked in pods:
            namespace, _, name = marked.pod.partition("/")
            yield [Cell(INDENT), cell(f"cost {quote(namespace)} {quote(name)} {marked.deletion_cost}")]
        yield from _more(len(each.pods) - len(pods), "pod")
    yield from _more(len(report.scale_downs) - len(shown), "scale-down")


def _more(left: int, what: str) -> Iterator[Line]:
    if left:
        yield [Cell(INDENT), cell(f"# {count_of(left, f'more {what}')} (-v shows all)", DIM)]
