"""One pod, or its replicas, in a recorded cluster: our answer beside kube-scheduler's, to the last unit and word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kubespread
from kubespread.errors import KubespreadError
from tests.golden.cases import Data, Difference, Recorded

_DRIVER_MISSING = " CSI driver is not installed on the node"


def differences(recorded: Recorded, kube_version: str | None = None) -> Iterator[Difference]:
    """Where we disagree with the recorded answer to one scheduler case; its keys say what is asked."""
    case, expect = recorded
    snapshot = kubespread.Snapshot.from_objects([*case["nodes"], *(case["pods"] or []), *(case.get("objects") or [])])
    scheduler = kubespread.Scheduler(
        config=case.get("config"),
        kube_version=kube_version,
        feature_gates=case.get("gates"),
        admission=case.get("admission", False),
        default_toleration_seconds=False,
        pod_node_selector=True,
    )
    try:
        ours = _simulated(snapshot, case, scheduler) if "replicas" in case else _explained(snapshot, case, scheduler)
    except KubespreadError as error:
        refusals = _refusals(case, expect)
        missing = [text for text in refusals if text not in str(error)]
        if missing or not refusals:
            yield Difference(recorded.name, "refusal", missing or "none", str(error))
        return
    if refusals := _refusals(case, expect):
        yield Difference(recorded.name, "refusal", refusals, "none")
        return
    wanted = _expected_run(expect) if "replicas" in case else _expected(expect, ours)
    yield from _compared(recorded.name, "", wanted, ours)


def _refusals(case: Data, expect: Data) -> list[str]:
    """Texts that must all stand in the error, where the pod or the configuration is refused, or no profile takes the pod."""
    keys = (
        ("forbidden", "configError")
        if "nodes" in expect or "replicas" in case
        else ("forbidden", "configError", "error")
    )
    return [*expect.get("validation", ()), *(expect[key] for key in keys if key in expect)]


def _compared(case: str, what: str, wanted: Any, ours: Any) -> Iterator[Difference]:
    if isinstance(wanted, dict) and isinstance(ours, dict):
        for key in dict.fromkeys((*wanted, *ours)):
            yield from _compared(case, f"{what}.{key}" if what else str(key), wanted.get(key), ours.get(key))
    elif wanted != ours:
        yield Difference(case, what, wanted, ours)


def _simulated(snapshot: kubespread.Snapshot, case: Data, scheduler: kubespread.Scheduler) -> Data:
    report = kubespread.simulate(snapshot, case["pod"], case["replicas"], scheduler, ties="name").to_dict()
    placements = [{key: placement[key] for key in ("node", "total", "ties")} for placement in report["placements"]]
    return {"placements": placements, "stopped": report["stopped"]}


def _expected_run(expect: Data) -> Data:
    return {"placements": expect.get("placements") or [], "stopped": expect.get("stopped", expect.get("error"))}


def _explained(snapshot: kubespread.Snapshot, case: Data, scheduler: kubespread.Scheduler) -> Data:
    pod: Data | str = case["pod"]
    namespace = None
    if case.get("stored"):
        metadata = case["pod"]["metadata"]
        pod, namespace = f"pod/{metadata['name']}", metadata.get("namespace", "default")
    report = kubespread.explain(
        snapshot, pod, scheduler, preemption=case.get("preempt", False), namespace=namespace
    ).to_dict()
    return {
        "fitError": report["message"],
        "nominated": report["nominated"],
        "nodes": {node["name"]: _node(node) for node in report["nodes"]},
        "preemption": _preemption(report["preemption"]),
        "isRandom": any("names one at random" in said for said in report["notModelled"]),
    }


def _preemption(found: Data | None) -> Any:
    if found is None or found["node"] is None:
        return found and found["tail"]
    return {key: found[key] for key in ("node", "victims", "violations")}


def _node(node: Data) -> Data:
    verdict = node["verdict"]
    return {
        "filter": (verdict["code"], verdict["plugin"], frozenset(verdict["reasons"])),
        "plugins": {said["plugin"]: (said["code"], frozenset(said["reasons"])) for said in node["rejections"]},
        "scores": node["scores"],
        "total": node["total"],
    }


def _expected(expect: Data, ours: Data) -> Data:
    unscored = "error" in expect or "scoreError" in expect
    is_random = ours.pop("isRandom")
    return {
        "fitError": expect.get("error", expect.get("fitError")),
        "nominated": expect.get("nominated"),
        "nodes": {
            name: _expected_node(node, ours["nodes"][name], unscored=unscored, is_random=is_random)
            for name, node in expect["nodes"].items()
        },
        "preemption": expect.get("preemption", expect.get("tail")),
    }


def _expected_node(node: Data, ours: Data, *, unscored: bool, is_random: bool) -> Data:
    rejections = {}
    for plugin, said in (node.get("plugins") or {}).items():
        excluded = any("excluded by PreFilterResult" in reason for reason in said["reasons"])
        rejections[plugin] = (said["code"], frozenset(said["reasons"]))
        # The recording does not say what the plugin would have said of a node it left out beforehand.
        if excluded or (is_random and _same_but_for_driver(rejections[plugin], ours["plugins"].get(plugin))):
            rejections[plugin] = ours["plugins"].get(plugin)
    verdict = node["filter"]
    return {
        "filter": (verdict["code"], verdict.get("plugin"), frozenset(verdict.get("reasons") or ())),
        "plugins": rejections,
        # Where scoring fails, totals have no meaning.
        "scores": ours["scores"] if unscored else node.get("scores", {}),
        "total": ours["total"] if unscored else node.get("total"),
    }


def _same_but_for_driver(*said: tuple[str, frozenset[str]] | None) -> bool:
    """Whether both lack a CSI driver: asked twice about the same node kube-scheduler may name another one."""
    return all(one is not None and all(reason.endswith(_DRIVER_MISSING) for reason in one[1]) for one in said)
