"""The edit that lets a rollout go on. Only remedies make it: kubectl patches the Deployment, and no option does."""

from __future__ import annotations

from typing import ClassVar

from kubespread.snapshot.edits.verb import Edit, Form


class SetMaxUnavailable(Edit, frozen=True):
    """A Deployment's rollout may leave so many of its pods unavailable."""

    form: ClassVar = Form("maxUnavailable", "NAMESPACE/NAME=NUMBER")
    namespace: str
    name: str
    max_unavailable: int

    def __str__(self) -> str:
        return f"{self.form.verb} {self.namespace}/{self.name}={self.max_unavailable}"
