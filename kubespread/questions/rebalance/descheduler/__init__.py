"""The descheduler's RemovePodsViolatingTopologySpreadConstraint with its DefaultEvictor, as of v0.36."""
