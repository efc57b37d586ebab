"""Reports as text. Renderers return strings; only the command line prints."""
