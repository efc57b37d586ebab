"""The library's questions as tools that assistants call, and the protocol for their calls."""
