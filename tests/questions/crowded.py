"""Which nodes hold more pods than a number: all there is to a question, in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

from kubespread.questions.question import Option, Question
from kubespread.questions.scene import Scene
from kubespread.reports.columns import Col
from kubespread.reports.parts import ClusterReference, Judgment, QuestionReport, Report


class CrowdedNode(Report, frozen=True):
    node: Annotated[str, Col()]
    pods: Annotated[int, Col(bad=True)]


class CrowdedReport(QuestionReport, frozen=True, kw_only=True):
    kind: str = "CrowdedReport"
    kube_version: str
    cluster: ClusterReference | None
    crowded_nodes: tuple[CrowdedNode, ...]
    gaps: tuple[str, ...]
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...]

    def judge(self) -> Judgment:
        return "no" if self.crowded_nodes else "yes"

    def sentences(self) -> Iterator[str]:
        yield f"{len(self.crowded_nodes)} nodes are crowded"


class Crowded(Question[CrowdedReport], frozen=True, kw_only=True):
    """Find the nodes that hold more pods than they are to."""

    name, summary, yes, no = "crowded", "Find crowded nodes.", "no node is crowded", "some node is"
    most: Annotated[int, Option("How many pods a node may hold.", metavar="N", least=0)] = 100

    @classmethod
    def report(cls) -> type[CrowdedReport]:
        return CrowdedReport

    def answer(self, scene: Scene) -> CrowdedReport:
        pods = Counter(pod.spec.node_name for pod in scene.edited_snapshot.pods if pod.spec.node_name)
        rows = tuple(CrowdedNode(node, number) for node, number in sorted(pods.items()) if number > self.most)
        return CrowdedReport(
            kube_version=str(scene.release),
            cluster=scene.source,
            crowded_nodes=rows,
            gaps=scene.gaps(()),
            notes=scene.notes,
        )
