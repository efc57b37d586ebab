"""One pod, or its replicas, in a recorded cluster: our answer beside kube-scheduler's, to the last unit and word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import kubespread
from kubespread.candidate.sources import Surroundings
from kubespread.errors import KubespreadError, ManifestError, SnapshotError
from kubespread.questions.explain.answer import explain_candidate
from kubespread.questions.explain.question import Explain
from kubespread.questions.resolving import resolve
from kubespread.questions.scene import Scene
from kubespread.questions.simulate import Simulate
from kubespread.questions.simulate.answer import pose
from kubespread.scheduler.cluster.nodes import Search
from kubespread.scheduler.placing import smallest_name
from kubespread.scheduler.profile.loading import UnwrittenError
from kubespread.world.store.chance import Chance
from tools.replay import refusals
from tools.replay.cases import Data, Difference, Recorded

_INVALID_SCORE = "returns an invalid score"
_NO_STORED_CLAIM = re.compile(
    r"^(PersistentVolumeClaim .*|Pod .*\.volumeClaimTemplate\.)spec\.selector\.matchExpressions\[\d+]\."
    r"(operator: Invalid value: \"Foo\": not a valid selector operator"
    r"|values: Required value: must be specified when `operator` is 'In' or 'NotIn')$"
)
"""The recorder's cluster holds whatever it is given; an API server refuses such a claim, and in these words."""
FAULTY_FIELD = re.compile(r"([a-zA-Z][\w.\[\]]+): (?:Invalid|Required|Duplicate|Unsupported|Forbidden)\b")
"""How a refused configuration names its fields; of its other faults only that they are refused is compared."""
_DRIVER_MISSING = " CSI driver is not installed on the node"


def differences(recorded: Recorded, kube_version: str | None = None) -> Iterator[Difference]:
    """Where we disagree with the recorded answer to one scheduler case; its keys say what is asked."""
    case, expect = recorded
    objects = [*case["nodes"], *(case["pods"] or []), *(case.get("objects") or [])]
    try:
        snapshot = kubespread.Snapshot.from_objects(objects)
    except SnapshotError as error:
        if not _NO_STORED_CLAIM.search(str(error)):
            raise
        return
    scheduler = kubespread.Scheduler(
        config=case.get("config"),
        kube_version=kube_version,
        # kubespread takes a what-if gang for one whatever the gates say; those of the recording are kube-scheduler's.
        feature_gates=None if "gang" in case else case.get("gates"),
        admission=case.get("admission", False),
        default_toleration_seconds=False,
        pod_node_selector=True,
    )
    ask, expected = _shape(case)
    try:
        ours = ask(snapshot, case, scheduler)
    except KubespreadError as error:
        if isinstance(error.__cause__, UnwrittenError):
            # kube-scheduler takes such a profile, and its pods end in errors.
            return
        if isinstance(error, ManifestError) and "validation" in expect:
            yield from refusals.compared(recorded.name, expect["validation"], refusals.texts(error))
            return
        if "configError" in expect and str(error).startswith("<scheduler config>"):
            yield from _refused_fields(recorded.name, expect["configError"], error)
            return
        expected_texts = _refusals(case, expect)
        missing = [text for text in expected_texts if text not in str(error)]
        if missing or not expected_texts:
            yield Difference(recorded.name, "refusal", missing or "none", str(error))
        return
    if expected_texts := _refusals(case, expect):
        yield Difference(recorded.name, "refusal", expected_texts, "none")
        return
    yield from _compared(recorded.name, "", expected(case, expect, ours), ours)


def _refused_fields(case: str, wanted: str, error: KubespreadError) -> Iterator[Difference]:
    """Go names no field where it decodes, and plugins say where in their arguments."""
    fields = set(FAULTY_FIELD.findall(wanted.replace("queueSort.Enabled", "queueSort.enabled")))
    ours = {fault.field.partition(".args.")[2] or fault.field for fault in getattr(error, "faults", ())}
    if fields and {field.partition(".args.")[2] or field for field in fields} != ours:
        yield Difference(case, "fields", sorted(fields), str(error))


Ask = Callable[[kubespread.Snapshot, Data, kubespread.Scheduler], Data]
Expected = Callable[[Data, Data, Data], Data]
"""Of a case, its recorded answer and ours: what ours has to be."""


def _shape(case: Data) -> tuple[Ask, Expected]:
    """How a case is asked and what is recorded of it: its keys say."""
    if "queue" in case:
        return _queued, _expected_queue
    if "gang" in case:
        return _gang, _expected_gang
    if case.get("mode") == "real":
        return _sequence, _expected_sequence
    if "replicas" in case:
        return _simulated, _expected_run
    return _explained, _expected


def _refusals(case: Data, expect: Data) -> list[str]:
    """Texts that must be in the error where the pod or the configuration is refused, or no profile takes the pod."""
    keys = ("forbidden", "configError", *(() if "nodes" in expect or "replicas" in case else ("error",)))
    return [*expect.get("validation", ()), *(expect[key] for key in keys if key in expect)]


def _compared(case: str, what: str, wanted: Any, ours: Any) -> Iterator[Difference]:
    if isinstance(wanted, dict) and isinstance(ours, dict):
        for key in dict.fromkeys((*wanted, *ours)):
            yield from _compared(case, f"{what}.{key}" if what else str(key), wanted.get(key), ours.get(key))
    elif wanted != ours:
        yield Difference(case, what, wanted, ours)


def _placed(
    snapshot: kubespread.Snapshot, case: Data, scheduler: kubespread.Scheduler, chance: Chance
) -> tuple[list[Data], str | None]:
    """Replicas beside what runs, and what stops the next: PostFilter plugins were not asked."""
    question = Simulate(pods=(case["pod"],), replicas=case["replicas"], preemption=False)
    posed = pose(question, snapshot, scheduler)
    (outcome,), names = posed.place(chance), posed.cluster.nodes.names
    return [
        {"node": names[choice.node], "total": choice.total, "ties": choice.ties} for choice in outcome.choices
    ], outcome.stopped


def _simulated(snapshot: kubespread.Snapshot, case: Data, scheduler: kubespread.Scheduler) -> Data:
    """Replicas whose ties were recorded as broken by name."""
    placements, stopped = _placed(snapshot, case, scheduler, Chance(tiebreaker=smallest_name))
    return {"placements": placements, "stopped": stopped}


def _sequence(snapshot: kubespread.Snapshot, case: Data, scheduler: kubespread.Scheduler) -> Data:
    """Replicas through kube-scheduler's own queue, ties as its own loop breaks them, where it has just been started."""
    chance = Chance(search=lambda _: Search(samples=case.get("sample", False)))
    placements, stopped = _placed(snapshot, case, scheduler, chance)
    return {"sequence": [placement["node"] for placement in placements], "stopped": stopped}


def _expected_sequence(_case: Data, expect: Data, _ours: Data) -> Data:
    return {"sequence": expect.get("sequence") or [], "stopped": expect.get("stopped", expect.get("error"))}


def _queued(snapshot: kubespread.Snapshot, case: Data, scheduler: kubespread.Scheduler) -> Data:
    """Several workloads in one queue, each as a Job: nothing else makes pods with any name and any labels at once."""
    jobs = [_job(queued["pod"], queued["replicas"]) for queued in case["queue"]]
    reports = kubespread.simulate(snapshot, jobs, None, scheduler, preemption=False)
    return {
        queued["pod"]["metadata"]["name"]: [placement.node for placement in report.placements]
        for queued, report in zip(case["queue"], reports, strict=True)
    }


def _job(pod: Data, replicas: int) -> Data:
    labels = pod["metadata"].get("labels") or {}
    template = {"metadata": {"labels": labels}, "spec": {**pod["spec"], "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": pod["metadata"]["name"], "namespace": pod["metadata"].get("namespace", "default")},
        "spec": {
            "parallelism": replicas,
            "completions": replicas,
            "manualSelector": True,
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }


def _expected_queue(case: Data, expect: Data, _ours: Data) -> Data:
    nodes: dict[str, list[str]] = {queued["pod"]["metadata"]["name"]: [] for queued in case["queue"]}
    for cycle in expect.get("sequence") or ():
        pod, _, node = cycle.partition(" ")
        if node:
            nodes[pod.rpartition("-")[0]].append(node)
    return nodes


def _gang(snapshot: kubespread.Snapshot, case: Data, scheduler: kubespread.Scheduler) -> Data:
    gang = case["gang"]
    report = kubespread.simulate(
        snapshot,
        case["pod"],
        case.get("replicas") or gang["count"],
        scheduler,
        gang=f"{gang['count']}:{gang['same']}" if gang.get("same") else str(gang["count"]),
        preemption=False,
    )
    return {"placed": sorted(placement.node for placement in report.placements)}


def _expected_gang(_case: Data, expect: Data, _ours: Data) -> Data:
    return {"placed": sorted((expect["gang"]["placed"] or {}).values())}


def _expected_run(_case: Data, expect: Data, ours: Data) -> Data:
    placements = expect.get("placements") or []
    if "scoreError" in expect:
        # A score that fails is not worked out for the only node that fits, so that its total has no meaning.
        totals = [placement["total"] for placement in ours["placements"]]
        placements = [{**placement, "total": total} for placement, total in zip(placements, totals, strict=True)]
    stopped = expect.get("stopped", expect.get("error"))
    return {"placements": placements, "stopped": _of_any_score(stopped, ours["stopped"])}


def _of_any_score(message: str | None, ours: str | None) -> str | None:
    """The recorded message, or ours if both are about scores out of range of plugins that differ: of several
    kube-scheduler names any.
    """
    if message is None or ours is None or not all(_INVALID_SCORE in said for said in (message, ours)):
        return message
    plugin, _, _ = message.partition(_INVALID_SCORE)
    return message if ours.startswith(plugin) else ours


def _explained(snapshot: kubespread.Snapshot, case: Data, scheduler: kubespread.Scheduler) -> Data:
    pod: Data | str = case["pod"]
    namespace = None
    if case.get("stored"):
        metadata = case["pod"]["metadata"]
        pod, namespace = f"pod/{metadata['name']}", metadata.get("namespace", "default")
    surroundings = Surroundings(namespace=namespace, one_only=True)
    (candidate, *_), cluster = resolve(snapshot, [pod], scheduler, surroundings)
    # As kubespread.explain does, but for its advice: that is not recorded, and takes as long as all the rest.
    report = explain_candidate(candidate, cluster, Scene(snapshot, scheduler, Explain(pods=(pod,)))).to_dict()
    return {
        "fitError": report["message"],
        "nominated": report["nominated"],
        "nodes": {node["name"]: _node(node) for node in report["nodes"]},
        "preemption": _preemption(report["preemption"]) if case.get("preempt") else None,
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


def _expected(case: Data, expect: Data, ours: Data) -> Data:
    is_random = ours.pop("isRandom")
    if "error" in expect:
        # The recording asks the filters one by one then, and kube-scheduler none of them.
        nodes = ours["nodes"]
    else:
        nodes = {
            name: _expected_node(node, ours["nodes"][name], unscored="scoreError" in expect, is_random=is_random)
            for name, node in expect["nodes"].items()
        }
    return {
        "fitError": _expected_message(expect, ours),
        "nominated": expect.get("nominated"),
        "nodes": nodes,
        "preemption": ours["preemption"] if _samples_candidates(case) else expect.get("preemption", expect.get("tail")),
    }


_COMPILE_ERROR = "CEL compile error: "


def _expected_message(expect: Data, ours: Data) -> str | None:
    """The recorded one; of several errors that workers meet at once kube-scheduler names any."""
    message: str | None = expect.get("error", expect.get("fitError"))
    reasons = (said for node in ours["nodes"].values() for code, said in node["plugins"].values() if code == "Error")
    if "error" in expect and any(message in said for said in reasons):
        return str(ours["fitError"])
    if message is not None and _COMPILE_ERROR in message:
        # What is wrong with a selector that is none is said in our words, which begin where Kubernetes' do.
        start, _, _ = message.partition(_COMPILE_ERROR)
        return str(ours["fitError"]) if f"{ours['fitError']}".startswith(f"{start}{_COMPILE_ERROR}") else message
    return _of_any_score(message, ours["fitError"])


def _samples_candidates(case: Data) -> bool:
    """Whether preemption looks at some candidates only, which kube-scheduler begins to do at a random node."""
    return "minCandidateNodes" in str(case.get("config"))


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
