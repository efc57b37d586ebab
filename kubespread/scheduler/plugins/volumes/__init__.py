"""The four volume plugins: VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone."""
