"""The register of planted faults: what would be wrong, as a change of the sources, and which tests must then turn red.

A test that has never been red proves nothing. Every `faults.yaml` in the project is a part of the register; its folder is the *place* of
its faults. `register` reads and checks the files, `sources` says which files can change the outcome of a test, `planting` plants one fault
at a time in a copy of the project and runs its tests there. `operators` make others, of any source.
"""
