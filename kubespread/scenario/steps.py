"""From one entry of a scenario's steps to the step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.owners import Named, named
from kubespread.manifest.objects import describe
from kubespread.scenario.faults import Faults
from kubespread.scenario.text import parse_step, step_of
from kubespread.scenario.types import BESIDE_STEP, IN_LIST, READINESS, Step
from kubespread.scenario.verbs import STEPS, VERBS

T = TypeVar("T")
_KEYS = (*STEPS, *(verb for verb in VERBS if verb not in STEPS))


class Reader(Struct, frozen=True):
    """Reads steps; what is wrong with them goes to ``faults``."""

    faults: Faults
    directory: str
    """What paths are relative to."""

    def step(self, data: Any, path: str) -> Step | None:
        """The step at ``path``, None where it has faults."""
        if isinstance(data, str) and data.strip():
            return self._read(path, lambda: parse_step(data, self.directory))
        if not isinstance(data, Mapping) or not data:
            kind = "an empty object" if data == {} else "an empty string" if data == "" else describe(data)
            self.faults.add(path, f"expected a step, an object or a string, found {kind}")
            return None
        keys = [key for key in data if key in _KEYS]
        for key in data:
            if key not in keys and key not in BESIDE_STEP:
                self._unknown(path, str(key), keys)
        beside = self.faults.checked({key: data[key] for key in data if key in BESIDE_STEP}, BESIDE_STEP, path)
        if len(keys) > 1:
            self.faults.add(path, f"expected one thing in a step, found {', '.join(keys)}: write a step for each")
            return None
        if not keys:
            if not any(key in data for key in READINESS):
                self.faults.add(path, f"expected one of {', '.join(STEPS)}")
                return None
            words = [word for name in READINESS for word in (name, *beside.get(name, ())) if name in beside]
            step: Step | None = Step(" ".join(words))
        else:
            step = self._of_key(keys[0], data[keys[0]], f"{path}.{keys[0]}")
        if step is None:
            return None
        return replace(
            step,
            name=beside.get("name", ""),
            stuck=self.workloads(beside.get("stuck", ()), f"{path}.stuck"),
            ready=self.workloads(beside.get("ready", ()), f"{path}.ready"),
        )

    def workloads(self, texts: Iterable[str], path: str) -> tuple[Named, ...]:
        """The workloads of a list at ``path``."""
        workloads = []
        for place, text in enumerate(texts):
            try:
                workloads.append(named(text))
            except UsageError as error:
                self.faults.add_error(f"{path}[{place}]", error)
        return tuple(workloads)

    def _unknown(self, path: str, key: str, keys: list[str]) -> None:
        """A field beside the step's key may belong below it."""
        if len(keys) == 1 and keys[0] in STEPS and key in STEPS[keys[0]].form.fields:
            message = f'strict decoding error: unknown field "{path}.{key}", did you mean "{path}.{keys[0]}.{key}"?'
            self.faults.add(f"{path}.{key}", message)
        else:
            self.faults.unknown(f"{path}.{key}", key, dict.fromkeys((*_KEYS, *BESIDE_STEP)))

    def _of_key(self, key: str, value: Any, path: str) -> Step | None:
        verb = STEPS.get(key)
        if isinstance(value, str) and value.strip():
            word = verb.form.verb if verb is not None else key
            return self._read(path, lambda: step_of(word, value, self.directory))
        if verb is None:
            self.faults.add(path, f"expected a string, found {describe(value)}")
            return None
        form = verb.form
        if isinstance(value, list) and IN_LIST in form.fields:
            value = {IN_LIST: value}
        if not isinstance(value, Mapping):
            listed = ", a list of files" if IN_LIST in form.fields else ""
            kind = "an empty string" if value == "" else describe(value)
            self.faults.add(path, f"expected {form.text}{listed} or an object, found {kind}")
            return None
        before = len(self.faults.entries)
        fields = self.faults.checked(value, form.fields, path)
        if len(self.faults.entries) > before:
            return None
        action = self._read(path, lambda: verb.of(fields, self.directory))
        return None if action is None else Step(verb.line(fields), action)

    def _read(self, path: str, read: Callable[[], T]) -> T | None:
        """What is read at ``path``, None where it is wrong."""
        try:
            return read()
        except KubespreadError as error:
            self.faults.add_error(path, error)
            return None
