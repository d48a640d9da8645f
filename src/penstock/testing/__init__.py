"""The test kit: what tests of blocks and designs share. No command needs it."""
