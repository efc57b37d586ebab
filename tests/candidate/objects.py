"""Candidates of plain objects."""

from __future__ import annotations

from kubespread.candidate.candidate import Candidate, from_manifest
from kubespread.candidate.manifest import manifest_of
from kubespread.candidate.sources import Surroundings
from tests.builders import Data


def from_object(data: Data, surroundings: Surroundings) -> Candidate:
    return from_manifest(manifest_of(data), surroundings)
