"""The feature gates that the allocation of devices depends on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Which of them are on."""

    provides_resources: bool = True
    """DRAExtendedResource."""
    taints_count: bool = True
    """DRADeviceTaints."""
    alternatives_count: bool = True
    """DRAPrioritizedList."""
    admin_access_counts: bool = True
    """DRAAdminAccess."""
