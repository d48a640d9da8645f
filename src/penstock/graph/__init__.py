"""What depends on what: for each file what it uses, for each test what it is about, and for a changed file the tests that may see it.

`project` reads the sources, `uses` finds what a file of hardware, C++ or Python names, `python` what one function of a test names, `tests`
puts them together. Every answer comes from the texts alone; nothing is compiled or imported.
"""
