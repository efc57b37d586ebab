"""The library's questions as tools that assistants call: what they may ask, and over which wire."""
