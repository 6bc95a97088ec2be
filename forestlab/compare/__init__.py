"""Logged runs → tables, intervals and overlays: see __main__.py."""
