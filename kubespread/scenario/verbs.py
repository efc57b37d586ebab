"""Events of a scenario besides edits, and all verbs there are:

    rollout [NAMESPACE/]KIND/NAME [MANIFEST | FIELD=VALUE...]     without either it is restarted
    rollback [NAMESPACE/]KIND/NAME
    restore NODES
    apply FILE... [FIELD=VALUE...]
    stuck [NAMESPACE/]KIND/NAME...                                ready [NAMESPACE/]KIND/NAME...

Words are quoted as in a shell where they hold blanks. A word with an equals sign is a field, as ``--set`` has them, any
other a manifest.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kubespread.candidate.settings import parse_settings
from kubespread.errors import UsageError
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadReference, parse_reference
from kubespread.snapshot.edits.pods import Spread
from kubespread.snapshot.edits.registry import EDITS
from kubespread.snapshot.edits.verb import FLAG, Form, OfNodes, Verb, parse_target, path_in

ROLLED_OUT = ("Deployment", "StatefulSet", "DaemonSet")
"""Kinds that replace pods when their template changes."""


class StepVerb(Verb, frozen=True):
    """Verb of scenarios alone: its text is words, as in a shell."""

    @classmethod
    def read(cls, text: str, directory: str | None = "") -> Verb:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UsageError(f"invalid step {f'{cls.form.verb} {text}'!r}: {error}") from error
        if flags := FLAG.findall(text):
            raise UsageError(f"{cls.form.verb} takes no flags, found {flags[0]}")
        if not words:
            raise UsageError(f"invalid step {cls.form.verb!r}: {cls.form.expectation}")
        return cls.parse_words(words, directory)

    @classmethod
    def parse_words(cls, words: Sequence[str], directory: str | None, /) -> Verb:
        """Raises UsageError."""
        raise NotImplementedError


class Rollout(StepVerb, frozen=True):
    """A workload gets another template; without one it is restarted."""

    form: ClassVar = Form("rollout", "[NAMESPACE/]KIND/NAME [MANIFEST | FIELD=VALUE...]")
    workload: WorkloadReference
    manifest: str | None = None
    """Path of the workload's new manifest."""
    settings: tuple[str, ...] = ()
    """Fields to change in it, as by ``--set``."""

    @classmethod
    def parse_words(cls, words: Sequence[str], directory: str | None, /) -> Verb:
        manifests, settings = _manifests_and_settings(words[1:], directory)
        if len(manifests) > 1:
            raise UsageError(f"rollout {words[0]}: expected one manifest, found {', '.join(manifests)}")
        return cls(_rolled_out(words[0], "rollout", ROLLED_OUT), next(iter(manifests), None), settings)


class Rollback(StepVerb, frozen=True):
    """A Deployment goes back to the template it had before."""

    form: ClassVar = Form("rollback", "[NAMESPACE/]KIND/NAME")
    workload: WorkloadReference

    @classmethod
    def parse_words(cls, words: Sequence[str], _directory: str | None, /) -> Verb:
        if len(words) > 1:
            raise UsageError(f"rollback: expected one workload, found {' '.join(words)}")
        workload = parse_reference(words[0])
        if workload.kind in ("StatefulSet", "DaemonSet"):
            raise UsageError(
                f"rollback {words[0]}: the ControllerRevisions of a {workload.kind} are not read; name the "
                "manifest to go back to in a rollout"
            )
        return cls(_rolled_out(words[0], "rollback", ("Deployment",)))


class Restore(OfNodes, StepVerb, frozen=True):
    """Failed nodes come back."""

    form: ClassVar = Form("restore", "NODES")

    @classmethod
    def parse_words(cls, words: Sequence[str], _directory: str | None, /) -> Verb:
        return cls(parse_target(" ".join(words)))


class Apply(StepVerb, frozen=True):
    """Manifests are applied: new objects are created, existing ones changed."""

    form: ClassVar = Form("apply", "FILE... [FIELD=VALUE...]")
    manifests: tuple[Any, ...]
    """Paths of files and directories, or workloads in any other accepted form."""
    settings: tuple[str, ...] = ()
    """Fields to change in each workload, as by ``--set``."""

    @classmethod
    def parse_words(cls, words: Sequence[str], directory: str | None, /) -> Verb:
        files, settings = _manifests_and_settings(words, directory)
        if not files:
            raise UsageError(f"invalid step {cls.form.verb!r}: {cls.form.expectation}")
        return cls(files, settings)


class Stuck(StepVerb, frozen=True):
    """From now on, new pods of these workloads never become ready."""

    form: ClassVar = Form("stuck", "[NAMESPACE/]KIND/NAME...")
    workloads: tuple[WorkloadReference, ...]

    @classmethod
    def parse_words(cls, words: Sequence[str], _directory: str | None, /) -> Verb:
        return cls(tuple(map(parse_reference, words)))


class Ready(Stuck, frozen=True):
    """Pods of workloads become ready again."""

    form: ClassVar = Form("ready", "[NAMESPACE/]KIND/NAME...")


# Constraints are there from the beginning, or come with a rollout.
_EDITS = (edit for edit in EDITS.values() if edit is not Spread)
_VERBS: tuple[type[Verb], ...] = (*_EDITS, Rollout, Rollback, Restore, Apply, Stuck, Ready)
VERBS: Mapping[str, type[Verb]] = {verb.form.verb: verb for verb in _VERBS}
"""Verbs by the first word of their text."""
KEYS: Mapping[str, type[Verb]] = {**VERBS, **{verb.form.name: verb for verb in _VERBS if verb.form.name}}
"""Verbs by the keys of a scenario."""


def _rolled_out(text: str, verb: str, kinds: Sequence[str]) -> WorkloadReference:
    workload = parse_reference(text)
    if workload.kind not in POD_CREATORS:
        raise UsageError(f"{verb} {text}: how the controller of a {workload.kind} replaces pods is not modeled")
    if workload.kind not in kinds:
        raise UsageError(f"{verb} {text}: a {workload.kind} has none, only a {', '.join(kinds)}")
    return workload


def _manifests_and_settings(words: Sequence[str], directory: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Raises UsageError."""
    settings = tuple(word for word in words if "=" in word)
    parse_settings(settings)
    return tuple(path_in(directory, word) for word in words if "=" not in word), settings
