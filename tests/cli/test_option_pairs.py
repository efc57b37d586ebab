"""Any two options of a command: each changes what is asked, or one of them is refused by name."""

from __future__ import annotations

import io
import itertools
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kubespread
from kubespread.assistants import server
from kubespread.cli import command
from kubespread.cli.command import TYPED_ORDER, Argv, faults, spelling
from kubespread.cli.commands import _make
from kubespread.errors import KubespreadError
from kubespread.questions import registry
from kubespread.questions.calls import Reading
from kubespread.questions.explain.report import ExplainReport
from kubespread.questions.question import options_of
from kubespread.reports.parts import QuestionReport
from kubespread.snapshot import anonymize, save
from kubespread.snapshot.edits.registry import EDITS
from kubespread.snapshot.snapshot import Snapshot
from kubespread.views.formats import Writer
from tests.cli.option_samples import SAMPLES, SHARED, written
from tests.conftest import SHARE
from tests.tiers import slow_but

BASES = {
    "explain": ["new.yaml", "dir", "deploy/web"],
    "simulate": ["new.yaml", "dir", "deploy/web", "new.yaml --gang 2", "-A"],
    "plan": ["--cordon n1", "scenario.json"],
    "pending": ["", "deploy/web"],
    "audit": ["", "deploy/web", "-n shop deploy/big"],
    "report": ["", "deploy/web"],
    "verify": ["promises.json"],
    "check": ["", "new.yaml", "dir", "-n shop deploy/api"],
    "compare": ["new.yaml --cordon n1", "deploy/web --set cpu=2", "--all --cordon n1"],
    "survive": ["", "deploy/web"],
    "upgrade": ["pool=x"],
    "map": ["", "deploy/web"],
    "rebalance": ["", "deploy/web"],
    "capacity": [""],
    "removable": [""],
    "snapshot": ["-o -"],
    "mcp": ["--live", "-S cluster.json"],
}
"""What each command is asked beside the two options: forms of it that take others."""
QUESTIONS = ("after_edits", "after_steps", "ask")
INDEPENDENT = {
    ("-q", "-o"): "JSON has the notes itself: nothing is said beside it",
    ("-q", "--explain"): "nothing is said beside a rule",
    ("--no-headers", "--explain"): "and it has no headers",
    ("-v", "-q"): "-q leaves notes out, those of -v too",
    ("--pods", "--node"): "the sentences about a node always name the pods",
    ("--fail-on", "--strict"): "gaps end with 3 whatever the answer is",
    ("--live", "--context"): "a context names a running cluster by itself",
    ("--live", "--kubeconfig"): "so does a kubeconfig",
}
"""Pairs of which the first asks for what the second brings anyway, and why."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass
class Recorder:
    """Everything that a command asks for. No answer is worked on: each question has that of the first time."""

    snapshot: Snapshot
    log: list[Any] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kubespread, "load", self._load, raising=False)
        monkeypatch.setattr(kubespread, "connect", self._connect, raising=False)
        for name in QUESTIONS:
            monkeypatch.setattr(kubespread, name, self._question(name, getattr(kubespread, name)), raising=False)
        monkeypatch.setattr(Writer, "load", lambda writer: self._noted(writer.module, ""))
        monkeypatch.setattr(save, "save", self._noted("save"))
        monkeypatch.setattr(anonymize, "anonymize", self._noted("anonymize", (self.snapshot, {})))
        monkeypatch.setattr(server, "serve", self._serve)

    def asked(self, command: Any, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """What is asked, said and ended with. Raises KubespreadError for what is refused."""
        self.log.clear()
        with redirect_stdout(Terminal()) as out, redirect_stderr(io.StringIO()) as err:
            code = command.run(Argv(values, command.params))
        return code, [*self.log], out.getvalue(), err.getvalue()

    def _load(self, *paths: str) -> Snapshot:
        self.log.append(("load", paths))
        return replace(self.snapshot, files=paths)

    def _connect(self, *access: Any) -> Snapshot:
        self.log.append(("connect", access))
        return self.snapshot

    def _serve(self, cluster: Reading, scheduler: kubespread.Scheduler) -> None:
        cluster.snapshot()
        self.log.append(("serve", cluster.max_age, scheduler))

    def _question(self, name: str, ask: Callable[..., Any]) -> Callable[..., Any]:
        def question(*arguments: Any, **keywords: Any) -> Any:
            self.log.append((name, plain(arguments), plain(keywords)))
            if name not in self.answers:
                self.answers[name] = ask(*arguments, **keywords)
            return self.answers[name]

        return question

    def _noted(self, name: str, result: Any = None) -> Callable[..., Any]:
        def note(*arguments: Any) -> Any:
            self.log.append((name, plain(arguments)))
            return result

        return note


def plain(value: Any) -> Any:
    """What tells one argument from another: of a cluster its files and edits, of an answer what is shown of it."""
    match value:
        case Snapshot():
            return value.files, tuple(map(str, value.edits))
        case ExplainReport():
            return [node.name for node in value.nodes]
        case QuestionReport():
            return value.unmet
        case dict():
            return {key: plain(each) for key, each in value.items() if not key.startswith("on_")}
        case tuple() | list():
            return [plain(each) for each in value]
    return value


@dataclass
class Form:
    """A command with a base that is asked the same in every pair, and its options, one by one."""

    name: str
    command: Any
    values: dict[str, Any]
    typed: set[str]
    options: dict[str, tuple[str, Any]]
    """The parameter and the value of each option by its first name."""

    @classmethod
    def of(cls, name: str, base: str) -> Form:
        command = _make(name)
        plain_context = command.make_context(name, base.split())
        typed = {each for each in plain_context.params if _is_typed(plain_context, each)}
        options = {}
        for parameter in command.params:
            if (sample := SAMPLES[name].get(parameter.opts[0])) is not None:
                context = command.make_context(name, [*base.split(), *sample.split()])
                options[parameter.opts[0]] = parameter.name, context.params[parameter.name]
        return cls(name, command, plain_context.params, typed, options)

    def names_both(self, said: str, *options: str) -> bool:
        """Whether a refusal names each option or its value, or says what the one that it names is for."""
        names = {parameter.name: spelling(parameter) for parameter in self.command.params}
        named = [
            names[self.options[option][0]] in said
            or any(word in said for word in SAMPLES[self.name][option].split() if word.strip("-"))
            for option in options
        ]
        return all(named) or (any(named) and " is for " in said)

    def asked(self, recorder: Recorder, *options: str) -> tuple[Any, ...] | str:
        """What is asked with ``options`` beside the base; text is why that is refused."""
        more = dict(self.options[option] for option in options)
        values = {**self.values, **more}
        if TYPED_ORDER in values:
            values[TYPED_ORDER] = (*self.values[TYPED_ORDER], *more)
        typed = {name: values[name] for name in (*self.typed, *more)}
        output = values.get("output")
        with redirect_stdout(Terminal()):
            for fault in faults(self.command.params, typed, output):
                return fault
        try:
            return recorder.asked(self.command, values)
        except KubespreadError as error:
            return str(error)


def _is_typed(context: Any, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(command, "refuse_pairs", lambda _context: None)
    # A sample takes the place of what the base has of the same option.
    monkeypatch.setattr(command, "refuse_texts", lambda _parameters, _values: None)
    made = Recorder(kubespread.load("cluster.json"))
    made.patch(monkeypatch)
    return made


@pytest.mark.parametrize("command", registry.QUESTIONS)
def test_what_an_option_needs_is_a_parameter_of_the_command(command: str) -> None:
    needed = {name for _, _, option in options_of(registry.question(command)) for name in option.needs}
    # Manifests and some edits are passed by assistants alone.
    edits = {verb.replace("-", "_") for verb, edit in EDITS.items() if not edit.form.option}
    assert needed - edits - {"manifest"} - {parameter.name for parameter in _make(command).params} == set()


@pytest.mark.parametrize("command", SAMPLES)
def test_there_is_a_sample_of_every_option(command: str) -> None:
    names = {parameter.opts[0] for parameter in _make(command).params if not parameter.required}
    assert {*SAMPLES[command]} == names - {"-h", "--help-all", "promises", "scenario"}, (
        "what every form of it is given anyway"
    )


@pytest.mark.parametrize("command", slow_but(["explain", "survive"], SAMPLES))
def test_each_of_two_options_changes_what_is_asked_or_is_refused_by_name(
    command: str, recorder: Recorder, pytestconfig: pytest.Config
) -> None:
    """All pairs in the first form of a command, in the others those of its own options; of these as many as of
    properties: a tenth in `make test`, all in `make coverage`.
    """
    share = SHARE if pytestconfig.getoption("hypothesis_profile") is None else 1
    wrong: list[str] = []
    shown: set[str] = set()
    for number, base in enumerate(BASES[command]):
        form = Form.of(command, base)
        recorder.answers.clear()
        plain_answer = form.asked(recorder)
        options = [*form.options]
        own = {*options} - {*SHARED}
        alone = {option: form.asked(recorder, option) for option in options}
        shown |= {option for option in options if alone[option] != plain_answer}
        pairs = [
            pair
            for pair in itertools.combinations(options, 2)
            if (not number or own >= {*pair}) and len({form.options[option][0] for option in pair}) == 2
        ]
        for one, other in pairs[::share]:
            both = form.asked(recorder, one, other)
            if isinstance(both, str):
                if not any(isinstance(alone[option], str) for option in (one, other)):
                    wrong += [f"{base}: {one} {other}: {both}"] * (not form.names_both(both, one, other))
                continue
            for lost, kept in ((one, other), (other, one)):
                if both == alone[kept] and alone[lost] != plain_answer and (lost, kept) not in INDEPENDENT:
                    wrong.append(f"{base}: {lost} has no effect beside {kept}")
    assert wrong == []
    assert shown == {*SAMPLES[command]}, "a sample of each option changes what is asked"
