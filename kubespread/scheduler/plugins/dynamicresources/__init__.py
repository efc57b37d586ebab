"""DynamicResources: devices allocated to the resource claims of pods."""
