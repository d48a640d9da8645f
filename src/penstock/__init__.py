"""Penstock: open packet-queueing hardware and the workbench that runs it."""

__version__ = "0.1.0"
