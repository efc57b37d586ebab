"""The public library: load a cluster, ask about a pod."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from kubespread.candidate.candidate import Surroundings
from kubespread.candidate.manifests import Manifest, from_manifest, from_object, read_manifest
from kubespread.candidate.replicas import present_replicas, replica_names
from kubespread.candidate.stored import from_cluster, is_reference
from kubespread.errors import Fault, KubespreadError, ManifestError, UsageError
from kubespread.kube.admission import DEFAULT_NAMESPACE, default_storage_class
from kubespread.kube.admission_objects import AdmissionPlugins
from kubespread.kube.cluster_objects import ClusterObjects
from kubespread.kube.objects import Pod
from kubespread.kube.storage import PersistentVolumeClaim, StorageClass
from kubespread.kube.versions import SCORES_SINCE, KubeVersion
from kubespread.manifest.documents import documents
from kubespread.manifest.events import MalformedError
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.reading import MAX_MANIFEST_BYTES, display_name, read_text_bytes, text_bytes
from kubespread.planner.explain import explain as explain_pod
from kubespread.planner.report import ExplainReport
from kubespread.planner.simulate import Question
from kubespread.planner.simulate import simulate as simulate_pod
from kubespread.planner.simulation_report import SimulateReport
from kubespread.scheduler.cluster import Cluster
from kubespread.scheduler.configuration.args import ConfigurationError
from kubespread.scheduler.configuration.loading import load_profiles
from kubespread.scheduler.preemption import priority_of
from kubespread.scheduler.profile import Profile, default_profile
from kubespread.snapshot.files import load as load_files
from kubespread.snapshot.kubeconfig import Access
from kubespread.snapshot.live import load_cluster
from kubespread.snapshot.snapshot import Snapshot

_CONFIG_TEXT = "<scheduler config>"
Ties = Literal["scheduler", "name"]
"""Who takes it among nodes of one total: kube-scheduler's first in its own order, or the smallest name."""


def load(*paths: str | Path) -> Snapshot:
    """A cluster from files, directories and archives, together one snapshot; ``-`` is standard input.

    Without any path, the cluster of the current kubeconfig context. Raises SnapshotError, UsageError and ManifestError.
    """
    return load_files([str(path) for path in paths]) if paths else load_cluster(Access())


def explain(
    snapshot: Snapshot,
    pod: Mapping[str, Any] | str | Path,
    scheduler_config: str | Path | None = None,
    kube_version: str | None = None,
    preemption: bool = False,
    *,
    name: str | None = None,
    namespace: str | None = None,
    scheduler_name: str | None = None,
    feature_gates: str | None = None,
    admission: bool = True,
    default_toleration_seconds: bool = True,
    pod_node_selector: bool = False,
) -> ExplainReport:
    """What kube-scheduler would decide for ``pod`` on every node of ``snapshot``, and the arithmetic behind it.

    ``pod`` is a Pod or a workload, as an object, as the path of a manifest (``-``: standard input), or as KIND/NAME of one
    in the snapshot (``pod/web-0``, ``deploy/web``); ``name`` chooses among several workloads, ``namespace`` applies where
    the manifest names none. ``scheduler_config`` is a KubeSchedulerConfiguration, as a path or as text; ``kube_version``
    (1.18 to 1.36) is the release to behave like, the cluster's own where the snapshot knows it, else 1.36, with
    ``feature_gates`` (``Name=true,Other=false``) set; ``scheduler_name`` chooses another profile than the pod does;
    ``preemption`` asks what preemption would do when no node fits.
    ``admission`` is False where the pod is to be taken as it comes from the API server's defaulting, without its admission
    plugins; ``default_toleration_seconds`` and ``pod_node_selector`` are two of them that a cluster may run or not.
    Raises ManifestError, SnapshotError and UsageError.
    """
    plugins = AdmissionPlugins(admission, default_toleration_seconds, pod_node_selector)
    asked = _Asked(snapshot, pod, scheduler_config, kube_version, name, namespace, scheduler_name, feature_gates, plugins)
    chosen = asked.chosen
    report = explain_pod(asked.cluster, chosen.pod, asked.profile, chosen.notes, chosen.admission, preemption=preemption)
    return report.with_gaps(asked.gaps) if asked.gaps else report


class SimulateOptions(TypedDict, total=False):
    """What `simulate` and `simulate_together` take by name."""

    until_full: bool
    from_scratch: bool
    seed: int | None
    runs: int
    keys: Sequence[str]
    name: str | None
    namespace: str | None
    scheduler_name: str | None
    feature_gates: str | None
    admission: bool
    default_toleration_seconds: bool
    pod_node_selector: bool
    ties: Ties
    heard: Callable[[int], None] | None
    refused: Callable[[KubespreadError], None] | None


def simulate(
    snapshot: Snapshot,
    pod: Mapping[str, Any] | str | Path,
    replicas: int | None = None,
    scheduler_config: str | Path | None = None,
    kube_version: str | None = None,
    preemption: bool = False,
    **options: Unpack[SimulateOptions],
) -> SimulateReport:
    """Where kube-scheduler would put ``replicas`` copies of ``pod``, one after another, and what would stop it.

    The options are those of `simulate_together`. Raises ManifestError, SnapshotError and UsageError.
    """
    reports = simulate_together(snapshot, [pod], replicas, scheduler_config, kube_version, preemption, **options)
    if len(reports) > 1:
        names = ", ".join(str(report.workload or report.pod.name) for report in reports)
        raise UsageError(f"several workloads ({names}); choose one with name, or use simulate_together")
    return reports[0]


def simulate_together(
    snapshot: Snapshot,
    pods: Sequence[Mapping[str, Any] | str | Path],
    replicas: int | None = None,
    scheduler_config: str | Path | None = None,
    kube_version: str | None = None,
    preemption: bool = False,
    *,
    until_full: bool = False,
    from_scratch: bool = False,
    seed: int | None = None,
    runs: int = 1,
    keys: Sequence[str] = (),
    name: str | None = None,
    namespace: str | None = None,
    scheduler_name: str | None = None,
    feature_gates: str | None = None,
    admission: bool = True,
    default_toleration_seconds: bool = True,
    pod_node_selector: bool = False,
    ties: Ties = "scheduler",
    heard: Callable[[int], None] | None = None,
    refused: Callable[[KubespreadError], None] | None = None,
) -> tuple[SimulateReport, ...]:
    """The workloads of ``pods``, and of every manifest among them, placed as kube-scheduler's queue would have them.

    That is by priority, then in the order given; each one finds those before it in the cluster. ``replicas`` is each
    workload's own number unless given; with ``until_full`` as many are placed as fit. A workload that runs in the cluster
    already is grown to that number from the replicas it has; ``from_scratch`` takes those away first. Equal scores go to
    the smallest name, with ``seed`` to chance; ``runs`` repeats that with the seeds that follow. ``keys`` are topology
    keys to report about besides those of the constraints, zone and hostname. ``preemption`` asks what preemption would do
    for the first replica without a node. ``heard`` is told now and then how many replicas are placed; ``refused`` is told of
    workloads that the API server would not take, and the others are placed all the same: without it the first one raises.
    Everything else as for `explain`. Raises ManifestError, SnapshotError and UsageError.
    """
    if replicas is not None and replicas < 0:
        raise UsageError(f"replicas must be at least 0, not {replicas}")
    if runs < 1:
        raise UsageError(f"runs must be at least 1, not {runs}")
    chosen = [each for pod in pods for each in _workloads(pod, name)]
    plugins = AdmissionPlugins(admission, default_toleration_seconds, pod_node_selector)

    def ask(pod: PodSource, own: str | None) -> _Asked:
        return _Asked(snapshot, pod, scheduler_config, kube_version, own, namespace, scheduler_name, feature_gates, plugins)

    queue = _each(chosen, ask, refused)
    queue.sort(key=lambda asked: -priority_of(asked.chosen.pod))
    reports: list[SimulateReport] = []
    placed: list[Pod] = []
    for asked in queue:
        cluster = asked.cluster if not placed else asked.cluster.with_others(placed)
        candidate, version = asked.chosen, asked.profile.args.version
        if not version.since(SCORES_SINCE):
            raise UsageError(f"kube-scheduler {version}: where replicas land depends on scores, which are modelled since 1.{SCORES_SINCE}")
        present = [] if candidate.workload is None else present_replicas(cluster.pods, candidate.workload, snapshot.objects.replica_sets)
        if from_scratch:
            cluster, present = cluster.without_pods(present), []
        question = Question(
            pod=candidate.pod,
            replicas=None if until_full else max(0, (candidate.replicas if replicas is None else replicas) - len(present)),
            is_daemon=candidate.workload is not None and candidate.workload.kind == "DaemonSet",
            names=replica_names(candidate.pod, present),
            present=[cluster.node_index[found.spec.node_name] for found in present],
            seed=seed,
            runs=runs,
            preemption=preemption,
            keys=keys,
            heard=heard,
            workload=f"{candidate.workload.kind}/{candidate.workload.name}" if candidate.workload is not None else None,
            notes=candidate.notes,
            admission=candidate.admission,
        )
        if question.is_daemon and replicas is not None:
            raise UsageError(f"{question.workload}: a DaemonSet has no replicas, it runs one pod on every node it may run on")
        report = simulate_pod(cluster, asked.profile, question)
        reports.append(report.with_gaps(asked.gaps) if asked.gaps else report)
        placed += cluster.copies(candidate.pod, (cluster.node_index[placement.node] for placement in report.placements))
    return tuple(reports)


def _each(
    sources: Sequence[tuple[PodSource, str | None]],
    ask: Callable[[PodSource, str | None], _Asked],
    refused: Callable[[KubespreadError], None] | None,
) -> list[_Asked]:
    """The question of each workload. One that is refused leaves the others be where somebody hears of it, and some are left."""
    asked: list[_Asked] = []
    errors: list[KubespreadError] = []
    for source, name in sources:
        try:
            asked.append(ask(source, name))
        except (ManifestError, UsageError) as error:
            if refused is None:
                raise
            errors.append(error)
    last = None if asked else errors.pop()
    if refused is not None:
        for heard in errors:
            refused(heard)
    if last is not None:
        raise last
    return asked


PodSource = Mapping[str, Any] | str | Path | Manifest


def _workloads(pod: Mapping[str, Any] | str | Path, name: str | None) -> list[tuple[PodSource, str | None]]:
    """Every workload of a manifest unless one is named; a manifest is read once, as standard input must be."""
    if isinstance(pod, Mapping) or _is_reference(pod):
        return [(pod, name)]
    manifest = read_manifest(str(pod))
    if name is not None or len(manifest.workloads) < 2:
        return [(manifest, name)]
    return [(manifest, own) for own in manifest.workloads]


def _is_reference(pod: str | Path) -> bool:
    """A file of that name comes first."""
    return is_reference(str(pod)) and not Path(pod).exists()


class _Asked:
    """What a question comes down to: the pod, the cluster it is to be placed in, the profile, and what the source lacks."""

    def __init__(
        self,
        snapshot: Snapshot,
        pod: PodSource,
        scheduler_config: str | Path | None,
        kube_version: str | None,
        name: str | None,
        namespace: str | None,
        scheduler_name: str | None,
        feature_gates: str | None,
        plugins: AdmissionPlugins,
    ) -> None:
        origin = snapshot.origin
        version = KubeVersion.of_server(origin.server_version) if kube_version is None else KubeVersion.parse(kube_version)
        version = version.with_gates(feature_gates or "")
        surroundings = Surroundings(snapshot.objects, version, name, namespace, origin.namespace or DEFAULT_NAMESPACE, plugins)
        if isinstance(pod, Mapping):
            self.chosen = from_object(pod, surroundings)
        elif isinstance(pod, Manifest):
            self.chosen = from_manifest(pod, surroundings)
        elif _is_reference(pod):
            self.chosen, snapshot = from_cluster(str(pod), snapshot, surroundings)
        else:
            self.chosen = from_manifest(read_manifest(str(pod)), surroundings)
        self.profile = _profile(scheduler_config, scheduler_name or self.chosen.pod.spec.scheduler_name, version)
        self.cluster = Cluster(snapshot.nodes, snapshot.pods, _with_companions(snapshot.objects, self.chosen.companions))
        gaps = (*origin.gaps, *self.chosen.gaps)
        self.gaps = gaps if kube_version is not None else (*gaps, *_version_gap(origin.server_version, version))


def _version_gap(server_version: str, version: KubeVersion) -> Iterator[str]:
    """A server whose release is not among those that are modelled."""
    given = KubeVersion.minor_of(server_version)
    if given is not None and given != version.minor:
        yield f"the cluster runs {server_version}, which is not modelled: answers are those of {version}"


def _with_companions(objects: ClusterObjects, companions: Iterable[Mapping[str, Any]]) -> ClusterObjects:
    """The cluster's objects, with what the candidate's own workload adds first: it is the newer of two alike."""
    added = Snapshot.from_objects(companions).objects
    claims = _claims_to_come(objects, added)
    return replace(
        objects,
        persistent_volume_claims=(*objects.persistent_volume_claims, *claims),
        replication_controllers=(*added.replication_controllers, *objects.replication_controllers),
        replica_sets=(*added.replica_sets, *objects.replica_sets),
        stateful_sets=(*added.stateful_sets, *objects.stateful_sets),
    )


def _claims_to_come(objects: ClusterObjects, added: ClusterObjects) -> Iterable[PersistentVolumeClaim]:
    """Claims a StatefulSet would make for its new pod; nothing to go by where no StorageClass was listed."""
    known = {(claim.metadata.namespace, claim.metadata.name) for claim in objects.persistent_volume_claims}
    for claim in added.persistent_volume_claims if objects.knows(StorageClass) else ():
        if (claim.metadata.namespace, claim.metadata.name) not in known:
            default_storage_class(claim, objects.storage_classes)
            yield claim


def _profile(config: str | Path | None, scheduler_name: str, version: KubeVersion) -> Profile:
    profiles = (default_profile(version),) if config is None else _configured_profiles(config, version)
    for profile in profiles:
        if profile.scheduler_name == scheduler_name:
            return profile
    known = ", ".join(profile.scheduler_name for profile in profiles)
    raise UsageError(f'profile not found for scheduler name "{scheduler_name}"; profiles: {known}')


def _configured_profiles(config: str | Path, version: KubeVersion) -> tuple[Profile, ...]:
    file, text = _config_text(config)
    try:
        found = [document for document in documents(text) if document is not None]
        if len(found) != 1:
            raise ManifestError(file, [Fault(f"expected one KubeSchedulerConfiguration, found {len(found)} documents")])
        return load_profiles(found[0], version)
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error
    except ConfigurationError as error:
        line = FieldLines(text).line(0, error.path) if error.path else None
        raise ManifestError(file, [Fault(str(error), line=line)]) from error


def _config_text(config: str | Path) -> tuple[str, bytes]:
    """A path, unless the text has what no path has: a line break, or a brace to begin with."""
    given = str(config)
    try:
        if isinstance(config, str) and ("\n" in given or given.lstrip().startswith("{")):
            return _CONFIG_TEXT, text_bytes(os.fsencode(given), MAX_MANIFEST_BYTES)
        return display_name(given), read_text_bytes(given, MAX_MANIFEST_BYTES)
    except OSError as error:
        raise ManifestError(given, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(given, [error.fault]) from error
