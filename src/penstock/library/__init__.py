"""Devices held open from Python, for notebooks and for tests of one's own: `penstock.open`."""
