"""Benches: measurements with a fixed meaning."""
