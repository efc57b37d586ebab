"""Steps as text: every edit of the command line, and beside them

    rollout [NAMESPACE/]KIND/NAME [MANIFEST | FIELD=VALUE...]     without either it is restarted
    rollback [NAMESPACE/]KIND/NAME
    restore NODES
    apply FILE... [--set FIELD=VALUE]... [--replicas N] [--name NAME]
    upgrade NODES [--surge N] [--batch N] [--force]
    stuck [NAMESPACE/]KIND/NAME...    ready [NAMESPACE/]KIND/NAME...

Words are quoted as in a shell where they hold blanks. A word with an equals sign is a field, any other a manifest.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kubespread.candidate.settings import parse_settings
from kubespread.errors import UsageError
from kubespread.kube.api.kinds import REFERABLE, kind_called
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.scenario.types import Action, Apply, Named, Restore, Rollback, Rollout, Step, Upgrade
from kubespread.snapshot.edits.target import parse_target
from kubespread.snapshot.edits.text import VERBS as EDIT_VERBS
from kubespread.snapshot.edits.text import parse, path_in

_NAMED = re.compile(r"(?:(?P<namespace>[^/=\s]+)/)?(?P<kind>[^/=\s]+)/(?P<name>[^/=\s]+)")
_NUMBER = re.compile(r"[0-9]{1,9}")
ROLLED_OUT = ("Deployment", "StatefulSet", "DaemonSet")
"""The kinds whose pods are replaced when their template changes."""


def parse_step(text: str, directory: str | None = "") -> Step:
    """The step that ``text`` stands for; paths in it are relative to ``directory``, with None there may be none.

    Raises UsageError, and ManifestError for the manifest of a new node that the API server would refuse.
    """
    verb, _, rest = text.strip().partition(" ")
    if verb in EDIT_VERBS:
        return Step(text.strip(), parse(text, directory))
    if verb not in _READERS:
        known = (*EDIT_VERBS, *_READERS)
        meant = did_you_mean(near_miss(verb, known)) or f"; the steps are {', '.join(known)}"
        raise UsageError(f"unknown step {verb!r}{meant}")
    reads, usage = _READERS[verb]
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"invalid step {text.strip()!r}: {error}") from error
    if not words:
        raise UsageError(f"invalid step {verb!r}: expected {verb} {usage}")
    return replace(reads(words, directory), text=text.strip())


def named(text: str) -> Named:
    """``deploy/web`` or ``shop/deploy/web``. Raises UsageError."""
    match = _NAMED.fullmatch(text)
    if match is None:
        raise UsageError(f"invalid workload {text!r}: expected [NAMESPACE/]KIND/NAME, such as deploy/web")
    kind = kind_called(match["kind"])
    if kind is None:
        known = [alias for row in REFERABLE for alias in (row.short, row.kind.lower(), row.plural)]
        meant = did_you_mean(near_miss(match["kind"], known))
        listed = ", ".join(row.short for row in REFERABLE if row.kind != "Pod")
        raise UsageError(f"unknown kind {match['kind']!r}{meant or f'; KIND is one of {listed}'}")
    return Named(kind.kind, match["name"], match["namespace"])


def _rolled_out(text: str, verb: str, kinds: Sequence[str]) -> Named:
    workload = named(text)
    if workload.kind not in kinds:
        raise UsageError(f"{verb} {text}: a {workload.kind} has none, only a {', '.join(kinds)}")
    return workload


def _rollout(words: list[str], directory: str | None) -> Step:
    manifests = [word for word in words[1:] if "=" not in word]
    if len(manifests) > 1:
        raise UsageError(f"rollout {words[0]}: expected one manifest, found {', '.join(manifests)}")
    settings = [word for word in words[1:] if "=" in word]
    return _step(rollout(words[0], manifests[0] if manifests else None, settings, directory))


def rollout(workload: str, manifest: str | None, settings: Sequence[str], directory: str | None) -> Rollout:
    """Raises UsageError."""
    rolled_out = _rolled_out(workload, "rollout", ROLLED_OUT)
    parse_settings(settings)
    return Rollout(rolled_out, None if manifest is None else path_in(directory, manifest), tuple(settings))


def _rollback(words: list[str], _directory: str | None) -> Step:
    if len(words) > 1:
        raise UsageError(f"rollback: expected one workload, found {' '.join(words)}")
    return _step(rollback(words[0]))


def rollback(text: str) -> Rollback:
    """Of a workload, [NAMESPACE/]KIND/NAME. Raises UsageError."""
    workload = named(text)
    if workload.kind in ("StatefulSet", "DaemonSet"):
        raise UsageError(
            f"rollback {text}: the ControllerRevisions of a {workload.kind} are not read; name the manifest to go "
            "back to in a rollout"
        )
    return Rollback(_rolled_out(text, "rollback", ("Deployment",)))


def _restore(words: list[str], _directory: str | None) -> Step:
    return _step(Restore(parse_target(" ".join(words))))


def _apply(words: list[str], directory: str | None) -> Step:
    files, flags = _with_flags(words, ("--set", "--replicas", "--name"), (), "apply")
    if not files:
        raise UsageError("apply: expected the manifests to apply")
    settings = [value for flag, value in flags if flag == "--set"]
    given = dict(flags)
    replicas = _number(given["--replicas"], "apply --replicas") if "--replicas" in given else None
    return _step(apply(files, settings, replicas, given.get("--name"), directory))


def apply(
    files: Sequence[str], settings: Sequence[str], replicas: int | None, name: str | None, directory: str | None
) -> Apply:
    """Raises UsageError."""
    parse_settings(settings)
    return Apply(tuple(path_in(directory, file) for file in files), tuple(settings), replicas, name)


def _upgrade(words: list[str], _directory: str | None) -> Step:
    nodes, flags = _with_flags(words, ("--surge", "--batch"), ("--force",), "upgrade")
    if not nodes:
        raise UsageError("upgrade: expected the nodes to replace")
    given = dict(flags)
    surge, batch = _number(given.get("--surge", "0"), "--surge"), _number(given.get("--batch", "1"), "--batch")
    return _step(upgrade(" ".join(nodes), surge, batch, force="--force" in given))


def upgrade(nodes: str, surge: int, batch: int, *, force: bool) -> Upgrade:
    """Raises UsageError."""
    if batch < 1:
        raise UsageError("upgrade --batch must be at least 1")
    return Upgrade(parse_target(nodes), surge, batch, force)


def _stuck(words: list[str], _directory: str | None) -> Step:
    return Step("", stuck=tuple(map(named, words)))


def _ready(words: list[str], _directory: str | None) -> Step:
    return Step("", ready=tuple(map(named, words)))


def _step(action: Action) -> Step:
    return Step("", action)


def _with_flags(
    words: Sequence[str], with_value: Sequence[str], without: Sequence[str], verb: str
) -> tuple[list[str], list[tuple[str, str]]]:
    """The words that are no flags, and the flags with their values."""
    rest: list[str] = []
    flags: list[tuple[str, str]] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        flag, equals, value = word.partition("=")
        if not word.startswith("--"):
            rest.append(word)
        elif flag in with_value:
            if not equals and not waiting:
                raise UsageError(f"{verb} {flag}: expected a value")
            flags.append((flag, value if equals else waiting.pop(0)))
        elif word in without:
            flags.append((word, ""))
        else:
            known = (*with_value, *without)
            meant = did_you_mean(near_miss(flag, known)) or f"; its flags are {', '.join(known)}"
            raise UsageError(f"unknown flag {flag!r} of {verb}{meant}")
    return rest, flags


def _number(text: str, what: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise UsageError(f"{what}: expected a number from 0, found {text!r}")
    return int(text)


_WORKLOAD = "[NAMESPACE/]KIND/NAME"
_READERS: Mapping[str, tuple[Callable[[list[str], str | None], Step], str]] = {
    "rollout": (_rollout, f"{_WORKLOAD} [MANIFEST | FIELD=VALUE...]"),
    "rollback": (_rollback, _WORKLOAD),
    "restore": (_restore, "NODES"),
    "apply": (_apply, "FILE... [--set FIELD=VALUE] [--replicas N] [--name NAME]"),
    "upgrade": (_upgrade, "NODES [--surge N] [--batch N] [--force]"),
    "stuck": (_stuck, f"{_WORKLOAD}..."),
    "ready": (_ready, f"{_WORKLOAD}..."),
}

VERBS = (*EDIT_VERBS, *_READERS)
"""What a step may begin with."""
