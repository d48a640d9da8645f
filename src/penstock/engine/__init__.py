"""The engine from Python: it is built and run here, and its raw results become `result.json`."""
