"""The command that asks what a call asks, to be copied: a tool's arguments as a shell takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from msgspec.structs import FieldInfo

from kubespread.questions.commands import Commands, flag_of, option_of, typed
from kubespread.questions.question import Option, Question, options_of
from kubespread.questions.scheduler import Scheduler
from kubespread.snapshot.snapshot import Snapshot

_FILES = {"manifest": "manifest.yaml", "toManifest": "after.yaml", "promises": "promises.yaml"}
"""What a call passes as text is in a file on the command line."""
_ONE_SIDE = ("edits", "set")
"""What a call may say of the first side of a comparison, and a command line only of the second."""


def command_of(
    question: type[Question[Any]], arguments: Mapping[str, Any], cluster: Snapshot, scheduler: Scheduler
) -> str:
    """The command that asks what a call with these ``arguments`` asks of ``cluster``, whose edits include theirs, and
    of ``scheduler``, whose release is theirs; empty where no command line says the same. What is passed as text is in a
    file.
    """
    options = [each for each in options_of(question) if each[2].is_for_assistants]
    has_sides = any(option.form == "sides" for *_, option in options)
    if has_sides and any(arguments.get(name) for name in _ONE_SIDE):
        return ""
    words, names_some = list[str](), False
    for field, _, option in options:
        own = [*_words(field, option, arguments)]
        names_some |= option.is_subject and bool(own)
        if option.form == "namespace" and not own and not names_some:
            own = ["-A"]
        words += own
    if arguments.get("toKubeVersion"):
        words += ["--to-kube-version", arguments["toKubeVersion"]]
    if question.hands_out and arguments.get("timeout"):
        words += ["--timeout", f"{arguments['timeout']}s"]
    later = [option_of(edit) for edit in (arguments.get("toEdits") if has_sides else None) or ()]
    parts = (Commands(cluster, scheduler).of(question.name, *map(quote, words)), *later)
    return " ".join(parts) if all(parts) else ""


def _words(field: FieldInfo, option: Option, arguments: Mapping[str, Any]) -> Iterator[str]:
    """What is typed for a field."""
    match option.form:
        case "pods" | "sides" | "pod" | "applied":
            for name in ("manifest", "workload", "toManifest"):
                if value := arguments.get(name):
                    by_name = {"pod": flag_of(field, option), "applied": "-f"}.get(option.form)
                    yield from (*([by_name] if by_name else []), _FILES.get(name, value))
            for value in arguments.get("toSet") or () if option.form == "sides" else ():
                yield from ("--set", value)
        case "scenario":
            yield from arguments.get("steps") or ()
        case _:
            yield from _value(field, option, arguments)


def _value(field: FieldInfo, option: Option, arguments: Mapping[str, Any]) -> Iterator[str]:
    value = arguments.get(field.encode_name)
    if value is None or value in ("", [], field.default):
        return
    file = _FILES.get(field.encode_name)
    yield from typed(field, option, value) if file is None else [file]
