"""Parts of several reports: their bases, findings, and constraints with the skew between their domains."""

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
    """Skew between counted domains, by their matching pods."""
    # Imported by those who count: questions that say what they report do not.
    import numpy as np

    return int(np.max(counts)) - minimum(counts, lacks_domains=lacks_domains) if len(counts) else 0


def minimum(counts: Sequence[int] | Counts, *, lacks_domains: bool = False) -> int:
    """Fewest matching pods; 0 below minDomains."""
    import numpy as np

    return 0 if lacks_domains or not len(counts) else int(np.min(counts))


def skew_of(matching: Sequence[int], constraint: ConstraintReport) -> int:
    """Skew of a constraint, given the matching pods of each domain."""
    counts = [count for count, domain in zip(matching, constraint.domains, strict=True) if domain.eligible_nodes]
    return skew_between(counts, lacks_domains=len(counts) < (constraint.min_domains or 1))


def skew_now(constraint: ConstraintReport) -> int:
    return skew_of([domain.matching for domain in constraint.domains], constraint)


NOT_READY = "not ready"


def closing_states(node: Node) -> Iterator[str]:
    """Yield ``cordoned`` and ``not ready``, as far as they apply."""
    if node.spec.unschedulable:
        yield "cordoned"
    if any(condition.type == READY and condition.status != "True" for condition in node.status.conditions):
        yield NOT_READY


API_VERSION = "kubespread.dev/v1alpha2"
Judgment = Literal["yes", "no", "unknown"]
WORDS: Mapping[Judgment, str] = {"yes": "", "no": "No: ", "unknown": ""}
"""First word of an answer by verdict; a yes needs none."""
_MAX_MISSING = 3
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(position: int) -> str:
    """``A`` to ``Z`` for the first 26 constraints, then ``C27``, ``C28`` ..."""
    return _LETTERS[position] if position < len(_LETTERS) else f"C{position + 1}"


class Report(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """Base of reports and their parts."""

    def to_json(self) -> bytes:
        """JSON as ``-o json`` prints it, without indentation."""
        return msgspec.json.encode(self, enc_hook=str)

    def to_dict(self) -> dict[str, Any]:
        """Data as ``-o json`` prints it."""
        plain = msgspec.json.decode(self.to_json())
        assert isinstance(plain, dict)
        return plain


class PodReference(Report, frozen=True):
    """The pod that an answer is about."""

    namespace: str
    name: str
    """Name of the pod; for one that a controller would create, a possible name."""


class ClusterReference(Report, frozen=True):
    """The cluster that an answer is about, as far as its source says."""

    context: str | None = None
    """Kubeconfig context of the cluster, also of a saved one; null if unknown."""
    server: str | None = None
    """URL of the API server; null if unknown."""
    snapshot: str | None = None
    """Files it was read from; null for a running cluster."""
    time: str | None = None
    """Time when the cluster was read, RFC 3339; null if unknown."""
    age_seconds: int | None = None
    """Seconds between that time and the answer; null if unknown."""
    server_version: str | None = None
    """Release of the API server, ``v1.36.2``; null if unknown."""


class Finding(Report, frozen=True, kw_only=True):
    """One thing that is wrong, or would be; ``words`` holds the sentence for each code."""

    words: ClassVar[Mapping[Any, Words]] = {}

    code: str
    """Kind of finding, the same in later answers."""
    level: str
    """Severity, as the question calls it."""
    subject: str = ""
    """NAMESPACE/Kind/name of the workload, or another name; empty for the whole cluster."""
    numbers: dict[str, Any] = {}
    """Figures and names in the text."""
    text: str
    """The finding in a sentence."""

    @classmethod
    def make(cls, code: Any, level: Any, *, numbers: Mapping[str, Any], **more: Any) -> Self:
        """Make a finding with the sentence for its code."""
        return cls(code=code, level=level, numbers=dict(numbers), text=cls.words[code].sentence(numbers), **more)

    @property
    def severity(self) -> Severity:
        """Level as CI systems call it."""
        return SEVERITIES[self.level]

    @property
    def title(self) -> str:
        """Short name of the finding."""
        return self.code

    @property
    def in_full(self) -> str:
        """The finding and its remedy, in one sentence."""
        return self.text

    @property
    def source_position(self) -> Position:
        """Place in a file; all None for objects of a cluster."""
        return Position()

    @property
    def fingerprint(self) -> str:
        """Hash that survives moved lines and changed numbers; empty for findings that are in no file."""
        return ""


class Position(msgspec.Struct, frozen=True):
    """Place of a field in a file."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    field: str = ""
    """Path within the object; empty for all of it."""


class RuleReport(Report, frozen=True):
    """A rule that makes findings."""

    code: str
    """``KS203``."""
    name: str
    """``closed-domains``."""
    severity: str
    """Default level of its findings."""
    needs_cluster: bool
    """True if it runs only with a cluster."""
    summary: str
    """Its findings, on one line."""
    documentation: str
    """Markdown."""

    @property
    def page(self) -> str:
        """The rule's section in ``docs/codes.md``."""
        needs = "needs a cluster" if self.needs_cluster else "needs no cluster"
        return f"## {self.code} {self.name}\n\n*{self.severity}, {needs}*\n\n{self.documentation}\n"

    @property
    def anchor(self) -> str:
        """Link to that section."""
        return f"{self.code.lower()}-{self.name}"


class SnapshotFinding(Finding, frozen=True):
    """Something the snapshot lacks, or that belongs to another cluster or hour, and puts answers in doubt."""

    meanings: ClassVar = {"code": SNAPSHOT}
    words: ClassVar = SNAPSHOT

    code: FindingCode
    """Kind of missing, or foreign, object."""
    level: Literal["warning"] = "warning"
    workloads: tuple[WorkloadName, ...] = ()
    """Affected workloads; empty for the whole cluster."""

    @property
    def doubted_verdicts(self) -> Sequence[Judgment]:
        """Verdicts that complete data might change: missing pods take room, and pods that seem lost for good may not
        be.
        """
        return ("yes",) if self.code in ("namespaces", "pods", "daemonPods", "owners") else ("yes", "no")


class Unfinished(Report, frozen=True):
    """Parts not done within the time limit. The rest of the report covers the finished parts, each completely."""

    timeout: str
    """Time limit of the answer, as Go prints durations: ``1m0s``."""
    what: str
    """Noun for the parts, in the singular: ``domain``, ``node``, ``workload``, ``run``."""
    finished: int
    """Number of finished parts."""
    missing: tuple[str, ...]
    """Names of the other parts, in order."""

    @property
    def sentence(self) -> str:
        """Progress, and the missing parts."""
        total = count_of(self.finished + len(self.missing), self.what)
        begin = f"not finished within {self.timeout}"
        if not self.finished:
            return f"{begin}: none of {total} done"
        missing = some_of(self.missing, _MAX_MISSING)
        return f"{begin}: {self.finished:,} of {total} done, not {missing}"


class Provenance(Report, frozen=True):
    """Origin of an answer, besides its cluster and release."""

    version: str
    """kubespread's version."""
    command: str
    """Command line, quoted for a shell."""
    time: str
    """Time of the answer, RFC 3339; SOURCE_DATE_EPOCH if set, for reproducible answers."""


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
    """Question asked: its name, and non-default parameters. Empty for a part of another answer."""
    doubts: tuple[str, ...] = ()
    snapshot_findings: tuple[SnapshotFinding, ...] = ()
    """Doubts about the snapshot that the answer rests on."""
    unfinished: Unfinished | None = None
    provenance: Provenance | None = None
    """Origin of the answer; null unless asked on the command line."""
    notes: tuple[str, ...] = ()

    is_yes_or_no: ClassVar[bool] = True
    """True if the verdict counts and is shown."""
    only_no_counts: ClassVar[bool] = False
    """True if every verdict counts as a yes unless `is_no`, or something is in doubt."""

    def conclude(
        self,
        findings: Iterable[SnapshotFinding] = (),
        undone: Sequence[str] = (),
        hints: Sequence[str] = (),
        **frame: Any,
    ) -> Self:
        """The report with its verdict and sentences, and other fields of ``frame``.

        ``findings`` put its snapshot in doubt; ``undone`` are earlier edits that failed in part, of which only trouble
        follows for sure; ``hints`` are noted unless it says yes.
        """
        own = tuple(finding for finding in findings if self.rests_on(finding))
        report = msgspec.structs.replace(self, snapshot_findings=own, **frame)
        verdict, sentences = report.judge(), tuple(report.sentences())
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
            verdict, sentences, doubts = "unknown", (text, *sentences), {text: ("yes",), **doubts}
        noted = {} if verdict == "yes" or not hints else {"notes": (*report.notes, *hints)}
        return msgspec.structs.replace(report, verdict=verdict, answer=sentences, doubts=tuple(doubts), **noted)

    def _doubts(self) -> Iterator[tuple[str, Sequence[Judgment]]]:
        """Yield unknowns of the cluster, each with the verdicts that it could change."""
        yield from ((finding.text, finding.doubted_verdicts) for finding in self.snapshot_findings)

    def rests_on(self, finding: SnapshotFinding) -> bool:
        """True if the finding could change the answer."""
        return not finding.workloads

    def judge(self) -> Judgment:
        """Verdict by the report's own data; `conclude` makes it unknown in doubt."""
        raise NotImplementedError

    def sentences(self) -> Iterator[str]:
        """Yield the sentences of the answer, the most important first."""
        raise NotImplementedError

    @property
    def is_no(self) -> bool:
        """True if enough is wrong for exit code 1, unless an option such as ``--fail-on`` sets another bar."""
        return self.verdict == "no"

    def exit_verdict(self, *, has_bar: bool) -> Judgment:
        """Verdict behind the exit code if no requirement is unmet; ``has_bar`` if an option replaces the verdict."""
        is_in_doubt = self.verdict == "unknown" and bool(self.doubts)
        is_met = has_bar or (self.only_no_counts and not self.is_no)
        verdict: Judgment = "yes" if not self.is_yes_or_no or (is_met and not is_in_doubt) else self.verdict
        return "unknown" if verdict == "yes" and self.unfinished is not None else verdict

    @property
    def word(self) -> str:
        """First word of the answer for people."""
        is_no = bool(self.unmet) or self.is_no
        return WORDS["no" if is_no else "yes"] if self.is_yes_or_no else ""

    @property
    def statements(self) -> tuple[str, ...]:
        """Sentences of the answer for people, below its doubts."""
        is_as_judged = not self.doubts and self.unfinished is None
        first, *others = (sentence for sentence in self.answer if sentence not in self.doubts)
        return (f"{self.word}{(is_as_judged and self.brief()) or first}", *others)

    def all_findings(self) -> Iterable[Finding]:
        """Findings for CI; by default the first sentence of an answer that is not yes, and each unmet requirement."""
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
        """Rules of the findings."""
        return ()

    def brief(self) -> str:
        """Short form of a long first sentence; else empty."""
        return ""

    def worst_finding(self) -> str:
        """The worst finding, if the first sentence only counts; else empty."""
        return ""

    @property
    def manner(self) -> str:
        """Differences from kube-scheduler's defaults, in a few words."""
        return ""

    @property
    def marks(self) -> tuple[str, str] | None:
        """Selector and namespace of the pods that a page marks on its map; None for no pods in particular."""
        return None


def exit_verdict(reports: Sequence[QuestionReport], *, has_bar: bool, is_in_part: bool) -> Judgment:
    """Verdict behind the exit code, unknown if the cluster was read in part.

    It is no if a requirement is not met, else the reports' own, with unknown before no.
    """
    if is_in_part:
        return "unknown"
    if any(report.unmet for report in reports):
        return "no"
    verdicts = [report.exit_verdict(has_bar=has_bar) for report in reports]
    if "unknown" in verdicts:
        return "unknown"
    return "no" if "no" in verdicts else "yes"


def release_phrase(kube_version: str) -> str:
    """``v1.37``, and a remark if it is not released."""
    return f"v{kube_version}{'' if KubeVersion.parse(kube_version).is_released else ' (not released)'}"


def scheduler_phrase(kube_version: str, cluster: ClusterReference | None) -> str:
    """``kube-scheduler v1.30``; empty for the cluster's own release, or the newest if that is unknown."""
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

    def _doubts(self) -> Iterator[tuple[str, Sequence[Judgment]]]:
        yield from super()._doubts()
        if all(finding.code != "claims" for finding in self.snapshot_findings):
            yield from ((gap, ("yes",)) for gap in self.gaps if isinstance(gap, Decisive))


def joined_gaps(own: Iterable[str], every: Iterable[str]) -> tuple[str, ...]:
    """``own`` gaps, each with the kinds of all gaps in ``every`` of the same consequence: ``no LimitRange,
    ResourceQuota objects: ...``.
    """
    kinds: dict[str, set[str]] = {}
    for gap in every:
        if gap.startswith("no "):
            named, _, consequence = gap.partition(" objects: ")
            kinds.setdefault(consequence, set()).update(named.removeprefix("no ").split(", "))

    def join(gap: str) -> str:
        _, _, consequence = gap.partition(" objects: ")
        if not gap.startswith("no ") or not consequence:
            return gap
        return type(gap)(f"no {', '.join(sorted(kinds[consequence]))} objects: {consequence}")

    return tuple(dict.fromkeys(map(join, own)))


class ScheduledReport(ClusterReport, frozen=True, kw_only=True):
    """Report on a cluster in which kube-scheduler keeps scheduling."""

    preemption: bool = True
    """True if pods that fit nowhere preempt others of lower priority, as by default."""

    def rests_on(self, finding: SnapshotFinding) -> bool:
        return True

    @property
    def manner(self) -> str:
        return manner_of(self.preemption)


class OfWorkloads(ScheduledReport, frozen=True, kw_only=True):
    """Report on workloads of a cluster."""

    asked: tuple[WorkloadName, ...] = ()
    """NAMESPACE/Kind/name of the workloads named in the question; empty for all selected ones."""
    namespace: str | None = None
    """Namespace of the selected workloads, or of names without one in the question; null for all."""
    selector: str = ""
    """Labels of the workloads; empty for all."""

    def rests_on(self, finding: SnapshotFinding) -> bool:
        # The Deployment of a missing ReplicaSet is not known.
        if self.asked and finding.workloads and finding.code != "owners":
            return not set(self.asked).isdisjoint(finding.workloads)
        own = set() if self.namespace is None else {self.namespace}
        namespaces = {name.namespace for name in self.asked} or own
        return not (namespaces and finding.workloads) or any(name.namespace in namespaces for name in finding.workloads)


def manner_of(preempts: bool) -> str:
    """Note on scheduling without preemption; empty otherwise."""
    return "" if preempts else "no preemption"


class CountedPod(Report, frozen=True):
    """A pod that a constraint's selector matches in a counted domain; a terminating one does not count."""

    namespace: str
    name: str
    """Name of the pod."""
    owner: str | None
    """Kind/name of its controller."""
    node: str
    terminating: bool
    """True if it has a deletionTimestamp and does not count."""


class Domain(Report, frozen=True, kw_only=False, gc=False):
    """One value of a topology key."""

    value: str
    matching: int
    """Number of matching pods on eligible nodes."""
    nodes: int
    """Number of nodes with this value."""
    eligible_nodes: int
    """Number of nodes that the constraint's policies include."""
    pods: tuple[CountedPod, ...] | None = None
    """Pods counted in ``matching``, by node and name, and matching terminating ones; only with ``--pods``."""
    not_counted: Literal["nodeAffinity", "nodeTaints", "topologyKeys"] | None = None
    """Reason no node of it counts: node affinity, untolerated taints, or the missing key of another constraint. Null if
    any counts.
    """


class DomainChange(Report, frozen=True, kw_only=False, gc=False):
    """Matching pods of one domain, before and after."""

    value: str
    before: int
    """Matching pods at first."""
    after: int
    """Matching pods in the end."""


class Range(Report, frozen=True):
    """The range of a figure over several runs."""

    minimum: int
    """The least."""
    median: int
    """The middle figure, the lower of two."""
    maximum: int
    """The most."""

    @classmethod
    def from_figures(cls, figures: Iterable[int]) -> Range:
        ordered = sorted(figures)
        return cls(minimum=ordered[0], median=ordered[(len(ordered) - 1) // 2], maximum=ordered[-1])

    @classmethod
    def from_differing(cls, figures: Iterable[int]) -> Range | None:
        """Range of the figures; None if all runs agree."""
        runs = cls.from_figures(figures)
        return None if runs.minimum == runs.maximum else runs


def range_of(number: int, runs: Range | None) -> str:
    """``2``, or ``1–3`` over several runs."""
    return f"{number:,}" if runs is None else f"{runs.minimum:,}–{runs.maximum:,}"


def exceeding(number: int, runs: Range | None, limit: int) -> str:
    """`` > 1``, and a remark that ties decide if only some runs exceed the limit; empty within it."""
    least, most = (number, number) if runs is None else (runs.minimum, runs.maximum)
    return f" > {limit:,}{', ties decide' if least <= limit else ''}" if most > limit else ""


class SkewChange(Report, frozen=True):
    """Skew of one constraint before and after: most minus fewest matching pods of the counted domains; the fewest is 0
    below minDomains.
    """

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    before: int
    """Skew at first."""
    after: int
    """Skew in the end."""
    after_runs: Range | None = None
    """``after`` over all runs; null for a single run, or if they agree."""

    @property
    def range_after(self) -> str:
        """``2``, or ``1–3`` over several runs."""
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
        """Skew in the end, in the worst run."""
        return self.after if self.after_runs is None else self.after_runs.maximum

    @property
    def is_violated(self) -> bool:
        """True if the skew in the end exceeds a hard constraint."""
        return self.when_unsatisfiable == DO_NOT_SCHEDULE and self.most_after > self.max_skew

    def is_of(self, other: SkewChange) -> bool:
        """True if both are about the same constraint."""
        own = self.topology_key, self.when_unsatisfiable, self.max_skew
        return own == (other.topology_key, other.when_unsatisfiable, other.max_skew)

    def merge(self, others: Sequence[SkewChange]) -> SkewChange:
        """The change, combined with other runs."""
        return msgspec.structs.replace(self, after_runs=Range.from_differing(side.after for side in (self, *others)))


class ConstraintReport(Report, frozen=True):
    """One constraint in force for the pod, with its defaults."""

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    min_domains: int | None
    selector: str
    node_affinity_policy: str
    node_taints_policy: str
    source: str
    self_match: int
    global_minimum: int | None
    """Fewest matching pods of any counted domain, 0 below minDomains; of a soft constraint, among the nodes that fit.
    Null if no domain counts.
    """
    domains: tuple[Domain, ...]
    """Every value on any node, by value."""

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE

    @property
    def counts_nothing(self) -> bool:
        """True if it has no labelSelector."""
        return self.selector == str(NOTHING)

    @property
    def minimum_text(self) -> str:
        """``min 1``; for a soft constraint, if other domains have fewer, ``min 1 where it fits``."""
        if self.global_minimum is None:
            return ""
        is_least = self.is_hard or self.global_minimum == min(domain.matching for domain in self.domains)
        return f"min {self.global_minimum}{'' if is_least else ' where it fits'}"

    def skew_with(self, matching: int, more: int) -> int:
        """Skew of a domain with ``matching`` pods once ``more`` are added."""
        return matching + more - (self.global_minimum or 0)


class PreemptedPod(Report, frozen=True):
    """A pod evicted to make room for one of higher priority."""

    pod: Annotated[NamespacedName, Col(header="PREEMPTED")]
    node: Annotated[str, Col()]
    """Node it ran on."""
    owner: str | None
    """Kind/name of its controller, which recreates it; null without one."""
    made_room_for: Annotated[NamespacedName, Col(header="FOR")]
    broken_budgets: Annotated[tuple[str, ...], Col()]


def preempted_pods(pods: Sequence[PreemptedPod], most: int) -> str:
    """Number of pods, at most ``most`` names, and the budgets that their eviction violates."""
    broken = dict.fromkeys(f"{pod.pod.namespace}/{name}" for pod in pods for name in pod.broken_budgets)
    breaking = f", breaking disruption budget{'' if len(broken) == 1 else 's'} {', '.join(broken)}" if broken else ""
    return f"{count_of(len(pods), 'pod')}: {some_of([pod.pod for pod in pods], most)}{breaking}"


class PreemptionReport(Report, frozen=True):
    """The preemption that kube-scheduler could choose."""

    node: str | None
    """Node that would be nominated; null if preemption does not help."""
    victims: tuple[NamespacedName, ...]
    """NAMESPACE/name of the pods evicted there, the most important first."""
    violations: int
    """Number of victims evicted against a disruption budget."""
    tail: str | None
    """End of the scheduler's message, without a node since 1.24, with one since 1.37; null if the release appends
    nothing.
    """

    @property
    def sentence(self) -> str:
        """Describe the effect of preemption."""
        if self.node is None:
            return f"preemption finds no node: {self.tail}" if self.tail else "preemption finds no node"
        violated = f", {self.violations:,} of them against a disruption budget" if self.violations else ""
        return f"preemption could free {self.node} by evicting {', '.join(self.victims)}{violated}"
