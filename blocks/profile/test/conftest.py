"""Lets pytest find the grammar of frames, which the parser's tests have."""

import sys

from penstock.paths import BLOCKS

sys.path.insert(0, str(BLOCKS / "parse" / "test"))
