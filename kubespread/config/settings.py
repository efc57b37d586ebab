"""Every key that a configuration may have, and what is set."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

SNAPSHOT, CONTEXT, OUTPUT = "snapshot", "context", "output"


class Key(Struct, frozen=True):
    """One thing that may be set."""

    variable: str
    """The environment's name for it."""
    parameters: tuple[str, ...]
    """The commands' parameters it is a value of, where nothing is typed for them."""
    is_path: bool = False
    is_list: bool = False
    decides: bool = True
    """Whether answers depend on it, and not only how they are written."""


KEYS: Mapping[str, Key] = {
    SNAPSHOT: Key("KUBESPREAD_SNAPSHOT", ("snapshot",), is_path=True, is_list=True),
    CONTEXT: Key("KUBESPREAD_CONTEXT", ("context",)),
    "schedulerConfig": Key("KUBESPREAD_SCHEDULER_CONFIG", ("scheduler_config",), is_path=True),
    "kubeVersion": Key("KUBESPREAD_KUBE_VERSION", ("kube_version", "kube_versions")),
    OUTPUT: Key("KUBESPREAD_OUTPUT", ("output",), decides=False),
    "ignore": Key("KUBESPREAD_IGNORE", ("ignore",), is_list=True),
}
"""By the name it has in a file."""


class Setting(Struct, frozen=True):
    """What one key is set to, and where."""

    values: tuple[str, ...]
    origin: str
    """``.kubespread.yaml:3``, or the name of a variable."""
    is_from_file: bool = True

    @property
    def text(self) -> str:
        return ", ".join(self.values)


Settings = Mapping[str, Setting]
"""By key, those that are set."""
