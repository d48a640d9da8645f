"""The command line: options, progress, and the application that `./penstock` hands over to."""
