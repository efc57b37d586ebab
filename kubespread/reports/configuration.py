"""What the environment and configuration files set."""

from __future__ import annotations

from kubespread.reports.parts import API_VERSION, Report


class ConfiguredKey(Report, frozen=True):
    """One key, whether it is set or not."""

    key: str
    """What a file calls it."""
    variable: str
    """What the environment calls it."""
    values: tuple[str, ...]
    """Paths as seen from the working directory; none where it is not set."""
    origin: str | None
    """``FILE:LINE``, or the variable; null where it is not set."""


class Configuration(Report, frozen=True):
    """The answer to "what is set here, and by whom?"."""

    keys: tuple[ConfiguredKey, ...]
    """Every key there is, in the order of the documentation."""
    api_version: str = API_VERSION
    kind: str = "Configuration"
