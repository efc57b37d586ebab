"""The command that asks what a call asks, to be copied: a tool's arguments as a shell takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from msgspec.structs import FieldInfo

from kubespread.questions.commands import Commands, option_of
from kubespread.questions.question import Option, Question, options_of
from kubespread.snapshot.snapshot import Snapshot

_FILES = {
    "manifest": "manifest.yaml",
    "toManifest": "after.yaml",
    "steps": "scenario.yaml",
    "promises": "promises.yaml",
}
"""What a call passes as text is in a file on the command line."""
_RELEASE = {"kubeVersion": "--kube-version", "featureGates": "--feature-gates", "toKubeVersion": "--to-kube-version"}
_ONE_SIDE = ("edits", "set")
"""What a call may say of the first side of a comparison, and a command line only of the second."""


def command_of(question: type[Question[Any]], arguments: Mapping[str, Any], cluster: Snapshot) -> str:
    """The command that asks what a call with these ``arguments`` asks of ``cluster``, whose edits include theirs; empty
    where no command line says the same. What is passed as text is in a file.
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
    words += [word for name, flag in _RELEASE.items() if arguments.get(name) for word in (flag, arguments[name])]
    if question.hands_out and arguments.get("timeout"):
        words += ["--timeout", f"{arguments['timeout']}s"]
    later = [option_of(edit) for edit in (arguments.get("toEdits") if has_sides else None) or ()]
    return " ".join(filter(None, (Commands.about(cluster, "").of(question.name, *map(quote, words)), *later)))


def _words(field: FieldInfo, option: Option, arguments: Mapping[str, Any]) -> Iterator[str]:
    """What is typed for a field."""
    flag = (option.names or (f"--{field.name.replace('_', '-')}",))[-1]
    match option.form:
        case "pods" | "sides" | "pod" | "applied":
            for name in ("manifest", "workload", "toManifest"):
                if value := arguments.get(name):
                    by_name = {"pod": flag, "applied": "-f"}.get(option.form)
                    yield from (*([by_name] if by_name else []), _FILES.get(name, value))
            for value in arguments.get("toSet") or () if option.form == "sides" else ():
                yield from ("--set", value)
        case _:
            yield from _value(field, option, flag, arguments)


def _value(field: FieldInfo, option: Option, flag: str, arguments: Mapping[str, Any]) -> Iterator[str]:
    name = "steps" if arguments.get("steps") and field.encode_name not in arguments and option.is_subject else None
    value = arguments.get(name or field.encode_name)
    if value is None or value in ("", [], field.default):
        return
    if isinstance(value, bool):
        yes, _, no = flag.partition("/")
        yield yes if value else no or f"--no-{yes.removeprefix('--')}"
    elif (file := _FILES.get(name or field.encode_name)) is not None:
        yield file
    else:
        for each in value if isinstance(value, list) else [value]:
            yield from ([str(each)] if option.is_subject and not option.names else [flag, str(each)])
