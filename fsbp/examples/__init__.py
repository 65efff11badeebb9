"""Worked models, importable and tested."""
