"""What is changed in the cluster before the question is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, make_dataclass
from typing import Annotated, Any

import typer

from kubespread.cli.options import helping
from kubespread.cli.options.cluster import ClusterOptions
from kubespread.errors import UsageError
from kubespread.snapshot.edits.nodes import DRAIN_FLAGS, with_flags
from kubespread.snapshot.edits.registry import EDITS
from kubespread.snapshot.edits.verb import Edit


def _options() -> Iterator[tuple[str, Any, Any]]:
    """An option for each edit, followed by one for each of its flags."""
    for verb, edit in EDITS.items():
        form = edit.form
        option = typer.Option(
            f"--{verb}", metavar=form.metavar, show_default=False, help=form.option, rich_help_panel=helping.EDITS
        )
        yield _name(verb), Annotated[list[str] | None, option], None
        for field in form.fields.values():
            if field.option:
                forms = "/".join(field.forms)
                flag = typer.Option(forms, show_default=False, help=field.option, rich_help_panel=helping.EDITS)
                yield _name(field.flag), Annotated[bool | None, flag], None


def _name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


_Edits: Any = make_dataclass("_Edits", list(_options()), bases=(ClusterOptions,), frozen=True, slots=True)


@dataclass(frozen=True, slots=True)
class EditedClusterOptions(_Edits, ClusterOptions):  # type: ignore[misc]  # its options are those of the edits there are
    """Which cluster is asked about, and what is changed in it: NODES is a name, or labels as kubectl's -l has them."""

    typed_order: tuple[str, ...] = ()
    """The options of the command line by name, each as often as it stands there, from `OrderedCommand`."""

    @property
    def drains(self) -> bool:
        """Whether the question itself drains nodes, with the same flags."""
        return False

    def typed(self) -> list[tuple[str, str]]:
        """The edits as options and what follows them, in the order they were typed. Raises UsageError."""
        if (flags := self._drain_flags()) and not self.drain and not self.drains:
            flag = next(iter(flags)).replace("_", "-")
            raise UsageError(f"--{flag} is for --drain: name what to drain, or leave it out")
        waiting = {verb: list(getattr(self, _name(verb)) or ()) for verb in EDITS}
        verbs = {_name(verb): verb for verb in EDITS}
        ordered = [verbs[name] for name in self.typed_order if name in verbs]
        made = [(verb, waiting[verb].pop(0)) for verb in ordered if waiting[verb]]
        # Whoever calls a command as a function has no order but that of the options.
        return made + [(verb, text) for verb, texts in waiting.items() for text in texts]

    def edits(self) -> list[Edit]:
        """The same as values, with the manifests of new nodes read. Raises UsageError and ManifestError."""
        read = [EDITS[verb].read(text) for verb, text in self.typed()]
        return [with_flags(edit, self._drain_flags()) for edit in read]

    def _drain_flags(self) -> dict[str, bool]:
        """Those that were typed, as `DrainFlags` calls them; all of a question that drains nodes itself."""
        return {name: value for name in DRAIN_FLAGS.values() if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class OptionalClusterOptions(EditedClusterOptions):
    """Which cluster manifests are tried on, if on any."""

    live: Annotated[
        bool, typer.Option("--live", help="Try manifests on the running cluster of the kubeconfig's current context.")
    ] = False

    @property
    def is_named(self) -> bool:
        """Whether some cluster is asked for."""
        return self.live or any((self.snapshot, self.context, self.kubeconfig, self.cluster, self.user))

    def reaching(self) -> Iterator[str]:
        """The options that say how a running cluster is reached, and not which one."""
        for field in fields(self):
            if field.name in REACHING and getattr(self, field.name) != field.default:
                yield REACHING[field.name]


REACHING = {
    "kubeconfig": "--kubeconfig", "as_user": "--as", "as_group": "--as-group",
    "request_timeout": "--request-timeout", "chunk_size": "--chunk-size",
}  # fmt: skip
