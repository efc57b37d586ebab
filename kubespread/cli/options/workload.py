"""What is asked about: manifests, or workloads of the cluster, and which of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from kubespread.cli.options import spelling

if TYPE_CHECKING:
    from kubespread.candidate.input.sources import Choosing

PodArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[POD]",
        show_default=False,
        help="Manifest of a Pod or workload, '-' for standard input, or KIND/NAME in the cluster (pod/web-0, "
        "deploy/web, deploy web). Default: standard input when piped, else pod.yaml.",
    ),
]


class WorkloadKeywords(TypedDict):
    """What all questions of the library about a workload take."""

    name: str | None
    namespace: str | None
    recursive: bool
    template_path: str
    set: list[str]


@dataclass(frozen=True, slots=True)
class WorkloadOptions:
    """Which workload is asked about, how manifests are read, and what is changed in it."""

    filename: Annotated[
        list[str] | None,
        spelling.filename("Manifest, or directory of manifests; the same as without -f. Repeatable."),
    ] = None
    kustomize: Annotated[
        list[str] | None,
        spelling.valued(
            "-k",
            "--kustomize",
            metavar="DIRECTORY",
            help="Kustomization, built by the kustomize or kubectl on the PATH. Repeatable.",
        ),
    ] = None
    recursive: Annotated[bool, typer.Option("-R", "--recursive", help="Also read subdirectories.")] = False
    template_path: Annotated[
        str | None,
        spelling.valued(
            "--template-path",
            metavar="PATH",
            help="Path of the pod template in kinds unknown to kubespread (default: spec.template).",
        ),
    ] = None
    namespace: Annotated[
        str | None,
        spelling.namespace("Namespace to use when the manifest sets none."),
    ] = None
    name: Annotated[
        str | None,
        spelling.valued(
            "--name", metavar="NAME", help="Workload to use when there are several (NAME, Kind/NAME or NS/Kind/NAME)."
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        spelling.valued(
            "--set",
            metavar="FIELD=VALUE",
            help="Change the pod before it is admitted: maxSkew[zone]=2, minDomains[zone]=3, "
            "whenUnsatisfiable[zone]=ScheduleAnyway, nodeTaintsPolicy[zone]=Honor, nodeAffinityPolicy[zone]=Ignore, "
            "cpu=500m, memory[CONTAINER]=1Gi, tolerations=KEY=VALUE:EFFECT, nodeSelector[KEY]=VALUE, "
            "nodeAffinity[KEY]=null, podAffinity[KEY]=null, podAntiAffinity[KEY]=null, "
            "priorityClassName=NAME, replicas=N. Repeatable.",
        ),
    ] = None

    def choosing(self) -> Choosing:
        """Which of the workloads that are named are meant: a group with more options than these has more to say."""
        from kubespread.candidate.input.sources import Choosing

        return Choosing(
            self.name,
            self.namespace,
            getattr(self, "selector", None) or "",
            recursive=self.recursive,
            template_path=self.template_path or "",
        )

    def keywords(self) -> WorkloadKeywords:
        """The same as keywords."""
        return {
            "name": self.name,
            "namespace": self.namespace,
            "recursive": self.recursive,
            "template_path": self.template_path or "",
            "set": self.settings or [],
        }


@dataclass(frozen=True, slots=True)
class SelectionOptions(WorkloadOptions):
    """Which workloads of manifests or of a cluster are asked about."""

    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Place every Deployment, StatefulSet, DaemonSet, ReplicaSet and ReplicationController of the "
            "namespace, or every workload of the kinds given as POD (deploy,sts).",
        ),
    ] = False
    selector: Annotated[
        str | None,
        spelling.selector(
            "Place the workloads with these labels (app=web,tier!=db); without a manifest those of the cluster."
        ),
    ] = None
    all_namespaces: Annotated[
        bool, spelling.all_namespaces("Place the workloads of all namespaces of the cluster.")
    ] = False
