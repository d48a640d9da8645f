"""Network namespaces of this machine, and what stands in them: where traffic of real programs is made and measured."""
