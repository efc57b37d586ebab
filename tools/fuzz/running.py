"""Runs with damaged inputs, one after another, each bounded in steps; what must never happen is told."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeVar
from unittest import mock

import msgspec

import kubespread
from kubespread.errors import KubespreadError
from kubespread.questions.calls import arguments_of, tools
from tools.fuzz.inputs import COMMANDS, COSTLY, TOOL_ARGUMENTS, VALUES, WORDS, environment, write_all
from tools.fuzz.mutations import HOSTILE, damaged, dangling, written
from tools.fuzz.steps import TooManyStepsError, bounded_steps

MOST_STEPS = 30_000_000
"""Calls of functions in one run: some ten seconds."""
_SUSPICIOUS = 10.0
"""Seconds of CPU after which steps are counted."""
_SELDOM = 0.1
T = TypeVar("T")
_CODES = {0, 1, 2, 3}
_RICH = "rich.json"


def _weighed() -> tuple[list[tuple[str, str]], list[float]]:
    """What may be damaged and asked, and how often: half of it is about clusters, which hold most."""
    weights = {}
    for name, commands in COMMANDS.items():
        often = len(COMMANDS) if name == _RICH else 1
        for command in commands:
            asked = command.replace("{}", name)
            weights[name, asked] = often / len(commands) * (_SELDOM if asked.startswith(COSTLY) else 1)
    return [*weights], [*weights.values()]


_WEIGHED = _weighed()


class Ended(Protocol):
    """How a run of the program ended, and what it wrote to standard error."""

    @property
    def code(self) -> int: ...

    @property
    def err(self) -> str: ...


class Program(Protocol):
    """``kubespread ARGUMENTS`` inside this process."""

    def __call__(self, *arguments: str, cwd: Path, env: dict[str, str]) -> Ended: ...


@dataclass(frozen=True)
class Failure:
    """A run that ended as none may: ``seed`` repeats it."""

    seed: int
    asked: str
    said: str


@dataclass
class Fuzzing:
    """Files below ``directory``, of which one is damaged at a time."""

    directory: Path
    run: Program
    ended: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        # A word may be "..": nothing is to be there that somebody else wrote.
        self.directory = self.directory / "inputs"
        self.directory.mkdir()
        self._data = write_all(self.directory)
        self._cluster = kubespread.load(str(self.directory / _RICH))

    def failures(self, seeds: range) -> Iterator[Failure]:
        """Those of the runs with ``seeds``, each of which says by itself what is damaged and asked."""
        for seed in seeds:
            failure = self.one(seed)
            if failure is not None:
                yield failure

    def one(self, seed: int) -> Failure | None:
        rng = random.Random(seed)
        kind = rng.random()
        if kind < 0.80:
            return self._with_file(seed, rng)
        return self._with_word(seed, rng) if kind < 0.93 else self._with_arguments(seed, rng)

    def _with_file(self, seed: int, rng: random.Random) -> Failure | None:
        [(name, command)] = rng.choices(*_WEIGHED)
        target = self.directory / name
        before = target.read_bytes()
        content = self._damaged(name, rng)
        try:
            target.write_bytes(content)
            return self._asked(seed, shlex.split(command), name)
        finally:
            target.write_bytes(before)

    def _damaged(self, name: str, rng: random.Random) -> bytes:
        data = self._data[name]
        if isinstance(data, list):
            return b"\n---\n".join(written(damaged(each, rng), rng) for each in data)
        if "items" in data and rng.random() < 0.3:
            data = {**data, "items": dangling(data["items"], rng)}
        elif "items" in data and rng.random() < 0.95:
            # One object, which keeps the others as they are and the list a list.
            items = [*data["items"]]
            position = rng.randrange(len(items))
            items[position] = damaged(items[position], rng)
            data = {**data, "items": items}
        else:
            data = damaged(data, rng)
        return written(data, rng)

    def _with_word(self, seed: int, rng: random.Random) -> Failure | None:
        command = rng.choice(sorted(WORDS))
        option = rng.choice(WORDS[command])
        value = _damaged_word(rng)
        if rng.random() < 0.2:
            return self._completed(seed, [*shlex.split(command), *([option] if option else []), value])
        return self._asked(seed, [*shlex.split(command), *([option] if option else []), value], "words")

    def _with_arguments(self, seed: int, rng: random.Random) -> Failure | None:
        tool = rng.choice(sorted(tools()))
        known = {
            each.encode_name for each in msgspec.structs.fields(arguments_of(tools()[tool].asks))
        } & TOOL_ARGUMENTS.keys()
        names = [name for name in sorted(known) if rng.random() < 0.3]
        arguments = {name: TOOL_ARGUMENTS[name] for name in names}
        # Exactly one of them says what is asked about.
        if "workload" in known:
            arguments.pop("manifest", None)
            arguments["workload"] = TOOL_ARGUMENTS["workload"]
        if tool == "upgrade":
            arguments["nodes"] = "pool=web"
        arguments = damaged(arguments, rng)
        if not isinstance(arguments, dict):
            arguments = {}
        said = ""
        try:
            _bounded(lambda: json.dumps(tools()[tool].call(self._cluster, kubespread.Scheduler(), arguments)))
            self.ended["tool answered"] += 1
        except KubespreadError:
            self.ended["tool refused"] += 1
        except (Exception, TooManyStepsError):  # noqa: BLE001 - all that is found is told
            said = traceback.format_exc()
        return Failure(seed, f"{tool} {arguments!r}"[:300], said) if said else None

    def _completed(self, seed: int, words: list[str]) -> Failure | None:
        """What the shell asks when the last word is to be completed."""
        words = [word.replace("\x00", "") for word in words]
        completing = {**environment(self.directory), "_KUBESPREAD_COMPLETE": "zsh"}
        result = _bounded(lambda: self.run(*words, cwd=self.directory, env=completing))
        self.ended["completed"] += 1
        return (
            Failure(seed, f"completing {shlex.join(words)}", result.err[-2500:]) if result.code or result.err else None
        )

    def _asked(self, seed: int, words: list[str], what: str) -> Failure | None:
        words = [word.replace("\x00", "") for word in words]
        try:
            # On one core nothing is handed to other processes, whose steps nobody counts.
            with mock.patch("os.cpu_count", return_value=1):
                result = _bounded(lambda: self.run(*words, cwd=self.directory, env=environment(self.directory)))
        except TooManyStepsError as error:
            return Failure(seed, f"{shlex.join(words)} with {what} damaged", str(error))
        self.ended[f"exit code {result.code}"] += 1
        hostile = "".join(char for char in result.err if not char.isprintable() and char != "\n")
        if result.code not in _CODES or hostile:
            return Failure(seed, f"{shlex.join(words)} with {what} damaged", result.err[-2500:])
        return None


def _bounded(work: Callable[[], T]) -> T:
    """What ``work`` returns. Steps are counted, which takes long, only of what took long."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooManyStepsError

    signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SUSPICIOUS)
    try:
        return work()
    except TooManyStepsError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    with bounded_steps(MOST_STEPS):
        return work()


def _damaged_word(rng: random.Random) -> str:
    value = rng.choice(VALUES)
    match rng.randrange(5):
        case 0:
            return value
        case 1:
            return _text(rng.choice(HOSTILE))
        case 2:
            at = rng.randrange(len(value) + 1)
            return value[:at] + _text(rng.choice(HOSTILE))[:200] + value[at:]
        case 3:
            return value.replace(rng.choice(value), _text(rng.choice(HOSTILE))[:50])
    return value + rng.choice("=,:@/[]()!- ") + rng.choice(VALUES)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return os.fsdecode(text.encode(errors="surrogatepass"))
