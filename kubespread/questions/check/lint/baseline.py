"""Findings that are known and left: a file of fingerprints, which do not change when lines move or numbers do."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from kubespread.errors import Fault, ManifestError
from kubespread.questions.check.report import Finding


class KnownFinding(msgspec.Struct, rename="camel", frozen=True):
    """One that is left; all but the fingerprint is for people."""

    fingerprint: str
    code: str = ""
    workload: str | None = None
    field: str = ""


class Baseline(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    api_version: Literal["kubespread.dev/v1alpha1"] = "kubespread.dev/v1alpha1"
    kind: Literal["CheckBaseline"] = "CheckBaseline"
    findings: tuple[KnownFinding, ...]


def fingerprinted(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings with their fingerprints, made from code, workload and field; equal ones are numbered.

    File names and the numbers in messages are left out, so files may be renamed and clusters may grow. Findings
    without a workload use their file instead.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        key = (finding.code, finding.workload or finding.file or "", finding.field)
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        yield msgspec.structs.replace(finding, fingerprint=hashlib.sha256(text.encode()).hexdigest()[:32])


def without_known(findings: Sequence[Finding], baseline: Baseline) -> tuple[list[Finding], int]:
    """The findings that ``baseline`` does not know, and how many of those it knows are gone."""
    accepted = {finding.fingerprint for finding in baseline.findings}
    new = [finding for finding in findings if finding.fingerprint not in accepted]
    return new, len(accepted - {finding.fingerprint for finding in findings})


def baseline_of(findings: Iterable[Finding]) -> Baseline:
    return Baseline(
        findings=tuple(
            KnownFinding(finding.fingerprint, finding.code, finding.workload, finding.field) for finding in findings
        )
    )


def encoded(baseline: Baseline) -> bytes:
    """The file, a line for each field, so that a diff shows what came and went."""
    return msgspec.json.format(msgspec.json.encode(baseline, enc_hook=str), indent=2) + b"\n"


def decoded(text: bytes, file: str) -> Baseline:
    """Raises ManifestError for what is no baseline."""
    try:
        return msgspec.json.decode(text, type=Baseline)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ManifestError(file, [Fault(f"not a baseline of kubespread check: {error}")]) from error
