"""Inference: schedules, propagation, beliefs, and enumeration as the oracle."""
