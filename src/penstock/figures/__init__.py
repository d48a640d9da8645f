"""Measured numbers of the pages: what is measured (`definitions`), what came out (`results`), where it is shown (`pages`).

A topic is a file `figures/<topic>.yaml` of the documents, a block or a design, found by being there. Its tables and values name commands
(`bench`, `synth`, `run`, ...); `measure` runs each with --json, and the file `<topic>.json` beside it keeps the numbers that are shown,
with settings and seed. Pages have them between marks, which `pages` fills in. docs/how-to/measured-numbers.md describes the files.
"""
