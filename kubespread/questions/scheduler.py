"""Decisions of kube-scheduler: its configuration, its release and gates, and the API server's work on a pod before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.admission.plugins import AdmissionPlugins
from kubespread.kube.versions import MERGED_UP_TO, NEWEST, KubeVersion
from kubespread.manifest.objects import read_documents
from kubespread.manifest.text import STDIN, FieldLines, MalformedError, display_name, faults_of, read_file, text_bytes
from kubespread.scheduler.profile.profile import Profile, default_profile
from kubespread.snapshot.snapshot import SERVER_VERSION, Origin
from kubespread.wording import Decisive

_CONFIG_TEXT = "<scheduler config>"


class Scheduler(Struct, frozen=True):
    """A scheduler as a value, for any number of questions. Defaults are kube-scheduler's own."""

    config: str | Path | None = None
    """KubeSchedulerConfiguration, as a path or as text. A file is read for each question."""
    kube_version: str | None = None
    """Release to emulate, 1.18 to 1.37, or 1.38 as far as it is merged; by default the cluster's own, else that of the
    newest kubelet, else 1.37.
    """
    feature_gates: str | None = None
    """Feature gates of that release, ``Name=true,Other=false``."""
    admission: bool = True
    """False to leave out admission plugins; the API server's defaulting remains."""
    default_toleration_seconds: bool = True
    """Admission plugin DefaultTolerationSeconds, on by default in every cluster."""
    pod_node_selector: bool = False
    """Admission plugin PodNodeSelector, off by default in every cluster."""
    extended_resource_toleration: bool = False
    """Admission plugin ExtendedResourceToleration, off by default; GKE has it on."""

    def release(self, server_version: str) -> KubeVersion:
        """Release to emulate for a cluster of ``server_version``, empty if unknown. Raises UsageError."""
        version = (
            KubeVersion.of_server(server_version) if self.kube_version is None else KubeVersion.parse(self.kube_version)
        )
        return version.with_gates(self.feature_gates or "")

    def check(self) -> None:
        """Raise UsageError or ManifestError for an unknown release, a gate unknown to it, or a missing file."""
        if self.kube_version is not None:
            self.release("")
        text = str(self.config or STDIN)
        if text != STDIN and not _is_text(text) and not Path(text).exists():
            # Which says why not.
            read_file(text)

    def source_gaps(self, origin: Origin) -> Iterator[str]:
        """Yield gaps of a snapshot of ``origin``. A missing kind is a gap only if a question needs it."""
        yield from (gap for gap in origin.gaps if gap not in origin.unread.values())
        if self.kube_version is None and SERVER_VERSION in origin.unread:
            yield f"{origin.unread[SERVER_VERSION]}: answers are those of {self.release(origin.release)}"
        yield from self.gaps(origin.release)

    def gaps(self, server_version: str) -> Iterator[str]:
        """Yield a gap for a cluster of an unknown or unmodeled release."""
        if self.kube_version is not None or not server_version:
            return
        minor, version = KubeVersion.minor_of(server_version), self.release(server_version)
        if minor is None:
            yield f"the cluster says it runs {server_version!r}, which is no release: answers are those of {version}"
        elif minor != version.minor:
            yield f"the cluster runs {server_version}, which is not modeled: answers are those of {version}"

    def notes(self, origin: Origin) -> Iterator[str]:
        """Yield notes for any question: on the cluster, and on the origin of an assumed release."""
        yield from origin.notes
        version = self.release(origin.release)
        is_assumed = self.kube_version is None and not origin.server_version
        if is_assumed and KubeVersion.minor_of(origin.kubelet_version) is not None:
            yield (
                f"kube-scheduler v{version} is assumed, from the newest kubelet ({origin.kubelet_version}); "
                "--kube-version sets another"
            )
        yield from self.unreleased_notes(origin)

    def unreleased_notes(self, origin: Origin) -> Iterator[str]:
        """Yield notes on modeled features that are not released yet."""
        version = self.release(origin.release)
        if not version.is_released:
            yield Decisive(
                f"Kubernetes 1.{version.minor} is not released: answers have what is merged up to {MERGED_UP_TO}, and "
                f"else are those of 1.{NEWEST}"
            )

    def profile_for(self, scheduler_name: str, version: KubeVersion) -> Profile:
        """Profile for pods with this ``scheduler_name``. Raises UsageError and ManifestError."""
        profiles = (
            (default_profile(version),) if self.config is None else _profiles(*_config_text(str(self.config)), version)
        )
        for profile in profiles:
            if profile.scheduler_name == scheduler_name:
                return profile
        names = ", ".join(profile.scheduler_name for profile in profiles)
        raise UsageError(f'profile not found for scheduler name "{scheduler_name}"; profiles: {names}')

    @property
    def portable(self) -> Scheduler:
        """The scheduler with its configuration as text, for processes and places without its files."""
        if self.config is None:
            return self
        _, text = _config_text(str(self.config))
        return replace(self, config=f"{os.fsdecode(text)}\n")

    @property
    def admission_plugins(self) -> AdmissionPlugins:
        return AdmissionPlugins(
            self.admission, self.default_toleration_seconds, self.pod_node_selector, self.extended_resource_toleration
        )


@lru_cache(maxsize=16)
def _profiles(file: str, text: bytes, version: KubeVersion) -> tuple[Profile, ...]:
    """The profiles of a configuration, cached while its text stays the same."""
    # Few are asked with one; kube-scheduler's own profile takes no reading.
    from kubespread.scheduler.profile.loading import ConfigurationError, load_profiles, with_sorted_keys

    try:
        documents = read_documents(text)
        if len(documents) != 1:
            raise ManifestError(
                file, [Fault(f"expected one KubeSchedulerConfiguration, found {len(documents)} documents")]
            )
        is_json = text.lstrip().startswith(b"{")
        return load_profiles(documents[0] if is_json else with_sorted_keys(documents[0]), version)
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error
    except ConfigurationError as error:
        lines = FieldLines(text)
        faults = [Fault(message, path, lines.line(0, path)) for path, message in error.faults]
        raise ManifestError(file, faults) from error


@cache
def _stdin_text() -> bytes:
    """Standard input, which can be read only once."""
    return read_file(STDIN)


def _is_text(config: str) -> bool:
    """True for text, which unlike a path has a line break or a leading brace."""
    return "\n" in config or config.lstrip().startswith("{")


def _config_text(text: str) -> tuple[str, bytes]:
    if _is_text(text):
        with faults_of(_CONFIG_TEXT):
            return _CONFIG_TEXT, text_bytes(os.fsencode(text))
    return display_name(text), _stdin_text() if text == STDIN else read_file(text)
