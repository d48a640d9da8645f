"""Sweeps: a grid of runs, benches or switch simulations into one table. docs/how-to/sweep.md is the guide.

A point of the grid is one call of `penstock run`, `bench` or `switch-sim` with `--json` in a process of its own, here or on a worker of a
Dask cluster. What it prints is kept in the out folder at once, under a hash of all that it depends on; so a sweep that was ended in any way
goes on where it was. The tables and the page are made from what is kept.

    spec.py     the FILE: models and reading      point.py    a point, its command line and its hash
    values.py   lists, ranges, seeds              sources.py  hashes of the sources and of input files
    check.py    what is wrong before it runs      build.py    builds, once each
    execute.py  one point in a process            local.py, cluster.py  many of them
    store.py    what is kept                      table.py    rows and columns, CSV, Parquet
    curves.py   curves of a plot                  page.py     report.html
    make.py     the whole
"""
