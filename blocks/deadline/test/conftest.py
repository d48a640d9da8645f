"""Lets pytest find the helper files beside the tests, as the simulator does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "memory" / "test"))
