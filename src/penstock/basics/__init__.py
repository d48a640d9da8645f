"""What every room uses: units, files, child processes, the wording of messages."""
