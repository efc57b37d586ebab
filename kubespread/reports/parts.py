"""Parts that several reports are made of.

What the environment and configuration files set. What keeps new pods away from a node whatever they tolerate: it is
cordoned, or not ready. How unevenly pods are spread over the domains of a constraint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import msgspec

from kubespread.kube.api.core import Node
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.selector import NOTHING
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import DO_NOT_SCHEDULE, READY
from kubespread.reports.columns import Col
from kubespread.reports.findings import SEVERITIES, SNAPSHOT, FindingCode, Severity, Words
from kubespread.wording import Decisive, count_of, some_of

if TYPE_CHECKING:
    from kubespread.scheduler.cluster.columns import Counts


def skew_between(counts: Sequence[int] | Counts, *, lacks_domains: bool = False) -> int:
    """Skew between the domains that count, by the pods that match in each."""
    # Imported by those who count: questions that say what they report do not.
    import numpy as np

    return int(np.max(counts)) - minimum(counts, lacks_domains=lacks_domains) if len(counts) else 0


def minimum(counts: Sequence[int] | Counts, *, lacks_domains: bool = False) -> int:
    """The least that a domain has; 0 where there are fewer than minDomains."""
    import numpy as np

    return 0 if lacks_domains or not len(counts) else int(np.min(counts))


def skew_of(matching: Sequence[int], constraint: ConstraintReport) -> int:
    """Skew between the domains of ``constraint`` that count, given the matching pods of each."""
    counts = [count for count, domain in zip(matching, constraint.domains, strict=True) if domain.eligible_nodes]
    return skew_between(counts, lacks_domains=len(counts) < (constraint.min_domains or 1))


def skew_now(constraint: ConstraintReport) -> int:
    """Skew between the domains of ``constraint`` that count, by the pods it counts now."""
    return skew_of([domain.matching for domain in constraint.domains], constraint)


NOT_READY = "not ready"


def closing_states(node: Node) -> Iterator[str]:
    """``cordoned``, ``not ready``, or both."""
    if node.spec.unschedulable:
        yield "cordoned"
    if any(condition.type == READY and condition.status != "True" for condition in node.status.conditions):
        yield NOT_READY


API_VERSION = "kubespread.dev/v1alpha2"
Judgment = Literal["yes", "no", "unknown"]
WORDS: Mapping[Judgment, str] = {"yes": "", "no": "No: ", "unknown": ""}
"""Beginning of an answer by its verdict: what is not a no says itself what it is."""
_MAX_MISSING = 3
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(position: int) -> str:
    """A, B, C ... for the constraints of a report, C27 and on past the alphabet."""
    return _LETTERS[position] if position < len(_LETTERS) else f"C{position + 1}"


class Report(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """Base of all reports and of their parts."""

    def to_json(self) -> bytes:
        """JSON that ``-o json`` prints, without indentation."""
        return msgspec.json.encode(self, enc_hook=str)

    def to_dict(self) -> dict[str, Any]:
        """Exactly what ``-o json`` prints."""
        plain = msgspec.json.decode(self.to_json())
        assert isinstance(plain, dict)
        return plain


class PodReference(Report, frozen=True):
    """The pod in question."""

    namespace: str
    name: str
    """Name in the manifest or of the pod; for a pod that a controller would create, one it could have."""


class ClusterReference(Report, frozen=True):
    """Cluster that an answer is about, as far as its source says."""

    context: str | None = None
    """Context of the kubeconfig; null for files."""
    server: str | None = None
    """The API server's URL; null where the source does not say."""
    snapshot: str | None = None
    """The files it was read from; null for a running cluster."""
    time: str | None = None
    """Time when the cluster was read, RFC 3339."""
    age_seconds: int | None = None
    """Seconds between that time and the answer."""
    server_version: str | None = None
    """The API server's own, ``v1.36.2``; null where the source does not say."""


class Finding(Report, frozen=True, kw_only=True):
    """One thing that is wrong, or would be. Its words are in a table; nobody words it again."""

    words: ClassVar[Mapping[Any, Words]] = {}

    code: str
    """Kind of finding; the same in later answers."""
    level: str
    """Severity, in the words of the question."""
    subject: str = ""
    """NAMESPACE/Kind/name of the workload that it is about, or another name; empty: the whole cluster."""
    numbers: dict[str, Any] = {}
    """Figures and names in the text."""
    text: str
    """The sentence."""

    @classmethod
    def of(cls, code: Any, level: Any, *, numbers: Mapping[str, Any], **more: Any) -> Self:
        """Word the finding by its table."""
        return cls(code=code, level=level, numbers=dict(numbers), text=cls.words[code].said(numbers), **more)

    @property
    def severity(self) -> Severity:
        """Level in the words of CI systems."""
        return SEVERITIES[self.level]

    @property
    def title(self) -> str:
        """Short name of what it is."""
        return self.code

    @property
    def in_full(self) -> str:
        """The problem and what mends it, in one sentence."""
        return self.text

    @property
    def located(self) -> Position:
        """Place in a file; all None for the objects of a cluster."""
        return Position()

    @property
    def fingerprint(self) -> str:
        """A hash that stays the same when lines move and numbers change; empty for what is in no file."""
        return ""


class Position(msgspec.Struct, frozen=True):
    """Place of a field in a file."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    field: str = ""
    """Path from the object on; empty for all of it."""


class RuleReport(Report, frozen=True):
    """A rule that findings are made by."""

    code: str
    """``KS203``."""
    name: str
    """``closed-domains``."""
    severity: str
    """The default level of its findings."""
    needs_cluster: bool
    """True if it is only asked where there is a cluster."""
    summary: str
    """Its findings, on one line."""
    documentation: str
    """Markdown."""

    @property
    def page(self) -> str:
        """The rule as ``docs/codes.md`` has it."""
        needs = "needs a cluster" if self.needs_cluster else "needs no cluster"
        return f"## {self.code} {self.name}\n\n*{self.severity}, {needs}*\n\n{self.documentation}\n"

    @property
    def anchor(self) -> str:
        """Link to its heading there."""
        return f"{self.code.lower()}-{self.name}"


class SnapshotFinding(Finding, frozen=True):
    """Something that the snapshot lacks, or has of another cluster or hour, so that answers from it are in doubt."""

    meanings: ClassVar = {"code": SNAPSHOT}
    words: ClassVar = SNAPSHOT

    code: FindingCode
    """Kind of object that is missing, or foreign."""
    level: Literal["warning"] = "warning"
    workloads: tuple[WorkloadName, ...] = ()
    """The workloads that it is about; empty: the whole cluster."""

    @property
    def refutes(self) -> Sequence[Judgment]:
        """The verdicts that may be others without it: pods that are missing take room, and those that nobody makes
        again are lost, so that a no is one.
        """
        return ("yes",) if self.code in ("namespaces", "pods", "daemonPods", "owners") else ("yes", "no")


class Unfinished(Report, frozen=True):
    """Parts that were not done before the time was up. The rest of the report is about what was, each part in full."""

    timeout: str
    """Time limit of the answer, as Go prints durations: ``1m0s``."""
    what: str
    """Noun for the parts, in the singular: ``domain``, ``node``, ``workload``, ``run``."""
    finished: int
    """Number of parts that are done."""
    missing: tuple[str, ...]
    """The names of the others, in the order in which they would have been done."""

    @property
    def sentence(self) -> str:
        """Progress of the answer, and the parts that are missing."""
        total = count_of(self.finished + len(self.missing), self.what)
        begin = f"not finished within {self.timeout}"
        if not self.finished:
            return f"{begin}: none of {total} done"
        missing = some_of(self.missing, _MAX_MISSING)
        return f"{begin}: {self.finished:,} of {total} done, not {missing}"


class Provenance(Report, frozen=True):
    """Origin of an answer, beside the cluster and the release that it names."""

    version: str
    """kubespread's own."""
    command: str
    """The question as it was typed, quoted for a shell."""
    time: str
    """Time of the answer, RFC 3339; SOURCE_DATE_EPOCH where that is set, for answers that are kept."""


class QuestionReport(Report, frozen=True, kw_only=True):
    """A report that answers a question. Whatever prints it prints its verdict and its sentences, and computes neither.

    Both are made of the report's own data once that is complete, so that no sentence contradicts the rows beside it. A
    report with a part missing never says yes.
    """

    api_version: str = API_VERSION
    kind: str = ""
    verdict: Judgment = "unknown"
    answer: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    question: dict[str, Any] = {}
    """Question asked: its name, and parameters that differ from its defaults. Empty for a part of another answer."""
    doubts: tuple[str, ...] = ()
    snapshot_findings: tuple[SnapshotFinding, ...] = ()
    """Findings on what the snapshot seems to lack, or has of another cluster or hour, if the answer rests on it."""
    unfinished: Unfinished | None = None
    provenance: Provenance | None = None
    """Origin of the answer; null where it was not asked for on the command line."""
    notes: tuple[str, ...] = ()

    is_yes_or_no: ClassVar[bool] = True
    """True if the question is a yes-or-no one; otherwise nothing is shown of the verdict, and it does not count."""
    only_no_counts: ClassVar[bool] = False
    """True if whatever is not enough for a no is a yes, once nothing is in doubt."""

    def concluded(
        self,
        findings: Iterable[SnapshotFinding] = (),
        undone: Sequence[str] = (),
        hints: Sequence[str] = (),
        **frame: Any,
    ) -> Self:
        """The report with its verdict and its answer, and with what frames them: the ``findings`` of the snapshot that
        it rests on, steps before it that were ``undone``, of which only trouble follows for sure, ``hints`` to be noted
        where it does not say yes, and other fields.
        """
        own = tuple(finding for finding in findings if self.rests_on(finding))
        report = msgspec.structs.replace(self, snapshot_findings=own, **frame)
        verdict, sentences = report.judged(), tuple(report.sentences())
        doubts = dict(report._doubts())
        if doubts and (verdict == "unknown" or any(verdict in doubted for doubted in doubts.values())):
            verdict, sentences = "unknown", (f"as far as the snapshot goes: {sentences[0]}", *sentences[1:])
        if self.unfinished is not None:
            missing, so_far = self.unfinished.sentence, tuple(f"so far: {sentence}" for sentence in sentences[:1])
            if verdict == "no":
                sentences = (*so_far, missing, *sentences[1:])
            else:
                verdict, sentences = (
                    "unknown",
                    (missing, *so_far, *sentences[1:]) if self.unfinished.finished else (missing,),
                )
        if undone and verdict != "no":
            text = f"{', '.join(undone)}: not done in full, so what follows is not known"
            verdict, sentences = "unknown", (text, *sentences)
        noted = {} if verdict == "yes" or not hints else {"notes": (*report.notes, *hints)}
        return msgspec.structs.replace(report, verdict=verdict, answer=sentences, doubts=tuple(doubts), **noted)

    def _doubts(self) -> Iterator[tuple[str, Sequence[Judgment]]]:
        """Yield what is not known of the cluster, and the verdicts that may be others if it were."""
        yield from ((finding.text, finding.refutes) for finding in self.snapshot_findings)

    def rests_on(self, finding: SnapshotFinding) -> bool:
        """True if the answer rests on what is in doubt."""
        return not finding.workloads

    def judged(self) -> Judgment:
        """Verdict on the question as it was asked; a no is one whatever is missing."""
        raise NotImplementedError

    def sentences(self) -> Iterator[str]:
        """The answer itself first."""
        raise NotImplementedError

    @property
    def is_no(self) -> bool:
        """True if enough is wrong for a no, where the question itself sets no other bar."""
        return self.verdict == "no"

    def outcome(self, *, has_bar: bool) -> Judgment:
        """The verdict as far as it counts where all requirements are met; ``has_bar`` is True where an option says what
        a no is. A yes with a part missing is unknown.
        """
        is_in_doubt = self.verdict == "unknown" and bool(self.doubts)
        is_met = has_bar or (self.only_no_counts and not self.is_no)
        verdict: Judgment = "yes" if not self.is_yes_or_no or (is_met and not is_in_doubt) else self.verdict
        return "unknown" if verdict == "yes" and self.unfinished is not None else verdict

    @property
    def word(self) -> str:
        """Beginning of the answer where people read it; machines have the verdict beside it."""
        is_no = bool(self.unmet) or self.is_no
        return WORDS["no" if is_no else "yes"] if self.is_yes_or_no else ""

    @property
    def said(self) -> tuple[str, ...]:
        """The answer as people read it."""
        is_as_judged = not self.doubts and self.unfinished is None
        return (f"{self.word}{(is_as_judged and self.brief()) or self.answer[0]}", *self.answer[1:])

    def found(self) -> Iterable[Finding]:
        """Findings; where a question does not say them one by one, that its answer is no, or not known."""
        level = "error" if self.unmet or self.is_no else "warning" if self.verdict == "unknown" else ""
        if level and (self.is_yes_or_no or self.unmet):
            code = self.kind.removesuffix("Report").lower()
            yield from (Finding(code=code, level=level, text=text) for text in (self.answer[0], *self.unmet))

    @property
    def bar(self) -> Severity:
        """The least severity that fails a job."""
        return "error"

    @property
    def pages(self) -> Sequence[RuleReport]:
        """The rules that made its findings."""
        return ()

    def brief(self) -> str:
        """Short form of the first sentence where that is long; empty elsewhere."""
        return ""

    def worst_finding(self) -> str:
        """The worst that is wrong, where the answer itself only counts; empty elsewhere."""
        return ""

    @property
    def manner(self) -> str:
        """Differences from kube-scheduler's defaults, in a few words."""
        return ""

    @property
    def marks(self) -> tuple[str, str] | None:
        """The labels and the namespace of the pods that a picture of the cluster marks; None: no pods in particular."""
        return None


def outcome(reports: Sequence[QuestionReport], *, has_bar: bool, is_in_part: bool) -> Judgment:
    """Verdict of a question: unknown where its cluster was read in part, no where a requirement is not met, else that
    of its reports.
    """
    if is_in_part:
        return "unknown"
    if any(report.unmet for report in reports):
        return "no"
    outcomes = [report.outcome(has_bar=has_bar) for report in reports]
    if "unknown" in outcomes:
        return "unknown"
    return "no" if "no" in outcomes else "yes"


def release_phrase(kube_version: str) -> str:
    """``v1.37``, and of one that is not released that it is not."""
    return f"v{kube_version}{'' if KubeVersion.parse(kube_version).is_released else ' (not released)'}"


def scheduler_phrase(kube_version: str, cluster: ClusterReference | None) -> str:
    """``kube-scheduler v1.30``; empty where that goes without saying: it is the cluster's own release or, where the
    cluster does not say which that is, the newest.
    """
    version, own = KubeVersion.parse(kube_version), "" if cluster is None else cluster.server_version or ""
    is_modelled = not own or KubeVersion.minor_of(own) == version.minor
    if version.is_released and is_modelled and KubeVersion.of_server(own) == version:
        return ""
    return f"kube-scheduler {release_phrase(kube_version)}"


class ClusterReport(QuestionReport, frozen=True, kw_only=True):
    """An answer about one cluster of one release."""

    kube_version: str
    cluster: ClusterReference | None = None
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "gaps", tuple(_widest(self.gaps)))

    def _doubts(self) -> Iterator[tuple[str, Sequence[Judgment]]]:
        yield from super()._doubts()
        if all(finding.code != "claims" for finding in self.snapshot_findings):
            yield from ((gap, ("yes",)) for gap in self.gaps if isinstance(gap, Decisive))


def _widest(gaps: Sequence[str]) -> Iterator[str]:
    """The gaps, without one of kinds that are all in another: ``no LimitRange, ResourceQuota objects: ...``."""
    split = [
        (set(kinds.removeprefix("no ").split(", ")), rest)
        for kinds, _, rest in (gap.partition(" objects: ") for gap in gaps)
    ]
    for gap, (own, consequence) in zip(gaps, split, strict=True):
        if not any(own < other and consequence == rest for other, rest in split):
            yield gap


class ScheduledReport(ClusterReport, frozen=True, kw_only=True):
    """Report about a cluster in which kube-scheduler keeps scheduling."""

    preemption: bool = True
    """True if pods evict others of lower priority where they fit nowhere, as kube-scheduler lets them by default."""

    def rests_on(self, finding: SnapshotFinding) -> bool:
        return True

    @property
    def manner(self) -> str:
        return manner_of(self.preemption)


class OfWorkloads(ScheduledReport, frozen=True, kw_only=True):
    """A report about workloads of a cluster."""

    asked: tuple[WorkloadName, ...] = ()
    """The workloads named in the question, NAMESPACE/Kind/name; empty if it is about all selected ones."""
    namespace: str | None = None
    """The namespace of the workloads in question, null for all."""
    selector: str = ""
    """The labels of those workloads, empty for all."""

    def rests_on(self, finding: SnapshotFinding) -> bool:
        # Of a ReplicaSet that is not there nobody knows whose it is.
        if self.asked and finding.workloads and finding.code != "owners":
            return not set(self.asked).isdisjoint(finding.workloads)
        asked = {name.namespace for name in self.asked} or ({self.namespace} if self.namespace is not None else set())
        return not (asked and finding.workloads) or any(name.namespace in asked for name in finding.workloads)


def manner_of(preempts: bool) -> str:
    """Note on how pods are scheduled, where that is not as kube-scheduler does it by default."""
    return "" if preempts else "no preemption"


class CountedPod(Report, frozen=True):
    """A pod that a constraint's selector matches, in a domain where pods count. A terminating one is not counted."""

    namespace: str
    name: str
    """The pod's."""
    owner: str | None
    """Kind/name of its controller."""
    node: str
    """The name of its node."""
    terminating: bool
    """True if it has a deletionTimestamp, and so is not counted."""


class Domain(Report, frozen=True, kw_only=False, gc=False):
    """One value of a topology key. ``matching`` counts pods on eligible nodes only."""

    value: str
    """Value of the label on its nodes."""
    matching: int
    """Number of pods there that the constraint's selector matches."""
    nodes: int
    """Number of nodes with this value."""
    eligible_nodes: int
    """Number of those nodes that the constraint's policies let count."""
    pods: tuple[CountedPod, ...] | None = None
    """The pods behind ``matching``, by node and name, and those that match and are terminating; only when asked for."""
    not_counted: Literal["nodeAffinity", "nodeTaints", "topologyKeys"] | None = None
    """Reason none of its nodes counts: none matches nodeSelector and node affinity, those that do have taints that the
    pod does not tolerate, or lack the key of another constraint. Null where some count.
    """


class DomainChange(Report, frozen=True, kw_only=False, gc=False):
    """Matching pods of one domain, before and after what happens in the question."""

    value: str
    """Value of the label on its nodes."""
    before: int
    """Matching pods at first."""
    after: int
    """Matching pods in the end."""


class Range(Report, frozen=True):
    """The range of a figure over several runs."""

    minimum: int
    """The least."""
    median: int
    """The one in the middle, the lower of two."""
    maximum: int
    """The most."""

    @classmethod
    def of(cls, figures: Iterable[int]) -> Range:
        ordered = sorted(figures)
        return cls(minimum=ordered[0], median=ordered[(len(ordered) - 1) // 2], maximum=ordered[-1])

    @classmethod
    def over(cls, figures: Iterable[int]) -> Range | None:
        """Range of the figures; None where all runs agree."""
        found = cls.of(figures)
        return None if found.minimum == found.maximum else found


def range_of(number: int, runs: Range | None) -> str:
    """``2``, or ``1–3`` over all runs."""
    return f"{number:,}" if runs is None else f"{runs.minimum:,}–{runs.maximum:,}"


def exceeding(number: int, runs: Range | None, limit: int) -> str:
    """`` > 1``, and that ties decide where a number exceeds its limit only at its most; empty where it never does."""
    least, most = (number, number) if runs is None else (runs.minimum, runs.maximum)
    return f" > {limit:,}{', ties decide' if least <= limit else ''}" if most > limit else ""


class SkewChange(Report, frozen=True):
    """Most minus least matching pods of the domains that count; the least is 0 while they are fewer than minDomains."""

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    before: int
    """Skew at first."""
    after: int
    """Skew in the end."""
    after_runs: Range | None = None
    """``after`` over all runs; null where they agree, or where there is one."""

    @property
    def range_after(self) -> str:
        """``2``, or ``1–3`` over all runs."""
        return range_of(self.after, self.after_runs)

    @property
    def exceeds(self) -> str:
        """`` > 1``; empty within maxSkew."""
        return exceeding(self.after, self.after_runs, self.max_skew)

    @property
    def figures(self) -> str:
        """``4 → 2, above 1``."""
        moved = dict.fromkeys((str(self.before), self.range_after))
        return " → ".join(moved) + self.exceeds.replace(" >", ", above")

    @property
    def most_after(self) -> int:
        """Skew in the end, where chance falls worst."""
        return self.after if self.after_runs is None else self.after_runs.maximum

    @property
    def is_violated(self) -> bool:
        """True if the skew is now larger than a hard constraint allows for new pods; a soft one asks for nothing."""
        return self.when_unsatisfiable == DO_NOT_SCHEDULE and self.most_after > self.max_skew

    def is_of(self, other: SkewChange) -> bool:
        """True if both are about the same constraint."""
        own = self.topology_key, self.when_unsatisfiable, self.max_skew
        return own == (other.topology_key, other.when_unsatisfiable, other.max_skew)

    def over(self, others: Sequence[SkewChange]) -> SkewChange:
        """Change over several runs."""
        return msgspec.structs.replace(self, after_runs=Range.over(side.after for side in (self, *others)))


class ConstraintReport(Report, frozen=True):
    """One constraint in force for the pod, its defaults filled in."""

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    min_domains: int | None
    selector: str
    node_affinity_policy: str
    node_taints_policy: str
    source: str
    self_match: int
    """1 where the selector matches the pod itself, else 0."""
    global_minimum: int | None
    """The fewest matching pods of any domain that counts, 0 while these are fewer than minDomains; of a soft
    constraint among the nodes that fit. Null where no domain counts.
    """
    domains: tuple[Domain, ...]
    """Every value that some node has, by value."""

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE

    @property
    def counts_nothing(self) -> bool:
        """True if it has no labelSelector."""
        return self.selector == str(NOTHING)

    @property
    def minimum_text(self) -> str:
        """``min 1``; a soft constraint's, where others have fewer, ``min 1 where it fits``."""
        if self.global_minimum is None:
            return ""
        is_least = self.is_hard or self.global_minimum == min(domain.matching for domain in self.domains)
        return f"min {self.global_minimum}{'' if is_least else ' where it fits'}"

    def skew_with(self, matching: int, more: int) -> int:
        """Skew of a domain that has ``matching`` pods once ``more`` come."""
        return matching + more - (self.global_minimum or 0)


class PreemptedPod(Report, frozen=True):
    """A pod that was evicted to make room for one of higher priority."""

    pod: Annotated[NamespacedName, Col(header="PREEMPTED")]
    """NAMESPACE/name."""
    node: Annotated[str, Col()]
    """Node it ran on."""
    owner: str | None
    """Kind/name of its controller, which makes another one; null where it has none."""
    made_room_for: Annotated[NamespacedName, Col(header="FOR")]
    """NAMESPACE/name of the pod that took its place."""
    broken_budgets: Annotated[tuple[str, ...], Col()]
    """The names of the disruption budgets that did not allow it, in its namespace."""


def preempted_pods(pods: Sequence[PreemptedPod], most: int) -> str:
    """Number of pods, their names as far as ``most`` allows, and the budgets that their eviction breaks."""
    broken = dict.fromkeys(f"{pod.pod.namespace}/{name}" for pod in pods for name in pod.broken_budgets)
    breaking = f", breaking disruption budget{'' if len(broken) == 1 else 's'} {', '.join(broken)}" if broken else ""
    return f"{count_of(len(pods), 'pod')}: {some_of([pod.pod for pod in pods], most)}{breaking}"


class PreemptionReport(Report, frozen=True):
    """One preemption kube-scheduler could choose.

    ``tail`` is what its message ends with: without a node since 1.24, with one since 1.37.
    """

    node: str | None
    """The node that would be nominated; null where preemption does not help."""
    victims: tuple[NamespacedName, ...]
    """NAMESPACE/name of the pods that would be evicted there, the most important first."""
    violations: int
    """Number of victims whose eviction violates a disruption budget."""
    tail: str | None
    """Ending of the scheduler's message; null where the release appends nothing."""

    @property
    def sentence(self) -> str:
        """Sentence on what preemption would do."""
        if self.node is None:
            return f"preemption finds no node: {self.tail}" if self.tail else "preemption finds no node"
        violated = f", against {count_of(self.violations, 'disruption budget')}" if self.violations else ""
        return f"preemption could free {self.node} by evicting {', '.join(self.victims)}{violated}"
