"""Programs that run in an end's namespace: the job is JSON on the command line, results are lines of JSON on standard output."""
